package badconditions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

var hostFact = facts.Define("host-conditions", fault.Host,
	"what the host's Node and Machine report against it, and whether it is cordoned outside of a rollout",
	append(inventory.Needs(), evidence.Objects(evidence.MachineConfigPools, "")), readHost)

// For how long the conditions of a host are normal.
const (
	pressureNormal = 15 * time.Minute // the kubelet reports it until what it has evicted is gone
	cordonNormal   = time.Hour        // somebody works at the host
	// A bare metal host needs half an hour of inspection and 80 minutes of provisioning at most, and
	// the machine approver takes its request for two hours
	// (openshift/cluster-machine-approver:pkg/controller/csr_check.go maxMachineDelta).
	machineNormal = 2 * time.Hour
)

func readHost(ctx context.Context, w *facts.World, s fault.Subject) (Bad, error) {
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return Bad{}, err
	}
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return Bad{}, err
	}
	if !ok || h.Node == nil && h.Machine == nil {
		for _, kind := range []evidence.Resource{evidence.Nodes, evidence.Machines} {
			if unread := roll.Unread(kind); unread != nil {
				return Bad{}, unread
			}
		}
		return Bad{}, facts.NotApplicable("host %s has no Node and no Machine", s.Name)
	}
	var list []condition
	var shown []evidence.Item
	if h.Node != nil {
		shown = append(shown, evidence.Item{Locator: h.Node.Loc.At("status.conditions"),
			Excerpt: "no condition of Node " + h.Node.API.Name + " speaks against it"})
		list = append(list, ofNode(h)...)
		cordon, err := cordoned(ctx, w, h)
		if err != nil {
			return Bad{}, err
		}
		list = append(list, cordon...)
		older, err := olderKubelet(ctx, w, h)
		if err != nil {
			return Bad{}, err
		}
		list = append(list, older...)
	}
	if h.Machine != nil {
		shown = append(shown, evidence.Item{Locator: h.Machine.Loc.At("status.phase"), Excerpt: fmt.Sprintf("Machine %s is %s", h.Machine.API.Name, phase(h))})
		failed, err := ofMachine(ctx, w, h)
		if err != nil {
			return Bad{}, err
		}
		list = append(list, failed...)
	}
	if len(list) == 0 && len(roll.Missing) > 0 {
		return Bad{}, roll.Missing[0]
	}
	return bad(list, shown...), nil
}

func ofNode(h inventory.Host) []condition {
	n := &h.Node.API
	var list []condition
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady || !against(string(c.Type), string(c.Status)) {
			continue // a Node that is not Ready has a fault of its own
		}
		says := with(fmt.Sprintf("Node %s is %s=%s", n.Name, c.Type, c.Status), words(c.Reason, c.Message))
		since := c.LastTransitionTime.UTC()
		list = append(list, condition{says, since, pressureNormal, evidence.Item{Locator: h.Node.Loc.At("status.conditions"), Excerpt: says, Time: since}})
	}
	return list
}

// cordoned is the condition of a Node that somebody cordoned. Since when is in its taint; where
// that has no time it is not known, and is not taken for short. A row of a table has no annotations:
// a cordon is then part of the rollout that the Node's pool shows.
func cordoned(ctx context.Context, w *facts.World, h inventory.Host) ([]condition, error) {
	n := &h.Node.API
	if !n.Spec.Unschedulable || inRollout(n) || inMaintenance(n) || h.Machine != nil && h.Machine.API.DeletionTimestamp != nil {
		return nil, nil
	}
	says := fmt.Sprintf("Node %s is cordoned (SchedulingDisabled)", n.Name)
	if n.Annotations[evidence.PartMark] == "" {
		says += ", and no rollout is seen at it"
	} else if updating, err := poolUpdates(ctx, w, h.Pool.Name); err != nil || updating {
		return nil, err
	}
	c := condition{says: says, item: evidence.Item{Locator: h.Node.Loc.At("spec.unschedulable"), Excerpt: says}}
	for _, t := range h.Node.API.Spec.Taints {
		if t.Key == corev1.TaintNodeUnschedulable && t.TimeAdded != nil && evidence.Plausible(t.TimeAdded.UTC()) {
			c.since, c.normal, c.item.Time = t.TimeAdded.UTC(), cordonNormal, t.TimeAdded.UTC()
		}
	}
	return []condition{c}, nil
}

