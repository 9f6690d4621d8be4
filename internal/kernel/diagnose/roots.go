package diagnose

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// cause is a finding and all its effects.
type cause struct {
	fault.Key
	effects []fault.Key
}

// conclude chooses roots, deadlocks and what stays unexplained, and marks what is
// accepted. It returns the causes that are still normal.
func (e *Engine) conclude(ctx context.Context, w *facts.World, d *diagnosis.Diagnosis, accepter Accepter) ([]cause, error) {
	g, err := e.graph(ctx, w, d.Findings, d.Hosts)
	if err != nil {
		return nil, err
	}
	for _, ed := range g.edges {
		if g.active(ed.from) && g.active(ed.to) {
			d.Edges = append(d.Edges, diagnosis.EdgeSeen{Cause: g.findings[ed.from].Key(), Effect: g.findings[ed.to].Key(), Strength: ed.strength})
		}
	}
	g.markBlocking()
	next := g.certain()
	var settling []cause
	all := g.components(next)
	caused := g.causedComponents(next, all)
	if accepter != nil {
		g.accept(d, accepter, next, all, caused)
	}
	for n, c := range all {
		switch {
		case caused[n]:
		case slices.ContainsFunc(c, g.present):
			g.classify(d, c)
		default:
			settling = append(settling, g.settlingCause(c))
		}
	}
	d.Roots = groupByFault(d.Roots)
	slices.SortStableFunc(d.Unexplained, func(a, b diagnosis.Unexplained) int { return b.Severity.Rank() - a.Severity.Rank() })
	return settling, nil
}

// groupByFault orders roots, which have one case each, by how much they explain, and merges
// the roots of one fault into the first of them. A root of a deadlock is not merged.
func groupByFault(alone []diagnosis.Root) []diagnosis.Root {
	slices.SortStableFunc(alone, func(a, b diagnosis.Root) int {
		if n := len(b.Cases[0].Explains) - len(a.Cases[0].Explains); n != 0 {
			return n
		}
		if n := b.Severity.Rank() - a.Severity.Rank(); n != 0 {
			return n
		}
		return fault.CompareKeys(a.Cases[0].Key, b.Cases[0].Key)
	})
	var list []diagnosis.Root
	at := map[string]int{}
	for _, r := range alone {
		i, ok := at[r.Fault]
		if !ok || r.Deadlock > 0 || list[i].Deadlock > 0 {
			at[r.Fault] = len(list)
			list = append(list, r)
			continue
		}
		list[i].Cases = append(list[i].Cases, r.Cases...)
	}
	return list
}

// settlingCause returns a component whose findings are all still normal, with its effects.
func (g *graph) settlingCause(component []int) cause {
	c := cause{Key: g.findings[component[0]].Key()}
	for _, i := range append(slices.Clone(component[1:]), g.reach(component)...) {
		c.effects = append(c.effects, g.findings[i].Key())
	}
	return c
}

func (g *graph) present(i int) bool { return g.findings[i].Outcome == fault.Present }

// classify adds a component without a cause to the roots, or to what is unexplained, and to
// the deadlocks where it is a ring.
func (g *graph) classify(d *diagnosis.Diagnosis, component []int) {
	root := g.deadlockRoot(component)
	deadlock := 0
	if len(component) > 1 {
		ring := diagnosis.Deadlock{Opens: g.findings[component[0]].Key()}
		if root >= 0 {
			ring.Opens = g.findings[root].Key()
			if remedies := g.fault(root).Remedies; len(remedies) > 0 {
				ring.Remedy = remedies[0]
			}
		}
		for _, i := range component {
			ring.Members = append(ring.Members, g.findings[i].Key())
		}
		d.Deadlocks = append(d.Deadlocks, ring)
		deadlock = len(d.Deadlocks)
	}
	if root >= 0 {
		r := g.root(root, component)
		r.Deadlock = deadlock
		d.Roots = append(d.Roots, r)
		return
	}
	for _, i := range component {
		if g.present(i) {
			d.Unexplained = append(d.Unexplained, g.unexplained(i))
		}
	}
}

