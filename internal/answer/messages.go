package answer

import (
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/text/message"
)

// messages writes what the lines of a text show, as scan finds it, and what is no cause of
// the diagnosis yet, nor an effect of one.
func (t *text) messages() {
	r, c := t.o.Messages, t.o.Catalog
	if r == nil || c == nil {
		return
	}
	if r.System != "" {
		t.Blank()
		t.otherSystem(r)
	}
	known := func(m message.Match) bool {
		return slices.ContainsFunc(t.d.Roots, func(root diagnosis.Root) bool {
			return root.Fault == m.Fault || m.Fault != "" && slices.ContainsFunc(root.Effects(), func(k fault.Key) bool { return k.Fault == m.Fault })
		}) || slices.ContainsFunc(r.Matches, func(cause message.Match) bool {
			return slices.Contains(cause.Explains, m.Fault) &&
				slices.ContainsFunc(t.d.Roots, func(root diagnosis.Root) bool { return root.Fault == cause.Fault })
		})
	}
	causes := slices.DeleteFunc(slices.Clone(r.Matches), known)
	symptoms := slices.DeleteFunc(slices.Clone(r.Symptoms), func(m message.Match) bool { return known(m) || m.Fault == "" && explained(r, m) })
	if len(causes)+len(symptoms) == 0 {
		t.unknownErrors(r)
		return
	}
	t.Blank()
	head := "Other messages in the text (they do not decide the verdict)"
	if t.told {
		head = "Messages in the text"
	}
	t.Head(0, head)
	for i, m := range causes {
		if i == maxScanned && !t.o.Wide {
			t.Line(2, page.Dim.Span(fmt.Sprintf("and %s more; -o wide has them all", page.Count(len(causes)-i, "cause", "causes"))))
			break
		}
		t.foundMessage(m, c)
	}
	for i, m := range symptoms {
		if i == maxScanned && !t.o.Wide {
			break
		}
		t.foundMessage(m, c)
	}
	t.unknownErrors(r)
	if len(t.d.Roots) == 0 && len(causes) > 0 {
		t.Lead(0, page.Bold.Span("Whole answer to the messages: "), "  ", page.Plain, t.o.know("scan FILE"), 0)
	}
}

// explained reports whether a failure without a cause is on a line that also shows a fault.
func explained(r *message.Report, m message.Match) bool {
	for _, other := range slices.Concat(r.Matches, r.Symptoms) {
		if other.Fault == "" {
			continue
		}
		for _, l := range other.Lines {
			if slices.ContainsFunc(m.Lines, func(have message.Line) bool { return have.Number == l.Number }) {
				return true
			}
		}
	}
	return false
}

// foundMessage writes one match in a few lines: what, how surely, where, and what to do.
func (t *text) foundMessage(m message.Match, c *fault.Catalog) {
	id := ""
	if m.Fault != "" {
		id = "  [" + m.Fault + "]"
	}
	sure := sureWords[m.Confidence]
	if m.Fault == "" {
		sure = ""
	}
	t.Lead(0, page.Plain.Span("- "), "  ", page.Bold, matchTitle(m, c)+sure+id, 0)
	if len(m.Lines) > 0 {
		l := m.Lines[0]
		t.logged(2, page.Dim.Span(atLine(l.Number)), "    ", l.Text, 2)
	}
	t.nextOf(m, c)
}

// nextOf writes what to do about a match: its first remedy, what can be behind it, or what
// to look at.
func (t *text) nextOf(m message.Match, c *fault.Catalog) {
	f, ok := c.Fault(m.Fault)
	t.candidates(m, c)
	switch {
	case m.Next != "":
		t.Lead(2, page.Bold.Span("Next: "), "  ", page.Plain, m.Next, 0)
	case !ok:
	case len(f.Remedies) > 0:
		do := "explain " + m.Fault
		if known, ok := c.Remedy(f.Remedies[0]); ok && !slices.ContainsFunc(known.Steps, func(s fault.Step) bool {
			return s.Changes && !t.o.setting.Fits(s.Do+"\n"+s.Run)
		}) {
			head, a := "What to do: ", plainAdvice(known, m.Names)
			if m.Confidence != fault.ShowsProven && a.UntilProven().NeedsProof {
				head = "Once it is proven: "
			}
			t.Lead(2, page.Bold.Span(head), "  ", page.Plain, t.o.Brief(a.Title)+": "+t.o.know(do), 0)
			return
		}
		t.Line(2, page.Bold.Span("What to do: "), page.Cyan.Span(t.o.know(do)))
	default:
		t.more(2, m.Fault)
	}
}

// candidates names the faults that can print the lines of a match.
func (t *text) candidates(m message.Match, c *fault.Catalog) {
	first := true
	for _, id := range m.Candidates {
		f, ok := c.Fault(id)
		if !ok || id == m.Fault { // a finding is not its own cause
			continue
		}
		if first {
			first = false
			t.Line(2, page.Bold.Span("Possible causes, the likeliest first:"))
		}
		t.Lead(4, page.Plain.Span("- "), "  ", page.Plain, fault.TitleOf(f, m.Names)+"  ["+id+"]", 0)
	}
}
