package archive

import (
	"cmp"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// A collection may come from anyone, and what would supply a need is printed as advice:
// evidence.Supply takes only kinds and parameters that Rollcall itself has.

// ownSupply returns what would supply a need by a recorded run, and by this one where the
// recorded advice is of no known kind. Older runs recorded words instead of a kind.
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
	return generalSupply(n)
}

// ownWhy returns a recorded reason that is known, and otherwise that the record is damaged.
func ownWhy(recorded string) evidence.Why {
	switch why := evidence.Why(recorded); why {
	case evidence.NotCollected, evidence.NotServed, evidence.Forbidden, evidence.Unreachable, evidence.Damaged, evidence.NotAsked:
		return why
	}
	return evidence.Damaged
}

// ownNotes returns the notes of a recorded run without states that no run has.
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
