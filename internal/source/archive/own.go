package archive

import (
	"cmp"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// A collection may come from anybody, and what would supply a need is printed as
// advice: evidence.Supply takes of it only kinds and parameters that Rollcall itself has.

// ownSupply returns what a recorded run said would supply a need, and what this one
// would say where that run named nothing that there is. A run whose words were kept
// instead of their kind, as older ones did, named nothing.
func ownSupply(n evidence.Need, recorded *evidence.Supply) evidence.Supply {
	switch {
	case recorded == nil:
		return evidence.Supply{}
	case !recorded.IsZero():
		return *recorded
	}
	if u, ok := evidence.OnRequest(n.Resource); ok {
		return u.Supply
	}
	if slices.Contains(evidence.OnHost(), n.Resource) {
		return evidence.NotOnHost(n).Supply
	}
	return supply(n)
}

// ownWhy returns a recorded reason that there is, and else that the record is damaged.
func ownWhy(recorded string) evidence.Why {
	switch why := evidence.Why(recorded); why {
	case evidence.NotCollected, evidence.NotServed, evidence.Forbidden, evidence.Unreachable, evidence.Damaged, evidence.NotAsked:
		return why
	}
	return evidence.Damaged
}

// ownNotes returns the notes of a recorded run without states and advice that no run
// gives.
func ownNotes(recorded []evidence.Coverage) []evidence.Coverage {
	notes := slices.Clone(recorded)
	for i := range notes {
		n := &notes[i]
		if !slices.Contains([]evidence.State{evidence.Read, evidence.Empty, evidence.Partial, evidence.Missing}, n.State) {
			n.State, n.Reason = evidence.Missing, cmp.Or(n.Reason, string(evidence.Damaged))
		}
	}
	return notes
}
