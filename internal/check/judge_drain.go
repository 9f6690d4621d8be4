package check

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/eviction"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// drains judge evictions.
var drains = []Judgment{{
	ID: "drain", Commands: "oc adm drain", Matches: func(c *shellcommand.Call) bool { return nodeVerb(c, "drain") },
	Reads: []evidence.Need{evidence.Objects(evidence.PodDisruptionBudgets, ""), evidence.Objects(evidence.Pods, "")},
	Decide: func(ctx context.Context, l *look, c *shellcommand.Call) (*decision, error) {
		list, err := l.picked(ctx, evidence.Nodes, c, nodeArgs(c))
		if err != nil {
			return nil, err
		}
		return eachNode(ctx, l, c, func(ctx context.Context, n *evidence.Object) (*decision, error) { return l.drain(ctx, c, n, list) })
	},
	Sources: []fault.Ref{
		{Repo: "kubernetes/kubernetes", Path: "pkg/registry/core/pod/storage/eviction.go"},
		{Repo: "kubernetes/kubectl", Path: "pkg/drain/filters.go"},
	},
}}

// drain judges the drain of one node, with others that are drained after it.
func (l *look) drain(ctx context.Context, c *shellcommand.Call, n *evidence.Object, together []*evidence.Object) (*decision, error) {
	d := &decision{verdict: Unsafe, undo: "oc adm uncordon " + n.Name + "; evicted pods stay where they are then",
		verify: []string{"oc get pods -A -o wide --field-selector spec.nodeName=" + n.Name, "oc get pdb -A"}}
	if _, empty := c.Flag("--delete-emptydir-data", "--delete-local-data"); empty {
		d.lost = "what pods of " + n.Name + " have on emptyDir volumes is gone for good"
	}
	silent, item, err := l.silence(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	if silent > 0 {
		d.why = fmt.Sprintf("%s has not reported for %s: its pods do not end, and the drain waits for them", n.Name, ago(silent))
		d.evidence, d.instead = []evidence.Item{item}, []string{"rollcall diagnose node/" + n.Name}
		return d, nil
	}
	others, err := l.schedulable(ctx, n.Name, together...)
	if err != nil {
		return nil, err
	}
	if others == 0 {
		d.why = "no other node of its role is Ready and takes pods: what is evicted has no place"
		if h, err := l.held(ctx, n); err == nil && h.why() != "" {
			d.why = h.why() + ". And " + d.why
		}
		return d, nil
	}
	if control(n) {
		why, bad, proof, err := l.oneAway(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		if bad {
			d.why, d.evidence = why, proof
			return d, nil
		}
	}
	if _, bypass := c.Flag("--disable-eviction"); bypass {
		d.why, d.instead = "--disable-eviction deletes pods without asking their PodDisruptionBudgets", []string{"drain without --disable-eviction"}
		return d, nil
	}
	return l.budgets(ctx, c, n, d, others)
}

// hold is what the PodDisruptionBudgets of the pods on a node allow.
type hold struct {
	held  []string        // what refuses an eviction
	proof []evidence.Item // of it
	open  []string        // budgets of which that is not known
}

// why says what refuses an eviction, "" where nothing that was read does.
func (h *hold) why() string {
	if len(h.held) == 0 {
		return ""
	}
	return "the drain does not end: " + strings.Join(h.held, "; ")
}

// held looks at the PodDisruptionBudgets of the pods on a node.
func (l *look) held(ctx context.Context, n *evidence.Object) (*hold, error) {
	budgets, err := l.read(ctx, evidence.PodDisruptionBudgets, "")
	if err != nil {
		return nil, err
	}
	pods, err := l.podsOn(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	h, of := &hold{}, map[*evidence.Object][]string{}
	for _, o := range budgets {
		b := eviction.Read(o)
		if b.Selector == nil {
			h.open = append(h.open, fmt.Sprintf("which pods PodDisruptionBudget %s -n %s selects", b.Name, b.Namespace))
			continue
		}
		var mine []*evidence.Object
		for _, p := range pods {
			if covers, _ := b.Covers(p); covers && eviction.Asks(p) {
				mine, of[p] = append(mine, p), append(of[p], b.Name)
			}
		}
		h.judge(&b, mine)
	}
	for _, p := range pods {
		if names := of[p]; len(names) > 1 {
			h.held = append(h.held, fmt.Sprintf("pod %s -n %s has more than one PodDisruptionBudget (%s), so its eviction is refused", p.Name, p.Namespace,
				strings.Join(names, ", ")))
			h.proof = append(h.proof, p.Shows("metadata.labels", "selected by "+strings.Join(names, ", "), l.d.Now))
		}
	}
	return h, nil
}

// judge adds what one budget says of the pods that it covers.
func (h *hold) judge(b *eviction.Budget, mine []*evidence.Object) {
	var kept []*evidence.Object // that do not go, should the budget allow none
	for _, p := range mine {
		if !b.Frees(p) {
			kept = append(kept, p)
		}
	}
	switch {
	case len(mine) == 0:
	case !b.Known && (len(kept) > 0 || !b.Always):
		h.open = append(h.open, fmt.Sprintf("what PodDisruptionBudget %s -n %s allows (its status is not there, or not of its newest generation)", b.Name,
			b.Namespace))
	case b.Allowed <= 0 && len(kept) > 0:
		h.held = append(h.held, fmt.Sprintf("PodDisruptionBudget %s -n %s (%d of %d pods are Ready, none may go; on this node: %s)", b.Name, b.Namespace,
			b.Healthy, b.Expected, namesOf(kept)))
		h.proof = append(h.proof, b.Shows("status.disruptionsAllowed", fmt.Sprintf("disruptionsAllowed: %d, currentHealthy: %d, desiredHealthy: %d",
			b.Allowed, b.Healthy, b.Desired), b.ReadAt))
	}
}

// podsOn are the pods of a node, each once.
func (l *look) podsOn(ctx context.Context, node string) (list []*evidence.Object, err error) {
	all, err := l.read(ctx, evidence.Pods, "")
	for _, p := range all {
		if evidence.String(p.Content, "spec", "nodeName") == node &&
			!slices.ContainsFunc(list, func(o *evidence.Object) bool { return o.Namespace == p.Namespace && o.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list, err
}

// budgets says whether every PodDisruptionBudget of the pods on a node allows an eviction.
func (l *look) budgets(ctx context.Context, c *shellcommand.Call, n *evidence.Object, d *decision, others int) (*decision, error) {
	h, err := l.held(ctx, n)
	if err != nil {
		return nil, err
	}
	if d.why = h.why(); d.why != "" {
		d.evidence = h.proof
		d.instead = []string{"bring the missing replica up first, or scale the workload up", "rollcall explain drain-blocked"}
		return d, nil
	}
	if _, force := c.Flag("--force"); force {
		pods, err := l.podsOn(ctx, n.Name)
		if err != nil {
			return nil, err
		}
		if bare := slices.DeleteFunc(pods, func(p *evidence.Object) bool { return !eviction.Bare(p) }); len(bare) > 0 {
			d.verdict, d.why = Person, "--force deletes pods that nothing creates again: "+namesOf(bare)
			d.instead = []string{"drain without --force: it names them and stops"}
			return d, nil
		}
	}
	for _, r := range []evidence.Resource{evidence.PodDisruptionBudgets, evidence.Pods} {
		if u := l.partial(ctx, r, ""); u != nil {
			return nil, u
		}
	}
	if len(h.open) > 0 {
		return nil, &undecided{"it is not known " + strings.Join(h.open, "; "), "oc get pdb -A -o yaml"}
	}
	if !l.whole {
		return nil, &undecided{"an archive does not have every namespace, and does not show what has changed since " + page.Clock(l.d.Now) + l.age() +
			": another PodDisruptionBudget may hold the drain", "the same command against the cluster"}
	}
	d.verdict = Safe
	d.why = fmt.Sprintf("every PodDisruptionBudget allows it now, and of its role %s", page.Count(others, "other node takes pods", "other nodes take pods"))
	return d, nil
}

// age is for how long the state of the source is past, in brackets; "" where it is of now.
func (l *look) age() string {
	if l.asked.Sub(l.d.Now) < time.Minute {
		return ""
	}
	return " (" + passed(l.asked.Sub(l.d.Now)) + " ago)"
}

// passed is a time that has passed, in the largest unit that fits.
func passed(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return page.Count(int(d/(24*time.Hour)), "day", "days")
	case d >= 2*time.Hour:
		return page.Count(int(d/time.Hour), "hour", "hours")
	}
	return page.Count(int(d/time.Minute), "minute", "minutes")
}
