package answer

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// What only lines of a text show gets one answer: diagnose has the headline, the title, the certainty and the steps that
// scan has.

// matchOf is what the lines of a text show of a root that only they show.
func (t *text) matchOf(r diagnosis.Root) (message.Match, bool) {
	if t.o.Messages == nil || t.o.Catalog == nil || !t.finding[r.Cases[0].Key].OfLines {
		return message.Match{}, false
	}
	i := slices.IndexFunc(t.o.Messages.Matches, func(m message.Match) bool { return m.Fault == r.Fault })
	if i < 0 {
		return message.Match{}, false
	}
	return t.o.Messages.Matches[i], true
}

// lineVerdict is the headline of a diagnosis whose first cause only lines show, and what follows it.
func (t *text) lineVerdict() (words, reason string, ok bool) {
	if len(t.d.Roots) == 0 || t.d.Verdict.Accepted > 0 {
		return "", "", false
	}
	m, ok := t.matchOf(t.d.Roots[0])
	if !ok || m.Fault != t.o.Messages.Matches[0].Fault {
		return "", "", false
	}
	var rest []string
	if n := len(t.d.Roots); n > 1 {
		rest = append(rest, "1 of "+page.Count(n, "cause", "causes"))
	}
	if m.Confidence != fault.ShowsProven {
		rest = append(rest, "prove it before you change anything")
	}
	return "CAUSE FOUND: " + matchTitle(m, t.o.Catalog) + sureWords[m.Confidence], strings.Join(rest, "; "), true
}

// lineTodo writes what to do about a cause that only lines show, as scan does.
func (t *text) lineTodo(r diagnosis.Root, m message.Match) {
	f, _ := t.o.Catalog.Fault(m.Fault)
	list := t.advices(f, m, t.o.Catalog)
	if m.Confidence == fault.ShowsProven {
		t.withoutCluster(list)
	} else {
		t.candidates(m, t.o.Catalog)
		if m.Next != "" {
			t.Lead(2, page.Bold.Span("Next: "), "  ", page.Plain, m.Next, 0)
		}
		t.toDecide(m.Fault, t.fitting(untilProven(list)), t.proves(r.Cases[0]))
	}
	t.refused(r.Refused)
	t.more(2, r.Fault)
}
