package page

import (
	"fmt"
	"io"
	"strings"
)

// Page is text that is being laid out. Its zero value with a Style is an empty page.
type Page struct {
	Style

	b    strings.Builder
	rows int
}

// String is what is on the page.
func (p *Page) String() string { return p.b.String() }

// Rows is how many rows of a screen of that width the page has; a line that is never broken
// can need several.
func (p *Page) Rows() int { return p.rows }

// Flush writes the page.
func (p *Page) Flush(w io.Writer) error { return Write(w, p.b.String()) }

// Write writes text that is laid out.
func Write(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// Blank writes an empty line, where the last one is not empty: two parts may each want one between them.
func (p *Page) Blank() {
	if !strings.HasSuffix(p.b.String(), "\n\n") {
		p.end(0)
	}
}

// end ends a line of so many characters.
func (p *Page) end(length int) {
	p.b.WriteByte('\n')
	p.rows += max(1, (length+p.Room()-1)/p.Room())
}

// Span is a piece of one line.
type Span struct {
	Paint Paint
	Text  string
}

// Span is a piece of a line in this paint.
func (p Paint) Span(text string) Span { return Span{p, text} }

// Mark is a sign in this paint.
func (p Paint) Mark(s Sign) Mark { return Mark{s, p} }

// Line writes spans on one line that is never broken: commands are to be copied.
func (p *Page) Line(indent int, spans ...Span) {
	p.b.WriteString(strings.Repeat(" ", indent))
	n := indent
	for _, s := range spans {
		text := p.Clean(s.Text)
		n += Length(text)
		p.b.WriteString(p.Paint(s.Paint, text))
	}
	p.end(n)
}

// Para writes text broken at blanks. The first line begins after indent with lead,
// which is counted and painted by itself; further lines begin under the text.
func (p *Page) Para(indent int, lead Span, style Paint, text string) {
	p.Lead(indent, lead, strings.Repeat(" ", Length(lead.Text)), style, text, 0)
}

// Lead is Para with what further lines begin with, and at most limit lines (0: all). Such a line
// has LineRoom characters on every screen: who reads the text out to a colleague with another
// terminal reads what the other one sees.
func (p *Page) Lead(indent int, first Span, further string, style Paint, text string, limit int) {
	text = p.CutLines(p.Clean(text), limit)
	lines := Break(text, p.Room()-indent-Length(first.Text), p.Room()-indent-Length(further))
	for i, l := range lines {
		p.b.WriteString(strings.Repeat(" ", indent))
		before := further
		if i == 0 {
			before = first.Text
		}
		if l == "" {
			before = strings.TrimRight(before, " ")
		}
		n := indent + Length(before) + Length(l)
		if i == 0 {
			before = p.Paint(first.Paint, before)
		}
		p.b.WriteString(before)
		p.b.WriteString(p.Paint(style, l))
		p.end(n)
	}
}

// Parts writes short texts with separators, broken between them.
func (p *Page) Parts(indent int, style Paint, list []string) {
	line := ""
	for _, part := range list {
		part = p.Clean(part)
		switch {
		case line == "":
			line = part
		case indent+Length(line+p.Sign(Separator)+part) <= p.Room():
			line += p.Sign(Separator) + part
		default:
			p.Line(indent, style.Span(line))
			line = part
		}
	}
	p.Line(indent, style.Span(line))
}

// Head writes a heading.
func (p *Page) Head(indent int, text string) { p.Line(indent, Bold.Span(text)) }
