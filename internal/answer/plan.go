package answer

import (
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// planText writes the answer about a plan for a person: each mistake with its line and what
// to write there, as compilers do, then each remedy once.
func planText(w io.Writer, d *diagnosis.Diagnosis, o Options) error {
	t := newText(d, o)
	t.planVerdict()
	t.source()
	t.accepted(true)
	for _, r := range d.Roots {
		for _, c := range r.Cases {
			t.mistake(c, r.Severity)
		}
	}
	t.planTodo()
	t.machines()
	t.paths()
	t.accepted(false)
	t.planUnknown()
	return t.Flush(w)
}

// planVerdict counts mistakes and warnings.
func (t *text) planVerdict() {
	h := HeadlineOf(t.d)
	t.Lead(0, h.Paint.Span(t.Sign(h.Sign)+" "+h.Words+": "), "  ", page.Plain, t.planReason(), 0)
}

// planReason is what follows the headline.
func (t *text) planReason() string {
	if words := t.d.Mistakes(); words != "" {
		return words
	}
	return t.d.Verdict.Reason
}

// mistake writes one cause with all its lines; without -o wide the first ones.
func (t *text) mistake(r diagnosis.Case, severity fault.Severity) {
	t.Blank()
	paint, sign := page.Red, page.Bad
	if severity != fault.Error {
		paint, sign = page.Yellow, page.Warn
	}
	t.Lead(0, paint.Span(t.Sign(sign)+" "), "  ", page.Bold, r.Title, 0)
	t.Line(2, page.Dim.Span(r.Fault+" · "+string(severity)))
	shown := len(r.Evidence)
	if !t.o.Wide {
		shown = min(shown, 5)
	}
	for _, item := range r.Evidence[:shown] {
		t.Line(2, page.Cyan.Span(item.Locator.String()))
		t.Para(4, page.Span{}, page.Plain, item.Excerpt)
	}
	if n := len(r.Evidence) - shown; n > 0 {
		t.Line(2, page.Dim.Span(moreHint(n)))
	}
	if t.o.Wide && t.o.Catalog != nil {
		if f, ok := t.o.Catalog.Fault(r.Fault); ok {
			t.Para(2, page.Span{}, page.Plain, f.Means)
			for _, ref := range f.Refs {
				t.Line(2, page.Dim.Span("source: "+ref.Repo+":"+ref.Path))
			}
		}
	}
}

// planTodo writes each remedy once, those of the worst causes first.
func (t *text) planTodo() {
	for i, a := range t.planAdvice() {
		if i > 0 && !t.o.Wide {
			t.Lead(0, page.Bold.Span("And: "), "  ", page.Plain, t.about(a, "")+": "+t.o.know("explain "+a.ID), 0)
			continue
		}
		t.Blank()
		t.Lead(0, page.Bold.Span("What to do: "), "  ", page.Plain, t.about(a, ""), 0)
		t.steps(a)
		t.verify(a.Verify)
	}
	if len(t.d.Roots) > 0 {
		t.more(0, t.d.Roots[0].Fault)
	}
}

// planAdvice are the remedies of all mistakes, each once.
func (t *text) planAdvice() []fault.Advice {
	var list []fault.Advice
	for _, r := range t.d.Roots {
		for _, a := range r.Cases[0].Remedies {
			if !slices.ContainsFunc(list, func(b fault.Advice) bool { return a.ID == b.ID }) {
				list = append(list, a)
			}
		}
	}
	return list
}

// planUnknown names the checks that could not decide, those for one reason together, and
// what would supply what they lack.
func (t *text) planUnknown() {
	all := t.notCheckedOfPlan()
	for i, n := range all {
		if i == 0 {
			t.Blank()
		}
		list := n.checks
		if len(list) > 1 && !t.o.Wide {
			list = []string{list[0] + " and " + page.Count(len(list)-1, "more check", "more checks")}
		}
		t.Lead(0, page.Yellow.Span("Not checked: "), "  ", page.Plain, strings.Join(list, ", ")+": "+n.reason, 0)
		if i+1 < len(all) && slices.Equal(all[i+1].supplies, n.supplies) {
			continue // it is under the last that lacks the same
		}
		for _, s := range n.supplies {
			t.Lead(2, page.Plain.Span("To check: "), "  ", page.Cyan, t.planSupply(s), 0)
		}
	}
}

// notChecked are checks that could not decide, for one reason.
type notChecked struct {
	reason   string
	checks   []string
	supplies []evidence.Supply
}

func (t *text) notCheckedOfPlan() []*notChecked {
	var list []*notChecked
	of := map[string]*notChecked{}
	for _, f := range t.d.Findings {
		if f.Outcome != fault.Unknown {
			continue
		}
		reason := notCheckedFor(f)
		if of[reason] == nil {
			of[reason] = &notChecked{reason: reason}
			list = append(list, of[reason])
		}
		n := of[reason]
		n.checks = append(n.checks, f.Fault)
		for _, u := range f.Unread {
			if !u.Supply.IsZero() && !slices.Contains(n.supplies, u.Supply) {
				n.supplies = append(n.supplies, u.Supply)
			}
		}
	}
	return list
}

// notCheckedFor says what an unknown check lacks.
func notCheckedFor(f diagnosis.Finding) string {
	if len(f.Unread) > 0 && f.Unread[0].Detail != "" {
		return f.Unread[0].Detail
	}
	if _, rest, ok := strings.Cut(f.Reason, ": "); ok { // before it stands the fact, of which there are several
		return rest
	}
	return f.Reason
}
