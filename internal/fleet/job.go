package fleet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Job is what an indexed Job of Kubernetes needs to ask the archives of a volume on several machines.
type Job struct {
	Name, Namespace string
	Image           string // of this program
	Archives        string // name of the PersistentVolumeClaim with the archives
	Results         string // the same, for the results
	Parts           int
	Within          string // for one archive
}

// errNamed is that a name cannot be one of Kubernetes.
var errNamed = errors.New("is not a name that Kubernetes takes")

// check refuses what is not a name: it is written into a manifest.
func (j Job) check() error {
	names := []struct{ flag, value string }{{"--name", j.Name}, {"--archives-claim", j.Archives}, {"--results-claim", j.Results}, {"-n", j.Namespace}}
	for _, n := range names {
		if n.flag == "-n" && n.value == "" {
			continue
		}
		if len(validation.IsDNS1123Subdomain(n.value)) > 0 {
			return fmt.Errorf("%s %q %w", n.flag, n.value, errNamed)
		}
	}
	if j.Image == "" || strings.ContainsAny(j.Image, " \t\n\"'\\{}") {
		return fmt.Errorf("--image %q: name the image of this program as REGISTRY/NAME@sha256:... or REGISTRY/NAME:TAG", j.Image)
	}
	if j.Parts < 1 || j.Parts > 10000 {
		return fmt.Errorf("--parts %d: write a number from 1 to 10000", j.Parts)
	}
	return nil
}

// Manifest writes the Job (batch/v1). Kubernetes gives each pod its index in JOB_COMPLETION_INDEX, runs it
// again where it was killed, and counts what has ended; the results are in files of the second volume.
func (j Job) Manifest(w io.Writer) error {
	if err := j.check(); err != nil {
		return err
	}
	metadata := "  name: " + j.Name + "\n"
	if j.Namespace != "" {
		metadata += "  namespace: " + j.Namespace + "\n"
	}
	_, err := fmt.Fprintf(w, jobManifest, metadata, j.Parts, min(j.Parts, 8), j.Image, j.Parts, j.Within, j.Archives, j.Results)
	return err
}

// jobManifest has no access to the API: it reads one volume and writes the other.
const jobManifest = `apiVersion: batch/v1
kind: Job
metadata:
%sspec:
  completionMode: Indexed
  completions: %d
  parallelism: %d
  backoffLimitPerIndex: 3
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext:
        runAsNonRoot: true
        seccompProfile:
          type: RuntimeDefault
      containers:
      - name: rollcall
        image: %q
        command:
        - rollcall
        - fleet
        - --part=$(JOB_COMPLETION_INDEX)/%d
        - --within=%s
        - --archives=/archives
        - --results=/results
        - --fail-on=never
        - --quiet
        env:
        - name: JOB_COMPLETION_INDEX
          valueFrom:
            fieldRef:
              fieldPath: metadata.annotations['batch.kubernetes.io/job-completion-index']
        securityContext:
          allowPrivilegeEscalation: false
          readOnlyRootFilesystem: true
          capabilities:
            drop:
            - ALL
        resources:
          requests:
            cpu: "1"
            memory: 1Gi
          limits:
            memory: 4Gi
        volumeMounts:
        - name: archives
          mountPath: /archives
          readOnly: true
        - name: results
          mountPath: /results
      volumes:
      - name: archives
        persistentVolumeClaim:
          claimName: %s
          readOnly: true
      - name: results
        persistentVolumeClaim:
          claimName: %s
`
