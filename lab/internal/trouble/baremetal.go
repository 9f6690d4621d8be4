package trouble

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/lab/bmc"
	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// provisioning are the troubles of BMCs and of what metal3 does with hosts. All but
// the last are told by the real baremetal-operator.
var provisioning = []lab.Trouble{
	{
		Name:   "metal3-runs",
		About:  "no trouble: metal3 looks after the workers, and a spare host was inspected and is available",
		Break:  addSpare(lab.Spare{Host: spare(0), Vendor: bmc.Dell}),
		Steady: hostIs("spare0", "available", "none"),
	},
	{
		Name:   "bmc-password-wrong",
		About:  "the secret of new host spare1 holds another password than its BMC",
		Break:  addSpare(lab.Spare{Host: spare(1), Vendor: bmc.Dell, SecretPass: "old-password"}),
		Steady: hostIs("spare1", "registering", "registration error"),
	},
	{
		Name:   "inspection-silent",
		About:  "new host spare2 does not boot the ramdisk: its inspection fails and waits for the next try",
		Break:  addSpare(lab.Spare{Host: spare(2), Vendor: bmc.Lenovo, Dead: true}),
		Steady: hostIs("spare2", "inspecting", "inspection error"),
	},
	{
		Name:   "mac-duplicate",
		About:  "new host spare3 was entered with the boot MAC of worker0, in another spelling",
		Break:  addTwin,
		Steady: hostIs("spare3", "registering", "registration error"),
	},
	{
		Name:   "host-paused",
		About:  "new host spare4 was created paused by somebody who never took it back",
		Steady: passedOver("spare4"),
		Break:  addSpare(lab.Spare{Host: spare(4), Vendor: bmc.HPE, Annotations: map[string]string{"baremetalhost.metal3.io/paused": "maintenance"}}),
	},
	{
		Name:   "host-detached",
		About:  "host spare5 was detached from metal3 while it was available",
		Break:  detachSpare,
		Steady: detached("spare5"),
	},
	{
		Name:   "host-held-off",
		About:  "a reboot annotation that nobody takes away keeps worker1 switched off",
		Break:  holdOff,
		Steady: heldOff,
	},
	{
		Name:   "power-stuck",
		About:  "host spare6 is to be on, and its BMC accepts that and does nothing",
		Break:  stickPower,
		Steady: hostIs("spare6", "available", "power management error"),
	},
	{
		Name:   "bmc-address-wrong",
		About:  "new host spare7 was entered with the path of its BMC's manager instead of its system",
		Break:  addSpare(lab.Spare{Host: spare(7), Vendor: bmc.HPE, System: "/redfish/v1/Managers/1/Systems"}),
		Steady: hostIs("spare7", "registering", "registration error"),
	},
	{
		Name:   "host-switched-off",
		About:  "somebody set spec.online of worker0 to false: metal3 has switched it off",
		Break:  switchOff,
		Steady: switchedOff,
	},
	{
		Name:   "vip-outside-machine-network",
		About:  "the ingress address lies in none of the machine networks: the network operator refuses the configuration",
		Break:  moveVIP,
		Keep:   checkVIPs,
		Steady: networkSaysVIP,
	},
}

// spare is the host spareN.
func spare(n int) seed.Host { return seed.NewHost(fmt.Sprintf("spare%d", n), "worker", firstSpare+n) }

func addSpare(s lab.Spare) func(context.Context, *lab.Lab) error {
	return func(ctx context.Context, l *lab.Lab) error { return l.AddSpare(ctx, s) }
}

func hostIs(name, state, errorType string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) { return l.HostIs(ctx, name, state, errorType) }
}

func addTwin(ctx context.Context, l *lab.Lab) error {
	return l.AddSpare(ctx, lab.Spare{Host: spare(3), Vendor: bmc.Supermicro, Entered: strings.ToUpper(l.Values().Workers[0].MAC)})
}

// availableSpare adds a host and waits until metal3 is done with it.
func availableSpare(ctx context.Context, l *lab.Lab, s lab.Spare) error {
	if err := l.AddSpare(ctx, s); err != nil {
		return err
	}
	return l.Await(ctx, 4*time.Minute, s.Name+" is not available", func(ctx context.Context) (bool, error) {
		why, err := l.HostIs(ctx, s.Name, "available", "none")
		return why == "", err
	})
}

