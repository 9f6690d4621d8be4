package answer

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

// fewKinds is how many kinds of objects the headline names that may not be read.
const fewKinds = 2

// mayNotRead says what the user's rights do not permit to read, "" where they permit all of it.
func (t *text) mayNotRead() string {
	var kinds []string
	for _, c := range t.d.Coverage {
		if kind, _, _ := strings.Cut(needWords(c.Need), " in "); forReader(c.Supply) && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) == 0 {
		return ""
	}
	return "you may not read " + some(kinds, fewKinds)
}

// askForRights is how to get the roles that permit to read, for whoever may give them.
const askForRights = "can-i --role USER > reader.yaml    # your name: oc whoami; an administrator then runs oc apply -f reader.yaml"

// forReader reports whether what is missing is a right that the roles of can-i --role have: they hold
// no Secret, no exec and no access to kubelets.
func forReader(s evidence.Supply) bool {
	return s.Kind == evidence.SupplyRole && (s.Verb == "list" || s.Verb == "get") && s.Resource != "secrets" && s.Resource != "nodes/proxy"
}

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
