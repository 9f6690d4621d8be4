package report

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/evidence"
)

const fewSupplies = 3

// supplies names what would decide, where no cause is known.
func (t *text) supplies() {
	list := t.supplyList()
	if len(list) == 0 || len(t.d.Roots) > 0 {
		return
	}
	t.blank()
	t.head(0, "Next: get what would decide (reads only)")
	for i, s := range list {
		if i == fewSupplies || i > 0 && t.short >= stepsInShort {
			return
		}
		t.line(2, span{cyan, s})
	}
}

// supplyList is what would decide, best first.
func (t *text) supplyList() []string {
	var list []string
	add := func(s string) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, u := range t.d.Unexplained {
		for _, s := range u.Suspects {
			add(t.o.fetch(s.Supply))
		}
	}
	gaps := t.d.Groups.Gaps
	read := slices.ContainsFunc(t.d.Coverage, func(c evidence.Coverage) bool { return c.State == evidence.Read })
	if len(t.d.Hosts) == 0 && t.d.Source.Kind == "live" && !read {
		add(t.o.know("diagnose --from PATH") + "    # a must-gather that was made while the API answered")
		gaps = nil
	}
	if t.d.Verdict.Class == diagnosis.Undetermined {
		before := len(list)
		for _, g := range gaps {
			for _, s := range g.Supply {
				add(t.o.fetch(s))
			}
		}
		if t.d.Source.Kind != "live" && len(list)-before > fewSupplies { // too much to fetch piece by piece
			list = append(list[:before], "oc adm must-gather    # then: "+t.o.know("diagnose --from DIR"))
		}
	}
	return list
}
