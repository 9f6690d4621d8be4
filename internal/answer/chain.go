package answer

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// link is one fault of a chain with everything that it is present at: siblings are
// one link.
type link struct {
	fault    string
	keys     []fault.Key
	strength fault.Strength // of the edge that leads here
	children []*link
}

// chain condenses what a root explains to a tree over faults. Each fault hangs
// below the cause that is farthest from the root, so that shortcuts (a root that
// also explains the end of its own chain) are not drawn. Members of the root's
// ring are left out: the ring is drawn by itself, and what it leads to hangs at
// the top.
func chain(d *diagnosis.Diagnosis, r diagnosis.Root) []*link {
	ring := ringFaults(d, r)
	links := map[string]*link{}
	var order []string
	for _, k := range r.Effects() {
		if ring[k.Fault] {
			continue
		}
		l := links[k.Fault]
		if l == nil {
			l = &link{fault: k.Fault}
			links[k.Fault] = l
			order = append(order, k.Fault)
		}
		if !slices.Contains(l.keys, k) {
			l.keys = append(l.keys, k)
		}
	}
	parents := deepest(d, r, ring, links)
	var top []*link
	for _, id := range order {
		l := links[id]
		l.strength = parents[id].strength
		if cause, ok := links[parents[id].cause]; ok {
			cause.children = append(cause.children, l)
		} else {
			top = append(top, l)
		}
	}
	return top
}

func ringFaults(d *diagnosis.Diagnosis, r diagnosis.Root) map[string]bool {
	ring := map[string]bool{r.Fault: true}
	if i := r.Deadlock - 1; i >= 0 && i < len(d.Deadlocks) {
		for _, m := range d.Deadlocks[i].Members {
			ring[m.Fault] = true
		}
	}
	return ring
}

type parent struct {
	cause    string
	strength fault.Strength
	depth    int
}

// deepest chooses the cause of each link. Every round may lengthen paths by one;
// a cause that hangs below its effect is passed over, so rings cannot form.
func deepest(d *diagnosis.Diagnosis, r diagnosis.Root, ring map[string]bool, links map[string]*link) map[string]parent {
	in := map[fault.Key]bool{}
	for _, k := range r.Chain() {
		in[k] = true
	}
	parents := map[string]parent{}
	below := func(id, of string) bool {
		for range len(links) {
			if id == of {
				return true
			}
			p, ok := parents[id]
			if !ok {
				return false
			}
			id = p.cause
		}
		return id == of
	}
	for range len(links) {
		changed := false
		for _, e := range d.Edges {
			if !in[e.Cause] || !in[e.Effect] || links[e.Effect.Fault] == nil || e.Cause.Fault == e.Effect.Fault {
				continue
			}
			depth := 1
			if p, ok := parents[e.Cause.Fault]; ok {
				depth = p.depth + 1
			} else if !ring[e.Cause.Fault] {
				continue // its own place is not known yet
			}
			if p := parents[e.Effect.Fault]; p.cause == e.Cause.Fault && weaker(e.Strength, p.strength) {
				parents[e.Effect.Fault] = parent{p.cause, e.Strength, p.depth}
			}
			if depth <= parents[e.Effect.Fault].depth || below(e.Cause.Fault, e.Effect.Fault) {
				continue
			}
			parents[e.Effect.Fault] = parent{e.Cause.Fault, e.Strength, depth}
			changed = true
		}
		if !changed {
			break
		}
	}
	return parents
}

// weaker orders strengths: siblings are drawn with the weakest of their edges.
func weaker(a, b fault.Strength) bool {
	rank := map[fault.Strength]int{fault.PossibleEdge: 0, fault.LikelyEdge: 1, fault.Certain: 2}
	return rank[a] < rank[b]
}

// loop orders the faults of a deadlock so that each blocks the next and the last
// blocks the first, beginning with the one that opens it. Of several loops the
// longest is taken; a deadlock has few faults.
func loop(d *diagnosis.Diagnosis, dead diagnosis.Deadlock) []*link {
	links := map[string]*link{}
	var order []string
	for _, k := range dead.Members {
		if links[k.Fault] == nil {
			links[k.Fault] = &link{fault: k.Fault}
			order = append(order, k.Fault)
		}
		links[k.Fault].keys = append(links[k.Fault].keys, k)
	}
	next := map[string][]string{}
	for _, e := range d.Edges {
		c, f := e.Cause, e.Effect
		if links[c.Fault] != nil && links[f.Fault] != nil && !slices.Contains(next[c.Fault], f.Fault) {
			next[c.Fault] = append(next[c.Fault], f.Fault)
		}
	}
	best := longestLoop(next, dead.Opens.Fault)
	if len(best) == 0 {
		best = order
	}
	list := make([]*link, 0, len(best))
	for _, id := range best {
		list = append(list, links[id])
	}
	return list
}

// maxSteps bounds the search for the longest loop.
const maxSteps = 10_000

func longestLoop(next map[string][]string, start string) []string {
	var best, path []string
	steps := 0
	var visit func(string)
	visit = func(id string) {
		if steps++; steps > maxSteps {
			return
		}
		path = append(path, id)
		for _, n := range next[id] {
			if n == start && len(path) > len(best) {
				best = slices.Clone(path)
			}
			if !slices.Contains(path, n) {
				visit(n)
			}
		}
		path = path[:len(path)-1]
	}
	visit(start)
	return best
}
