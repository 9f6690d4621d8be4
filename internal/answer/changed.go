package answer

import (
	"cmp"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Changed is what is not as in a baseline.
type Changed struct {
	File  string
	Since time.Time
	Older bool // what was read is older than the baseline
	Is    []Change
	All   bool   // all of the baseline was compared
	Not   string // why it is not known whether the baseline is of this cluster; "": it is
}

// Change is one value that is not as in a baseline.
type Change struct {
	Subject fault.Subject
	Says    string
}

const fewChanges = 3

// changed says briefly what is not as in the baseline: what is about the subjects of a cause
// first. The timeline has all of it.
func (t *text) changed() {
	c := t.o.Changed
	if c == nil {
		return
	}
	t.Blank()
	n := len(c.Is)
	since := "the baseline of " + page.Clock(c.Since)
	switch {
	case c.Not != "":
		t.Para(0, page.Bold.Span("Not known whether the baseline is of this cluster: "), page.Plain, page.Count(n, "difference", "differences")+" from "+since)
	case n == 0 && c.All:
		t.Para(0, page.Span{}, page.Plain, "Nothing has changed since "+since)
	case n == 0:
		t.Para(0, page.Span{}, page.Plain, "No change was found since "+since+", and not all of it was compared")
	case c.Older:
		t.Para(0, page.Bold.Span("Not as in "+since+": "), page.Plain, page.Count(n, "difference", "differences")+"; what was read is older than it")
	default:
		t.Para(0, page.Bold.Span("Changed since "+since+": "), page.Plain, page.Count(n, "change", "changes"))
	}
	shown := t.nearCauses(c.Is)
	for _, x := range shown[:min(n, fewChanges)] {
		t.Lead(2, page.Plain.Span("- "), "  ", page.Plain, t.o.Brief(x.Says), t.limit(2))
	}
	if n > fewChanges || !c.All {
		t.Line(2, page.Plain.Span("all of it: "), page.Cyan.Span(t.o.Again("baseline compare "+c.File)))
	}
}

// nearCauses puts first the changes of what was asked for, then of what a cause is about, then of
// its effects.
func (t *text) nearCauses(list []Change) []Change {
	rank := map[fault.Subject]int{}
	add := func(s fault.Subject, r int) {
		if rank[s] == 0 || r < rank[s] {
			rank[s] = r
		}
	}
	const asked, cause, effect, other = 1, 2, 3, 4
	if t.o.Subject != nil {
		add(*t.o.Subject, asked)
	}
	for i := range t.d.Roots {
		for _, k := range t.d.Roots[i].Keys() {
			add(k.Subject, cause)
		}
		for _, k := range t.d.Roots[i].Effects() {
			add(k.Subject, effect)
		}
	}
	for _, u := range t.d.Unexplained {
		add(u.Subject, effect)
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Change) int {
		return cmp.Compare(cmp.Or(rank[a.Subject], other), cmp.Or(rank[b.Subject], other))
	})
	return list
}
