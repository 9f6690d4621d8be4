package controlplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Nodes is the fact control-plane-nodes.
type Nodes struct {
	Expected   int       `cel:"expected"`   // control-plane nodes that there should be
	Registered int       `cel:"registered"` // that are Nodes
	Ready      int       `cel:"ready"`
	Names      []string  `cel:"names"`
	Says       string    `cel:"says"`  // where the expectation comes from
	Since      time.Time `cel:"since"` // when the cluster began, or the newest of them registered
	HA         bool      `cel:"ha"`
}

// NodesFact is the fact control-plane-nodes.
func NodesFact() facts.Fact {
	return facts.DefinePlain("control-plane-nodes", fault.Cluster, "how many control-plane nodes joined, of how many that should",
		append(hosts.Needs(), evidence.Objects(evidence.Infrastructures, ""), evidence.Objects(evidence.ClusterVersions, "")), readNodes)
}

func readNodes(ctx context.Context, w *facts.World, _ fault.Subject) (Nodes, facts.Proof, error) {
	var n Nodes
	var p facts.Proof
	list, err := w.List(ctx, evidence.Nodes, "")
	if err != nil {
		return n, p, err
	}
	for _, o := range list {
		n.count(o)
	}
	p.Add(evidence.Locator{Path: "nodes"}, fmt.Sprintf("%d control-plane nodes: %s", n.Registered, strings.Join(n.Names, ", ")),
		time.Time{}, "registered", "ready", "names")
	version, err := clusterVersion(ctx, w)
	if err == nil && version.Created().After(n.Since) {
		n.Since = version.Created()
	} else if err := miss(&p, err); err != nil {
		return n, p, err
	}
	err = n.expect(ctx, w, &p)
	return n, p, err
}

func (n *Nodes) count(o evidence.Object) {
	_, master := o.Label("node-role.kubernetes.io/master")
	_, controlPlane := o.Label("node-role.kubernetes.io/control-plane")
	if !master && !controlPlane {
		return
	}
	n.Registered++
	n.Names = append(n.Names, o.Name)
	if o.Created().After(n.Since) {
		n.Since = o.Created()
	}
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, e := range list {
		c, _ := e.(map[string]any)
		if evidence.String(c, "type") == "Ready" && evidence.String(c, "status") == "True" {
			n.Ready++
		}
	}
}

// topologies says how many control-plane nodes a topology has at least
// (openshift/api:config/v1/types_infrastructure.go TopologyMode). The arbiter of a
// cluster with one is no control-plane node.
var topologies = map[string]int{"HighlyAvailable": 3, "HighlyAvailableArbiter": 2, "DualReplica": 2, "SingleReplica": 1}

// expect takes the larger of what the topology and the install-config ask for.
func (n *Nodes) expect(ctx context.Context, w *facts.World, p *facts.Proof) error {
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err != nil {
		return miss(p, err, "expected", "says", "ha")
	}
	topology := evidence.String(infra.Content, "status", "controlPlaneTopology")
	if topology == "External" {
		return facts.NotApplicable("the control plane is hosted elsewhere")
	}
	n.HA = ok && topology != "SingleReplica"
	n.Expected = topologies[topology]
	n.Says = "topology " + topology
	loc := infra.Loc.At("status.controlPlaneTopology")
	if roll, err := hosts.Read(ctx, w); err == nil {
		for _, g := range roll.Gaps {
			if g.Role == "master" && g.Wanted > n.Expected {
				n.Expected, n.Says, loc = g.Wanted, "install-config", g.Loc
			}
		}
		if named := masters(roll); named > n.Expected {
			n.Expected, n.Says = named, "the hosts on the roll"
		}
	} else if err := miss(p, err); err != nil {
		return err
	}
	if n.Expected == 0 {
		p.Miss("expected", &evidence.Unavailable{Need: evidence.Objects(evidence.Infrastructures, ""), Why: evidence.NotCollected,
			Detail: "neither topology nor install-config says how many", Supply: "oc get infrastructure cluster -o yaml"})
		return nil
	}
	p.Add(loc, fmt.Sprintf("%s: %d control-plane nodes", n.Says, n.Expected), time.Time{}, "expected", "says", "ha")
	return nil
}

// masters counts the hosts that are expected to become control-plane nodes.
func masters(roll *hosts.Roll) int {
	count := 0
	for _, h := range roll.Hosts {
		if h.Expected && !h.Spare && h.Role == "master" {
			count++
		}
	}
	return count
}
