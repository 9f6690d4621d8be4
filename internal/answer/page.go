package answer

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// page is text that is being laid out.
type page struct {
	Style
	b    strings.Builder
	rows int // of a screen of that width; a line that is never broken can need several
}

func (p *page) flush(w io.Writer) error {
	if _, err := io.WriteString(w, p.b.String()); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

func (p *page) blank() { p.end(0) }

// end ends a line of so many characters.
func (p *page) end(length int) {
	p.b.WriteByte('\n')
	p.rows += max(1, (length+p.width()-1)/p.width())
}

// span is a piece of one line.
type span struct {
	paint paint
	text  string
}

// line writes spans on one line that is never broken: commands are to be copied.
func (p *page) line(indent int, spans ...span) {
	p.b.WriteString(strings.Repeat(" ", indent))
	n := indent
	for _, s := range spans {
		text := p.clean(s.text)
		n += length(text)
		p.b.WriteString(p.paint(s.paint, text))
	}
	p.end(n)
}

// para writes text broken at blanks. The first line begins after indent with lead,
// which is counted and painted by itself; further lines begin under the text.
func (p *page) para(indent int, lead span, style paint, text string) {
	p.lead(indent, lead, strings.Repeat(" ", length(lead.text)), style, text, 0)
}

// lead is para with what further lines begin with, and at most limit lines (0: all).
func (p *page) lead(indent int, first span, further string, style paint, text string, limit int) {
	room := p.width() - indent - length(further)
	lines := wrap(p.clean(text), p.width()-indent-length(first.text), room)
	if limit > 0 && len(lines) > limit {
		lines = lines[:limit]
		last := cutWords(lines[limit-1], min(room, p.width()-indent-length(first.text))-length(p.sign(ellipsis)))
		lines[limit-1] = last + p.sign(ellipsis)
	}
	for i, l := range lines {
		p.b.WriteString(strings.Repeat(" ", indent))
		before := further
		if i == 0 {
			before = first.text
		}
		if l == "" {
			before = strings.TrimRight(before, " ")
		}
		n := indent + length(before) + length(l)
		if i == 0 {
			before = p.paint(first.paint, before)
		}
		p.b.WriteString(before)
		p.b.WriteString(p.paint(style, l))
		p.end(n)
	}
}

// parts writes short texts with separators, broken between them.
func (p *page) parts(indent int, style paint, list []string) {
	line := ""
	for _, part := range list {
		part = p.clean(part)
		switch {
		case line == "":
			line = part
		case indent+length(line+p.sign(separator)+part) <= p.width():
			line += p.sign(separator) + part
		default:
			p.line(indent, span{style, line})
			line = part
		}
	}
	p.line(indent, span{style, line})
}

// head writes a heading.
func (p *page) head(indent int, text string) { p.line(indent, span{bold, text}) }

func length(s string) int { return utf8.RuneCountInString(s) }

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if length(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(n, 0)]), " ")
}

// cutWords shortens a text to n characters, at a blank where there is one.
func cutWords(s string, n int) string {
	short := cut(s, n)
	if i := strings.LastIndexByte(short, ' '); i > 0 && short != s && !strings.HasPrefix(s[len(short):], " ") {
		short = short[:i]
	}
	return strings.TrimRight(short, " ,;:(…")
}

// Wrap is a paragraph in the width of a screen, without what a terminal obeys.
func Wrap(text string, s Style) string {
	p := page{Style: s}
	return strings.Join(wrap(p.clean(text), p.width(), p.width()), "\n")
}

// Indent is Wrap with each line indented.
func Indent(text string, indent int, s Style) string {
	p := page{Style: s}
	room := p.width() - indent
	lead := strings.Repeat(" ", indent)
	return lead + strings.Join(wrap(p.clean(text), room, room), "\n"+lead)
}

// wrap breaks a text at blanks into lines of at most rest characters, the first of
// at most first. A word that is longer is alone and whole, so that it can be
// copied.
func wrap(text string, first, rest int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		width := rest
		if len(lines) == 0 {
			width = first
		}
		switch {
		case line == "":
			line = word
		case length(line)+1+length(word) <= width:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
