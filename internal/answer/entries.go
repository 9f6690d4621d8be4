package answer

import (
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/page"
)

// Entry is one line of a described thing: its name, and a text or a command. Texts
// are broken at blanks, commands are not: they are to be copied.
type Entry struct {
	Name, Text string
	Command    bool
}

// Section is a heading with entries; entries without a text are left out.
type Section struct {
	Heading string
	Entries []Entry
}

// Sections writes sections one below the other, with a blank line between them.
func Sections(w io.Writer, s page.Style, list []Section) error {
	p := &page.Page{Style: s}
	for i, section := range list {
		if i > 0 {
			p.Blank()
		}
		p.Lead(0, page.Span{}, "  ", page.Bold, section.Heading, 0)
		width := 0
		for _, e := range section.Entries {
			width = max(width, page.Length(e.Name))
		}
		for _, e := range section.Entries {
			name := e.Name + strings.Repeat(" ", width-page.Length(e.Name)+2)
			switch {
			case e.Text == "":
			case e.Command:
				p.Line(2, page.Dim.Span(name), page.Cyan.Span(e.Text))
			default:
				p.Para(2, page.Dim.Span(name), page.Plain, e.Text)
			}
		}
	}
	return p.Flush(w)
}
