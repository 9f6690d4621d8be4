package logbundle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/logbundle"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

const bundleTree = `
-- log-bundle-20260102101112/bootstrap/journals/bootkube.log --
Jan 02 10:00:01 boot bootkube.sh[7]: Waiting for etcd
-- log-bundle-20260102101112/bootstrap/journals/journal.log --
Jan 02 10:00:02 boot kubelet[1]: of the kubelet
Jan 02 10:00:03 boot crio[2]: of cri-o
-- log-bundle-20260102101112/control-plane/192.0.2.5/journals/kubelet.log --
Jan 02 10:10:00 control1 hyperkube[9]: not registered
-- log-bundle-20260102101112/bootstrap/containers/machine-config-server-0123456789abcdef.log --
I0102 10:09:00.000000 1 api.go:1] Pool master requested
-- log-bundle-20260102101112/bootstrap/containers/machine-config-server-0123456789abcdef.inspect --
{"status": {"labels": {"io.kubernetes.container.name": "machine-config-server", "io.kubernetes.pod.name": "bootstrap-machine-config-operator-boot", "io.kubernetes.pod.namespace": "openshift-machine-config-operator"}}}
-- log-bundle-20260102101112/resources/nodes.json --
-- log-bundle-20260102101112/resources/clusteroperators.json --
{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": {"name": "dns"}}]}
-- log-bundle-20260102101112/resources/csr.json --
{"apiVersion": "v1", "kind": "List", "items": []}
-- log-bundle-20260102101112/serial/c-master-0-serial.log --
login:
`

func TestLogBundle(t *testing.T) {
	s := layouttest.Open(t, bundleTree)
	layouttest.IsKind(t, s, logbundle.Kind, "2026-01-02T10:10:00Z")
	if got := layouttest.Names(t, s, evidence.ClusterOperators, ""); !slices.Equal(got, []string{"dns"}) {
		t.Errorf("operators are %v", got)
	}
	for _, r := range []evidence.Resource{evidence.Nodes, evidence.CSRs} { // 0 bytes; a List that does not say of what
		if _, err := s.List(t.Context(), r, ""); layouttest.Why(t, err) != evidence.NotCollected {
			t.Errorf("List(%s): %v, want not collected", r, err)
		}
	}
	if got, want := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet"}),
		"Jan 02 10:00:02 boot kubelet[1]: of the kubelet\n\nJan 02 10:10:00 control1 hyperkube[9]: not registered\n"; got != want {
		t.Errorf("the kubelets say %q, want %q", got, want)
	}
	q := evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-machine-config-operator", Container: "machine-config-server"}
	if got := layouttest.Lines(t, s, q); !strings.Contains(got, "Pool master requested") {
		t.Errorf("the machine config server's log is %q", got)
	}
	if got := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Console, Host: "c-master-0"}); got != "login:\n" {
		t.Errorf("the console shows %q", got)
	}
	_, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.Journal, Unit: "nodeip-configuration"})
	if err != nil { // the whole journal may have it
		t.Errorf("a unit that only the whole journal may have: %v", err)
	}
}

// TestBundleMachines: each directory of a log bundle's control plane is a machine, by
// its name or, where that is localhost, by its address.
func TestBundleMachines(t *testing.T) {
	const root = "log-bundle-20260102101112/control-plane/"
	s := layouttest.Open(t, bundleTree+"-- "+root+"192.0.2.6/network/hostname.txt --\nlocalhost\n-- "+root+"192.0.2.6/journals/kubelet.log --\nJan 02 "+
		"10:10:00 localhost kubelet[9]: a\n"+
		"-- "+root+"192.0.2.7/journals/kubelet.log --\nJan 02 10:10:00 localhost kubelet[9]: a\n"+
		"-- "+root+"192.0.2.8/journals/kubelet.log --\nJan 02 10:10:00 localhost kubelet[9]: a\nJan 02 10:11:00 control4 kubelet[9]: a\n")
	got := layouttest.Machines[onhost.Identity](t, s, evidence.HostIdentities)
	for name, want := range map[string]onhost.Identity{
		"control1": {Hostname: "control1", Addresses: []string{"192.0.2.5"}}, "192.0.2.6": {Hostname: "localhost", Addresses: []string{"192.0.2.6"}},
		"192.0.2.7": {Addresses: []string{"192.0.2.7"}}, "control4": {Hostname: "control4", Addresses: []string{"192.0.2.8"}},
	} {
		if id, ok := got[name]; !ok || id.Hostname != want.Hostname || !slices.Equal(id.Addresses, want.Addresses) {
			t.Errorf("%s: %+v", name, id)
		}
	}
	if len(got) != 4 {
		t.Errorf("%d machines, want 4", len(got))
	}
}
