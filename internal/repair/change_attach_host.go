package repair

import "github.com/rollcall-project/rollcall/internal/kernel/fault"

// attachHost has metal3 manage a detached host again.
func attachHost() fieldChange {
	return fieldChange{
		remedy: "attach-host",
		target: bareMetalHostTarget(),
		reads:  hostReads(),
		guards: quorumGuard,
		set:    func(o Object, _ input) (map[string]any, error) { return withoutAnnotation(o, detachedKey) },
		effect: func(o Object, _ Step) (bool, string) {
			state := stringAt(o, "status", "operationalStatus")
			return state != "" && state != "detached", "status.operationalStatus of the host"
		},
		risk:     fault.RiskPower,
		riskText: "metal3 registers the host in Ironic again and follows spec.online",
		proof:    ProvedInLab,
		title:    "remove the annotation " + detachedKey + " of BareMetalHost %s",
		oc:       "oc -n " + bareMetalNamespace + " annotate bmh %s " + detachedKey + "-",
		inverse:  "write the annotation back with its value",
		expect:   "status.operationalStatus of %s is no longer detached",
		takes:    10,
	}
}
