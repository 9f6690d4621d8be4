package answer

import (
	"fmt"
	"io"
	"strings"

	"github.com/rollcall-project/rollcall/internal/page"
)

// Access is one read and whether it is allowed.
type Access struct {
	What, Where string
	Allowed     bool
	Problem     string // the cluster could not say
}

// Rights writes what is allowed and what is not.
func Rights(w io.Writer, rows []Access, o Options) error {
	p := &page.Page{Style: o.Style}
	for _, r := range rows {
		mark, style, word := page.Good, page.Green, "yes"
		switch {
		case r.Problem != "":
			mark, style, word = page.Open, page.Yellow, "?"
		case !r.Allowed:
			mark, style, word = page.Bad, page.Red, "no"
		}
		line := r.What
		if r.Where != "" {
			line += " in " + r.Where
		}
		if r.Problem != "" {
			line += ": " + r.Problem
		}
		lead := fmt.Sprintf("%-2s %-4s", p.Sign(mark), word)
		p.Lead(0, style.Span(lead), strings.Repeat(" ", page.Length(lead)), page.Plain, line, 0)
	}
	return p.Flush(w)
}
