package repair

import (
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// switchHostOn has metal3 switch a host on.
func switchHostOn() fieldChange {
	return fieldChange{
		remedy: "switch-host-on",
		target: bareMetalHostTarget(),
		reads:  hostReads(),
		set:    setOnline,
		effect: func(o Object, _ Step) (bool, string) {
			return boolAt(o, "status", "poweredOn"), "status.poweredOn of the host"
		},
		keeps:    keepsRunning,
		risk:     fault.RiskPower,
		riskText: "the server is switched on, whatever somebody does at it",
		proof:    ProvedInLab,
		title:    "set spec.online of BareMetalHost %s to true",
		oc:       "oc -n " + openshift.MachineAPINamespace + ` patch bmh %s --type=merge -p '{"spec":{"online":true}}'`,
		inverse:  "set spec.online back to false, as long as the host has not been switched on",
		expect:   "status.poweredOn of %s is true",
		takes:    15,
	}
}

// setOnline refuses where metal3 would not follow.
func setOnline(o Object, _ input) (map[string]any, error) {
	for _, key := range []string{metal3.PausedAnnotation, metal3.DetachedAnnotation} {
		if _, there := fieldAt(o, pointer("metadata", "annotations", key)); there {
			return nil, fmt.Errorf("the host has the annotation %s, so metal3 does not switch it", key)
		}
	}
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return nil, errors.New("the host is being deleted")
	}
	return map[string]any{hostOnline: true}, nil
}
