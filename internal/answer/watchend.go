package answer

import (
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// indicatorSigns mark what holds. A word follows where it is not all: color and sign are
// never alone.
var indicatorSigns = map[fault.Outcome]struct {
	sign  page.Sign
	paint page.Paint
	word  string
}{
	fault.Present: {page.Good, page.Green, "holds"}, fault.Absent: {page.Bad, page.Red, "does not hold"},
	fault.Unknown: {page.Open, page.Yellow, "not known"}, fault.NotApplicable: {page.Good, page.Dim, "not applicable"},
}

// indicatorSign is the sign of an outcome. What does not apply has none of its own.
func indicatorSign(s page.Style, i after.Indicator) string {
	if i.Outcome == fault.NotApplicable {
		return "-"
	}
	return s.Sign(indicatorSigns[i.Outcome].sign)
}

// WatchEnd writes how a watch ended: the indicators one by one, the causes, what to do now,
// and what to do where that does not help. d is nil where the cluster was never read.
func WatchEnd(w io.Writer, e follow.End, d *diagnosis.Diagnosis, o Options) error {
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
		indicators(p, e.Indicators)
	}
	if e.Next != "" {
		p.Blank()
		p.Line(0, page.Bold.Span("What to do now: "), page.Cyan.Span(e.Next))
	}
	if (e.ExitCode == 2 || e.ExitCode == 3) && d != nil {
		p.Blank()
		p.Head(0, "If that does not help")
		p.Line(2, page.Plain.Span("keep the evidence: "), page.Cyan.Span(o.again("collect")))
		t := newText(d, o)
		for _, line := range t.escalation() {
			p.Para(2, page.Plain.Span("- "), page.Plain, "escalate: "+strings.ToLower(line[:1])+line[1:])
		}
	}
	return p.Flush(w)
}

// Indicators writes the signs of success, one a line.
func Indicators(w io.Writer, heading string, list []after.Indicator, s page.Style) error {
	p := &page.Page{Style: s}
	p.Head(0, heading)
	indicators(p, list)
	return p.Flush(w)
}

func indicators(p *page.Page, list []after.Indicator) {
	for _, i := range list {
		mark := indicatorSigns[i.Outcome]
		text := i.Title
		if i.Outcome != fault.Present {
			text = mark.word + ": " + text
		}
		if i.Reason != "" {
			text += ": " + i.Reason
		}
		p.Lead(2, mark.paint.Span(indicatorSign(p.Style, i)+" "), "  ", page.Plain, text, 3)
	}
}
