package kubelet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// reported is what the operators of etcd and the API server report of a host.
type reported struct {
	Operators facts.Field[[]string]  `cel:"operators"` // that name it, by their ClusterOperators
	Names     facts.Field[string]    `cel:"names"`     // of these operators, joined
	Exists    facts.Field[bool]      `cel:"exists"`    // it is a Node
	NotReady  facts.Field[bool]      `cel:"notReady"`  // they report its Node as not ready, and the Node does not say otherwise
	Why       facts.Field[string]    `cel:"why"`
	Since     facts.Field[time.Time] `cel:"since"` // of that report
}

// reportedFact is the fact host-reported.
func reportedFact() facts.Fact {
	return facts.Define("host-reported", fault.Host, "what the operators of etcd and the API server report of the host's Node", inventory.Needs(), readReported)
}

func readReported(ctx context.Context, w *facts.World, s fault.Subject) (reported, error) {
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	var r reported
	h, ok, err := inventory.Find(ctx, w, s.Name)
	if err != nil {
		return r, err
	}
	if !ok {
		return r, facts.NotApplicable("there is no host %s", s.Name)
	}
	_, unread := inventory.OperatorWords(ctx, w)
	if _, unavailable := evidence.AsUnavailable(unread); unread != nil && !unavailable {
		return r, unread
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err := facts.Miss(err, &r.Exists); err != nil {
		return r, err
	}
	if err == nil {
		shown := evidence.Listed(evidence.Nodes, "", fmt.Sprintf("none of the %d Nodes is %s", len(nodes), h.Name))
		if h.Node != nil {
			shown = evidence.Item{Locator: h.Node.Loc, Excerpt: "Node " + h.Name + " exists"}
		}
		r.Exists.Set(h.Node != nil, shown)
	}
	r.words(h)
	if unread != nil {
		if len(h.OperatorWords) == 0 {
			r.Operators.Miss(unread)
			r.Names.Miss(unread)
		}
		if _, err := r.NotReady.Get(); err != nil {
			r.NotReady.Miss(unread)
			r.Why.Miss(unread)
		}
	}
	facts.Complete(&r)
	return r, nil
}

// words reads the reports. They are older than the Node: one that is Ready refutes them.
func (r *reported) words(h inventory.Host) {
	r.Operators.Set(h.Operators())
	r.Names.Set(strings.Join(h.Operators(), " and "))
	ready, shown := false, evidence.Item{}
	if h.Node != nil {
		for _, c := range h.Node.API.Status.Conditions {
			if c.Type == "Ready" && c.Status == "True" {
				ready, shown = true, evidence.Item{Locator: h.Node.Loc.At("status.conditions"), Excerpt: "Ready=True", Time: c.LastTransitionTime.UTC()}
			}
		}
	}
	for _, word := range h.OperatorWords {
		facts.Prove(word.Item, &r.Operators, &r.Names)
		if word.NotReady && !ready {
			r.NotReady.Set(true, word.Item)
			r.Why.Set(word.Why, word.Item)
			facts.Earliest(&r.Since, word.Since, word.Item)
		}
	}
	if ready {
		r.NotReady.Set(false, shown)
		r.Why.Set("", shown)
	}
}
