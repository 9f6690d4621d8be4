package metalhost

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
)

func replaceChecks(t *testing.T, w *world, e Exchange) []Check {
	t.Helper()
	seen, e := exchange(t, w, e)
	checks, err := seen.ReplaceChecks(t.Context(), w, e, start)
	if err != nil {
		t.Fatal(err)
	}
	tried, err := TryDelete(t.Context(), w, e)
	if err != nil {
		t.Fatal(err)
	}
	return append(checks, tried...)
}

// onW0 is a pod of a ReplicaSet on w0.
func onW0(namespace, name string, change func(map[string]any)) kube.Object {
	o := kube.Object{"metadata": map[string]any{"name": name, "namespace": namespace, "labels": map[string]any{"app": name}, "ownerReferences": []any{
		map[string]any{"kind": "ReplicaSet", "name": "r", "controller": true}}}, "spec": map[string]any{"nodeName": "w0"},
		"status": map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}}
	if change != nil {
		change(o)
	}
	return o
}

func budget(name, app string, allowed int) kube.Object {
	return kube.Object{"metadata": map[string]any{"name": name, "namespace": "shop", "generation": 1}, "spec": map[string]any{"selector": map[string]any{
		"matchLabels": map[string]any{"app": app}}}, "status": map[string]any{"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 1,
		"desiredHealthy": 1, "expectedPods": 1}}
}

func router(name, node string) kube.Object {
	return onW0("openshift-ingress", name, func(o map[string]any) {
		o["metadata"].(map[string]any)["labels"] = map[string]any{"ingresscontroller.operator.openshift.io/deployment-ingresscontroller": "default"}
		o["spec"].(map[string]any)["nodeName"] = node
	})
}

func volume(node string) kube.Object {
	return kube.Object{"metadata": map[string]any{"name": "local-1"}, "spec": map[string]any{"claimRef": map[string]any{"namespace": "shop", "name": "data"},
		"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{"matchExpressions": []any{map[string]any{
			"key": "kubernetes.io/hostname", "operator": "In", "values": []any{node}}}}}}}}}
}

