package kubelet

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// Silence is the fact cluster-silence: whether all kubelets stopped reporting at one time.
// A host that fails does so alone; all at once they do when the cluster is switched
// off, or when they lose the network path to the API. What they ask for afterwards tells which.
type Silence struct {
	Nodes  facts.Field[int]       `cel:"nodes"`  // that have a lease
	Silent facts.Field[int]       `cel:"silent"` // of them, that have not renewed it since the others came back
	All    facts.Field[bool]      `cel:"all"`    // all of them, and within a quarter of an hour of each other
	From   facts.Field[time.Time] `cel:"from"`   // the last renewal of any of them
	Now    facts.Field[time.Time] `cel:"now"`    // the newest time at which the control plane reported
	Gap    facts.Field[string]    `cel:"gap"`
	Asking facts.Field[int]       `cel:"asking"` // nodes that have asked for a first client certificate since
	First  facts.Field[time.Time] `cel:"first"`  // when the first of them asked
}

// atOnce is how far apart the last renewals of a cluster may be that is switched off
// in one go.
const atOnce = 15 * time.Minute

// maxReadGap is how far apart two namespaces of one archive may have been read.
const maxReadGap = 15 * time.Minute

// SilenceFact is the fact cluster-silence.
func SilenceFact() facts.Fact {
	return facts.Define("cluster-silence", fault.Cluster, "whether all kubelets stopped reporting at one time, and ask for new certificates since",
		[]evidence.Need{evidence.Objects(evidence.Leases, corev1.NamespaceNodeLease), evidence.Objects(evidence.Leases, openshift.SystemNamespace),
			evidence.Objects(evidence.CSRs, "")}, readSilence)
}

func readSilence(ctx context.Context, w *facts.World, _ fault.Subject) (Silence, error) {
	var f Silence
	leases, err := w.List(ctx, evidence.Leases, corev1.NamespaceNodeLease)
	if err != nil {
		return f, err
	}
	system, err := w.List(ctx, evidence.Leases, openshift.SystemNamespace)
	if err != nil {
		return f, err
	}
	_, now := Newest(system, "")
	_, from := Newest(leases, "")
	var first time.Time
	silent := 0
	for _, l := range leases {
		at := Renewed(l)
		if now.Sub(at) > maxReadGap {
			silent++
		}
		if first.IsZero() || at.Before(first) {
			first = at
		}
	}
	f.Nodes.Set(len(leases))
	f.Silent.Set(silent)
	f.All.Set(len(leases) > 0 && silent == len(leases) && from.Sub(first) < atOnce)
	f.From.Set(from)
	f.Now.Set(now)
	f.Gap.Set(fault.Span(now.Sub(from)))
	shown := evidence.Listed(evidence.Leases, corev1.NamespaceNodeLease, fmt.Sprintf(
		"%d of %d nodes are silent; the last renewal is of %s, the control plane's of %s", silent, len(leases), excerpt.Time(from), excerpt.Time(now)))
	shown.Time = from
	facts.ProveAll(&f, shown)
	err = f.asking(ctx, w, from)
	return f, err
}

// asking counts the nodes that have asked for a first client certificate since.
func (f *Silence) asking(ctx context.Context, w *facts.World, from time.Time) error {
	requests, err := csrs.All(ctx, w)
	if err != nil {
		return facts.Miss(err, &f.Asking, &f.First)
	}
	asked := map[string]bool{}
	shown := evidence.Listed(evidence.CSRs, "", fmt.Sprintf("none of the %d requests is for a first client certificate", len(requests)))
	for _, r := range requests {
		if r.Kind != csrs.Client || r.Renews() || !r.Created.After(from) || r.NodeName == "" {
			continue
		}
		if len(asked) == 0 {
			shown = evidence.Item{Locator: r.Loc, Excerpt: "asks for a first client certificate of " + r.NodeName, Time: r.Created}
		}
		asked[r.NodeName] = true
	}
	f.Asking.Set(len(asked), shown)
	f.First.Set(shown.Time, shown)
	return nil
}
