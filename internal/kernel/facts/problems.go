package facts

import (
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Problems is a field that names what has one kind of problem, as the title of a fault does.
// Each has a piece of evidence of its own.
type Problems = Field[[]string]

// AddProblem adds a name, once, and what shows its problem.
func AddProblem(to *Problems, name string, shown evidence.Item) {
	if slices.Contains(to.Value(), name) {
		to.Prove(shown)
		return
	}
	Append(to, name, shown)
}

// named is how many values a title names; the proof has all of them.
const named = 4

// NoProblems sets the fields that have no problem, and are not unknown for a reason. Of a
// long list the first ones are kept.
func NoProblems(fields ...*Problems) {
	for _, f := range fields {
		list, err := f.Get()
		if err != nil && !Missed(err) {
			f.Set([]string{})
		}
		if n := len(list) - named; n > 0 {
			f.Set(append(list[:named:named], fmt.Sprintf("and %d more", n)))
		}
	}
}