func TestReplaceChecks(t *testing.T) {
	host, set, machine := "baremetalhosts/w0", "machinesets/lark-worker-0", "machines/lark-worker-0-aaaaa"
	names := func(w *world) {
		for _, n := range []string{"w0", "w1"} {
			w.field("nodes/"+n, n, "metadata", "labels", "kubernetes.io/hostname")
		}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no permission"))
	for _, tt := range []struct {
		name   string
		change func(*world, *Exchange)
		stops  bool
		want   string
		how    fault.Outcome
	}{
		{"all is well", func(*world, *Exchange) {}, false, "can take no other host than w0", fault.Absent},
		{"the deletion is tried", func(*world, *Exchange) {}, false, "(dry run): delete Machine lark-worker-0-aaaaa", fault.Absent},
		{"no metal3", func(w *world, _ *Exchange) { w.field("deployments/metal3", 0, "status", "availableReplicas") }, true, "has no pod that is available", fault.Present},
		{"externally provisioned", func(w *world, _ *Exchange) { w.field(host, true, "spec", "externallyProvisioned") }, true, "is externally provisioned", fault.Present},
		{"paused", func(w *world, _ *Exchange) {
			w.field(host, map[string]any{"baremetalhost.metal3.io/paused": ""}, "metadata", "annotations")
		}, true, "is paused: metal3 does not clean it", fault.Present},
		{"still being installed", func(w *world, _ *Exchange) { w.field(host, "provisioning", "status", "provisioning", "state") }, true, "is provisioning: only one that is provisioned", fault.Present},
		{"an error of metal3", func(w *world, _ *Exchange) { w.field(host, "power management error", "status", "errorType") }, true, "the BMC does not switch the host", fault.Present},
		{"an error, and another host", func(w *world, e *Exchange) {
			w.spare("w9")
			e.With = "w9"
			w.field(host, "registration error", "status", "errorType")
		}, true, "With --delete-old-host", fault.Present},
		{"an error, another host, and the old one goes", func(w *world, e *Exchange) {
			w.spare("w9")
			e.With, e.Drop = "w9", true
			w.field(host, "registration error", "status", "errorType")
		}, false, "it is deleted after the drain", fault.Present},
		{"no MachineSet", func(w *world, _ *Exchange) { w.field(machine, []any{}, "metadata", "ownerReferences") }, true, "no MachineSet is the controller", fault.Present},
		{"too many Machines", func(w *world, _ *Exchange) { w.field(set, 0, "spec", "replicas") }, true, "it would make no new one", fault.Present},
		{"too few Machines", func(w *world, _ *Exchange) { w.field(set, 2, "spec", "replicas") }, true, "it makes others at this moment", fault.Present},
		{"a selector that the host does not match", func(w *world, _ *Exchange) {
			w.field(set, map[string]any{"matchLabels": map[string]any{"rack": "a"}}, "spec", "template", "spec", "providerSpec", "value", "hostSelector")
		}, true, "takes only hosts with the labels rack=a", fault.Present},
		{"a spare", func(w *world, _ *Exchange) { w.spare("w9") }, true, "Where that is meant: --with w9", fault.Present},
		{"a spare that is meant", func(w *world, e *Exchange) { w.spare("w9"); e.With = "w9" }, false, "no other host than w9", fault.Absent},
		{"two spares", func(w *world, e *Exchange) { w.spare("w8"); w.spare("w9"); e.With = "w9" }, true, "or w9, at random", fault.Present},
		{"a host that is not there", func(_ *world, e *Exchange) { e.With = "w9" }, true, "host add w9 --no-scale", fault.Present},
		{"a host that is not available", func(w *world, e *Exchange) {
			w.spare("w9")
			w.field("baremetalhosts/w9", "inspecting", "status", "provisioning", "state")
			e.With = "w9"
		}, true, "BareMetalHost w9 is not available", fault.Present},
		{"a host whose name a Node has", func(w *world, e *Exchange) {
			w.spare("w9")
			w.field("baremetalhosts/w9", "W1.example.com", "status", "hardware", "hostname")
			e.With = "w9"
		}, true, "there is a Node W1.example.com already", fault.Present},
		{"a Node that the Machine does not refer to", func(w *world, _ *Exchange) {
			w.field(machine, map[string]any{}, "status", "nodeRef")
			w.field("nodes/w0", map[string]any{"machine.openshift.io/machine": "openshift-machine-api/lark-worker-0-aaaaa"}, "metadata", "annotations")
		}, true, "does not refer to Node w0", fault.Present},
		{"one that will be available", func(w *world, _ *Exchange) {
			w.spare("w9")
			w.field("baremetalhosts/w9", "inspecting", "status", "provisioning", "state")
		}, false, "not available yet: BareMetalHost w9", fault.Present},
		{"another Machine waits", func(w *world, _ *Exchange) {
			w.put("machines", kube.Object{"metadata": map[string]any{"name": "other"}, "spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{
				"kind": "BareMetalMachineProviderSpec"}}}, "status": map[string]any{}})
		}, true, "Machine other waits for a host", fault.Present},
		{"a hook", func(w *world, _ *Exchange) {
			w.field(machine, map[string]any{"preDrain": []any{map[string]any{"name": "Keep", "owner": "me"}}}, "spec", "lifecycleHooks")
		}, false, "hook Keep of Machine lark-worker-0-aaaaa holds its deletion until me removes it", fault.Present},
		{"not drained", func(w *world, _ *Exchange) {
			w.field(machine, map[string]any{"machine.openshift.io/exclude-node-draining": ""}, "metadata", "annotations")
		}, true, "its pods would be cut off", fault.Present},
		{"no pool config", func(w *world, _ *Exchange) {
			w.field("machineconfigpools/worker", "", "status", "configuration", "name")
		}, true, "HTTP 500", fault.Present},
		{"no user data", func(w *world, _ *Exchange) { delete(w.objects, "secrets/worker-user-data-managed") }, true, "no Secret worker-user-data-managed", fault.Present},
		{"the only worker", func(w *world, _ *Exchange) { delete(w.objects, "nodes/w1") }, true, "no other worker is Ready", fault.Present},
		{"a budget that holds", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "db", nil))
			w.put("poddisruptionbudgets", budget("db", "db", 0))
		}, true, "PodDisruptionBudget shop/db allows no eviction (1 of 1 pods are healthy, 1 are needed; here: db)", fault.Present},
		{"a budget that allows", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "db", nil))
			w.put("poddisruptionbudgets", budget("db", "db", 1))
		}, false, "lets what is evicted go now: 1 pod", fault.Absent},
		{"a budget of pods elsewhere", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "db", func(o map[string]any) { o["spec"].(map[string]any)["nodeName"] = "w1" }))
			w.put("poddisruptionbudgets", budget("db", "db", 0))
		}, false, "lets what is evicted go now: 0 pods", fault.Absent},
		{"two budgets", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "db", nil))
			w.put("poddisruptionbudgets", budget("a", "db", 1))
			w.put("poddisruptionbudgets", budget("b", "db", 1))
		}, true, "has more than one PodDisruptionBudget (a, b)", fault.Present},
		{"a pod that is lost", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "alone", func(o map[string]any) { delete(o["metadata"].(map[string]any), "ownerReferences") }))
		}, false, "nothing creates again: shop/alone", fault.Present},
		{"emptyDir", func(w *world, _ *Exchange) {
			w.put("pods", onW0("shop", "cache", func(o map[string]any) {
				o["spec"].(map[string]any)["volumes"] = []any{map[string]any{"name": "x", "emptyDir": map[string]any{}}}
			}))
		}, false, "1 pod has emptyDir volumes", fault.Present},
		{"the only router", func(w *world, _ *Exchange) { w.put("pods", router("router-a", "w0")) }, true, "the only Ready router of IngressController default", fault.Present},
		{"one of two routers", func(w *world, _ *Exchange) {
			w.put("pods", router("router-a", "w0"))
			w.put("pods", router("router-b", "w1"))
		}, false, "another router is Ready", fault.Absent},
		{"a local volume", func(w *world, _ *Exchange) { names(w); w.put("persistentvolumes", volume("w0")) }, true, "1 PersistentVolume can be used on Node w0 alone: local-1 (claim shop/data)", fault.Present},
		{"a local volume that goes", func(w *world, e *Exchange) { names(w); w.put("persistentvolumes", volume("w0")); e.Local = true }, false, "It goes, as allowed", fault.Present},
		{"a local volume elsewhere", func(w *world, _ *Exchange) { names(w); w.put("persistentvolumes", volume("w1")) }, false, "no PersistentVolume is bound to this Node alone", fault.Absent},
		{"a storage node", func(w *world, _ *Exchange) { w.field("nodes/w0", "", "metadata", "labels", storageLabel) }, true, "storage node of OpenShift Data Foundation", fault.Present},
		{"labels of a person", func(w *world, _ *Exchange) { w.field("nodes/w0", "a", "metadata", "labels", "rack") }, false, "the new Node does not have: labels rack=a", fault.Present},
		{"a remediation", func(w *world, _ *Exchange) {
			w.put("leases", kube.Object{"metadata": map[string]any{"name": "node-w0"}, "spec": map[string]any{"holderIdentity": "node-maintenance",
				"leaseDurationSeconds": 3600, "renewTime": "2026-03-01T11:50:00.000000Z"}})
		}, true, "node-maintenance works on Node w0", fault.Present},
		{"a remediation that is over", func(w *world, _ *Exchange) {
			w.put("leases", kube.Object{"metadata": map[string]any{"name": "node-w0"}, "spec": map[string]any{"holderIdentity": "node-maintenance",
				"leaseDurationSeconds": 60, "renewTime": "2026-03-01T11:50:00.000000Z"}})
		}, false, "no controller of medik8s works", fault.Absent},
		{"an impatient health check", func(w *world, _ *Exchange) {
			w.put("machinehealthchecks", kube.Object{"metadata": map[string]any{"name": "mhc"}, "spec": map[string]any{"selector": map[string]any{
				"matchLabels": map[string]any{"set": "lark-worker-0"}}}})
		}, false, "MachineHealthCheck mhc remediates", fault.Present},
		{"pods that are not read", func(w *world, _ *Exchange) { w.refuse["list pods"] = forbidden }, true, "whether a PodDisruptionBudget holds the drain", fault.Unknown},
		{"volumes that are not read", func(w *world, _ *Exchange) { w.refuse["list persistentvolumes"] = forbidden }, true, "whether PersistentVolumes are on its disks", fault.Unknown},
		{"a pool that is not read", func(w *world, _ *Exchange) { w.refuse["get machineconfigpools"] = forbidden }, false, "which config MachineConfigPool worker gives", fault.Unknown},
		{"a deletion that is refused", func(w *world, _ *Exchange) { w.refuse["delete machines"] = forbidden }, true, "refuses it (dry run): delete Machine", fault.Present},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, e := replaceWorld(), Exchange{}
			w.field("nodes/w0", "a", "metadata", "labels", "node.openshift.io/os_id")
			tt.change(w, &e)
			found, stopped := false, []string(nil)
			checks := replaceChecks(t, w, e)
			for _, c := range checks {
				found = found || c.Outcome == tt.how && strings.Contains(c.Text, tt.want)
				if c.Stops {
					stopped = append(stopped, c.Text)
				}
			}
			if !found || (len(stopped) > 0) != tt.stops {
				t.Errorf("stops: %q, want %t and %q in %v", stopped, tt.stops, tt.want, checks)
			}
		})
	}
}