func detachSpare(ctx context.Context, l *lab.Lab) error {
	if err := availableSpare(ctx, l, lab.Spare{Host: spare(5), Vendor: bmc.Dell}); err != nil {
		return err
	}
	return l.Annotate(ctx, "spare5", "baremetalhost.metal3.io/detached", "")
}

// passedOver says whether the operator has seen a paused host, and done nothing.
func passedOver(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		host, err := l.Get(ctx, lab.BareMetalHosts, "openshift-machine-api", name)
		if err != nil {
			return "", err
		}
		if s := field(host.Object, "status", "provisioning", "state"); s != "" {
			return fmt.Sprintf("%s is %q", name, s), nil
		}
		logs, err := filepath.Glob(filepath.Join(l.Dir().Host("*"), "containers", "openshift-machine-api", "*", "metal3-baremetal-operator.log"))
		if err != nil {
			return "", err
		}
		for _, file := range logs {
			data, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			for line := range strings.Lines(string(data)) {
				if strings.Contains(line, "host is paused, no work to do") && strings.Contains(line, name) {
					return "", nil
				}
			}
		}
		return "the operator has not come to " + name, nil
	}
}

func detached(name string) func(context.Context, *lab.Lab) (string, error) {
	return func(ctx context.Context, l *lab.Lab) (string, error) {
		host, err := l.Get(ctx, lab.BareMetalHosts, "openshift-machine-api", name)
		if err != nil {
			return "", err
		}
		if s := field(host.Object, "status", "operationalStatus"); s != "detached" {
			return fmt.Sprintf("%s is %q", name, s), nil
		}
		return "", nil
	}
}

func switchOff(ctx context.Context, l *lab.Lab) error {
	if err := l.StartMetal3(ctx); err != nil {
		return err
	}
	return l.Patch(ctx, lab.BareMetalHosts, "openshift-machine-api", "worker0", `{"spec":{"online":false}}`)
}

func switchedOff(ctx context.Context, l *lab.Lab) (string, error) { return isOff(ctx, l, "worker0") }

func holdOff(ctx context.Context, l *lab.Lab) error {
	if err := l.StartMetal3(ctx); err != nil {
		return err
	}
	return l.Annotate(ctx, "worker1", "reboot.metal3.io/firmware-update", "")
}

func heldOff(ctx context.Context, l *lab.Lab) (string, error) { return isOff(ctx, l, "worker1") }

// isOff says whether a worker is off, metal3 has seen that, and its Node is lost.
func isOff(ctx context.Context, l *lab.Lab, name string) (string, error) {
	if l.BMC(name).On() {
		return name + " is still on", nil
	}
	host, err := l.Get(ctx, lab.BareMetalHosts, "openshift-machine-api", name)
	if err != nil {
		return "", err
	}
	if field(host.Object, "status", "poweredOn") != "false" {
		return "metal3 has not seen that " + name + " is off", nil
	}
	return notReady(ctx, l, name)
}

func stickPower(ctx context.Context, l *lab.Lab) error {
	if err := availableSpare(ctx, l, lab.Spare{Host: spare(6), Vendor: bmc.HPE}); err != nil {
		return err
	}
	b := l.BMC("spare6")
	b.Behave(bmc.Trouble{PowerStuck: true})
	b.SetPower(false)
	return nil
}

var (
	infrastructures  = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "infrastructures"}
	clusterOperators = schema.GroupVersionResource{Group: "config.openshift.io", Version: "v1", Resource: "clusteroperators"}
)

// outsideVIP is in no network of a lab.
const outsideVIP = "203.0.113.6"

