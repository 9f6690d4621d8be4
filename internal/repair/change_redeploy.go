package repair

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

const redeploymentReason = "/spec/forceRedeploymentReason"

// redeployControllerManager rolls out the kube-controller-manager of which no pod leads.
func redeployControllerManager() fieldChange {
	return leaderless("redeploy-controller-manager", openshift.ControllerManager, Simulated)
}

// redeployScheduler rolls out the kube-scheduler of which no pod leads.
func redeployScheduler() fieldChange {
	return leaderless("redeploy-scheduler", openshift.Scheduler, Advice)
}

// redeployOperand rolls an operand out again after its installer failed. A revision that
// is new is tried at once, where the operator waits up to ten minutes before it tries a failed
// one again, and gives a pod up that failed where there is no startup monitor
// (openshift/library-go: pkg/operator/staticpod/controller/installer/installer_controller.go
// manageInstallationPods, newNodeStateForInstallInProgress).
func redeployOperand() fieldChange {
	c := redeployment("redeploy-operand", operatorTarget(), installFailed)
	c.mayCostMember = func(operator string) bool { return operator == "etcd" }
	c.riskText = "the pods restart on one control-plane node after the other; where the cause is still there, the new revision fails as the old one did"
	c.title = "have the operator of %s roll out a new revision, which it installs at once"
	return c
}

// leaderless rolls out an operand of which no pod leads.
func leaderless(remedy, operator string, proof Grade) fieldChange {
	c := redeployment(remedy, singleTarget(operandRef(operator)), func(o Object) error {
		if why := behindNewest(o); why != "" {
			return fmt.Errorf("a rollout is under way (%s); wait for it", why)
		}
		return nil
	})
	c.proof, c.follows = proof, true
	c.riskText = operator + " restarts on one control-plane node after the other"
	c.title = "have the operator of " + operator + " roll out a new revision (%s)"
	return c
}

// redeployment has an operator of static pods roll out a new revision
// (openshift/library-go: pkg/operator/revisioncontroller; the installer pods are made by
// the operator itself, so that no kube-controller-manager is needed for it). mayBegin returns why the
// operator must not begin now.
func redeployment(remedy string, t changeTarget, mayBegin func(Object) error) fieldChange {
	return fieldChange{
		remedy: remedy,
		target: t,
		reads:  []string{redeploymentReason, availableRevision},
		guards: redeployGuards,
		set: func(o Object, in input) (map[string]any, error) {
			set := map[string]any{redeploymentReason: "rollcall " + in.plan}
			if have, _ := fieldAt(o, redeploymentReason); have == set[redeploymentReason] {
				return set, nil
			}
			return set, mayBegin(o)
		},
		effect:  redeployed,
		keeps:   func(Object) string { return "a rollout has begun; writing the old text back would begin another one" },
		risk:    fault.RiskRestart,
		proof:   Advice,
		oc:      `oc patch RESOURCE cluster --type=merge -p '{"spec":{"forceRedeploymentReason":"rollcall DATE"}}'   # %s: a text that is new`,
		inverse: "none: each change of the text begins a rollout, and the field does nothing else",
		expect:  "all control-plane nodes run the new revision (%s)",
		takes:   40,
	}
}

// installFailed refuses unless a node failed to get the newest revision and no other node is
// being moved to it.
func installFailed(o Object) error {
	newest := intAt(o, "status", "latestAvailableRevision")
	failed := false
	for _, n := range nodeStatuses(o) {
		current, target, last := intAt(n, "currentRevision"), intAt(n, "targetRevision"), intAt(n, "lastFailedRevision")
		switch {
		case last == newest && current < newest:
			failed = true
		case target > current:
			return fmt.Errorf("%.80v is being moved to revision %d; wait for it", n["nodeName"], target)
		}
	}
	if newest == 0 || !failed {
		return errors.New("no node has failed to get the newest revision")
	}
	return nil
}

func redeployed(o Object, s Step) (bool, string) {
	before := ""
	for _, rd := range s.Reads {
		before = rd.Seen[availableRevision]
	}
	was, err := strconv.ParseInt(before, 10, 64)
	if now := intAt(o, "status", "latestAvailableRevision"); err != nil || now <= was {
		return false, "the operator"
	}
	why := behindNewest(o)
	return why == "", "the rollout (" + why + ")"
}
