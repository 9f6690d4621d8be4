package controlplane

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Nodes is the fact control-plane-nodes.
type Nodes struct {
	Expected   facts.Field[int]       `cel:"expected"`   // control-plane nodes that there should be
	Registered facts.Field[int]       `cel:"registered"` // that are Nodes
	Ready      facts.Field[int]       `cel:"ready"`
	Since      facts.Field[time.Time] `cel:"since"` // when the cluster began, or the newest of them registered
	HA         facts.Field[bool]      `cel:"ha"`
}

// NodesFact is the fact control-plane-nodes.
func NodesFact() facts.Fact {
	return facts.Define("control-plane-nodes", fault.Cluster, "how many control-plane nodes joined, of how many that should",
		append(inventory.Needs(), evidence.Objects(evidence.Infrastructures, ""), evidence.Objects(evidence.ClusterVersions, "")), readNodes)
}

func readNodes(ctx context.Context, w *facts.World, _ fault.Subject) (Nodes, error) {
	var n Nodes
	list, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return n, err
	}
	var c nodeCount
	for _, o := range list {
		c.add(o)
	}
	item := evidence.Listed(evidence.Nodes, "", fmt.Sprintf("%d control-plane nodes: %s", len(c.names), strings.Join(c.names, ", ")))
	n.Registered.Set(len(c.names), item)
	n.Ready.Set(c.ready, item)
	version, err := clusterVersion(ctx, w)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return n, err
	}
	if err == nil && version.Created().After(c.since) {
		c.since = version.Created()
	}
	if c.since.IsZero() {
		n.Since.Miss(cmp.Or(err, error(&evidence.Unavailable{
			Need:   evidence.Objects(evidence.ClusterVersions, ""),
			Why:    evidence.NotCollected,
			Detail: "nothing says when the cluster began",
		})))
	} else {
		n.Since.Set(c.since, item)
	}
	return n, n.expect(ctx, w)
}

// nodeCount are the control-plane nodes of a list.
type nodeCount struct {
	names []string
	ready int
	since time.Time
}

func (c *nodeCount) add(o evidence.Object) {
	_, master := o.Label(openshift.MasterLabel)
	_, controlPlane := o.Label(openshift.ControlPlaneLabel)
	if !master && !controlPlane {
		return
	}
	c.names = append(c.names, o.Name)
	if o.Created().After(c.since) {
		c.since = o.Created()
	}
	if conditions.Find(conditions.Of(o), "Ready").Status == "True" {
		c.ready++
	}
}

// topologies says how many control-plane nodes a topology has at least
// (openshift/api:config/v1/types_infrastructure.go TopologyMode). The arbiter of a
// cluster with one is no control-plane node.
var topologies = map[string]int{"HighlyAvailable": 3, "HighlyAvailableArbiter": 2, "DualReplica": 2, "SingleReplica": 1}

// expect takes the larger of what the topology and the install-config ask for.
func (n *Nodes) expect(ctx context.Context, w *facts.World) error {
	topology, err := platform.Topology(ctx, w)
	if err := facts.Miss(err, &n.HA); err != nil {
		return err
	}
	if err != nil && topology.Object.Content == nil { // one that only lacks the field is older than it
		return facts.Miss(err, &n.Expected)
	}
	if topology.Text == "External" {
		return facts.Excluded(topology.Item(), "the control plane is hosted elsewhere")
	}
	loc := topology.Item().Locator
	expected, says := topologies[topology.Text], "topology "+topology.Text
	if err == nil {
		n.HA.Set(topology.Text != "SingleReplica", topology.Item())
	}
	roll, err := inventory.Read(ctx, w)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return err
	}
	if err == nil {
		for _, g := range roll.Gaps {
			if g.Role == "master" && g.Wanted > expected {
				expected, says, loc = g.Wanted, "install-config", g.Loc
			}
		}
		if named := masters(roll); named > expected {
			expected, says = named, "the expected hosts"
		}
	}
	if expected == 0 {
		return facts.Miss(&evidence.Unavailable{Need: evidence.Objects(evidence.Infrastructures, ""), Why: evidence.NotCollected,
			Detail: "neither topology nor install-config says how many", Supply: evidence.Supply{
				Kind:     evidence.SupplyGet,
				Resource: "infrastructure",
				Name:     "cluster",
			}}, &n.Expected)
	}
	item := evidence.Item{Locator: loc, Excerpt: fmt.Sprintf("%s: %d control-plane nodes", says, expected)}
	n.Expected.Set(expected, item)
	return nil
}

// masters counts the hosts that are expected to become control-plane nodes.
func masters(roll *inventory.Inventory) int {
	count := 0
	for _, h := range roll.Hosts {
		if h.Expected && !h.Spare && h.Role == "master" {
			count++
		}
	}
	return count
}
