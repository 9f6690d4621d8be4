package facts

import (
	"iter"
	"slices"
	"sync"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Owners says whose each text is, for the fact of every host that looks for its own among the texts of all. Each
// list of gaps is sorted by owner once: of a cluster with thousands of hosts most logs are not read, and
// each host would go through the gaps of all.
type Owners struct {
	of    func(evidence.Text) string
	mu    sync.Mutex
	lists map[*gap]map[string][]int // by the first gap of a list: where in it the gaps of each owner are
}

// NewOwners returns Owners by a function that returns "" for a text that may be anybody's.
func NewOwners(of func(evidence.Text) string) *Owners {
	return &Owners{of: of, lists: map[*gap]map[string][]int{}}
}

// among yields what an owner may have of a list that does not change any more, in its order: its own texts, those of
// which nothing says whose they are, and what is no text. Nil Owners yield all.
func (o *Owners) among(list []gap, owner string) iter.Seq[gap] {
	if o == nil || len(list) == 0 {
		return slices.Values(list)
	}
	sorted := o.sorted(list)
	own, common := sorted[owner], sorted[""]
	if owner == "" {
		own = nil
	}
	return func(yield func(gap) bool) {
		for len(own) > 0 || len(common) > 0 {
			from := &common
			if len(common) == 0 || len(own) > 0 && own[0] < common[0] {
				from = &own
			}
			g := list[(*from)[0]]
			*from = (*from)[1:]
			if !yield(g) {
				return
			}
		}
	}
}

func (o *Owners) sorted(list []gap) map[string][]int {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sorted, ok := o.lists[&list[0]]; ok {
		return sorted
	}
	sorted := map[string][]int{}
	for i, g := range list {
		owner := ""
		if g.text != nil {
			owner = o.of(*g.text)
		}
		sorted[owner] = append(sorted[owner], i)
	}
	o.lists[&list[0]] = sorted
	return sorted
}
