package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Accepter decides which findings the user accepts.
type Accepter interface {
	Accepted(cluster string, k fault.Key, now time.Time) (diagnosis.Acceptance, bool)
}

// accept marks accepted findings: the present ones that an entry covers, and those, present or
// still normal, that only accepted findings explain on certain edges. A finding is not accepted
// through another one on a likely edge, or if a cause that is not accepted explains it, too.
func (g *graph) accept(d *diagnosis.Diagnosis, accepter Accepter, next [][]int, components [][]int, caused []bool) {
	direct := map[int]diagnosis.Acceptance{}
	for i := range g.findings {
		if !g.present(i) {
			continue
		}
		if a, ok := accepter.Accepted(d.Cluster.ID, g.findings[i].Key(), d.Now); ok {
			direct[i] = a
		}
	}
	if len(direct) == 0 {
		return
	}
	var open, heads []int
	for n, c := range components {
		if caused[n] {
			continue
		}
		if h := g.heads(c); len(h) > 0 && containsAll(direct, h) {
			heads = append(heads, h...)
		} else {
			open = append(open, c...)
		}
	}
	notAccepted := map[int]bool{}
	for _, i := range append(open, g.reach(open)...) {
		notAccepted[i] = true
	}
	through := map[int][]int{}
	for _, h := range heads {
		for _, i := range reachable(next, h) {
			through[i] = append(through[i], h)
		}
	}
	for i := range g.findings {
		f := &g.findings[i]
		if a, ok := direct[i]; ok {
			f.Accepted = &diagnosis.Accepted{Acceptance: a}
		} else if from := through[i]; len(from) > 0 && !notAccepted[i] {
			f.Accepted = g.acceptedThrough(direct, from)
		}
	}
}

// heads returns the findings of an uncaused component that must be accepted for the component to
// be accepted: its root, or all its present findings. Empty if all of it is still normal.
func (g *graph) heads(component []int) []int {
	if i := g.deadlockRoot(component); i >= 0 {
		return []int{i}
	}
	return slices.DeleteFunc(slices.Clone(component), func(i int) bool { return !g.present(i) })
}

func containsAll(set map[int]diagnosis.Acceptance, list []int) bool {
	return !slices.ContainsFunc(list, func(i int) bool { _, ok := set[i]; return !ok })
}

// reachable returns the findings that can be reached from a finding over certain edges, without
// itself.
func reachable(next [][]int, from int) []int {
	seen := map[int]bool{from: true}
	queue := []int{from}
	for at := 0; at < len(queue); at++ {
		for _, to := range next[queue[at]] {
			if !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		}
	}
	return queue[1:]
}

// acceptedThrough returns the acceptance of a finding that accepted causes explain: that of the
// cause whose entry expires first.
func (g *graph) acceptedThrough(direct map[int]diagnosis.Acceptance, causes []int) *diagnosis.Accepted {
	first := slices.MinFunc(causes, func(a, b int) int { return cmp.Compare(direct[a].Until, direct[b].Until) })
	a := diagnosis.Accepted{Acceptance: direct[first]}
	for _, i := range causes {
		a.Through = append(a.Through, g.findings[i].Key())
	}
	return &a
}

