package cmdutil

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/session"
)

// noon is the time of the tests.
var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// surroundings are what a test gives to a frame and takes from it.
type surroundings struct {
	out, err bytes.Buffer
	env      map[string]string
	screen   Screen
}

// frame is a frame in surroundings.
func (s *surroundings) frame() *App {
	return New("rollcall", IO{
		In: &bytes.Buffer{}, Out: &s.out, Err: &s.err, Clock: func() time.Time { return noon }, Screen: s.screen, Completion: time.Minute,
		Getenv: func(name string) string { return s.env[name] },
	})
}

// objects is a cluster as a file of objects: `oc get ... -o yaml`. One name is what a shell would
// run.
const objects = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: m0}}
- {apiVersion: v1, kind: Node, metadata: {name: m1}}
- {apiVersion: v1, kind: Node, metadata: {name: worker.example.com}}
- {apiVersion: metal3.io/v1alpha1, kind: BareMetalHost, metadata: {name: bm0, namespace: openshift-machine-api}}
- {apiVersion: metal3.io/v1alpha1, kind: BareMetalHost, metadata: {name: elsewhere, namespace: default}}
- {apiVersion: machine.openshift.io/v1beta1, kind: Machine, metadata: {name: machine-m0, namespace: openshift-machine-api}}
- {apiVersion: machineconfiguration.openshift.io/v1, kind: MachineConfigPool, metadata: {name: master}}
- {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: csr-1}}
- {apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: "csr-2;reboot"}}
- {apiVersion: config.openshift.io/v1, kind: ClusterOperator, metadata: {name: etcd}}
`

// cluster are options that read objects.
func cluster(t *testing.T) *session.Options {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	if err := os.WriteFile(file, []byte(objects), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options()
	o.From = []string{file}
	return &o
}
