package repair

import (
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const baseline = "baseline"

// podSecurity is the annotation by which the operator sets the PodSecurity level of the control
// plane's namespace (openshift/hypershift: api/hypershift/v1beta1/hostedcluster_types.go
// PodSecurityAdmissionLabelOverrideAnnotation;
// hypershift-operator/controllers/hostedcluster/hostedcluster_controller.go).
var podSecurity = pointer("metadata", "annotations", openshift.PodSecurityAnnotation)

// allowBaselinePods lets the namespace of a hosted control plane admit pods of level baseline.
func allowBaselinePods() fieldChange {
	return fieldChange{
		remedy:   "allow-baseline-pods",
		target:   hostedClusterTarget(),
		hosted:   true,
		reads:    []string{"/metadata/uid", "/metadata/deletionTimestamp", pausedUntil, podSecurity},
		set:      setBaseline,
		risk:     fault.RiskReversible,
		riskText: "the control plane's namespace admits pods of level baseline",
		proof:    Simulated,
		title:    "set the annotation pod-security-admission-label-override of HostedCluster %s to baseline",
		oc:       "oc -n NAMESPACE annotate hostedcluster %s hypershift.openshift.io/pod-security-admission-label-override=baseline",
		inverse:  "take the annotation away, or write its old value back; pods that run stay",
		expect:   "HostedCluster %s has the annotation",
		takes:    2,
		settles:  30,
	}
}

// setBaseline refuses a HostedCluster that the operator does not follow.
func setBaseline(o Object, _ input) (map[string]any, error) {
	if stringAt(o, "metadata", "deletionTimestamp") != "" {
		return nil, errors.New("it is being deleted")
	}
	if until := stringAt(o, "spec", "pausedUntil"); until != "" {
		return nil, fmt.Errorf("it is paused (spec.pausedUntil %.40s): the operator would not follow", until)
	}
	if v, _ := fieldAt(o, podSecurity); v != nil && v != baseline {
		return nil, fmt.Errorf("the annotation has the value %.40q already", v)
	}
	return map[string]any{podSecurity: baseline}, nil
}
