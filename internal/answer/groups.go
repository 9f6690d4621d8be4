package answer

import (
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// linkOf is a group as one link of a chain.
func linkOf(g diagnosis.Group) *link { return &link{fault: g.Fault, keys: g.Keys()} }

// open is one symptom without a proven cause with the same at other subjects.
type open struct {
	diagnosis.Unexplained // the first
	link                  *link
}

func (t *text) withoutCause() []open {
	return each(t.d.Groups.Unexplained, func(g diagnosis.Group) open { return open{t.d.Unexplained[g.First], linkOf(g)} })
}

// waitingGroups returns the groups of findings that are still normal, without those that the chain
// of a root shows.
func (t *text) waitingGroups() []diagnosis.WaitingGroup {
	return slices.DeleteFunc(slices.Clone(t.d.Groups.Waiting), func(g diagnosis.WaitingGroup) bool { return g.Explained && !t.o.Wide })
}

// reasonOf says why a gap is one.
func reasonOf(g diagnosis.Gap) string {
	if g.State == evidence.Partial {
		return "only in part: " + g.Reason
	}
	return g.Reason
}

// needsOf says what is missing in field terms, each thing once.
func needsOf(g diagnosis.Gap) []string {
	var list []string
	for _, need := range g.Needs {
		words := needWords(need)
		if onHost(need) && strings.HasSuffix(g.Reason, evidence.NotOnHost(evidence.Need{}).Detail) {
			words = "what only the machines themselves can show"
		}
		if !slices.Contains(list, words) {
			list = append(list, words)
		}
	}
	return list
}
