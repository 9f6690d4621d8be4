package kubelet

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Silence is the fact cluster-silence: whether all kubelets fell silent at one time.
// A host that fails does so alone; all at once they do when the cluster is switched
// off, or when they lose the way to the API. What they ask for afterwards tells which.
type Silence struct {
	Nodes  int       `cel:"nodes"`  // that have a lease
	Silent int       `cel:"silent"` // of them, that have not renewed it since the others came back
	All    bool      `cel:"all"`    // all of them, and within a quarter of an hour of each other
	From   time.Time `cel:"from"`   // the last renewal of any of them
	Now    time.Time `cel:"now"`    // the newest sign of life of the control plane
	Gap    string    `cel:"gap"`
	Asking int       `cel:"asking"` // nodes that have asked for a first client certificate since
	First  time.Time `cel:"first"`  // when the first of them asked
}

// atOnce is how far apart the last renewals of a cluster may be that is switched off
// in one go.
const atOnce = 15 * time.Minute

// far is how far apart two namespaces of one archive may have been read.
const far = 15 * time.Minute

// SilenceFact is the fact cluster-silence.
func SilenceFact() facts.Fact {
	return facts.DefinePlain("cluster-silence", fault.Cluster, "whether all kubelets fell silent at one time, and ask for new certificates since",
		[]evidence.Need{evidence.Objects(evidence.Leases, leaseNamespace), evidence.Objects(evidence.Leases, "kube-system"),
			evidence.Objects(evidence.CSRs, "")}, readSilence)
}

func readSilence(ctx context.Context, w *facts.World, _ fault.Subject) (Silence, facts.Proof, error) {
	var f Silence
	var p facts.Proof
	leases, err := w.List(ctx, evidence.Leases, leaseNamespace)
	if err != nil {
		return f, p, err
	}
	system, err := w.List(ctx, evidence.Leases, "kube-system")
	if err != nil {
		return f, p, err
	}
	_, f.Now = Newest(system, "")
	var first time.Time
	for _, l := range leases {
		at := Renewed(l)
		f.Nodes++
		if f.Now.Sub(at) > far {
			f.Silent++
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(f.From) {
			f.From = at
		}
	}
	f.All = f.Nodes > 0 && f.Silent == f.Nodes && f.From.Sub(first) < atOnce
	f.Gap = fault.Span(f.Now.Sub(f.From))
	p.Add(evidence.Locator{Path: "leases -n " + leaseNamespace}, fmt.Sprintf("%d of %d nodes are silent; the last renewal is of %s, the control plane's of %s",
		f.Silent, f.Nodes, stamp(f.From), stamp(f.Now)), f.From, "nodes", "silent", "all", "from", "now", "gap")
	requests, err := csrs.All(ctx, w)
	if err != nil {
		err = miss(&p, err, "asking", "first")
		return f, p, err
	}
	asked := map[string]bool{}
	for _, r := range requests {
		if r.Kind != csrs.Client || r.Renews() || !r.Created.After(f.From) || r.NodeName == "" {
			continue
		}
		if len(asked) == 0 {
			f.First = r.Created
			p.Add(r.Loc, "asks for a first client certificate of "+r.NodeName, r.Created, "asking", "first")
		}
		asked[r.NodeName] = true
	}
	f.Asking = len(asked)
	return f, p, nil
}