// setAside moves what entries accept from the roots and the unexplained to the accepted findings.
// It runs after hosts have their causes: an accepted cause still explains why a host is not done.
func (e *Engine) setAside(d *diagnosis.Diagnosis) {
	effects := map[fault.Key][]fault.Key{}
	for i := range d.Findings {
		if a := d.Findings[i].Accepted; a != nil {
			for _, k := range a.Through {
				effects[k] = append(effects[k], d.Findings[i].Key())
			}
		}
	}
	at := map[fault.Key]int{}
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Accepted == nil || len(f.Accepted.Through) > 0 {
			continue
		}
		at[f.Key()] = len(d.Accepted)
		about, ok := e.catalog.Fault(f.Fault)
		d.Accepted = append(d.Accepted, diagnosis.AcceptedFinding{
			Key: f.Key(), Acceptance: f.Accepted.Acceptance, Title: f.Title, Severity: f.Severity, Role: diagnosis.RoleSymptom,
			DataRisk: ok && e.catalog.DataRisk(about), Effects: effects[f.Key()],
		})
	}
	if len(at) == 0 {
		return
	}
	d.KeepCases(func(r diagnosis.Root, c diagnosis.Case) bool {
		i, ok := at[c.Key]
		if ok {
			alone := r.Alone(c)
			d.Accepted[i].Role, d.Accepted[i].Root = diagnosis.RoleRoot, &alone
		}
		return !ok
	})
	d.Unexplained = slices.DeleteFunc(d.Unexplained, func(u diagnosis.Unexplained) bool {
		i, ok := at[u.Key]
		if ok {
			d.Accepted[i].Role, d.Accepted[i].Open = diagnosis.RoleUnexplained, &u
		}
		return ok
	})
	slices.SortStableFunc(d.Accepted, func(a, b diagnosis.AcceptedFinding) int {
		if n := rank(b) - rank(a); n != 0 {
			return n
		}
		return len(b.Effects) - len(a.Effects)
	})
}

// rank puts what is about data first, then what is worst.
func rank(f diagnosis.AcceptedFinding) int {
	if f.DataRisk {
		return fault.Error.Rank() + 1
	}
	return f.Severity.Rank()
}

// notAskedAbout lists the accepted findings without a known cause whose possible cause the source
// refused to show: accepting a symptom does not accept what was withheld.
func notAskedAbout(d *diagnosis.Diagnosis) []string {
	var list []string
	for _, a := range d.Accepted {
		if a.Open == nil {
			continue
		}
		suspects := map[fault.Key]bool{}
		for _, s := range a.Open.Suspects {
			for _, k := range s.Keys() {
				suspects[k] = true
			}
		}
		i := slices.IndexFunc(d.Findings, func(f diagnosis.Finding) bool {
			return f.Withheld && f.Severity.Rank() > fault.Info.Rank() && suspects[f.Key()]
		})
		if i >= 0 {
			f := d.Findings[i]
			list = append(list, fmt.Sprintf("%s of %s is accepted, and its cause may be %s, which was not checked%s", a.Fault, a.Subject, f.Fault,
				because(f.Reason)))
		}
	}
	return list
}

// notThrough lists the present findings that an accepted cause explains, that are not accepted
// through it because a finding that is still normal explains them, too, and that no other cause of
// the answer explains.
func notThrough(d *diagnosis.Diagnosis) []string {
	open := map[fault.Key]fault.Key{} // with the accepted cause
	for _, a := range d.Accepted {
		if a.Root == nil {
			continue
		}
		for _, k := range a.Root.Effects() {
			open[k] = a.Key
		}
	}
	for _, r := range d.Roots {
		for _, k := range r.Chain() {
			delete(open, k)
		}
	}
	for _, u := range d.Unexplained {
		delete(open, u.Key)
	}
	if len(open) == 0 {
		return nil
	}
	var list []string
	for i := range d.Findings {
		f := &d.Findings[i]
		if cause, ok := open[f.Key()]; ok && f.Outcome == fault.Present && f.Accepted == nil && f.Severity.Rank() > fault.Info.Rank() {
			list = append(list, fmt.Sprintf("%s of %s is not accepted: %s is not its only cause", f.Fault, f.Subject, cause.Fault))
		}
	}
	return list
}

// onlyAccepted is the verdict on a cluster in which all faults are accepted.
func onlyAccepted(d *diagnosis.Diagnosis) diagnosis.Verdict {
	v := diagnosis.Verdict{Class: diagnosis.OnlyAccepted, Cause: diagnosis.CauseKnown}
	var names []string
	for _, a := range d.Accepted {
		if a.Open != nil {
			v.Cause = diagnosis.CauseUnknown
		}
		names = append(names, a.Fault)
	}
	v.Reason = countNames(names)
	var late []string
	for _, h := range d.Hosts {
		if h.Expected && !h.Done() {
			late = append(late, h.Name)
		}
	}
	if len(late) > 0 {
		v.Reason += fmt.Sprintf("; %d of %d expected hosts not done: %s", len(late), expected(d), few(late))
	}
	return v
}
