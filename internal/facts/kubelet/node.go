// Package kubelet computes facts about a host's kubelet: what its Node says, when
// it last reported, and what its journal says of its identity.
//
// Invariants:
//   - A lease is stale against the newest lease of the same namespace, never
//     against a clock: an archive is read long after it was taken, and the parts of
//     one archive are minutes apart.
//   - "Ready" is only as fresh as whoever judges it: without a controller manager
//     a dead node stays Ready (controlplane facts, kcm-lease).
package kubelet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// staleAfter is how far a lease may lag behind the newest. The controller manager
// gives up a node after 40 to 50 s; two minutes leave room for a slow API.
const staleAfter = 2 * time.Minute

// Node is the fact host-node.
type Node struct {
	Exists            facts.Field[bool]      `cel:"exists"`
	Name              facts.Field[string]    `cel:"name"`
	Created           facts.Field[time.Time] `cel:"created"`
	Ready             facts.Field[bool]      `cel:"ready"`
	ReadyStatus       facts.Field[string]    `cel:"readyStatus"` // True, False, Unknown; "" without the condition
	ReadyMessage      facts.Field[string]    `cel:"readyMessage"`
	ReadySince        facts.Field[time.Time] `cel:"readySince"` // of the present status
	LastHeartbeat     facts.Field[time.Time] `cel:"lastHeartbeat"`
	NetworkNotReady   facts.Field[bool]      `cel:"networkNotReady"` // the runtime waits for a CNI configuration
	Unschedulable     facts.Field[bool]      `cel:"unschedulable"`
	Taints            facts.Field[[]string]  `cel:"taints"`
	KubeletVersion    facts.Field[string]    `cel:"kubeletVersion"`
	ControlPlane      facts.Field[bool]      `cel:"controlPlane"`
	LeaseFound        facts.Field[bool]      `cel:"leaseFound"`
	LeaseRenewed      facts.Field[time.Time] `cel:"leaseRenewed"`
	LeaseStale        facts.Field[bool]      `cel:"leaseStale"`
	LeaseBehind       facts.Field[string]    `cel:"leaseBehind"`       // how far behind the newest, in words
	StoppedPosting    facts.Field[bool]      `cel:"stoppedPosting"`    // Ready=Unknown: the controller manager gave it up
	WaitsForCloudInit facts.Field[bool]      `cel:"waitsForCloudInit"` // the external cloud provider has not initialized it
	Linked            facts.Field[string]    `cel:"linked"`            // the Node that the host's Machine names, "" where it names none
}

// NodeFact is the fact host-node.
func NodeFact() facts.Fact {
	return facts.Define("host-node", fault.Host, "what the host's Node says and when its kubelet last reported",
		append(inventory.Needs(), evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease)), readNode)
}

func readNode(ctx context.Context, w *facts.World, s fault.Subject) (Node, error) {
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	var n Node
	nodes, err := w.Some(ctx, evidence.Nodes, "")
	if err != nil {
		return n, err
	}
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return n, err
	}
	if !ok {
		return n, facts.NotApplicable("there is no host %s", s.Name)
	}
	if h.Node == nil {
		if _, err := w.List(ctx, evidence.Nodes, ""); err != nil { // it may be among those that were not read
			return n, err
		}
		roll, err := inventory.Read(ctx, w)
		if err != nil {
			return n, err
		}
		if u := roll.ForeignNodes(); u != nil {
			return n, u
		}
		none := evidence.Listed(evidence.Nodes, "", fmt.Sprintf("none of the %d Nodes is %s", len(nodes), h.Name))
		none.Dangling = h.Machine != nil && h.Machine.API.Status.NodeRef != nil
		facts.Complete(&n)
		facts.ProveAll(&n, none)
		n.Linked.Clear()
		return n, n.link(ctx, w, h)
	}
	if err := n.link(ctx, w, h); err != nil {
		return n, err
	}
	n.fill(&h.Node.API, h.Node.Loc)
	n.ready(&h.Node.API, h.Node.Loc)
	err = n.lease(ctx, w, h.Node.API.Name)
	return n, err
}

// link reads which Node the host's Machine names. The node link controller sets nodeRef
// when it sees the Node, and does not take it away when the Node is gone
// (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go updateNodeRef).
// The nodeRef of a Machine that is being deleted tells nothing: its Node goes with it.
func (n *Node) link(ctx context.Context, w *facts.World, h inventory.Host) error {
	m := h.Machine
	if m == nil {
		roll, err := inventory.Read(ctx, w)
		if err != nil {
			return err
		}
		if u := roll.Unread(evidence.Machines); u != nil {
			return facts.Miss(u, &n.Linked)
		}
		n.Linked.Set("", evidence.Listed(evidence.Machines, openshift.MachineAPINamespace, "no Machine is of "+h.Name))
		return nil
	}
	name := ""
	if m.API.Status.NodeRef != nil && m.API.DeletionTimestamp == nil {
		name = m.API.Status.NodeRef.Name
	}
	n.Linked.Set(name, evidence.Item{Locator: m.Loc.At("status.nodeRef.name"), Excerpt: fmt.Sprintf("Machine %s: nodeRef %q", m.API.Name, name)})
	return nil
}

