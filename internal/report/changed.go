package report

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/sortby"
)

// Changed is what is not as in a baseline.
type Changed struct {
	File  string
	Since time.Time
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
	t.blank()
	n := len(c.Is)
	since := "the baseline of " + clock(c.Since)
	switch {
	case c.Not != "":
		t.para(0, span{bold, "Not known whether the baseline is of this cluster: "}, plain, count(n, "difference", "differences")+" from "+since)
	case n == 0 && c.All:
		t.para(0, span{}, plain, "Nothing has changed since "+since)
	case n == 0:
		t.para(0, span{}, plain, "No change was found since "+since+", and not all of it was compared")
	default:
		t.para(0, span{bold, "Changed since " + since + ": "}, plain, count(n, "value", "values"))
	}
	if t.short > wholeAnswer {
		return
	}
	shown := nearCauses(c.Is, t.d)
	for _, x := range shown[:min(n, fewChanges)] {
		t.lead(2, span{plain, "- "}, "  ", plain, t.brief(x.Says), t.limit(2))
	}
	if n > fewChanges || !c.All {
		t.line(2, span{plain, "all of it: "}, span{cyan, t.o.again("baseline compare " + c.File)})
	}
}

// nearCauses puts the changes of what a cause is about first, or is one of its effects.
func nearCauses(list []Change, d *diagnosis.Diagnosis) []Change {
	about := map[fault.Subject]bool{}
	for i := range d.Roots {
		for _, k := range d.Roots[i].Chain() {
			about[k.Subject] = true
		}
	}
	for _, u := range d.Unexplained {
		about[u.Subject] = true
	}
	list = slices.Clone(list)
	sortby.StableFunc(list, func(a, b Change) int {
		switch {
		case about[a.Subject] == about[b.Subject]:
			return 0
		case about[a.Subject]:
			return -1
		}
		return 1
	})
	return list
}
