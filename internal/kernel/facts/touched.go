package facts

import (
	"slices"
	"sync"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// touched is what a computation read: itself, and through memos. Written for every
// fact of every host and hardly ever asked, so it is put together when it is.
type touched struct {
	mu       sync.Mutex
	needs    []evidence.Need
	memos    []*memo
	gaps     []gap
	texts    [][]gap                  // of queries of texts: every computation that reads them has the same list
	concerns func(evidence.Text) bool // which texts the computation is about; nil: all
	owners   *Owners                  // whose texts; nil: concerns says
	owner    string
}

// gap is something that a computation wanted to read and that was not read whole.
type gap struct {
	text *evidence.Text // nil: objects, or texts of which nothing is known
	err  *evidence.Unavailable
}

func (t *touched) addGap(g gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gaps = append(t.gaps, g)
}

func (t *touched) missTexts(list []gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.texts = append(t.texts, list)
}

// lists are all gaps, those of memos last. The caller holds the lock.
func (t *touched) lists() [][]gap {
	lists := append([][]gap{t.gaps}, t.texts...)
	for _, m := range t.memos {
		lists = append(lists, m.gaps...)
	}
	return lists
}

// gap returns the first gap that concerns the computation, nil where all was read. One of
// objects without all of their fields weighs more than another.
func (t *touched) gap() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var first *evidence.Unavailable
	for i, list := range t.lists() {
		owners := t.owners
		if i == 0 {
			owners = nil // t.gaps is this computation's own: short, and nobody's index
		}
		for g := range owners.among(list, t.owner) {
			if g.text != nil && t.concerns != nil && !t.concerns(*g.text) {
				continue
			}
			if g.err.Fields {
				return g.err
			}
			if first == nil {
				first = g.err
			}
		}
	}
	if first == nil {
		return nil
	}
	return first
}

func (t *touched) allGaps() [][]gap {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.DeleteFunc(t.lists(), func(list []gap) bool { return len(list) == 0 })
}

// add notes a need and reports whether it was noted before.
func (t *touched) add(n evidence.Need) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.needs, n) {
		return true
	}
	t.needs = append(t.needs, n)
	return false
}

func (t *touched) use(m *memo) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.memos, m) {
		t.memos = append(t.memos, m)
	}
}

func (t *touched) all() []evidence.Need {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.needs)
	for _, m := range t.memos {
		for _, n := range m.needs {
			if !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}