func (g *graph) fault(i int) *fault.Fault {
	f, _ := g.engine.catalog.Fault(g.findings[i].Fault)
	return f
}

// deadlockRoot returns the present member of a component that may be a root (standsAlone): of
// several the first with a remedy, else the first. -1 if there is none.
func (g *graph) deadlockRoot(component []int) int {
	best := -1
	for _, i := range component {
		if !g.present(i) || !g.fault(i).StandsAlone {
			continue
		}
		if best < 0 || len(g.fault(best).Remedies) == 0 && len(g.fault(i).Remedies) > 0 {
			best = i
		}
	}
	return best
}

// root is a finding as a root of its own, with one case.
func (g *graph) root(i int, component []int) diagnosis.Root {
	f, finding := g.fault(i), g.findings[i]
	r := diagnosis.Case{Key: finding.Key(), Title: finding.Title, Since: finding.Since, Evidence: finding.Evidence}
	starts := []int{i}
	for _, m := range component {
		if m != i {
			r.Explains = append(r.Explains, g.findings[m].Key())
			starts = append(starts, m)
		}
	}
	for _, to := range g.reach(starts) {
		r.Explains = append(r.Explains, g.findings[to].Key())
	}
	r.Confidence, r.Lowered, r.Decides = g.confidence(i, component)
	r.RuledOut = g.ruledOut(r)
	return diagnosis.Root{
		Fault: f.ID, Layer: f.Layer, Means: strings.TrimSpace(f.Means), Severity: finding.Severity, Refused: f.Refused, Cases: []diagnosis.Case{r},
	}
}

// confidence returns proven when the mechanism was seen and no unknown fault could explain the
// finding, else likely, why, and what would prove it.
func (g *graph) confidence(i int, component []int) (diagnosis.Confidence, string, evidence.Supply) {
	f, finding := g.fault(i), g.findings[i]
	if finding.OfLines {
		return diagnosis.Likely, "lines of a text show it, and no object or log of the cluster was read",
			evidence.Supply{Kind: evidence.SupplyArchive, Path: "ARCHIVE"}
	}
	if len(f.Support) > 0 && finding.Support == 0 {
		return diagnosis.Likely, "the condition holds, the mechanism itself was not seen", g.supply(finding, f)
	}
	for _, e := range g.edges {
		cause := g.findings[e.from]
		if cause.Outcome != fault.Unknown || e.strength != fault.Certain || !slices.Contains(component, e.to) || restsOn(finding, cause.Lost) {
			continue
		}
		return diagnosis.Likely, fmt.Sprintf("%s could be behind it and could not be checked: %s", cause.Fault, cause.Reason), g.supply(cause, g.fault(e.from))
	}
	if finding.Lost != nil && !g.reported(component) {
		return diagnosis.Likely, mayBeLost(finding.Lost), listSupply(finding.Lost)
	}
	if step, open := g.unconfirmed(f, finding.Since); open && !g.confirmed(i, component) {
		return diagnosis.Likely, fmt.Sprintf("no host is seen to be stopped at %s, where it would stop hosts, and nothing else shows it", step),
			evidence.Supply{Kind: evidence.SupplyConsole}
	}
	return diagnosis.Proven, "", evidence.Supply{}
}

// listSupply is the list that evidence of a missing object needs.
func listSupply(item *evidence.Item) evidence.Supply {
	if item.List == nil {
		return evidence.Supply{}
	}
	return evidence.Supply{Kind: evidence.SupplyGet, Resource: item.List.Resource.String(), Namespace: item.List.Namespace}
}

