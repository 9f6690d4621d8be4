// Package kubelet computes facts about a host's kubelet: what its Node says, when
// it last gave a sign of life, and what its journal says of its identity.
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

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// leaseNamespace holds one Lease per kubelet, renewed every 10 s
// (kubernetes/kubernetes:pkg/kubelet/kubelet.go, nodeLeaseRenewIntervalFraction).
const leaseNamespace = "kube-node-lease"

// StaleAfter is how far a lease may lag behind the newest. The controller manager
// gives up a node after 40 to 50 s; two minutes leave room for a slow API.
const StaleAfter = 2 * time.Minute

// Node is the fact host-node.
type Node struct {
	Exists            bool      `cel:"exists"`
	Name              string    `cel:"name"`
	Created           time.Time `cel:"created"`
	Ready             bool      `cel:"ready"`
	ReadyStatus       string    `cel:"readyStatus"` // True, False, Unknown; "" without the condition
	ReadyReason       string    `cel:"readyReason"`
	ReadyMessage      string    `cel:"readyMessage"`
	ReadySince        time.Time `cel:"readySince"` // of the present status
	LastHeartbeat     time.Time `cel:"lastHeartbeat"`
	NetworkNotReady   bool      `cel:"networkNotReady"` // the runtime waits for a CNI configuration
	Unschedulable     bool      `cel:"unschedulable"`
	Taints            []string  `cel:"taints"`
	KubeletVersion    string    `cel:"kubeletVersion"`
	ControlPlane      bool      `cel:"controlPlane"`
	LeaseFound        bool      `cel:"leaseFound"`
	LeaseRenewed      time.Time `cel:"leaseRenewed"`
	LeaseStale        bool      `cel:"leaseStale"`
	LeaseBehind       string    `cel:"leaseBehind"`       // how far behind the newest, in words
	StoppedPosting    bool      `cel:"stoppedPosting"`    // Ready=Unknown: the controller manager gave it up
	WaitsForCloudInit bool      `cel:"waitsForCloudInit"` // the external cloud provider has not initialised it
}

// NodeFact is the fact host-node.
func NodeFact() facts.Fact {
	return facts.DefinePlain("host-node", fault.Host, "what the host's Node says and when its kubelet last gave a sign of life",
		append(hosts.Needs(), evidence.Objects(evidence.Leases, leaseNamespace)), readNode)
}

func readNode(ctx context.Context, w *facts.World, s fault.Subject) (Node, facts.Proof, error) {
	var n Node
	var p facts.Proof
	if _, err := w.List(ctx, evidence.Nodes, ""); err != nil {
		return n, p, err
	}
	h, ok, err := hosts.Find(ctx, w, s.Name)
	if err != nil {
		return n, p, err
	}
	if !ok {
		return n, p, facts.NotApplicable("there is no host %s", s.Name)
	}
	if h.Node == nil {
		p.Add(evidence.Locator{Path: "nodes"}, "no Node of "+h.Name, time.Time{}, "exists")
		return n, p, nil
	}
	n.fill(&h.Node.API, h.Node.Loc, &p)
	err = n.lease(ctx, w, &p)
	return n, p, err
}

func (n *Node) fill(api *corev1.Node, loc evidence.Locator, p *facts.Proof) {
	n.Exists, n.Name, n.Created = true, api.Name, api.CreationTimestamp.UTC()
	n.Unschedulable, n.KubeletVersion = api.Spec.Unschedulable, api.Status.NodeInfo.KubeletVersion
	for _, role := range []string{"node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"} {
		if _, ok := api.Labels[role]; ok {
			n.ControlPlane = true
		}
	}
	for _, t := range api.Spec.Taints {
		n.Taints = append(n.Taints, t.Key+":"+string(t.Effect))
		n.WaitsForCloudInit = n.WaitsForCloudInit || t.Key == "node.cloudprovider.kubernetes.io/uninitialized"
	}
	p.Add(loc, "Node exists since "+stamp(n.Created), n.Created, "exists", "created")
	i := slices.IndexFunc(api.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		p.Add(loc.At("status.conditions"), "no condition Ready", time.Time{}, "ready", "readyStatus")
		return
	}
	c := api.Status.Conditions[i]
	n.Ready, n.ReadyStatus = c.Status == corev1.ConditionTrue, string(c.Status)
	n.ReadyReason, n.ReadyMessage = c.Reason, c.Message
	n.ReadySince, n.LastHeartbeat = c.LastTransitionTime.UTC(), c.LastHeartbeatTime.UTC()
	n.StoppedPosting = c.Status == corev1.ConditionUnknown
	n.NetworkNotReady = !n.Ready && strings.Contains(c.Message, "NetworkPluginNotReady")
	p.Add(loc.At("status.conditions"), fmt.Sprintf("Ready=%s since %s: %s %s", c.Status, stamp(n.ReadySince), c.Reason, c.Message), n.ReadySince,
		"ready", "readyStatus", "readyReason", "readyMessage", "readySince", "stoppedPosting", "networkNotReady", "lastHeartbeat")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (n *Node) lease(ctx context.Context, w *facts.World, p *facts.Proof) error {
	newest, err := facts.Memo(ctx, w, "kubelet.newest-lease", func(ctx context.Context, w *facts.World) (time.Time, error) {
		leases, err := w.List(ctx, evidence.Leases, leaseNamespace)
		_, newest := Newest(leases, "")
		return newest, err
	})
	if err != nil {
		return miss(p, err, "leaseFound", "leaseRenewed", "leaseStale", "leaseBehind")
	}
	own, ok, err := w.Get(ctx, evidence.Leases, leaseNamespace, n.Name)
	if !ok || err != nil {
		return miss(p, err, "leaseFound", "leaseRenewed", "leaseStale", "leaseBehind")
	}
	n.LeaseFound, n.LeaseRenewed = true, Renewed(own)
	behind := newest.Sub(n.LeaseRenewed)
	n.LeaseStale, n.LeaseBehind = behind > StaleAfter, fault.Span(behind)
	p.Add(own.Loc.At("spec.renewTime"), fmt.Sprintf("renewed %s, %s behind the newest lease", stamp(n.LeaseRenewed), n.LeaseBehind), n.LeaseRenewed,
		"leaseFound", "leaseRenewed", "leaseStale", "leaseBehind")
	return nil
}

// Renewed is when a Lease was last renewed.
func Renewed(lease evidence.Object) time.Time {
	return evidence.Time(lease.Content, "spec", "renewTime")
}

// Newest returns the Lease of a name, empty where there is none, and the newest
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

// miss marks fields unknown when err says that they could not be read, and
// returns err when it is a defect.
func miss(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{NodeFact(), IdentityFact(), SilenceFact()} }
