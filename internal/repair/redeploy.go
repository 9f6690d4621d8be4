package repair

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const (
	redeploy  = "/spec/forceRedeploymentReason"
	available = "/status/latestAvailableRevision"
)

// operands are the resources of the operators that run static pods.
var operands = map[string]string{
	"etcd": "etcds", "kube-apiserver": "kubeapiservers", "kube-controller-manager": "kubecontrollermanagers", "kube-scheduler": "kubeschedulers",
}

func operandNames() []string { return slices.Sorted(maps.Keys(operands)) }

// operandRef is the resource of the operator; one that runs no static pods has none.
func operandRef(operator string) Ref {
	return Ref{Group: "operator.openshift.io", Version: "v1", Resource: operands[operator], Name: "cluster"}
}

// redeployment has a static pod operator roll out a new revision
// (openshift/library-go: pkg/operator/revisioncontroller; the installer pods are made by
// the operator itself, so that no kube-controller-manager is needed for it). ready says why the
// operator must not begin now.
func redeployment(remedy string, ready func(Object) error) change {
	return change{
		remedy: remedy, reads: []string{redeploy, available},
		guards: redeployGuards,
		with: func(o Object, in input) (map[string]any, error) {
			set := map[string]any{redeploy: "rollcall " + in.plan}
			if have, _ := fieldAt(o, redeploy); have == set[redeploy] {
				return set, nil
			}
			return set, ready(o)
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

// redeployGuards: where etcd itself restarts, all its members must be healthy.
func redeployGuards(operator string) []Guard {
	if operator == "etcd" {
		return []Guard{{Guard: EtcdMembers, Count: leastMembers}, {Guard: OthersAtRest}}
	}
	return []Guard{{Guard: EtcdQuorum}, {Guard: OthersAtRest}}
}

// leaderless has an operand rolled out of which no pod leads.
func leaderless(remedy, operator string, proof Grade) change {
	c := redeployment(remedy, func(o Object) error {
		if why := rollsOut(o); why != "" {
			return fmt.Errorf("a rollout is under way (%s); wait for it", why)
		}
		return nil
	})
	c.object = func(string) Ref { return operandRef(operator) }
	c.proof, c.follows = proof, true
	c.riskText = operator + " restarts on one control-plane node after the other"
	c.title = "have the operator of " + operator + " roll out a new revision (%s)"
	return c
}

// failedInstall has an operand rolled out again after its installer failed. A revision that
// is new is tried at once, where the operator waits up to ten minutes before it tries a failed
// one again, and gives a pod up that failed where there is no startup monitor
// (openshift/library-go: pkg/operator/staticpod/controller/installer/installer_controller.go
// manageInstallationPods, newNodeStateForInstallInProgress).
func failedInstall() change {
	c := redeployment("redeploy-operand", installFailed)
	c.operands, c.object = true, operandRef
	c.riskText = "the pods restart on one control-plane node after the other; where the cause is still there, the new revision fails as the old one did"
	c.title = "have the operator of %s roll out a new revision, which it installs at once"
	return c
}

// installFailed refuses unless a node failed to get the newest revision and no other node is
// being moved to it.
func installFailed(o Object) error {
	v, _ := fieldAt(o, "/status/nodeStatuses")
	nodes, _ := v.([]any)
	newest := intAt(o, "status", "latestAvailableRevision")
	failed := false
	for _, n := range nodes {
		m, _ := n.(map[string]any)
		current, target, last := intAt(m, "currentRevision"), intAt(m, "targetRevision"), intAt(m, "lastFailedRevision")
		switch {
		case last == newest && current < newest:
			failed = true
		case target > current:
			return fmt.Errorf("%.80v is being moved to revision %d; wait for it", m["nodeName"], target)
		}
	}
	if newest == 0 || !failed {
		return errors.New("no node has failed to get the newest revision")
	}
	return nil
}

// rollsOut says which node does not run the newest revision, "" where all do. Without
// any node it is not known, and counts as rolling out.
func rollsOut(o Object) string {
	v, _ := fieldAt(o, "/status/nodeStatuses")
	nodes, _ := v.([]any)
	newest := intAt(o, "status", "latestAvailableRevision")
	if len(nodes) == 0 || newest == 0 {
		return "status shows no revisions"
	}
	for _, n := range nodes {
		m, _ := n.(map[string]any)
		if current, target := intAt(m, "currentRevision"), intAt(m, "targetRevision"); current != newest || target != 0 && target != current {
			return fmt.Sprintf("%.80v is at revision %d of %d", m["nodeName"], current, newest)
		}
	}
	return ""
}

func redeployed(o Object, s Step) (bool, string) {
	before := ""
	for _, rd := range s.Reads {
		before = rd.Seen[available]
	}
	was, err := strconv.ParseInt(before, 10, 64)
	if now := intAt(o, "status", "latestAvailableRevision"); err != nil || now <= was {
		return false, "the operator"
	}
	why := rollsOut(o)
	return why == "", "the rollout (" + why + ")"
}
