package fault_test

import (
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// nonEdges are effects that are often claimed and that do not exist: what the cause stops
// is not what the effect needs. No path of certain or likely edges may lead from one to
// the other.
var nonEdges = []struct {
	why     string
	causes  []string
	effects []string
}{
	{
		"the machine approver, the controller manager that signs, etcd and the machine config server run with hostNetwork: they need no cluster network (openshift/cluster-machine-approver manifests/04-deployment.yaml; openshift/cluster-kube-controller-manager-operator bindata/assets/kube-controller-manager/pod.yaml; openshift/machine-config-operator manifests/machineconfigserver/daemonset.yaml)",
		[]string{"network-plugin-not-ready", "multus-not-running", "ovnkube-node-not-running", "ovnkube-node-missing", "network-operator-degraded", "network-rollout-hung"},
		[]string{"csr-approver-not-running", "csr-approved-not-issued", "csr-signer-failed", "kcm-no-leader", "etcd-not-started", "etcd-no-quorum", "mcs-not-running", "mcs-refused"},
	},
	{
		"one controller of the network operator compares the VIPs with the machine networks, and only sets a condition (openshift/cluster-network-operator pkg/controller/infrastructureconfig)",
		[]string{"vip-not-in-machine-network"},
		[]string{"network-plugin-not-ready", "multus-not-running", "ovnkube-node-not-running", "node-not-ready", "bmh-inspection-error", "bmh-inspection-stuck", "kubelet-certificate-missing"},
	},
	{
		"the inspection ramdisk and Ironic use the network of the hosts (openshift/cluster-baremetal-operator provisioning/baremetal_pod.go, hostNetwork)",
		[]string{"network-operator-degraded", "network-plugin-not-ready", "network-rollout-hung", "vip-not-in-machine-network"},
		[]string{"bmh-inspection-error", "bmh-inspection-stuck", "inspection-ramdisk-failed", "ramdisk-nic-driver-failed", "ramdisk-transceiver-unreadable"},
	},
	{
		"a degraded ClusterOperator is a report (openshift/cluster-version-operator pkg/cvo/internal/operatorstatus.go): it stops no host",
		[]string{"operator-degraded", "operator-condition-degraded", "machine-config-operator-degraded", "network-operator-degraded"},
		[]string{"bmh-inspection-error", "bmh-provisioning-error", "kubelet-certificate-missing", "ignition-fetch-500", "etcd-no-quorum", "kcm-no-leader", "host-name-localhost"},
	},
}

// A guard pod without its member leads to no leader of the controller manager only where
// quorum was lost, too, which is seen by itself (openshift/library-go
// pkg/operator/staticpod/controller/guard).
func TestMemberWithoutQuorum(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"etcd-operand-gone", "etcd-member-unhealthy", "etcd-not-fault-tolerant"} {
		f, ok := c.Fault(id)
		if !ok {
			t.Fatalf("there is no fault %s", id)
		}
		for _, e := range f.Explains {
			if e.Fault == "kcm-no-leader" && e.Strength != fault.PossibleEdge {
				t.Errorf("%s leads to kcm-no-leader without the quorum being lost", id)
			}
		}
	}
}

func TestNonEdges(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nonEdges {
		for _, cause := range n.causes {
			reached := effectsOf(t, c, cause)
			for _, effect := range n.effects {
				if _, ok := c.Fault(effect); !ok {
					t.Errorf("there is no fault %s", effect)
				}
				if path, ok := reached[effect]; ok {
					t.Errorf("%v leads to %s, but %s", path, effect, n.why)
				}
			}
		}
	}
}

// effectsOf returns every fault that certain and likely edges lead to, with the path.
func effectsOf(t *testing.T, c *fault.Catalog, cause string) map[string][]string {
	t.Helper()
	reached := map[string][]string{}
	queue := [][]string{{cause}}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		f, ok := c.Fault(path[len(path)-1])
		if !ok {
			t.Errorf("there is no fault %s", path[len(path)-1])
			continue
		}
		for _, e := range f.Explains {
			if _, seen := reached[e.Fault]; seen || e.Strength == fault.PossibleEdge {
				continue
			}
			next := append(append([]string{}, path...), e.Fault)
			reached[e.Fault] = next
			queue = append(queue, next)
		}
	}
	return reached
}