// inRollout reports a Node that the machine-config-operator brings to another config: it cordons
// it before, and uncordons it at the end
// (openshift/machine-config-operator:pkg/daemon/drain.go, pkg/controller/drain/drain_controller.go).
func inRollout(n *corev1.Node) bool {
	note := func(name string) string { return n.Annotations[name] }
	state := note(openshift.ConfigStateAnnotation)
	return note(openshift.CurrentConfigAnnotation) != note(openshift.DesiredConfigAnnotation) || state != "" && state != "Done" ||
		note(openshift.DesiredDrainAnnotation) != note(openshift.LastDrainAnnotation) ||
		strings.HasPrefix(note(openshift.LastDrainAnnotation), "drain-")
}

// inMaintenance reports a Node that is meant to be down: the lifecycle conditions of
// kubernetes/enhancements KEP-5683, and the taint of the node maintenance operator
// (medik8s/node-maintenance-operator:controllers/taint.go medik8sDrainTaint).
func inMaintenance(n *corev1.Node) bool {
	planned := []string{"MaintenancePlanned", "MaintenanceInProgress", "DrainInProgress", "Drained", "GracefulNodeShutdownInProgress"}
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Status == corev1.ConditionTrue && slices.Contains(planned, string(c.Type))
	}) || slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return strings.HasPrefix(t.Key, "medik8s.io/") })
}

func phase(h inventory.Host) string {
	if h.Machine.API.Status.Phase == nil {
		return ""
	}
	return *h.Machine.API.Status.Phase
}

// ofMachine reads the phase: Failed stays until the Machine is deleted, Provisioned has an
// instance and no Node (openshift/api:machine/v1beta1/types_machine.go Phase*;
// openshift/machine-api-operator:pkg/controller/machine/controller.go: "A Failed machine is never
// reconciled").
func ofMachine(ctx context.Context, w *facts.World, h inventory.Host) ([]condition, error) {
	m := &h.Machine.API
	if m.DeletionTimestamp != nil {
		return nil, nil
	}
	says := fmt.Sprintf("Machine %s is %s", m.Name, phase(h))
	created := m.CreationTimestamp.UTC()
	item := evidence.Item{Locator: h.Machine.Loc.At("status.phase"), Time: created}
	joined := h.Node != nil || m.Status.NodeRef != nil
	switch p := phase(h); {
	case p == "Failed":
		why, at, err := whyFailed(ctx, w, h)
		if err != nil {
			return nil, err
		}
		item.Excerpt, item.Time = with(says, why), at
		return []condition{{item.Excerpt, at, 0, item}}, nil
	case p == "Provisioned" && !joined && evidence.Plausible(created) && w.Now.Sub(created) < machineNormal:
		return nil, nil // not yet one: that it waits would hide that nothing is known of the host
	case p == "Provisioned" && !joined:
		item.Excerpt = says + ": the instance exists and has not joined"
		if evidence.Plausible(created) && w.Now.After(created) {
			item.Excerpt += ", for up to " + fault.Span(w.Now.Sub(created))
		}
		return []condition{{item.Excerpt, created, machineNormal, item}}, nil
	}
	return nil, nil
}

