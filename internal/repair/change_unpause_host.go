package repair

import (
	"github.com/rollcall-project/rollcall/internal/kernel/fault"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// unpauseHost lets metal3 continue with a host.
func unpauseHost() fieldChange {
	return fieldChange{
		remedy:   "unpause-host",
		target:   bareMetalHostTarget(),
		reads:    hostReads(),
		guards:   quorumGuard,
		set:      func(o Object, _ input) (map[string]any, error) { return withoutAnnotation(o, metal3.PausedAnnotation) },
		risk:     fault.RiskPower,
		riskText: "metal3 continues where it was stopped: it may inspect, provision or power the host",
		proof:    ProvedInLab,
		title:    "remove the annotation " + metal3.PausedAnnotation + " of BareMetalHost %s",
		oc:       "oc -n " + openshift.MachineAPINamespace + " annotate bmh %s " + metal3.PausedAnnotation + "-",
		inverse:  "write the annotation back with its value; what metal3 has begun is not undone by that",
		expect:   "BareMetalHost %s is not paused",
		takes:    2,
	}
}
