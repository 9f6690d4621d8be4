package answer

import (
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// indicatorSigns mark what holds. A word follows where it is not all: color and sign are
// never alone.
var indicatorSigns = map[fault.Outcome]struct {
	sign  sign
	paint paint
	word  string
}{
	fault.Present: {signGood, green, "holds"}, fault.Absent: {signBad, red, "does not hold"},
	fault.Unknown: {signOpen, yellow, "not known"}, fault.NotApplicable: {signGood, dim, "not applicable"},
}

// indicatorSign is the sign of an outcome. What does not apply has none of its own.
func (s Style) indicatorSign(i after.Indicator) string {
	if i.Outcome == fault.NotApplicable {
		return "-"
	}
	return s.sign(indicatorSigns[i.Outcome].sign)
}

// WatchEnd writes how a watch ended: the indicators one by one, the causes, what to do now,
// and what to do where that does not help. d is nil where the cluster was never read.
func WatchEnd(w io.Writer, e follow.End, d *diagnosis.Diagnosis, o Options) error {
	p := &page{Style: o.Style}
	mark, style := signGood, green
	switch e.ExitCode {
	case 0:
	case 2:
		mark, style = signBad, red
	default:
		mark, style = signOpen, yellow
	}
	p.lead(0, span{style, p.sign(mark) + " "}, "  ", bold, e.Reason, 0)
	for _, c := range e.Causes {
		p.lead(2, span{red, p.sign(signBad) + " cause: "}, "  ", plain, c.Title+alsoAt(c)+" ("+c.Fault+")", 0)
	}
	if len(e.Indicators) > 0 {
		p.blank()
		p.indicators(e.Indicators)
	}
	if e.Next != "" {
		p.blank()
		p.line(0, span{bold, "What to do now: "}, span{cyan, e.Next})
	}
	if (e.ExitCode == 2 || e.ExitCode == 3) && d != nil {
		p.blank()
		p.head(0, "If that does not help")
		p.line(2, span{plain, "keep the evidence: "}, span{cyan, o.again("collect")})
		t := newText(d, o)
		for _, line := range t.escalation() {
			p.para(2, span{plain, "- "}, plain, "escalate: "+strings.ToLower(line[:1])+line[1:])
		}
	}
	return p.flush(w)
}

// Indicators writes the signs of success, one a line.
func Indicators(w io.Writer, heading string, list []after.Indicator, s Style) error {
	p := &page{Style: s}
	p.head(0, heading)
	p.indicators(list)
	return p.flush(w)
}

func (p *page) indicators(list []after.Indicator) {
	for _, i := range list {
		mark := indicatorSigns[i.Outcome]
		text := i.Title
		if i.Outcome != fault.Present {
			text = mark.word + ": " + text
		}
		if i.Reason != "" {
			text += ": " + i.Reason
		}
		p.lead(2, span{mark.paint, p.indicatorSign(i) + " "}, "  ", plain, text, 3)
	}
}