func (n *Node) fill(api *corev1.Node, loc evidence.Locator) {
	created := api.CreationTimestamp.UTC()
	exists := evidence.Item{Locator: loc, Excerpt: "Node exists since " + excerpt.Time(created), Time: created}
	controlPlane := false
	for _, role := range []string{openshift.MasterLabel, openshift.ControlPlaneLabel} {
		if _, ok := api.Labels[role]; ok {
			controlPlane = true
		}
	}
	var taints []string
	for _, t := range api.Spec.Taints {
		taints = append(taints, t.Key+":"+string(t.Effect))
	}
	tainted := evidence.Item{Locator: loc.At("spec.taints"), Excerpt: fmt.Sprintf("%d taints %s", len(taints), strings.Join(taints, ", "))}
	n.Exists.Set(true, exists)
	n.Created.Set(created, exists)
	n.Name.Set(api.Name, exists)
	n.KubeletVersion.Set(api.Status.NodeInfo.KubeletVersion, exists)
	n.Unschedulable.Set(api.Spec.Unschedulable, evidence.Item{Locator: loc.At("spec.unschedulable"), Excerpt: fmt.Sprint(api.Spec.Unschedulable)})
	n.ControlPlane.Set(controlPlane, exists)
	n.Taints.Set(taints, tainted)
	n.WaitsForCloudInit.Set(slices.ContainsFunc(api.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == openshift.UninitializedTaint
	}), tainted)
}

// ready reads the condition Ready. A kubelet reports it with its first status, so that
// without it nothing is known of the node's state yet.
func (n *Node) ready(api *corev1.Node, loc evidence.Locator) {
	i := slices.IndexFunc(api.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		_ = facts.Miss(&evidence.Unavailable{
			Need:   evidence.Objects(evidence.Nodes, ""),
			Why:    evidence.NotCollected,
			Detail: "the condition Ready of Node " + api.Name + " is not reported yet",
		},
			&n.Ready, &n.ReadyStatus, &n.ReadyMessage, &n.ReadySince, &n.LastHeartbeat, &n.StoppedPosting, &n.NetworkNotReady)
		return
	}
	c := api.Status.Conditions[i]
	ready, since := c.Status == corev1.ConditionTrue, c.LastTransitionTime.UTC()
	text := "Ready=" + string(c.Status)
	if evidence.Plausible(since) {
		text += " since " + excerpt.Time(since)
	}
	if c.Reason+c.Message != "" {
		text += ": " + c.Reason + " " + c.Message
	}
	shown := evidence.Item{Locator: loc.At("status.conditions"), Excerpt: text, Time: since}
	n.Ready.Set(ready, shown)
	n.ReadyStatus.Set(string(c.Status), shown)
	n.ReadyMessage.Set(c.Message, shown)
	n.ReadySince.Set(since, shown)
	n.LastHeartbeat.Set(c.LastHeartbeatTime.UTC(), shown)
	n.StoppedPosting.Set(c.Status == corev1.ConditionUnknown, shown)
	n.NetworkNotReady.Set(!ready && strings.Contains(c.Message, "NetworkPluginNotReady"), shown)
}

func (n *Node) lease(ctx context.Context, w *facts.World, name string) error {
	fields := []facts.Setter{&n.LeaseFound, &n.LeaseRenewed, &n.LeaseStale, &n.LeaseBehind}
	newest, err := facts.Memo(ctx, w, "kubelet.newest-lease", func(ctx context.Context, w *facts.World) (time.Time, error) {
		leases, err := w.List(ctx, evidence.Leases, corev1.NamespaceNodeLease)
		_, newest := Newest(leases, "")
		return newest, err
	})
	if err != nil {
		return facts.Miss(err, fields...)
	}
	own, ok, err := w.Get(ctx, evidence.Leases, corev1.NamespaceNodeLease, name)
	if err != nil {
		return facts.Miss(err, fields...)
	}
	shown := evidence.Listed(evidence.Leases, corev1.NamespaceNodeLease, "no lease of "+name)
	renewed, behind := Renewed(own), time.Duration(0)
	if ok {
		behind = newest.Sub(renewed)
		shown = own.Shows("spec.renewTime", fmt.Sprintf("renewed %s, %s behind the newest lease", excerpt.Time(renewed), fault.Span(behind)), renewed)
	}
	n.LeaseFound.Set(ok, shown)
	n.LeaseRenewed.Set(renewed, shown)
	n.LeaseStale.Set(behind > staleAfter, shown)
	n.LeaseBehind.Set("", shown)
	if ok {
		n.LeaseBehind.Set(fault.Span(behind))
	}
	return nil
}

// Renewed is when a Lease was last renewed.
func Renewed(lease evidence.Object) time.Time {
	return evidence.Time(lease.Content, "spec", "renewTime")
}

// Newest returns the Lease of a name, empty if there is none, and the newest
// renewal of all.
func Newest(leases []evidence.Object, name string) (own evidence.Object, newest time.Time) {
	for _, l := range leases {
		if l.Name == name {
			own = l
		}
		if t := Renewed(l); t.After(newest) {
			newest = t
		}
	}
	return own, newest
}

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{NodeFact(), IdentityFact(), SilenceFact(), reportedFact()}
}
