package metalhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// API is what a run needs of the cluster. Errors are those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	Get(ctx context.Context, r kube.Ref) (kube.Object, error)
	List(ctx context.Context, r kube.Ref) ([]kube.Object, error)
	Create(ctx context.Context, r kube.Ref, content kube.Object, dryRun bool) (kube.Object, error)
	Patch(ctx context.Context, r kube.Ref, subresource string, patch []byte, dryRun bool) (kube.Object, error)
	Delete(ctx context.Context, r kube.Ref, uid, resourceVersion string, dryRun bool) error
}

func hostRef(name string) kube.Ref {
	return kube.Ref{Group: openshift.Metal3Group, Version: "v1alpha1", Resource: "baremetalhosts", Namespace: Namespace, Name: name}
}

func secretRef(name string) kube.Ref {
	return kube.Ref{Version: "v1", Resource: "secrets", Namespace: Namespace, Name: name}
}

func machineRef(name string) kube.Ref {
	return kube.Ref{Group: openshift.MachineGroup, Version: "v1beta1", Resource: "machines", Namespace: Namespace, Name: name}
}

func setRef(name string) kube.Ref {
	return kube.Ref{Group: openshift.MachineGroup, Version: "v1beta1", Resource: "machinesets", Namespace: Namespace, Name: name}
}

// Seen is what a cluster shows of its hosts. What could not be read is in Unread, with the reason.
type Seen struct {
	ClusterID    string
	Version      string
	Updating     string // what the ClusterVersion says of an update that runs, "" none does
	Platform     string // of the Infrastructure; "" not known
	Topology     string // of its control plane
	Provisioning kube.Object
	Metal3       kube.Object // Deployment metal3
	Hosts        []kube.Object
	Machines     []kube.Object
	Sets         []kube.Object
	Nodes        []kube.Object
	Scalers      []kube.Object // MachineAutoscalers
	HealthChecks []kube.Object
	Approver     kube.Object // ConfigMap machine-approver-config
	ApproverRuns kube.Object // Deployment machine-approver
	Unread       map[string]error
	// NoMetal3 says that the API has no BareMetalHosts, or nobody has asked for metal3 (no Provisioning).
	NoMetal3 string
}

// provisioningName is the only Provisioning that the cluster-baremetal-operator looks at
// (openshift/cluster-baremetal-operator:api/v1alpha1/provisioning_types.go ProvisioningSingletonName).
const provisioningName = "provisioning-configuration"

// Look reads a cluster. Its error is that nothing could be read at all.
func Look(ctx context.Context, api API) (Seen, error) {
	s := Seen{Unread: map[string]error{}}
	version, err := api.Get(ctx, kube.Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "clusterversions", Name: "version"})
	if err != nil {
		return s, fmt.Errorf("read the ClusterVersion: %w", err)
	}
	s.ClusterID, s.Version = evidence.String(version, "spec", "clusterID"), evidence.String(version, "status", "desired", "version")
	if c := conditionOf(version, "Progressing"); c["status"] == "True" {
		s.Updating = orText(evidence.String(c, "message"), "it says no more")
	}
	one := func(what string, into *kube.Object, r kube.Ref) {
		o, err := api.Get(ctx, r)
		if err != nil {
			s.Unread[what] = err
			return
		}
		*into = o
	}
	all := func(what string, into *[]kube.Object, r kube.Ref) {
		list, err := api.List(ctx, r)
		if err != nil {
			s.Unread[what] = err
			return
		}
		*into = list
	}
	var infrastructure kube.Object
	one("infrastructure", &infrastructure, kube.Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "infrastructures", Name: "cluster"})
	s.Platform = evidence.String(infrastructure, "status", "platformStatus", "type")
	if s.Platform == "" {
		s.Platform = evidence.String(infrastructure, "status", "platform")
	}
	s.Topology = evidence.String(infrastructure, "status", "controlPlaneTopology")
	one("provisioning", &s.Provisioning, kube.Ref{Group: openshift.Metal3Group, Version: "v1alpha1", Resource: "provisionings", Name: provisioningName})
	one("metal3", &s.Metal3, kube.Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: Namespace, Name: "metal3"})
	all("hosts", &s.Hosts, hostRef(""))
	all("machines", &s.Machines, machineRef(""))
	all("machinesets", &s.Sets, setRef(""))
	all("nodes", &s.Nodes, kube.Ref{Version: "v1", Resource: "nodes"})
	all("autoscalers", &s.Scalers, kube.Ref{Group: "autoscaling.openshift.io", Version: "v1beta1", Resource: "machineautoscalers", Namespace: Namespace})
	all("healthchecks", &s.HealthChecks, kube.Ref{Group: openshift.MachineGroup, Version: "v1beta1", Resource: "machinehealthchecks", Namespace: Namespace})
	one("approver", &s.Approver, kube.Ref{Version: "v1", Resource: "configmaps", Namespace: openshift.MachineApproverNamespace,
		Name: "machine-approver-config"})
	one("approver runs", &s.ApproverRuns, kube.Ref{Group: "apps", Version: "v1", Resource: "deployments", Namespace: openshift.MachineApproverNamespace,
		Name: "machine-approver"})
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case apierrors.IsNotFound(s.Unread["hosts"]):
		s.NoMetal3 = "its API has no BareMetalHosts"
	case apierrors.IsNotFound(s.Unread["provisioning"]):
		s.NoMetal3 = "it has no Provisioning " + provisioningName + ": metal3 does not run"
	}
	return s, nil
}

