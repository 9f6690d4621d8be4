package repair

import (
	"github.com/rollcall-project/rollcall/internal/kernel/fault"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

// attachHost has metal3 manage a detached host again.
func attachHost() fieldChange {
	return fieldChange{
		remedy: "attach-host",
		target: bareMetalHostTarget(),
		reads:  hostReads(),
		guards: quorumGuard,
		set: func(o Object, _ input) (map[string]any, error) {
			return withoutAnnotation(o, metal3.DetachedAnnotation)
		},
		effect: func(o Object, _ Step) (bool, string) {
			state := stringAt(o, "status", "operationalStatus")
			return state != "" && state != "detached", "status.operationalStatus of the host"
		},
		risk:     fault.RiskPower,
		riskText: "metal3 registers the host in Ironic again and follows spec.online",
		proof:    ProvedInLab,
		title:    "remove the annotation " + metal3.DetachedAnnotation + " of BareMetalHost %s",
		oc:       "oc -n " + openshift.MachineAPINamespace + " annotate bmh %s " + metal3.DetachedAnnotation + "-",
		inverse:  "write the annotation back with its value",
		expect:   "status.operationalStatus of %s is no longer detached",
		takes:    10,
	}
}