// whyFailed is the reason and message of a Machine, else what its provider reports, and when its status was
// written last: it failed then or before. How old the Machine is says nothing of that.
func whyFailed(ctx context.Context, w *facts.World, h inventory.Host) (why string, at time.Time, err error) {
	o, ok, err := w.Get(ctx, evidence.Machines, h.Machine.API.Namespace, h.Machine.API.Name)
	if err != nil || !ok {
		return "", time.Time{}, err
	}
	text := func(path ...string) string { return evidence.String(o.Content, path...) }
	why = words(text("status", "errorReason"), text("status", "errorMessage"))
	if updated, err := time.Parse(time.RFC3339, text("status", "lastUpdated")); err == nil && evidence.Plausible(updated) {
		at = updated.UTC()
	}
	provider, _ := evidence.Field(o.Content, "status", "providerStatus", "conditions").([]any)
	for _, raw := range provider {
		if c, _ := raw.(map[string]any); why == "" && evidence.String(c, "status") == "False" {
			why = words(evidence.String(c, "reason"), evidence.String(c, "message"))
		}
	}
	return why, at, nil
}

// olderKubelet compares the kubelet with those of the other nodes of its role. While its pool
// updates they differ; the NodePools of a hosted cluster have a version each.
func olderKubelet(ctx context.Context, w *facts.World, h inventory.Host) ([]condition, error) {
	own := release(h)
	if own == nil || h.NodePool != "" || inRollout(&h.Node.API) {
		return nil, nil
	}
	usual, err := facts.Memo(ctx, w, "badconditions.kubelets", usualKubelets)
	if err != nil {
		return nil, err
	}
	most := usual[h.Role == master]
	if !own.LessThan(most.version) {
		return nil, nil
	}
	if updating, err := poolUpdates(ctx, w, h.Pool.Name); err != nil || updating {
		return nil, err
	}
	says := fmt.Sprintf("Node %s has kubelet v%s, %d other nodes of its role have v%s", h.Node.API.Name, own, most.nodes, most.version)
	return []condition{{says: says, item: evidence.Item{Locator: h.Node.Loc.At("status.nodeInfo.kubeletVersion"), Excerpt: says}}}, nil
}

// kubelets is the version that most nodes of a role have; of several the newest.
type kubelets struct {
	version *semver.Version
	nodes   int
}

// usualKubelets returns those of the workers (false) and of the control plane (true), counted once
// a run and not once for every host.
func usualKubelets(ctx context.Context, w *facts.World) (map[bool]kubelets, error) {
	all, err := inventory.All(ctx, w)
	if err != nil {
		return nil, err
	}
	count := map[bool]map[string]kubelets{false: {}, true: {}}
	for _, h := range all {
		if v := release(h); v != nil && h.NodePool == "" {
			of := count[h.Role == master]
			of[v.String()] = kubelets{v, of[v.String()].nodes + 1}
		}
	}
	usual := map[bool]kubelets{}
	for role, of := range count {
		for _, k := range of {
			if have := usual[role]; k.nodes > have.nodes || k.nodes == have.nodes && k.version.GreaterThan(have.version) {
				usual[role] = k
			}
		}
	}
	return usual, nil
}

// master is the role of control-plane nodes.
const master = "master"

// release is the version of a host's kubelet without its build, nil where there is none. Windows
// has kubelets of its own.
func release(h inventory.Host) *semver.Version {
	if h.Node == nil || h.Node.API.Labels["kubernetes.io/os"] == "windows" {
		return nil
	}
	v, err := semver.NewVersion(h.Node.API.Status.NodeInfo.KubeletVersion)
	if err != nil {
		return nil
	}
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
}

// poolUpdates reports a pool that is updating, or that is paused: its nodes wait for their config
// then. A pool that was not read reports nothing.
func poolUpdates(ctx context.Context, w *facts.World, name string) (bool, error) {
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", name)
	if _, unread := evidence.AsUnavailable(err); unread || err == nil && !ok {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	paused, _ := evidence.Field(o.Content, "spec", "paused").(bool)
	return paused || conditions.Find(conditions.Of(o), "Updating").Status == "True", nil
}
