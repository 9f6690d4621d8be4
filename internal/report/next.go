package report

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/fault"
)

const fewSupplies = 3

// next closes the answer with the commands to go on with, their risk, and what not
// to do: it is the last thing on the screen, where the prompt is.
func (t *text) next() {
	if len(t.d.Roots) == 0 {
		t.supplies()
		return
	}
	t.blank()
	t.head(0, "Next")
	refused := []string{}
	for _, r := range sameRoots(t.d) {
		t.nextOf(r.Root)
		for _, id := range r.Refused {
			if !slices.Contains(refused, id) {
				refused = append(refused, id)
			}
		}
	}
	for _, id := range refused {
		title := id
		if known, ok := t.o.Refused[id]; ok {
			title = known.Title
		}
		t.para(2, span{red, "Do not: "}, plain, title)
		t.line(4, span{plain, "why: "}, span{cyan, t.o.know("explain " + id)})
	}
}

func (t *text) nextOf(r fault.Root) {
	if len(r.Remedies) == 0 || t.o.Plan == nil {
		t.line(2, span{cyan, t.o.know("explain " + r.Fault)})
		t.para(4, span{}, plain, "what is known about it; there is no automatic repair")
		return
	}
	t.line(2, span{cyan, t.o.Plan(r)})
	t.para(4, span{}, plain, "writes the repair as a file to read; changes nothing")
	for _, id := range r.Remedies {
		line := t.remedyTitle(id)
		if risk := t.o.Remedies[id].Risk; risk != "" {
			line += " (risk: " + risk + ")"
		}
		t.para(4, span{plain, "- "}, plain, line)
	}
}

// supplies names what would decide, where no cause is known.
func (t *text) supplies() {
	var list []string
	add := func(s string) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, u := range t.d.Unexplained {
		for _, s := range u.Suspects {
			add(s.Supply)
		}
	}
	if t.d.Verdict.Class == fault.Undetermined {
		for _, g := range t.gaps() {
			for _, s := range g.supplies {
				add(s)
			}
		}
	}
	if len(list) == 0 {
		return
	}
	t.blank()
	t.head(0, "Next: get what would decide (reads only)")
	for i, s := range list {
		if i == fewSupplies {
			return
		}
		t.para(2, span{}, cyan, s)
	}
}
