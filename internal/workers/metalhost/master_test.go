package metalhost

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// controlWorld has three control-plane hosts by metal3, of which the installer has made the first.
func controlWorld() *world {
	w := newWorld()
	put := func(resource, name string, o kube.Object) {
		meta, _ := o["metadata"].(map[string]any)
		if meta == nil {
			meta = map[string]any{}
			o["metadata"] = meta
		}
		meta["name"] = name
		w.put(resource, o)
	}
	for i := range 3 {
		name, ip := fmt.Sprintf("m%d", i), fmt.Sprintf("192.0.2.1%d", i)
		machine := "lark-master-" + name[1:]
		put("nodes", name, kube.Object{"metadata": map[string]any{"labels": map[string]any{"node-role.kubernetes.io/master": ""}}, "status": map[string]any{
			"addresses":  []any{map[string]any{"type": "InternalIP", "address": ip}},
			"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
		put("machines", machine, kube.Object{"metadata": map[string]any{"labels": map[string]any{"machine.openshift.io/cluster-api-machine-role": "master",
			"machine.openshift.io/cluster-api-cluster": "lark"}},
			"spec":   map[string]any{"providerSpec": map[string]any{"value": map[string]any{"kind": "BareMetalMachineProviderSpec", "hostSelector": map[string]any{}}}},
			"status": map[string]any{"phase": "Running", "nodeRef": map[string]any{"name": name}}})
		put("baremetalhosts", name, kube.Object{"spec": map[string]any{"online": true, "externallyProvisioned": true, "bootMACAddress": "52:54:00:aa:00:0" + name[1:],
			"bmc":         map[string]any{"address": "redfish-virtualmedia://198.51.100.1" + name[1:] + "/redfish/v1/Systems/1", "credentialsName": name + "-bmc-secret"},
			"consumerRef": map[string]any{"kind": "Machine", "name": machine, "namespace": Namespace, "apiVersion": "machine.openshift.io/v1beta1"}},
			"status": map[string]any{"provisioning": map[string]any{"state": "externally provisioned"}}})
	}
	put("etcds", "cluster", kube.Object{"status": map[string]any{"conditions": []any{
		map[string]any{"type": "EtcdMembersAvailable", "status": "True", "message": "3 members are available"},
		map[string]any{"type": "EtcdMembersDegraded", "status": "False", "message": "No unhealthy members found"}},
		"nodeStatuses": []any{map[string]any{"nodeName": "m0", "currentRevision": 5}}}})
	put("configmaps", "etcd-endpoints", kube.Object{"data": map[string]any{"8d5abe9669a39192": "192.0.2.11", "7a8197040a5126c8": "192.0.2.10"}})
	put("machineconfigpools", "master", kube.Object{"status": map[string]any{"configuration": map[string]any{"name": "rendered-master-1"}}})
	put("secrets", masterUserData, kube.Object{})
	return w
}

// members sets what the etcd operator reports.
func (w *world) members(available, message string) {
	w.field("etcds/cluster", []any{map[string]any{"type": "EtcdMembersAvailable", "status": available, "message": message}}, "status", "conditions")
}

func masterPlan(t *testing.T, w *world, to NewMaster, minor int) MasterPlan {
	t.Helper()
	seen, err := Look(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	m, err := seen.Find("m1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := LookControl(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return seen.MasterPlan(c, m, to, minor, minor > 0)
}

// text is the whole plan.
func (p MasterPlan) text() string {
	var all []string
	for _, s := range p.Steps {
		all = append(append(append(append(all, s.Do), s.Lines...), s.Run...), s.Guard...)
		all = append(all, s.Expect, s.If)
	}
	return strings.Join(append(all, p.Unknown...), "\n")
}

// TestMasterWays: each way has its steps in the order of the documentation, with the names of this cluster.
func TestMasterWays(t *testing.T) {
	noMachines := func(w *world) {
		for i := range 3 {
			delete(w.objects, fmt.Sprintf("machines/lark-master-%d", i))
			delete(w.objects, fmt.Sprintf("baremetalhosts/m%d", i))
		}
	}
	noBMC := func(w *world) { w.field("baremetalhosts/m1", map[string]any{}, "spec", "bmc") }
	for _, tt := range []struct {
		name   string
		change func(*world)
		to     NewMaster
		minor  int
		way    Way
		steps  int
		want   []string // in this order
		not    []string
	}{
		{"metal3", func(*world) {}, NewMaster{}, 20, ByBMC, 10, []string{
			"oc debug node/m0", "ssh core@192.0.2.10", `patch bmh m1 --type=merge -p '{"spec":{"online":false}}'`, "2 of 3 members are available, m1 is unhealthy",
			"exec etcd-m0 -c etcdctl -- etcdctl member remove 8d5abe9669a39192", override, "delete secret etcd-peer-m1 etcd-serving-m1 etcd-serving-metrics-m1",
			"delete machines.machine.openshift.io lark-master-1", "delete bmh m1", "externallyProvisioned: false", "create secret generic m1-bmc-secret",
			"metal3.io/BareMetalHost: openshift-machine-api/m1", "cluster-api-cluster: lark", "name: lark-master-3", "method: install_coreos",
			"hook EtcdQuorumOperator", "3 members, all started", `{"spec":{"unsupportedConfigOverrides":null}}`, "AllNodesAtLatestRevision",
		}, []string{"member add", "MEMBER_ID", "BMC_ADDRESS", "--subresource=status"}},
		{"metal3, another host", func(*world) {}, NewMaster{Name: "m9", BMC: "redfish-virtualmedia://198.51.100.19/redfish/v1/Systems/1", MAC: "52:54:00:aa:00:09"}, 20,
			ByBMC, 10, []string{"this step can be left out", "Add rootDeviceHints", "name: m9", "redfish-virtualmedia://198.51.100.19",
				"bootMACAddress: 52:54:00:aa:00:09", "create secret generic m9-bmc-secret"}, []string{"52:54:00:aa:00:01"}},
		{"metal3, another host of which nothing is known", func(*world) {}, NewMaster{Name: "m9"}, 20, ByBMC, 10, []string{"address: BMC_ADDRESS",
			"bootMACAddress: BOOT_MAC", "BMC_ADDRESS: address of the BMC of the new host"}, []string{"52:54:00:aa:00:01"}},
		{"metal3, 4.16", func(*world) {}, NewMaster{}, 16, ByBMC, 10, []string{"and makes no certificates while a member is missing"}, nil},
		{"the member is not listed", func(w *world) { delete(w.objects, "configmaps/etcd-endpoints") }, NewMaster{}, 20, ByBMC, 10,
			[]string{"member remove MEMBER_ID", "MEMBER_ID: the ID of its member"}, nil},
		{"no BMC", noBMC, NewMaster{}, 20, ByImage, 11, []string{"Switch the host off for good", override, "member remove 8d5abe9669a39192", "externallyProvisioned: true",
			"coreos-installer iso customize", "csr approve CSR --expect m1=192.0.2.11", "/BMH_UID", "--subresource=status",
			"member add m1 --peer-urls=https://192.0.2.11:2380", "single-master-recovery", `{"unsupportedConfigOverrides":null}`}, []string{"online\":false", "\nUID="}},
		{"no BMC, another host", noBMC, NewMaster{Name: "m9", MAC: "52:54:00:aa:00:09"}, 20, ByImage, 11, []string{"bootMACAddress: 52:54:00:aa:00:09",
			"m9=IP", "member add m9 --peer-urls=https://IP:2380", "IP: the address of the new Node"}, []string{"https://192.0.2.11"}},
		{"no Machines", noMachines, NewMaster{}, 16, ByHand, 9, []string{override, "member remove 8d5abe9669a39192", "oc delete node m1", "coreos-installer iso customize",
			"the operator adds the member"}, []string{"member add", "lark-master", "delete bmh"}},
		{"another provider", func(w *world) {
			delete(w.objects, "baremetalhosts/m1")
			delete(w.objects, "provisionings/provisioning-configuration")
			w.field("infrastructures/cluster", "VSphere", "status", "platformStatus", "type")
			w.field("machines/lark-master-1", map[string]any{"kind": "VSphereMachineProviderSpec", "numCPUs": float64(4)}, "spec", "providerSpec", "value")
		}, NewMaster{}, 20, ByProvider, 9, []string{"member remove", "delete machines.machine.openshift.io lark-master-1", "kind: VSphereMachineProviderSpec", "numCPUs: 4"},
			[]string{"bmh", "install_coreos"}},
		{"a ControlPlaneMachineSet", func(w *world) {
			w.put("controlplanemachinesets", kube.Object{"metadata": map[string]any{"name": "cluster"}, "spec": map[string]any{"state": "Active"}})
		}, NewMaster{}, 20, BySet, 3, []string{"ControlPlaneMachineSet cluster makes a new one", "delete machines.machine.openshift.io lark-master-1"},
			[]string{"member remove", override}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := controlWorld()
			tt.change(w)
			p := masterPlan(t, w, tt.to, tt.minor)
			text := p.text()
			if p.Way != tt.way || len(p.Steps) != tt.steps || w.writings > 0 {
				t.Fatalf("%s with %d steps, writes %v: %v", p.Way, len(p.Steps), w.writes, p.Checks)
			}
			at := 0
			for _, want := range tt.want {
				i := strings.Index(text[at:], want)
				if i < 0 {
					t.Errorf("want %q after %d in\n%s", want, at, text)
					continue
				}
				at += i
			}
			for _, not := range tt.not {
				if strings.Contains(text, not) {
					t.Errorf("%q is in\n%s", not, text)
				}
			}
			for i, s := range p.Steps {
				if len(s.Guard) == 0 || s.Expect == "" {
					t.Errorf("step %d has nothing to check", i+1)
				}
				for _, g := range s.Guard {
					if word := strings.Fields(g + " "); slices.Contains(word, "patch") || slices.Contains(word, "delete") || slices.Contains(word, "create") {
						t.Errorf("step %d: a check writes: %s", i+1, g)
					}
				}
			}
		})
	}
}

// TestMasterRefused: nothing is planned where no member can be spared, or where that is not known.
func TestMasterRefused(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no permission"))
	for _, tt := range []struct {
		name   string
		change func(*world)
		minor  int
		want   string
		how    fault.Outcome
		plans  bool
	}{
		{"its member is unhealthy", func(w *world) { w.members("True", "2 of 3 members are available, m1 is unhealthy") }, 20, "the one that is not is that of this host", fault.Absent, true},
		{"all are healthy", func(*world) {}, 20, "that of this host as well", fault.Present, true},
		{"another is unhealthy", func(w *world) { w.members("True", "2 of 3 members are available, m2 is unhealthy") }, 20, "m2 is not. Repair that one first", fault.Present, false},
		{"another has not started", func(w *world) { w.members("True", "2 of 3 members are available, m2 has not started") }, 20, "m2 is not. Repair", fault.Present, false},
		{"two are unhealthy", func(w *world) { w.members("True", "3 of 5 members are available, m1 is unhealthy, m2 is unhealthy") }, 20, "m2 is not", fault.Present, false},
		{"no quorum", func(w *world) { w.members("False", "1 of 3 members are available, m1 is unhealthy, m2 is unhealthy") }, 20, "etcd has no quorum", fault.Present, false},
		{"two members", func(w *world) { w.members("True", "2 members are available") }, 20, "none can be replaced in this way", fault.Present, false},
		{"words that are not known", func(w *world) { w.members("True", "all is well") }, 20, `EtcdMembersAvailable is "all is well"`, fault.Unknown, false},
		{"which one is not shown", func(w *world) { w.members("True", "2 of 3 members are available") }, 20, "which ones are not is not shown", fault.Unknown, false},
		{"old words", func(w *world) {
			w.field("etcds/cluster", []any{map[string]any{"type": "EtcdMembersControllerDegraded", "status": "True"}}, "status", "conditions")
		}, 20, "what it reports is old", fault.Present, false},
		{"etcd is not read", func(w *world) { w.refuse["get etcds"] = forbidden }, 20, "the health of etcd", fault.Unknown, false},
		{"a single node", func(w *world) { w.field("infrastructures/cluster", "SingleReplica", "status", "controlPlaneTopology") }, 20, "is SingleReplica", fault.Present, false},
		{"another master is away", func(w *world) {
			w.field("nodes/m2", []any{map[string]any{"type": "Ready", "status": "Unknown"}}, "status", "conditions")
		}, 20, "another control-plane Node is not Ready: m2", fault.Present, false},
		{"a revision is installed", func(w *world) {
			w.field("etcds/cluster", []any{map[string]any{"nodeName": "m2", "currentRevision": 5, "targetRevision": 6}}, "status", "nodeStatuses")
		}, 20, "a revision of etcd is being installed on m2", fault.Present, false},
		{"an update", func(w *world) {
			w.field("clusterversions/version", []any{map[string]any{"type": "Progressing", "status": "True", "message": "Working"}}, "status", "conditions")
		}, 20, "an update of the cluster is under way", fault.Present, false},
		{"the guard is off", func(w *world) { w.field("etcds/cluster", true, "spec", "unsupportedConfigOverrides", override) }, 20, "is off already", fault.Present, true},
		{"no metal3", func(w *world) { w.field("deployments/metal3", 0, "status", "availableReplicas") }, 20, "has no pod that is available", fault.Present, false},
		{"no BMC before 4.19", func(w *world) { w.field("baremetalhosts/m1", map[string]any{}, "spec", "bmc") }, 18, "documents this from 4.19 on", fault.Present, false},
		{"no BMC, a version that is not known", func(w *world) { w.field("baremetalhosts/m1", map[string]any{}, "spec", "bmc") }, 0, "whether the documentation of this version", fault.Unknown, false},
		{"no user data", func(w *world) { delete(w.objects, "secrets/"+masterUserData) }, 20, "there is no Secret " + masterUserData, fault.Present, false},
		{"sets that are not read", func(w *world) { w.refuse["list controlplanemachinesets"] = forbidden }, 20, "whether a ControlPlaneMachineSet", fault.Unknown, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := controlWorld()
			tt.change(w)
			p := masterPlan(t, w, NewMaster{}, tt.minor)
			found := slices.ContainsFunc(p.Checks, func(c Check) bool { return c.Outcome == tt.how && strings.Contains(c.Text, tt.want) })
			if !found || (len(p.Steps) > 0) != tt.plans {
				t.Errorf("%d steps, want %q in %v", len(p.Steps), tt.want, p.Checks)
			}
		})
	}
}

func TestNextName(t *testing.T) {
	all := []machine{{name: "lark-master-0"}, {name: "lark-master-7"}, {name: "lark-worker-9"}}
	for name, want := range map[string]string{"lark-master-0": "lark-master-8", "lark-worker-9": "lark-worker-10", "control": "control-1"} {
		if got := nextName(name, all); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	n := NewMaster{MAC: "52:54:00:AA:00:09"}
	if err := n.Check(); err != nil || n.MAC != "52:54:00:aa:00:09" || n.Name != "" || n.BMC != "" {
		t.Errorf("%v %+v", err, n)
	}
	for _, bad := range []NewMaster{{Name: "M 9"}, {BMC: "redfish://root:PLANTEDhunter2@192.0.2.1/x"}, {MAC: "x"}} {
		if err := bad.Check(); err == nil || strings.Contains(err.Error(), "PLANTED") {
			t.Errorf("%v", err)
		}
	}
}
