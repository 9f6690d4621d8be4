package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
		return eachNode(ctx, l, c, func(ctx context.Context, n *evidence.Object) (*decision, error) { return l.drain(ctx, c, n) })
	},
	Sources: []fault.Ref{
		{Repo: "kubernetes/kubernetes", Path: "pkg/registry/core/pod/storage/eviction.go"},
		{Repo: "kubernetes/kubectl", Path: "pkg/drain/drain.go"},
	},
}}

func (l *look) drain(ctx context.Context, c *shellcommand.Call, n *evidence.Object) (*decision, error) {
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
	others, err := l.schedulable(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	if others == 0 {
		d.why = "no other node of its role is Ready and takes pods: what is evicted has no place"
		if held, _, err := l.held(ctx, n); err == nil && held != "" {
			d.why = held + ". And " + d.why
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
	return l.budgets(ctx, n, d, others)
}

// held says which PodDisruptionBudgets of the pods on a node allow no eviction, "" where all that
// were read allow one.
func (l *look) held(ctx context.Context, n *evidence.Object) (string, []evidence.Item, error) {
	budgets, err := l.read(ctx, evidence.PodDisruptionBudgets, "")
	if err != nil {
		return "", nil, err
	}
	all, err := l.read(ctx, evidence.Pods, "")
	if err != nil {
		return "", nil, err
	}
	var held []string
	var proof []evidence.Item
	for _, b := range budgets {
		mine := l.under(b, all, n.Name)
		expected, allowed := evidence.Int(b.Content, "status", "expectedPods"), evidence.Int(b.Content, "status", "disruptionsAllowed")
		if len(mine) == 0 || expected == 0 || allowed > 0 {
			continue
		}
		held = append(held, fmt.Sprintf("%s -n %s (%d of %d pods are Ready, none may go; on %s: %s)", b.Name, b.Namespace,
			evidence.Int(b.Content, "status", "currentHealthy"), expected, n.Name, namesOf(mine)))
		proof = append(proof, b.Shows("status.disruptionsAllowed", "disruptionsAllowed: 0", l.d.Now))
	}
	if len(held) == 0 {
		return "", nil, nil
	}
	return "the drain does not end: PodDisruptionBudget " + strings.Join(held, "; "), proof, nil
}

// budgets says whether every PodDisruptionBudget of the pods on a node allows an eviction.
func (l *look) budgets(ctx context.Context, n *evidence.Object, d *decision, others int) (*decision, error) {
	held, proof, err := l.held(ctx, n)
	if err != nil {
		return nil, err
	}
	if held != "" {
		d.why, d.evidence = held, proof
		d.instead = []string{"bring the missing replica up first, or scale the workload up", "rollcall explain drain-blocked"}
		return d, nil
	}
	for _, r := range []evidence.Resource{evidence.PodDisruptionBudgets, evidence.Pods} {
		if u := l.partial(ctx, r, ""); u != nil {
			return nil, u
		}
	}
	if !l.whole {
		return nil, &undecided{"an archive does not have every namespace: another PodDisruptionBudget may hold the drain",
			"the same command against the cluster"}
	}
	d.verdict = Safe
	d.why = fmt.Sprintf("every PodDisruptionBudget allows it now, and of its role %s", page.Count(others, "other node takes pods", "other nodes take pods"))
	return d, nil
}

// under are the pods of a node that a PodDisruptionBudget selects. Without a readable selector all pods of
// its namespace are taken for its own.
func (l *look) under(budget *evidence.Object, all []*evidence.Object, node string) (list []*evidence.Object) {
	labels, plain := evidence.Field(budget.Content, "spec", "selector", "matchLabels").(map[string]any)
	for _, p := range all {
		if p.Namespace != budget.Namespace || evidence.String(p.Content, "spec", "nodeName") != node {
			continue
		}
		fits := true
		for k, want := range labels {
			have, _ := p.Label(k)
			fits = fits && (!plain || have == want)
		}
		if fits && !slices.ContainsFunc(list, func(o *evidence.Object) bool { return o.Name == p.Name }) {
			list = append(list, p)
		}
	}
	return list
}
