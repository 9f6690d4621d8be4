package facts

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestOwners: what an owner may have of a list is what going through the whole list finds.
func TestOwners(t *testing.T) {
	of := func(t evidence.Text) string { return t.Host }
	owners := []string{"", "a", "b", "c", "none"}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		list := make([]gap, r.IntN(12))
		for i := range list {
			list[i].err = &evidence.Unavailable{}
			if r.IntN(5) > 0 {
				list[i].text = &evidence.Text{Host: owners[r.IntN(4)]}
			}
		}
		o := NewOwners(of)
		for range 2 { // sorted once, asked twice
			for _, owner := range owners {
				var want []gap
				for _, g := range list {
					if g.text == nil || of(*g.text) == owner || of(*g.text) == "" {
						want = append(want, g)
					}
				}
				if got := slices.Collect(o.among(list, owner)); !slices.Equal(got, want) {
					t.Fatalf("seed %d: %q has %d gaps, want %d", seed, owner, len(got), len(want))
				}
			}
		}
	}
	list := []gap{{}, {}}
	if got := slices.Collect((*Owners)(nil).among(list, "a")); len(got) != len(list) {
		t.Errorf("without owners %d gaps, want all", len(got))
	}
}
