package answer

import (
	"fmt"
	"io"
	"strings"
)

// Access is one read and whether it is allowed.
type Access struct {
	What, Where string
	Allowed     bool
	Problem     string // the cluster could not say
}

// Rights writes what is allowed and what is not.
func Rights(w io.Writer, rows []Access, o Options) error {
	p := &page{Style: o.Style}
	for _, r := range rows {
		mark, style, word := signGood, green, "yes"
		switch {
		case r.Problem != "":
			mark, style, word = signOpen, yellow, "?"
		case !r.Allowed:
			mark, style, word = signBad, red, "no"
		}
		line := r.What
		if r.Where != "" {
			line += " in " + r.Where
		}
		if r.Problem != "" {
			line += ": " + r.Problem
		}
		lead := fmt.Sprintf("%-2s %-4s", p.sign(mark), word)
		p.lead(0, span{style, lead}, strings.Repeat(" ", length(lead)), plain, line, 0)
	}
	return p.flush(w)
}
