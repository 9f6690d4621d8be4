package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// scanMatch writes one cause: its lines, and what to do about it.
func (t *text) scanMatch(i int, m message.Match, c *fault.Catalog, release3 bool) {
	t.Blank()
	t.scanLines(m, fmt.Sprintf("%d. %s%s", i+1, matchTitle(m, c), sureWords[m.Confidence]))
	if len(m.Explains) > 0 {
		t.Lead(2, page.Bold.Span("It explains: "), "  ", page.Plain, strings.Join(m.Explains, ", "), 0)
	}
	f, ok := c.Fault(m.Fault)
	if !ok {
		return
	}
	if i > 0 || release3 {
		t.more(2, m.Fault)
		return
	}
	t.Para(2, page.Span{}, page.Plain, f.Means)
	list := t.advices(f, m, c)
	if m.Confidence != fault.ShowsProven {
		t.candidates(m, c)
		if m.Next != "" {
			t.Lead(2, page.Bold.Span("Next: "), "  ", page.Plain, m.Next, 0)
		}
		t.toDecide(m.Fault, t.fitting(untilProven(list)), "")
	} else {
		t.withoutCluster(list)
	}
	t.refused(f.Refused)
	t.more(2, m.Fault)
}

// withoutCluster writes the remedies of a cause that a text proves. What they require only the cluster
// shows, so it stands before the steps, and of what destroys data only the steps that read are shown.
func (t *text) withoutCluster(list []fault.Advice) {
	if len(list) == 0 || list[0].Risk != fault.RiskDataLoss || len(list[0].Requires) == 0 {
		t.remedies(t.fitting(list), "")
		return
	}
	t.Lead(2, page.Bold.Span("What to do: "), "  ", page.Plain, t.about(list[0], ""), 0)
	t.requires(list[0])
	t.Para(2, page.Span{}, page.Plain, "A text does not show whether that holds, and the remedy destroys data: these steps only read. The others: "+
		"`"+t.o.know("explain "+list[0].ID)+"`, when `"+t.o.know("diagnose")+"` has shown that it holds.")
	t.steps(t.fitting(untilProven(list[:1]))[0])
	t.others(list[1:], "")
}

// untilProven is what of each advice may be done before the cause is proven.
func untilProven(list []fault.Advice) []fault.Advice {
	return each(list, fault.Advice.UntilProven)
}

// advices are the remedies of a fault, with the names that a text gives.
func (t *text) advices(f *fault.Fault, m message.Match, c *fault.Catalog) (list []fault.Advice) {
	for _, id := range f.Remedies {
		if known, ok := c.Remedy(id); ok {
			a := plainAdvice(known, m.Names)
			if slices.ContainsFunc(a.Steps, func(s fault.Step) bool { return s.Changes && !t.o.setting.Fits(s.Do+"\n"+s.Run) }) {
				t.cannotDo(a.ID)
			}
			list = append(list, a)
		}
	}
	return list
}

// scanLines writes a title with the lines that show it.
func (t *text) scanLines(m message.Match, title string) {
	id := m.Fault
	if id != "" {
		id = "  [" + id + "]"
	}
	t.Lead(0, page.Span{}, "   ", page.Bold, title+id, 0)
	for _, l := range m.Lines {
		t.logged(2, page.Dim.Span(atLine(l.Number)), "    ", l.Text, 3)
	}
	if n := m.Count - len(m.Lines); n > 0 {
		t.Line(2, page.Dim.Span(fmt.Sprintf("and %s more", page.Count(n, "line", "lines"))))
	}
}

// matchTitle is the title of a match. What a text does not give stays out of it.
func matchTitle(m message.Match, c *fault.Catalog) string {
	title := ownTitle(m, c)
	if m.Others > 0 && m.Fault != "" {
		title += fmt.Sprintf(" (and %d more)", m.Others)
	}
	return title
}

// ownTitle is the title of a match for its first object.
func ownTitle(m message.Match, c *fault.Catalog) string {
	f, ok := c.Fault(m.Fault)
	if !ok {
		return m.Failure
	}
	return fault.TitleOf(f, m.Names)
}

// plainAdvice is a remedy outside a diagnosis: the names that a text gives are filled in, its
// other placeholders are shown as words. Whether its requirements hold is not known.
func plainAdvice(r *fault.Remedy, names map[string]string) fault.Advice {
	a := r.Fill(&fault.Fault{}, fault.Subject{}, func(expr string) []string {
		if name := names[expr]; name != "" {
			return []string{name}
		}
		return nil
	})
	for _, q := range r.Requires {
		a.Requires, a.Applies = append(a.Requires, Plain(q.Says)), fault.Unknown
	}
	return a
}
