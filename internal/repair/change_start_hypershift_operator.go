package repair

import (
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// startHypershiftOperator starts an operator that somebody scaled to 0.
func startHypershiftOperator() fieldChange {
	return fieldChange{
		remedy: "start-hypershift-operator",
		target: singleTarget(hypershiftOperatorRef()),
		hosted: true,
		reads:  []string{"/metadata/uid", "/metadata/deletionTimestamp", "/spec/replicas"},
		set:    setOneReplica,
		effect: func(o Object, _ Step) (bool, string) {
			return intAt(o, "status", "availableReplicas") > 0, "the Deployment"
		},
		risk:     fault.RiskReversible,
		riskText: "the operator continues with every HostedCluster and NodePool of the management cluster",
		proof:    Simulated,
		title:    "scale the Deployment %s of HyperShift to 1",
		oc:       "oc -n NAMESPACE scale deployment/%s --replicas=1",
		inverse:  "scale it back to 0; what the operator has done meanwhile stays",
		expect:   "the Deployment %s has an available pod",
		takes:    10,
		settles:  15,
	}
}

// setOneReplica refuses every Deployment that was not scaled to 0: an operator that fails has
// to be repaired where it fails.
func setOneReplica(o Object, _ input) (map[string]any, error) {
	v, there := fieldAt(o, "/spec/replicas")
	if n := intAt(o, "spec", "replicas"); !there || v == nil || n > 1 {
		return nil, fmt.Errorf("its replicas are %v, and not 0: see `rollcall explain let-operator-rewrite-user-data`", v)
	}
	return map[string]any{"/spec/replicas": int64(1)}, nil
}
