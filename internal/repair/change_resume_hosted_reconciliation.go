package repair

import "github.com/rollcall-project/rollcall/internal/kernel/fault"

// resumeHostedReconciliation lets the operator follow a HostedCluster again.
func resumeHostedReconciliation() fieldChange {
	return fieldChange{
		remedy:   "resume-hosted-reconciliation",
		target:   hostedClusterTarget(),
		hosted:   true,
		reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil},
		set:      removePause,
		risk:     fault.RiskReversible,
		riskText: "the operator makes every change that waits",
		proof:    Simulated,
		title:    "remove spec.pausedUntil of HostedCluster %s",
		oc:       `oc -n NAMESPACE patch hostedcluster %s --type=merge -p '{"spec":{"pausedUntil":null}}'`,
		inverse:  "write spec.pausedUntil back; what the operator has done meanwhile stays",
		expect:   "HostedCluster %s is not paused",
		takes:    2,
	}
}
