package repair

import "github.com/rollcall-project/rollcall/internal/kernel/fault"

// resumeNodePool lets the operator follow a NodePool again.
func resumeNodePool() fieldChange {
	return fieldChange{
		remedy:   "resume-nodepool",
		target:   subjectTarget(fault.NodePool, nodePoolRef),
		hosted:   true,
		reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil, "/spec/clusterName"},
		set:      removePause,
		risk:     fault.RiskReversible,
		riskText: "user-data is rewritten, and Machines are updated where that waits",
		proof:    Simulated,
		title:    "remove spec.pausedUntil of NodePool %s",
		oc:       `oc -n NAMESPACE patch nodepool %s --type=merge -p '{"spec":{"pausedUntil":null}}'`,
		inverse:  "write spec.pausedUntil back; what the operator has done meanwhile stays",
		expect:   "NodePool %s is not paused",
		takes:    2,
		settles:  15,
	}
}
