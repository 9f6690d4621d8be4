package metalhost

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
)

func (w *world) field(key string, value any, path ...string) {
	at := w.objects[key]
	for _, p := range path[:len(path)-1] {
		next, is := at[p].(map[string]any)
		if !is {
			next = map[string]any{}
			at[p] = next
		}
		at = next
	}
	at[path[len(path)-1]] = value
}

// allChecks are those of a plan.
func allChecks(t *testing.T, w *world, want Want) (Place, []Check) {
	t.Helper()
	seen, err := Look(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	checks := append(seen.Checks(want), SecretChecks(t.Context(), w, want)...)
	p, more, _ := seen.Place(want)
	return p, append(checks, more...)
}

func TestChecks(t *testing.T) {
	set := "machinesets/lark-worker-0"
	waiting := func(created string) func(*world, *Want) {
		return func(w *world, _ *Want) {
			w.put("machines", kube.Object{"metadata": map[string]any{"name": "lark-worker-0-zzzzz", "creationTimestamp": created, "labels": map[string]any{
				"set": "lark-worker-0"}}, "spec": map[string]any{"providerSpec": map[string]any{"value": map[string]any{"kind": "BareMetalMachineProviderSpec"}}},
				"status": map[string]any{"phase": "Provisioning"}})
		}
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "x"}, "", errors.New("no permission"))
	for _, tt := range []struct {
		name   string
		change func(*world, *Want)
		stops  bool
		want   string
		how    fault.Outcome
	}{
		{"all is well", func(*world, *Want) {}, false, "MachineSet lark-worker-0 takes the host (role worker, 1 replicas)", fault.Absent},
		{"no metal3 pod", func(w *world, _ *Want) { w.field("deployments/metal3", 0, "status", "availableReplicas") }, true, "has no pod that is available", fault.Present},
		{"the name is taken", func(w *world, h *Want) { h.Name = "w0" }, true, "BareMetalHost w0 exists (state provisioned, of Machine lark-worker-0-aaaaa)", fault.Present},
		{"a Node has the name", func(w *world, h *Want) {
			w.put("nodes", kube.Object{"metadata": map[string]any{"name": "w3.example.com"}})
		}, true, "there is a Node w3", fault.Present},
		{"the MAC is taken", func(_ *world, h *Want) { h.MAC = "52:54:00:BB:00:00" }, true, "is that of BareMetalHost w0", fault.Present},
		{"the MAC is that of a NIC", func(w *world, h *Want) {
			w.field("baremetalhosts/w0", "52:54:00:bb:00:99", "spec", "bootMACAddress")
			h.MAC = "52:54:00:bb:00:00"
		}, true, "is that of NIC eno1 of BareMetalHost w0", fault.Present},
		{"the BMC is taken", func(_ *world, h *Want) { h.BMC = "redfish://198.51.100.20:443/redfish/v1/Systems/1/" }, true, "two hosts would switch one machine", fault.Present},
		{"another system of one chassis", func(_ *world, h *Want) { h.BMC = "redfish-virtualmedia://198.51.100.20/redfish/v1/Systems/2" }, false, "no BareMetalHost has BMC", fault.Absent},
		{"the address is taken", func(_ *world, h *Want) { h.IPs = []string{"192.0.2.20"} }, true, "192.0.2.20 is the address of Node w0", fault.Present},
		{"the address is not named", func(*world, *Want) {}, false, "--ip names it", fault.Unknown},
		{"IPMI without a provisioning network", func(_ *world, h *Want) { h.BMC = "198.51.100.33" }, true, "driver ipmi boots over the provisioning network", fault.Present},
		{"IPMI with one", func(w *world, h *Want) {
			h.BMC = "ipmi://198.51.100.33"
			w.field("provisionings/provisioning-configuration", "Managed", "spec", "provisioningNetwork")
		}, false, "(Managed)", fault.Absent},
		{"a driver of another release", func(_ *world, h *Want) { h.BMC = "irmc://198.51.100.33" }, false, "knows the BMC driver irmc", fault.Unknown},
		{"secure boot by IPMI", func(w *world, h *Want) {
			h.BMC, h.BootMode = "ipmi://198.51.100.33", "UEFISecureBoot"
			w.field("provisionings/provisioning-configuration", "Managed", "spec", "provisioningNetwork")
		}, true, "does not support secure boot", fault.Present},
		{"another boot mode", func(_ *world, h *Want) { h.BootMode = "legacy" }, false, "boots with legacy, and the other workers with UEFI", fault.Present},
		{"the Secret is taken", func(w *world, _ *Want) {
			w.put("secrets", kube.Object{"metadata": map[string]any{"name": "w3-bmc-secret"}})
		}, true, "use it with --bmc-secret w3-bmc-secret", fault.Present},
		{"a Secret that is not there", func(_ *world, h *Want) { h.Secret, h.HaveSecret = "mine", true }, true, "there is no Secret mine", fault.Present},
		{"a Secret without a password", func(w *world, h *Want) {
			h.Secret, h.HaveSecret = "mine", true
			w.put("secrets", kube.Object{"metadata": map[string]any{"name": "mine"}, "data": map[string]any{"username": "eA=="}})
		}, true, "has no username or no password", fault.Present},
		{"a network without nmstate", func(w *world, h *Want) {
			h.NetworkData = "net"
			w.put("secrets", kube.Object{"metadata": map[string]any{"name": "net"}, "data": map[string]any{"x": "eA=="}})
		}, true, "has no key nmstate", fault.Present},
		{"no MachineSet", func(w *world, _ *Want) { delete(w.objects, set) }, true, "nothing would make it a node", fault.Present},
		{"another selector", func(w *world, _ *Want) {
			w.field(set, map[string]any{"matchLabels": map[string]any{"rack": "a"}}, "spec", "template", "spec", "providerSpec", "value", "hostSelector")
		}, true, "lark-worker-0 wants rack=a", fault.Present},
		{"two MachineSets", func(w *world, _ *Want) {
			o := clone(w.objects[set])
			o["metadata"].(map[string]any)["name"] = "other"
			w.put("machinesets", o)
		}, true, "choose one with --machineset", fault.Present},
		{"a Machine waits", waiting("2026-03-01T11:50:00Z"), false, "", fault.Absent},
		{"an autoscaler", func(w *world, _ *Want) {
			w.put("machineautoscalers", kube.Object{"metadata": map[string]any{"name": "as"}, "spec": map[string]any{"scaleTargetRef": map[string]any{
				"kind": "MachineSet", "name": "lark-worker-0"}}})
		}, true, "MachineAutoscaler as", fault.Present},
		{"GitOps", func(w *world, _ *Want) {
			w.field(set, map[string]any{"argocd.argoproj.io/instance": "x"}, "metadata", "labels")
		}, true, "another tool writes MachineSet lark-worker-0 again", fault.Present},
		{"a spare", func(w *world, _ *Want) {
			w.put("baremetalhosts", kube.Object{"metadata": map[string]any{"name": "spare"}, "spec": map[string]any{}, "status": map[string]any{
				"provisioning": map[string]any{"state": "available"}}})
		}, true, "(spare), and a new Machine takes one of them at random", fault.Present},
		{"an impatient health check", func(w *world, _ *Want) {
			w.put("machinehealthchecks", kube.Object{"metadata": map[string]any{"name": "mhc"}, "spec": map[string]any{"selector": map[string]any{
				"matchLabels": map[string]any{"set": "lark-worker-0"}}}})
		}, false, "MachineHealthCheck mhc remediates a Machine that has no Node after 10m", fault.Present},
		{"no approver", func(w *world, _ *Want) { w.field("deployments/machine-approver", 0, "status", "availableReplicas") }, false, "may not answer", fault.Present},
		{"unread Machines", func(w *world, _ *Want) { w.refuse["list machines"] = forbidden }, true, "which Machines wait for a host", fault.Unknown},
		{"unread Nodes", func(w *world, _ *Want) { w.refuse["list nodes"] = forbidden }, false, "whether there is a Node w3", fault.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, h := newWorld(), wanted()
			tt.change(w, &h)
			_, checks := allChecks(t, w, h)
			found, stopped := false, []string(nil)
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

// TestPlace: who makes the Machine.
func TestPlace(t *testing.T) {
	w, h := newWorld(), wanted()
	if p, _ := allChecks(t, w, h); !p.Scale || p.From != 1 || p.Awaited {
		t.Errorf("%+v", p)
	}
	h.NoScale = true
	if p, _ := allChecks(t, w, h); p.Scale || p.Awaited || !strings.Contains(p.By, "nobody") {
		t.Errorf("%+v", p)
	}
	h.NoScale = false
	w.field("machinesets/lark-worker-0", map[string]any{autoscaleAnnotation: ""}, "metadata", "annotations")
	if p, _ := allChecks(t, w, h); p.Scale || !p.Awaited || !strings.Contains(p.By, autoscaleAnnotation) {
		t.Errorf("%+v", p)
	}
}

func TestNoMetal3(t *testing.T) {
	w := newWorld()
	delete(w.objects, "provisionings/provisioning-configuration")
	seen, err := Look(t.Context(), w)
	if err != nil || seen.NoMetal3 == "" {
		t.Errorf("%v %q", err, seen.NoMetal3)
	}
	w.refuse["list baremetalhosts"] = apierrors.NewForbidden(schema.GroupResource{Resource: "baremetalhosts"}, "", errors.New("no permission"))
	w.put("provisionings", kube.Object{"metadata": map[string]any{"name": "provisioning-configuration"}})
	if seen, err := Look(t.Context(), w); err != nil || seen.NoMetal3 != "" || seen.Blind() == nil {
		t.Errorf("%v %q", err, seen.NoMetal3)
	}
}

func TestWant(t *testing.T) {
	for _, tt := range []struct {
		change func(*Want)
		want   string
	}{
		{func(w *Want) { w.Name = "W3" }, "in lower case"},
		{func(w *Want) { w.Name = "localhost" }, "every host without a name"},
		{func(w *Want) { w.Name = "01234567-89ab-cdef-0123-456789abcdef" }, "no UUID"},
		{func(w *Want) { w.MAC = "52-54-00-bb-00-03" }, "--boot-mac"},
		{func(w *Want) { w.MAC = "01:54:00:bb:00:03" }, "--boot-mac"},
		{func(w *Want) { w.BMC = "redfish://" }, "--bmc"},
		{func(w *Want) { w.BMC = "redfish://admin:PLANTEDhunter2@192.0.2.1/x" }, "user or password in it"},
		{func(w *Want) { w.BootMode = "bios" }, "--boot-mode"},
		{func(w *Want) { w.NetworkData = "A b" }, "--network-data"},
		{func(w *Want) { w.IPs = []string{"x"} }, "--ip"},
		{func(w *Want) { w.Labels = map[string]string{"a b": ""} }, "--label"},
	} {
		w := wanted()
		tt.change(&w)
		if err := w.Check(); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
	w := wanted()
	w.MAC = "52:54:00:BB:00:03"
	if err := w.Check(); err != nil || w.MAC != "52:54:00:bb:00:03" {
		t.Errorf("%v %s", err, w.MAC)
	}
	for text, want := range map[string]string{"deviceName=/dev/sda": "", "rotational=true": "", "minSizeGigabytes=100": "", "deviceName=sda": "/dev/",
		"rotational=x": "true or false", "minSizeGigabytes=x": "number", "disk=1": "NAME=VALUE"} {
		if _, _, err := ParseHint(text); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if o := wanted().Manifest("h-1"); evidence.String(o, "metadata", "annotations", RunAnnotation) != "h-1" || evidence.Field(o, "spec", "consumerRef") != nil {
		t.Errorf("%v", o)
	}
}
