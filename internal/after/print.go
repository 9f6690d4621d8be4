package after

import (
	"io"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// marks are what an outcome looks like. A word follows where it is not all: color and sign are
// never alone.
var marks = map[fault.Outcome]struct {
	page.Mark

	word string
}{
	fault.Present: {page.Green.Mark(page.Good), "holds"},
	fault.Absent:  {page.Red.Mark(page.Bad), "does not hold"},
	fault.Unknown: {page.Yellow.Mark(page.Open), "not known"},
}

// Mark is the sign of an indicator in a style, in its paint. What does not apply has no sign of
// its own.
func (i Indicator) Mark(s page.Style) page.Span {
	if i.Outcome == fault.NotApplicable {
		return page.Dim.Span("-")
	}
	mark := marks[i.Outcome]
	return mark.Paint.Span(s.Sign(mark.Sign))
}

// Write writes indicators below a heading, one a line.
func Write(w io.Writer, heading string, list []Indicator, s page.Style) error {
	p := &page.Page{Style: s}
	p.Head(0, heading)
	Lines(p, list)
	return p.Flush(w)
}

// Lines writes indicators on a page, one a line.
func Lines(p *page.Page, list []Indicator) {
	for _, i := range list {
		text := i.Title
		switch i.Outcome {
		case fault.Present:
		case fault.NotApplicable:
			text = "not applicable: " + text
		default:
			text = marks[i.Outcome].word + ": " + text
		}
		if i.Reason != "" {
			text += ": " + i.Reason
		}
		mark := i.Mark(p.Style)
		p.Lead(2, mark.Paint.Span(mark.Text+" "), "  ", page.Plain, text, 3)
	}
}
