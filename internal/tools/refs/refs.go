// Package refs checks that the sources which a catalog names are there: first
// their form, then, with local copies of the repositories, that the path exists
// and that the symbol occurs in it.
//
// Invariants:
//   - Nothing is fetched: only copies that the caller names are looked into.
//   - A repository of which there is no copy is "not looked up", never "verified".
//   - What a copy says is data. git runs without hooks, without the environment's
//     GIT_* variables, and its arguments are checked before.
package refs

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Named is a reference and the entry of the catalog that names it.
type Named struct {
	Entry string // id of the fault, remedy or refused remedy
	Of    any    // the entry itself
	Index int    // in its refs
	Ref   fault.Ref
}

// String renders the reference on one line.
func (n Named) String() string {
	text := n.Entry + ": " + n.Ref.Repo
	if n.Ref.Path != "" {
		text += ":" + n.Ref.Path
	}
	if n.Ref.Branch != "" {
		text += "@" + n.Ref.Branch
	}
	if n.Ref.Symbol != "" {
		text += " " + n.Ref.Symbol
	}
	return text
}

// Of returns every reference of a catalog: of faults, of remedies, of refused ones, and of what
// commands destroy.
func Of(c *fault.Catalog) []Named {
	var list []Named
	for _, f := range c.Faults {
		for i, r := range f.Refs {
			list = append(list, Named{f.ID, f, i, r})
		}
	}
	for _, f := range c.Remedies() {
		for i, r := range f.Refs {
			list = append(list, Named{f.ID, f, i, r})
		}
	}
	for _, f := range c.Refused {
		for i, r := range f.Refs {
			list = append(list, Named{f.ID, f, i, r})
		}
	}
	for _, f := range c.Commands {
		for _, n := range f.Notes {
			for i, r := range n.Refs {
				list = append(list, Named{f.Topic, f, i, r})
			}
		}
	}
	return list
}

var (
	repoForm   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9][A-Za-z0-9._-]*$`)
	branchForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/-]*$`)
	symbolForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
)

// checkForm reports what is wrong with the form of a reference.
func checkForm(r fault.Ref) error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !repoForm.MatchString(r.Repo) {
		fail("repo %q is not owner/name", r.Repo)
	}
	switch {
	case r.Path == "" && r.Note == "":
		fail("it has neither path nor note")
	case r.Path == "":
		if r.Symbol != "" {
			fail("it has a symbol and no path")
		}
	case path.IsAbs(r.Path) || path.Clean(r.Path) != r.Path || strings.HasPrefix(r.Path, "..") || strings.ContainsAny(r.Path, " \t\n*?[]:\\"):
		fail("path %q is not a plain path inside the repository", r.Path)
	}
	if r.Symbol != "" && !symbolForm.MatchString(r.Symbol) {
		fail("symbol %q is not one word", r.Symbol)
	}
	if r.Branch != "" && (!branchForm.MatchString(r.Branch) || strings.Contains(r.Branch, "..")) {
		fail("branch %q is not the name of a branch or tag", r.Branch)
	}
	return errors.Join(wrong...)
}

// Report is the outcome of a look at the sources.
type Report struct {
	Checked  int // references
	Verified int
	Wrong    []Wrong
	Unlooked []string // repositories of which there is no copy, each once, with how many references name it
	Missing  int      // references to them
}

// Wrong is a reference that leads nowhere.
type Wrong struct {
	Named Named
	Err   error
}

// CheckForms returns the references whose form is wrong.
func CheckForms(list []Named) []Wrong {
	var wrong []Wrong
	for _, n := range list {
		if err := checkForm(n.Ref); err != nil {
			wrong = append(wrong, Wrong{n, err})
		}
	}
	return wrong
}

func (r *Report) finish(missing map[string]int) {
	for repo, n := range missing {
		r.Unlooked = append(r.Unlooked, fmt.Sprintf("%s (%d)", repo, n))
		r.Missing += n
	}
	slices.Sort(r.Unlooked)
}