// moveVIP writes the configuration, and what the network operator, which does
// not run here, says of it
// (openshift/cluster-network-operator:pkg/controller/infrastructureconfig/infrastructureconfig_controller.go,
// sync_specstatus.go, validations.go).
func moveVIP(ctx context.Context, l *lab.Lab) error {
	spec := fmt.Sprintf(`{"spec":{"platformSpec":{"type":"BareMetal","baremetal":{"apiServerInternalIPs":[%q],"ingressIPs":[%q],"machineNetworks":[%q]}}}}`,
		l.Net().API(), outsideVIP, l.Net().CIDR())
	if err := l.Patch(ctx, infrastructures, "", "cluster", spec); err != nil {
		return err
	}
	now := time.Now().UTC().Format(time.RFC3339)
	return l.Create(ctx, fmt.Sprintf(`
apiVersion: config.openshift.io/v1
kind: ClusterOperator
metadata: {name: network}
spec: {}
status:
  conditions:
  - {type: Degraded, status: "True", reason: SyncInfrastructureSpecAndStatus, lastTransitionTime: %[1]q,
     message: "error while synchronizing spec and status of infrastructures.config.openshift.io/cluster: error on validating
       Ingress VIPs and Machine Networks: VIP '%[2]s' cannot be found in any machine network"}
  - {type: Available, status: "True", lastTransitionTime: %[1]q, reason: "", message: ""}
  - {type: Progressing, status: "False", lastTransitionTime: %[1]q, reason: "", message: ""}
  - {type: Upgradeable, status: "True", lastTransitionTime: %[1]q, reason: "", message: ""}
  versions:
  - {name: operator, version: %[3]q}
`, now, outsideVIP, l.Values().Version))
}

// checkVIPs is what the network operator does after the configuration was changed: it copies
// addresses that lie in a machine network to the status, and is no longer Degraded
// (openshift/cluster-network-operator:pkg/controller/infrastructureconfig/sync_specstatus.go).
func checkVIPs(ctx context.Context, l *lab.Lab) error {
	infra, err := l.Get(ctx, infrastructures, "", "cluster")
	if err != nil {
		return err
	}
	spec, _, _ := unstructured.NestedMap(infra.Object, "spec", "platformSpec", "baremetal")
	inside, err := addressesInside(spec)
	if err != nil || !inside {
		return err
	}
	operator, err := l.Get(ctx, clusterOperators, "", "network")
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(operator.Object, "status", "conditions")
	changed := false
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Degraded" && m["status"] == "True" {
			m["status"], m["reason"], m["message"], changed = "False", "", "", true
			m["lastTransitionTime"] = time.Now().UTC().Format(time.RFC3339)
		}
	}
	if !changed {
		return nil
	}
	status, err := json.Marshal(map[string]any{"status": map[string]any{"platformStatus": map[string]any{"baremetal": spec}}})
	if err != nil {
		return err
	}
	if err := l.Patch(ctx, infrastructures, "", "cluster", string(status), "status"); err != nil {
		return err
	}
	settled, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": conditions}})
	if err != nil {
		return err
	}
	return l.Patch(ctx, clusterOperators, "", "network", string(settled), "status")
}

// addressesInside says whether every virtual address of the configuration lies in a machine
// network of it.
func addressesInside(spec map[string]any) (bool, error) {
	api, _, _ := unstructured.NestedStringSlice(spec, "apiServerInternalIPs")
	ingress, _, _ := unstructured.NestedStringSlice(spec, "ingressIPs")
	networks, _, _ := unstructured.NestedStringSlice(spec, "machineNetworks")
	for _, text := range slices.Concat(api, ingress) {
		address, err := netip.ParseAddr(text)
		if err != nil {
			return false, err
		}
		if !slices.ContainsFunc(networks, func(n string) bool {
			prefix, err := netip.ParsePrefix(n)
			return err == nil && prefix.Contains(address)
		}) {
			return false, nil
		}
	}
	return true, nil
}

func networkSaysVIP(ctx context.Context, l *lab.Lab) (string, error) {
	if _, err := l.Get(ctx, clusterOperators, "", "network"); err != nil {
		return "", err
	}
	return "", nil
}

// field renders a field of an object, "" where there is none.
func field(obj map[string]any, path ...string) string {
	var v any = obj
	for _, p := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = m[p]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// notReady says whether the controller manager has lost a node.
func notReady(ctx context.Context, l *lab.Lab, name string) (string, error) {
	node, err := l.Kube().CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionUnknown {
			return fmt.Sprintf("%s is Ready=%s", name, c.Status), nil
		}
	}
	return "", nil
}
