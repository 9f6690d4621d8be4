package pools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// rollout is how far a pool is on its update to the config that it wants, and at which
// node. A pool that is paused is not on its way.
type rollout struct {
	Moving facts.Field[bool]      `cel:"moving"` // a node does not run the pool's config yet
	Target facts.Field[string]    `cel:"target"` // that config
	Done   facts.Field[int]       `cel:"done"`
	Total  facts.Field[int]       `cel:"total"`
	Node   facts.Field[string]    `cel:"node"`  // the node that is at it, "" where none is
	Step   facts.Field[string]    `cel:"step"`  // what it does, or that no node was asked yet
	Since  facts.Field[time.Time] `cel:"since"` // of that step: the last sign of progress in the pool
}

var rolloutFact = facts.Define("pool-rollout", fault.Pool, "how far the roll-out of a pool's config is, at which node, and since when its step lasts",
	[]evidence.Need{evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.Nodes, "")}, readRollout)

func readRollout(ctx context.Context, w *facts.World, s fault.Subject) (rollout, error) {
	var r rollout
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", s.Name)
	if err != nil {
		return r, err
	}
	if !ok {
		return r, facts.NotApplicable("there is no MachineConfigPool %s", s.Name)
	}
	nodes, err := nodeConfigs(ctx, w, s.Name)
	if err != nil {
		return r, err
	}
	target := evidence.String(o.Content, "spec", "configuration", "name")
	paused, _ := evidence.Field(o.Content, "spec", "paused").(bool)
	var open []nodeConfig
	for _, n := range nodes {
		if n.current != target || n.desired != target || n.state != "Done" {
			open = append(open, n)
		}
	}
	slices.SortStableFunc(open, func(a, b nodeConfig) int { return b.progressTo(target) - a.progressTo(target) })
	wants := o.Shows("spec.configuration.name", target, time.Time{})
	r.Target.Set(target, wants)
	r.Done.Set(len(nodes)-len(open), wants)
	r.Total.Set(len(nodes), wants)
	r.Moving.Set(target != "" && !paused && len(open) > 0, wants)
	r.Node.Set("", wants)
	r.Step.Set("no node has been asked to take it yet", wants)
	if len(open) > 0 {
		n := open[0]
		item := n.item()
		r.Moving.Prove(item)
		if n.progressTo(target) > 0 {
			r.Node.Set(n.object.Name, item)
			r.Step.Set(n.object.Name+" "+n.step(), item)
		}
		r.since(o, nodes)
		if r.Since.Value().Before(w.Now.Add(-statusLag)) && poolDone(o, target, len(nodes)) {
			r.Since.Clear()
			r.Since.Miss(fmt.Errorf("the pool's own status says that all its nodes have %s", target))
		}
	}
	facts.Complete(&r)
	return r, nil
}

// statusLag is within what the controller writes what became of a pool: it lets five
// seconds pass (openshift/machine-config-operator:pkg/controller/node/node_controller.go
// defaultUpdateDelay).
const statusLag = 2 * time.Minute

// poolDone reports a pool whose status has every one of the n nodes at the target. It names
// the config of the spec no sooner (pkg/controller/node/status.go calculateStatus).
func poolDone(pool evidence.Object, target string, n int) bool {
	count := func(name string) int { return int(evidence.Int(pool.Content, "status", name)) }
	return evidence.String(pool.Content, "status", "configuration", "name") == target &&
		count("machineCount") == n && count("updatedMachineCount") == n
}

// since takes the newest sign of progress: that the pool began, or what was done to one
// of its nodes.
func (r *rollout) since(pool evidence.Object, nodes []nodeConfig) {
	latest := func(at time.Time, item evidence.Item) {
		if at.After(r.Since.Value()) {
			r.Since.Clear()
			r.Since.Set(at, item)
		}
	}
	list, _ := evidence.Field(pool.Content, "status", "conditions").([]any)
	for _, raw := range list {
		c, _ := raw.(map[string]any)
		if evidence.String(c, "type") == "Updating" && evidence.String(c, "status") == "True" {
			at := evidence.Time(c, "lastTransitionTime")
			latest(at, pool.Shows("status.conditions[Updating]", "Updating=True", at))
		}
	}
	for _, n := range nodes {
		node, err := evidence.Decode[corev1.Node](n.object)
		if err != nil {
			continue // one Node that does not fit its schema must not hide the others
		}
		at := StepSince(&node)
		latest(at, n.object.Shows("status.conditions[Ready]", "last step of "+n.object.Name, at))
	}
}

// progressTo returns how far a node is with a config that it was asked to apply: 0 if it was not
// asked, more the further it is.
func (n nodeConfig) progressTo(target string) int {
	switch {
	case n.desired != target || n.current == n.desired && n.state == "Done":
		return 0
	case n.notReady():
		return 3
	case n.state == "Done":
		return 1
	}
	return 2
}

// notReady reports a Node that reports that it is not Ready.
func (n nodeConfig) notReady() bool {
	ready, _, err := nodeReady(n.object)
	return err == nil && !ready
}

// step says what a node does that was asked to take a config. The daemon asks the
// controller for a drain before it writes anything, and for the uncordon after the
// restart (openshift/machine-config-operator:pkg/daemon/drain.go performDrain,
// pkg/daemon/update.go).
func (n nodeConfig) step() string {
	wanted := n.object.Annotation(openshift.DesiredDrainAnnotation)
	asked := wanted != "" && wanted != n.object.Annotation(openshift.LastDrainAnnotation)
	switch {
	case n.state == "Degraded" || n.state == "Unreconcilable":
		return "is " + n.state
	case n.notReady():
		return "restarts or has restarted and is not Ready"
	case asked && strings.HasPrefix(wanted, "uncordon"):
		return "waits to be uncordoned"
	case asked:
		return "is drained"
	case n.state == "Done":
		return "has been asked to take it"
	}
	return "applies it"
}

// StepSince is when something last happened to a node in the course of an update: it
// was cordoned, or it became Ready or not Ready. Zero where the Node does not tell. When the
// daemon wrote to it only managedFields tell, which are not kept of Nodes.
func StepSince(node *corev1.Node) time.Time {
	var last time.Time
	take := func(at *metav1.Time) {
		if at != nil && at.After(last) {
			last = at.UTC()
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			take(&c.LastTransitionTime)
		}
	}
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeUnschedulable {
			take(t.TimeAdded)
		}
	}
	return last
}