// ruledOut lists the faults that could explain the same symptoms and are absent for every
// subject. Those that would explain most of them come first: people suspect them.
func (g *graph) ruledOut(r diagnosis.Case) []diagnosis.RuledOut {
	explained := map[string]bool{}
	for _, k := range r.Explains {
		explained[k.Fault] = true
	}
	var list []diagnosis.RuledOut
	weight := map[string]int{}
	for _, f := range g.engine.catalog.Faults {
		if f.ID == r.Fault || explained[f.ID] {
			continue
		}
		w := overlap(f, explained)
		if w == 0 {
			continue
		}
		if out, ok := g.absentEverywhere(f); ok {
			weight[f.ID] = w
			list = append(list, out)
		}
	}
	slices.SortStableFunc(list, func(a, b diagnosis.RuledOut) int { return cmp.Compare(weight[b.Fault], weight[a.Fault]) })
	return list
}

// overlap counts how many of the faults that a root explains a fault could have explained;
// certain edges count double.
func overlap(f *fault.Fault, explained map[string]bool) int {
	w := 0
	for _, e := range f.Explains {
		switch {
		case !explained[e.Fault]:
		case e.Strength == fault.Certain:
			w += 2
		default:
			w++
		}
	}
	return w
}

func (g *graph) absentEverywhere(f *fault.Fault) (diagnosis.RuledOut, bool) {
	var out diagnosis.RuledOut
	found := false
	for _, i := range g.byFault[f.ID] {
		finding := &g.findings[i]
		if finding.Outcome == fault.NotApplicable {
			continue
		}
		if finding.Outcome != fault.Absent || finding.Waiting() {
			return out, false
		}
		if !found || out.Reason == "" && finding.Reason != "" {
			out = diagnosis.RuledOut{Key: finding.Key(), Title: fault.ShortTitle(f), Reason: finding.Reason} // its values are of a condition that does not hold
			if out.Reason == "" && len(finding.Evidence) > 0 {
				out.Reason = finding.Evidence[0].Excerpt
			}
		}
		found = true
	}
	return out, found
}

func (g *graph) unexplained(i int) diagnosis.Unexplained {
	finding := g.findings[i]
	u := diagnosis.Unexplained{Key: finding.Key(), Title: finding.Title, Severity: finding.Severity, Evidence: finding.Evidence}
	for _, e := range g.edges {
		cause := g.findings[e.from]
		if e.to != i || (cause.Outcome == fault.Present && e.strength == fault.Certain) {
			continue
		}
		f := g.fault(e.from)
		if g.passedAlready(cause) {
			continue
		}
		s := diagnosis.Suspect{Key: cause.Key(), Title: cause.Title, Next: f.Next}
		if s.Next == "" && len(cause.Missing) > 0 {
			s.Next = cause.Missing[0]
		}
		if cause.Outcome == fault.Unknown {
			s.Supply, s.Reason = g.supply(cause, f), cause.Reason
		}
		u.Suspects = addSuspect(u.Suspects, s)
	}
	return u
}

// addSuspect merges suspects of one fault where the same evidence would decide.
func addSuspect(list []diagnosis.Suspect, s diagnosis.Suspect) []diagnosis.Suspect {
	i := slices.IndexFunc(list, func(x diagnosis.Suspect) bool {
		return x.Fault == s.Fault && x.Next == s.Next && x.Supply == s.Supply
	})
	if i < 0 {
		return append(list, s)
	}
	list[i].Others = append(list[i].Others, s.Subject)
	return list
}

// supply returns what would make an unknown finding known.
func (g *graph) supply(finding diagnosis.Finding, f *fault.Fault) evidence.Supply {
	if finding.Supply != nil {
		return *finding.Supply
	}
	if finding.Subject.Name == fault.Unnamed {
		return evidence.Supply{}
	}
	b := g.engine.bind(context.Background(), g.world, f, finding.Subject) // facts are memoised: nothing is read again
	for _, v := range b.values {
		if supply := v.Supply(); !supply.IsZero() {
			return supply
		}
	}
	return evidence.Supply{}
}