// TestFind: a host is found by each of its objects, and by nothing else.
func TestFind(t *testing.T) {
	w := replaceWorld()
	w.put("nodes", kube.Object{"metadata": map[string]any{"name": "m0", "labels": map[string]any{"node-role.kubernetes.io/master": ""}}})
	w.put("baremetalhosts", kube.Object{"metadata": map[string]any{"name": "m0"}})
	seen, err := Look(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"w0": "Node w0, Machine lark-worker-0-aaaaa, BareMetalHost w0", "w1": "Node w1", "m0": "Node m0, BareMetalHost m0",
		"lark-worker-0-aaaaa": "Node w0, Machine lark-worker-0-aaaaa, BareMetalHost w0"} {
		if m, err := seen.Find(name); err != nil || m.text() != want || m.Control() != (name == "m0") {
			t.Errorf("%s: %s %v", name, m.text(), err)
		}
	}
	for name, want := range map[string]string{"w": "is called w. Nodes: m0, w0, w1", "": "is called"} {
		if _, err := seen.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.put("machines", kube.Object{"metadata": map[string]any{"name": "w1"}, "status": map[string]any{"nodeRef": map[string]any{"name": "m0"}}})
	seen, _ = Look(t.Context(), w)
	if _, err := seen.Find("w1"); err == nil || !strings.Contains(err.Error(), "the name of several hosts (Node m0, Machine w1; Node w1)") {
		t.Errorf("%v", err)
	}
	w.refuse["list machines"] = apierrors.NewForbidden(schema.GroupResource{Resource: "machines"}, "", errors.New("no permission"))
	seen, _ = Look(t.Context(), w)
	if _, err := seen.Find("w0"); err == nil || !strings.Contains(err.Error(), "list the machines") {
		t.Errorf("%v", err)
	}
}

// TestCopies: what is kept can be created again, and holds no status, no link to the host and no credential.
func TestCopies(t *testing.T) {
	w := replaceWorld()
	w.field("nodes/w0", "a", "metadata", "labels", "rack")
	_, e := exchange(t, w, Exchange{})
	files, err := e.Copies()
	if err != nil || len(files) != 3 {
		t.Fatalf("%v %v", files, err)
	}
	for name, want := range map[string]string{"machine.yaml": "kind: Machine", "baremetalhost.yaml": "bootMACAddress: 52:54:00:bb:00:00", "node.yaml": "rack: a"} {
		if text := string(files[name]); !strings.Contains(text, want) || strings.Contains(text, "status:") || strings.Contains(text, "uid") {
			t.Errorf("%s: %s", name, text)
		}
	}
	w.field("baremetalhosts/w0", "redfish://root:PLANTEDhunter2@192.0.2.1/x", "spec", "bmc", "address")
	_, e = exchange(t, w, Exchange{})
	if files, err := e.Copies(); err == nil || len(files) > 0 || strings.Contains(err.Error(), "PLANTED") {
		t.Errorf("%v %v", files, err)
	}
}
