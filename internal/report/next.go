package report

import (
	"slices"
	"strings"

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
	roots := sameRoots(t.d)
	for _, r := range roots {
		t.nextOf(r, len(t.d.Roots) == 1)
		for _, id := range r.Refused {
			if !slices.Contains(refused, id) {
				refused = append(refused, id)
			}
		}
	}
	t.refused(refused)
}

// refused names advice that circulates and is not to be followed.
func (t *text) refused(ids []string) {
	if len(ids) == 0 {
		return
	}
	if !t.o.Wide {
		t.lead(2, span{red, "Do not "}, "  ", plain, "(why: "+t.o.know("explain ID")+"): "+strings.Join(ids, ", "), 0)
		return
	}
	t.line(2, span{red, "Do not"}, span{plain, " (why: "}, span{cyan, t.o.know("explain ID")}, span{plain, ")"})
	for _, id := range ids {
		line := id
		if known, ok := t.o.Refused[id]; ok {
			line += ": " + known.Title
		}
		t.para(2, span{plain, "- "}, plain, line)
	}
}

func (t *text) nextOf(r same, only bool) {
	if len(r.Remedies) == 0 || t.o.Plan == nil {
		t.line(2, span{cyan, t.o.know("explain " + r.Fault)})
		about := "what is known about it; there is no automatic repair"
		if len(r.Remedies) > 0 {
			about = "what is known about it, and its repair, which is planned where the API answers"
		}
		t.para(4, span{}, plain, about)
		return
	}
	t.line(2, span{cyan, t.o.Plan(r.Root, only)})
	about := "changes nothing; saves the repair as a file to read first. "
	if t.d.Source.Kind != "live" {
		about = "on the live cluster; " + about
	}
	opens := ""
	if i := r.Deadlock - 1; i >= 0 && i < len(t.d.Deadlocks) {
		opens = t.d.Deadlocks[i].Remedy
	}
	if !t.o.Wide {
		t.lead(4, span{}, "", plain, about+"It can hold: "+strings.Join(t.remedies(r.Remedies, opens), ", "), 0)
		return
	}
	t.para(4, span{}, plain, strings.TrimSuffix(about, ". ")+":")
	for _, id := range r.Remedies {
		line := t.remedyTitle(id)
		if risk := t.o.Remedies[id].Risk; risk != "" {
			line += " (risk: " + risk + ")"
		}
		if id == opens {
			line += "; opens the deadlock"
		}
		t.para(4, span{plain, "- "}, plain, line)
	}
}

// remedies are ids with the class of their risk; the plan has the words.
func (t *text) remedies(ids []string, opens string) []string {
	var list []string
	for _, id := range ids {
		about := []string{}
		if id == opens {
			about = append(about, "opens the deadlock")
		}
		if risk, _, _ := strings.Cut(t.o.Remedies[id].Risk, ":"); risk != "" {
			about = append(about, "risk: "+risk)
		}
		if len(about) > 0 {
			id += " (" + strings.Join(about, "; ") + ")"
		}
		list = append(list, id)
	}
	return list
}

// supplies names what would decide, where no cause is known.
func (t *text) supplies() {
	list := t.supplyList()
	if len(list) == 0 {
		return
	}
	t.blank()
	t.head(0, "Next: get what would decide (reads only)")
	for i, s := range list {
		if i == fewSupplies {
			return
		}
		t.line(2, span{cyan, s})
	}
}

// supplyList is what would decide, best first.
func (t *text) supplyList() []string {
	var list []string
	add := func(s string) {
		if strings.HasPrefix(s, "--") {
			s = t.o.again("diagnose") + " " + s
		}
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	for _, u := range t.d.Unexplained {
		for _, s := range u.Suspects {
			add(s.Supply)
		}
	}
	gaps := t.gaps()
	if len(t.d.Hosts) == 0 && t.d.Source.Kind == "live" {
		add(t.o.know("diagnose --from PATH") + "    # a must-gather that was made while the API answered")
		gaps = nil
	}
	if t.d.Verdict.Class == fault.Undetermined {
		before := len(list)
		for _, g := range gaps {
			for _, s := range g.supplies {
				add(s)
			}
		}
		if t.d.Source.Kind != "live" && len(list)-before > fewSupplies { // too much to fetch piece by piece
			list = append(list[:before], "oc adm must-gather    # then: "+t.o.know("diagnose --from DIR"))
		}
	}
	return list
}
