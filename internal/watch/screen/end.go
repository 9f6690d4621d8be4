package screen

import (
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

// End writes how a watch ended: the indicators one by one, the causes, what to do now,
// and what to do where that does not help. d is nil where the cluster was never read.
func End(w io.Writer, e follow.End, d *diagnosis.Diagnosis, o answer.Options) error {
	p := &page.Page{Style: o.Style}
	mark, style := page.Good, page.Green
	switch e.ExitCode {
	case 0:
	case 2:
		mark, style = page.Bad, page.Red
	default:
		mark, style = page.Open, page.Yellow
	}
	p.Lead(0, style.Span(p.Sign(mark)+" "), "  ", page.Bold, e.Reason, 0)
	for _, c := range e.Causes {
		p.Lead(2, page.Red.Span(p.Sign(page.Bad)+" cause: "), "  ", page.Plain, c.Title+alsoAt(c)+" ("+c.Fault+")", 0)
	}
	if len(e.Indicators) > 0 {
		p.Blank()
		after.Lines(p, e.Indicators)
	}
	if e.Next != "" {
		p.Blank()
		p.Line(0, page.Bold.Span("What to do now: "), page.Cyan.Span(e.Next))
	}
	if (e.ExitCode == 2 || e.ExitCode == 3) && d != nil {
		p.Blank()
		p.Head(0, "If that does not help")
		p.Line(2, page.Plain.Span("keep the evidence: "), page.Cyan.Span(o.Again("collect")))
		for _, line := range answer.Escalation(d) {
			p.Para(2, page.Plain.Span("- "), page.Plain, "escalate: "+strings.ToLower(line[:1])+line[1:])
		}
	}
	return p.Flush(w)
}
