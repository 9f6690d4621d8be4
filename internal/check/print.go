package check

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/page"
)

// marks are what a verdict looks like, and its words.
var marks = map[Verdict]struct {
	page.Mark

	words string
}{
	Reads:   {page.Green.Mark(page.Good), "only reads"},
	Safe:    {page.Green.Mark(page.Good), "safe here"},
	Unknown: {page.Yellow.Mark(page.Open), "unknown, so treat it as not safe"},
	Person:  {page.Yellow.Mark(page.Warn), "cannot be undone, so a person decides"},
	Unsafe:  {page.Red.Mark(page.Bad), "not safe here"},
}

// proofs is how many pieces of evidence of one command are shown.
const proofs = 3

// old is from when on the age of an archive is shown.
const old = 10 * time.Minute

// Write writes the answer for a person.
func (r *Report) Write(w io.Writer, s page.Style) error {
	p := &page.Page{Style: s}
	if len(r.Steps) == 1 {
		mark(p, 0, r.Verdict, "", r.Why)
		p.Line(2, page.Cyan.Span(r.Steps[0].Command))
		r.Steps[0].write(p)
	} else {
		mark(p, 0, r.Verdict, fmt.Sprintf(" (the worst of %d commands)", len(r.Steps)), r.Why)
		for _, step := range r.Steps {
			p.Blank()
			mark(p, 0, step.Verdict, "", step.Why)
			p.Line(2, page.Cyan.Span(step.Command))
			step.write(p)
		}
	}
	list(p, "Instead", r.Instead)
	list(p, "See that it worked", r.Verify)
	if r.Verdict != Reads {
		causes := make([]string, len(r.Cause))
		for i, c := range r.Cause {
			causes[i] = answer.Options{Style: s}.Brief(c)
		}
		list(p, "What is wrong in "+r.Source.Name, causes)
	}
	p.Blank()
	past := ""
	if r.age >= old {
		past = fmt.Sprintf(" That state is %s old: what has changed since is not known.", passed(r.age))
	}
	p.Para(0, page.Span{}, page.Dim, fmt.Sprintf("Judged at %s from %s %s.%s Nothing was run.", page.Clock(r.Now), r.Source.Kind, r.Source.Name, past))
	return p.Flush(w)
}

// mark writes a verdict with its reason; of is what it is the verdict of, where that is more than the next line.
func mark(p *page.Page, indent int, v Verdict, of, why string) {
	m := marks[v]
	p.Para(indent, m.Paint.Span(p.Sign(m.Sign)+" "+m.words+of+": "), page.Plain, why)
}

// write writes what is known of one command.
func (s *Step) write(p *page.Page) {
	for i, o := range s.Objects {
		if i == 8 {
			p.Line(2, page.Dim.Span(fmt.Sprintf("hits      and %d more", len(s.Objects)-i)))
			break
		}
		p.Line(2, page.Dim.Span("hits      "), page.Plain.Span(o))
	}
	for _, part := range []struct{ name, text string }{{"changes   ", s.Changes}, {"lost      ", s.Lost}, {"undo      ", s.Undo}} {
		if part.text != "" {
			p.Para(2, page.Dim.Span(part.name), page.Plain, part.text)
		}
	}
	for i, e := range s.Evidence {
		if i == proofs {
			break
		}
		p.Para(2, page.Dim.Span("seen      "), page.Plain, e.Locator.String()+": "+e.Excerpt)
	}
	for _, m := range s.Missing {
		var parts []string
		if m.What != s.Why { // that stands above
			parts = append(parts, m.What)
		}
		if m.Supply != "" {
			parts = append(parts, "to get it: "+m.Supply)
		}
		if len(parts) > 0 {
			p.Para(2, page.Dim.Span("missing   "), page.Plain, strings.Join(parts, "; "))
		}
	}
	if s.Refused != "" {
		p.Para(2, page.Dim.Span("advice    "), page.Plain, "why it is common unsafe advice, and when it is safe: rollcall explain "+s.Refused)
	}
}

// list writes texts below a heading, each on lines of its own; none without texts.
func list(p *page.Page, heading string, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.Blank()
	p.Head(0, heading)
	for _, t := range texts {
		p.Para(2, page.Span{}, page.Plain, t)
	}
}
