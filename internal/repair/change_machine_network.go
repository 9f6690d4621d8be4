package repair

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// appendMachineNetwork adds a network that a person gave to those of the cluster's machines.
func appendMachineNetwork() fieldChange {
	return fieldChange{
		remedy:   "append-machine-network",
		target:   singleTarget(infrastructureRef()),
		reads:    []string{"/spec/platformSpec", "/status/platform"},
		set:      appendNetwork,
		valid:    validNetwork,
		flag:     "machine-network",
		usage:    "append this `CIDR` to the machine networks, where the cause is that they do not have the VIPs",
		since:    "4.16",
		risk:     fault.RiskReversible,
		riskText: "the network operator checks spec again and copies it to status; no node restarts",
		proof:    Simulated,
		title:    "append a network to machineNetworks of Infrastructure %s",
		oc:       `oc patch infrastructure %s --type=json -p '[{"op":"add","path":"/spec/platformSpec/PLATFORM/machineNetworks/-","value":"VALUE"}]'`,
		inverse:  "take the entry out again; the first network stays",
		expect:   "machineNetworks of %s has the network",
		takes:    5,
	}
}

// appendNetwork appends; the operator refuses another first network and an empty list
// (openshift/cluster-network-operator: pkg/controller/infrastructureconfig/validations.go).
func appendNetwork(o Object, in input) (map[string]any, error) {
	var names []string
	spec, _ := fieldAt(o, "/spec/platformSpec")
	platforms, _ := spec.(map[string]any)
	for name, v := range platforms {
		if _, ok := v.(map[string]any); ok && slices.Contains([]string{"baremetal", "openstack", "vsphere"}, name) {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return nil, fmt.Errorf("spec.platformSpec has %d platforms with machine networks, want one of baremetal, openstack and vsphere", len(names))
	}
	path := pointer("spec", "platformSpec", names[0], "machineNetworks")
	v, _ := fieldAt(o, path)
	list, _ := v.([]any)
	if len(list) == 0 {
		return nil, errors.New("machineNetworks is empty: nothing is checked then, and a list cannot be emptied again")
	}
	if slices.Contains(list, any(in.value)) {
		return map[string]any{path: list}, nil
	}
	return map[string]any{path: append(slices.Clone(list), in.value)}, nil
}

func validNetwork(v string) error {
	p, err := netip.ParsePrefix(v)
	if err != nil || p.Masked() != p || p.Bits() == 0 {
		return fmt.Errorf("%.60q is not a network, such as 192.0.2.0/24", v)
	}
	return nil
}