// absent says that something was looked for and is not there.
func (s Seen) absent(what string) bool { return apierrors.IsNotFound(s.Unread[what]) }

// unknown says why something is not known; "" it is.
func (s Seen) unknown(what string) string {
	if err := s.Unread[what]; err != nil && !apierrors.IsNotFound(err) {
		return err.Error()
	}
	return ""
}

// Blind is why a cluster cannot be judged at all: its BareMetalHosts were not read.
func (s Seen) Blind() error {
	if err := s.Unread["hosts"]; err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("list the BareMetalHosts in %s: %w", Namespace, err)
	}
	if err := s.Unread["provisioning"]; err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("read Provisioning %s: %w", provisioningName, err)
	}
	return nil
}

// host is what is looked at of a BareMetalHost.
type host struct {
	name, uid   string
	state       string // status.provisioning.state
	errorType   string
	errorText   string
	errorCount  int64
	consumer    string // name of the Machine, "" where there is none
	foreign     bool   // something else than a Machine of this namespace consumes it
	online      bool
	external    bool
	deleting    bool
	paused      bool
	detached    bool
	operational string
	hostname    string // at its inspection
	ips         []string
	labels      map[string]string
	bootMode    string
	run         string // that made it
}

func hostOf(o kube.Object) host {
	h := host{
		name: evidence.String(o, "metadata", "name"), uid: evidence.String(o, "metadata", "uid"),
		state:     evidence.String(o, "status", "provisioning", "state"),
		errorType: evidence.String(o, "status", "errorType"), errorText: evidence.String(o, "status", "errorMessage"),
		errorCount:  number(evidence.Field(o, "status", "errorCount")),
		consumer:    evidence.String(o, "spec", "consumerRef", "name"),
		online:      evidence.Field(o, "spec", "online") == true,
		external:    evidence.Field(o, "spec", "externallyProvisioned") == true,
		deleting:    evidence.String(o, "metadata", "deletionTimestamp") != "",
		operational: evidence.String(o, "status", "operationalStatus"),
		hostname:    evidence.String(o, "status", "hardware", "hostname"),
		labels:      texts(evidence.Field(o, "metadata", "labels")),
		bootMode:    evidence.String(o, "status", "provisioning", "bootMode"),
		run:         evidence.String(o, "metadata", "annotations", RunAnnotation),
	}
	annotations, _ := evidence.Field(o, "metadata", "annotations").(map[string]any)
	_, h.paused = annotations[metal3.PausedAnnotation]
	_, h.detached = annotations[metal3.DetachedAnnotation]
	if h.consumer != "" {
		h.foreign = evidence.String(o, "spec", "consumerRef", "kind") != "Machine" ||
			evidence.String(o, "spec", "consumerRef", "namespace") != Namespace ||
			!strings.HasPrefix(evidence.String(o, "spec", "consumerRef", "apiVersion"), openshift.MachineGroup+"/")
	}
	nics, _ := evidence.Field(o, "status", "hardware", "nics").([]any)
	for _, n := range nics {
		m, _ := n.(map[string]any)
		if ip := evidence.String(m, "ip"); ip != "" && !slices.Contains(h.ips, ip) {
			h.ips = append(h.ips, ip)
		}
	}
	return h
}

// free says that a Machine can take the host (actuator.go chooseHost).
func (h host) free() bool {
	return h.consumer == "" && !h.deleting && (h.state == "available" || h.state == "ready") && h.errorText == "" && !h.external
}

func number(v any) int64 {
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	case int:
		return int64(n)
	}
	return 0
}

func texts(v any) map[string]string {
	m, _ := v.(map[string]any)
	all := map[string]string{}
	for k, x := range m {
		if s, is := x.(string); is {
			all[k] = s
		}
	}
	return all
}

func timeOf(o kube.Object, path ...string) time.Time {
	at, _ := time.Parse(time.RFC3339, evidence.String(o, path...)) // zero where there is none
	return at
}

var errGone = errors.New("it is gone")

// ClusterID is the id of the ClusterVersion.
func ClusterID(ctx context.Context, api API) (string, error) {
	o, err := api.Get(ctx, kube.Ref{Group: openshift.ConfigGroup, Version: "v1", Resource: "clusterversions", Name: "version"})
	if err != nil {
		return "", fmt.Errorf("read the ClusterVersion: %w", err)
	}
	return evidence.String(o, "spec", "clusterID"), nil
}
