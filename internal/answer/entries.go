package answer

import (
	"io"
	"strings"
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
func Sections(w io.Writer, s Style, list []Section) error {
	p := &page{Style: s}
	for i, section := range list {
		if i > 0 {
			p.blank()
		}
		p.lead(0, span{}, "  ", bold, section.Heading, 0)
		width := 0
		for _, e := range section.Entries {
			width = max(width, length(e.Name))
		}
		for _, e := range section.Entries {
			name := e.Name + strings.Repeat(" ", width-length(e.Name)+2)
			switch {
			case e.Text == "":
			case e.Command:
				p.line(2, span{dim, name}, span{cyan, e.Text})
			default:
				p.para(2, span{dim, name}, plain, e.Text)
			}
		}
	}
	return p.flush(w)
}
