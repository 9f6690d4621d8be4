package update

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// headlines are what a verdict looks like, and its words.
var headlines = map[Verdict]struct {
	page.Mark

	words string
}{
	Ready:     {page.Green.Mark(page.Good), "READY"},
	Undecided: {page.Yellow.Mark(page.Open), "UNDECIDED"},
	NotReady:  {page.Red.Mark(page.Bad), "NOT READY"},
}

// proofs is how many pieces of evidence of one finding are shown.
const proofs = 2

// Write writes the answer for a person.
func (r *Report) Write(w io.Writer, s page.Style) error {
	p := &page.Page{Style: s}
	h := headlines[r.Verdict]
	why := r.Why
	if r.Warnings > 0 {
		why += "; " + page.Count(r.Warnings, "warning", "warnings")
	}
	p.Para(0, h.Paint.Span(p.Sign(h.Sign)+" "+h.words+": "), page.Plain, why)
	r.writeFindings(p, "Holds it", fault.Error, page.Red.Mark(page.Bad))
	r.writeFindings(p, "Warnings", fault.Warning, page.Yellow.Mark(page.Warn))
	r.writeFindings(p, "Notes", fault.Info, page.Dim.Mark(page.Open))
	r.writeHosts(p)
	r.writeMissing(p)
	r.writeChecks(p)
	p.Blank()
	p.Para(0, page.Span{}, page.Dim, fmt.Sprintf("Judged at %s from %s %s. Nothing was changed.", page.Clock(r.Now), r.Source.Kind, r.Source.Name))
	return p.Flush(w)
}

// step is what is to be done, in words.
func (r *Report) step() string {
	from := ""
	if r.Version != "" {
		from = " of " + r.Version
	}
	if r.Target == "" {
		return "a reboot or an update" + from
	}
	return "the update" + from + " to " + r.Target
}

func (r *Report) writeFindings(p *page.Page, heading string, severity fault.Severity, m page.Mark) {
	first := true
	for _, c := range r.Checks {
		for i := range c.Findings {
			f := &c.Findings[i]
			if f.Severity != severity {
				continue
			}
			if first {
				p.Blank()
				p.Head(0, heading)
				first = false
			}
			f.write(p, m)
		}
	}
}

func (f *Finding) write(p *page.Page, m page.Mark) {
	p.Para(2, m.Paint.Span(p.Sign(m.Sign)+" "), page.Plain, f.Says)
	if len(f.Hosts) > 0 {
		p.Para(4, page.Dim.Span("hosts  "), page.Plain, strings.Join(f.Hosts, ", "))
	}
	for _, do := range f.Do {
		p.Para(4, page.Dim.Span("do     "), page.Plain, do)
	}
	if f.See != "" {
		p.Para(4, page.Dim.Span("check  "), page.Plain, f.See)
	}
	for i, e := range f.Evidence {
		if i == proofs {
			break
		}
		p.Para(4, page.Dim.Span("seen   "), page.Plain, e.Locator.String()+": "+e.Excerpt)
	}
}

// writeHosts writes the hosts that something holds, and counts the others.
func (r *Report) writeHosts(p *page.Page) {
	if len(r.Hosts) == 0 {
		return
	}
	p.Blank()
	p.Head(0, "Hosts")
	free := 0
	for _, h := range r.Hosts {
		if len(h.Holds) == 0 {
			free++
			continue
		}
		p.Para(2, page.Red.Span(p.Sign(page.Bad)+" "), page.Plain, h.Name+": "+h.Holds[0]+more(len(h.Holds)-1))
	}
	if free > 0 {
		p.Line(2, page.Plain.Span(fmt.Sprintf("%d of %d: nothing of their own is known that holds them", free, len(r.Hosts))))
	}
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// writeMissing writes what could not be read: first what leaves the answer open.
func (r *Report) writeMissing(p *page.Page) {
	for _, part := range []struct {
		heading string
		open    bool
	}{{"Not known, and needed to decide", true}, {"Not known, and not needed to decide", false}} {
		first := true
		for _, c := range r.Checks {
			for _, m := range c.Missing {
				if m.Open != part.open {
					continue
				}
				if first {
					p.Blank()
					p.Head(0, part.heading)
					first = false
				}
				m.write(p)
			}
		}
	}
}

func (m Missing) write(p *page.Page) {
	text := m.What
	if m.Supply != "" {
		text += "; to get it: " + m.Supply
	}
	p.Para(2, page.Yellow.Span(p.Sign(page.Open)+" "), page.Plain, text)
}

// writeChecks writes what was looked at and not found, what does not apply, and what no check looks at.
func (r *Report) writeChecks(p *page.Page) {
	var absent []string
	for _, c := range r.Checks {
		if c.Outcome == fault.Absent {
			absent = append(absent, c.ID)
		}
	}
	p.Blank()
	p.Head(0, "Checked, and nothing found")
	p.Para(2, page.Span{}, page.Plain, cmp.Or(strings.Join(absent, ", "), "none"))
	for _, c := range r.Checks {
		if c.Outcome == fault.NotApplicable {
			p.Para(2, page.Dim.Span("not applicable: "), page.Plain, c.ID+" ("+c.Why+")")
		}
	}
	p.Blank()
	p.Head(0, "Not looked at here")
	for _, m := range r.NotAsked {
		p.Para(2, page.Span{}, page.Plain, m.What+": "+m.Supply)
	}
}
