package repair

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The guards of pools and their nodes.
const (
	PoolNotPaused  GuardName = "pool-not-paused"   // of pool Subject
	OneAtATime     GuardName = "one-at-a-time"     // pool Subject rolls at most one machine at once
	OthersAtRest   GuardName = "others-at-rest"    // no control-plane node but Subject is being changed
	RenderExists   GuardName = "render-exists"     // MachineConfig Subject is in the cluster
	NoFurtherDrift GuardName = "no-applied-change" // step's held config and MachineConfig Subject differ in nothing that is applied
)

func guardPoolNotPaused(ctx context.Context, e env, _ Step, g Guard) (string, error) {
	pool, err := e.read(ctx, poolRef(g.Subject))
	if err != nil {
		return "", err
	}
	if v, _ := fieldAt(pool, "/spec/paused"); v == true {
		return "", refuse("pool %s is paused: nothing would roll out", g.Subject).
			instead("find out who paused it and why; then oc patch mcp %s --type=merge -p '{\"spec\":{\"paused\":false}}'", g.Subject)
	}
	return "pool " + g.Subject + " is not paused", nil
}

// guardOneAtATime: an unset maxUnavailable is 1
// (openshift/machine-config-operator:pkg/controller/node/node_controller.go maxUnavailable).
func guardOneAtATime(ctx context.Context, e env, _ Step, g Guard) (string, error) {
	pool, err := e.read(ctx, poolRef(g.Subject))
	if err != nil {
		return "", err
	}
	v, ok := fieldAt(pool, "/spec/maxUnavailable")
	if ok && canonical(v) != nil && fmt.Sprint(v) != "1" {
		return "", refuse("pool %s has maxUnavailable %v: it would take down several control-plane nodes at once", g.Subject, v).
			instead("set spec.maxUnavailable to 1")
	}
	return "pool " + g.Subject + " takes one machine at a time", nil
}

// guardOthersAtRest refuses while another control-plane node is being changed or
// is not well: two at once cost etcd its quorum.
func guardOthersAtRest(ctx context.Context, e env, _ Step, g Guard) (string, error) {
	nodes, err := e.api.List(ctx, nodeRef(""))
	if err != nil {
		return "", refuse("nodes could not be listed, so it is not known whether another control-plane node is down: %v", err)
	}
	for _, n := range nodes {
		name := stringAt(n, "metadata", "name")
		if name == g.Subject || !controlPlane(n) {
			continue
		}
		if why := notAtRest(n); why != "" {
			return "", refuse("control-plane node %s %s; one at a time", name, why).instead("wait until it is healthy")
		}
	}
	return "no other control-plane node is being changed", nil
}

func controlPlane(node Object) bool {
	labels, _ := fieldAt(node, "/metadata/labels")
	m, _ := labels.(map[string]any)
	_, a := m[openshift.MasterLabel]
	_, b := m[openshift.ControlPlaneLabel]
	return a || b
}

func notAtRest(node Object) string {
	if !isTrue(node, "Ready") {
		return "is not Ready"
	}
	if v, _ := fieldAt(node, "/spec/unschedulable"); v == true {
		return "is cordoned"
	}
	switch state := stringAt(node, "metadata", "annotations", openshift.ConfigStateAnnotation); state {
	case "Working", "Rebooting":
		return "is in state " + state
	}
	return ""
}

func guardRenderExists(ctx context.Context, e env, _ Step, g Guard) (string, error) {
	if _, err := e.read(ctx, configRef(g.Subject)); err != nil {
		return "", err
	}
	return "MachineConfig " + g.Subject + " is there", nil
}

func guardNoFurtherDrift(ctx context.Context, e env, s Step, g Guard) (string, error) {
	raw, err := e.store.Get(s.Args.Content)
	if err != nil {
		return "", refuse("the held config that the plan compared cannot be read: %v", err).instead("make a new plan")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return "", refuse("the held config: %v", err)
	}
	spec, err := e.read(ctx, configRef(g.Subject))
	if err != nil {
		return "", err
	}
	target, err := configOf(spec)
	if err != nil {
		return "", refuse("MachineConfig %s: %v", g.Subject, err)
	}
	diff, err := held.diff(target)
	if err != nil {
		return "", refuse("the configs cannot be compared: %v", err)
	}
	if len(diff) > 0 {
		return "", refuse("what the host holds and %s differ in what is applied: %s", g.Subject, strings.Join(diff, "; ")).
			instead("re-create the missing render instead: then the controller rolls the change out with drain and reboot")
	}
	return "what the host holds and " + g.Subject + " apply the same", nil
}
