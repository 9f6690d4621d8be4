package answer

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/answer/htmlgraph"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const (
	maxBoxes  = 60 // boxes of one picture
	fewLeaves = 3  // ends of a chain with the same causes from which on they share a box
	maxListed = 10 // lines of a shared box
)

// box is what one box of the graph shows.
type box struct {
	links []*link // more than one: ends of the chain that have the same causes
	more  int     // faults that the picture has no room for
}

// arrow leads from box to box.
type arrow struct {
	from, to int
	strength fault.Strength
}

// causeGraph is the chain of a root as a graph: box 0 is the root, or its whole ring.
type causeGraph struct {
	boxes  []box
	arrows []arrow
	ring   []*link // in the order in which they block each other; nil: there is none
	opens  string  // the fault whose repair opens the ring
}

// graphOf makes the graph of what a root leads to. The same fault at several
// subjects is one box; a shortcut along a way that is as certain is left out.
func graphOf(d *diagnosis.Diagnosis, r diagnosis.Root) causeGraph {
	p := causeGraph{boxes: []box{{links: []*link{{fault: r.Fault, keys: r.Keys()}}}}}
	at := map[string]int{r.Fault: 0}
	if i := r.Deadlock - 1; i >= 0 && i < len(d.Deadlocks) {
		p.ring, p.opens = loop(d, d.Deadlocks[i]), d.Deadlocks[i].Opens.Fault
		for _, l := range p.ring {
			at[l.fault] = 0
		}
	}
	in := map[fault.Key]bool{}
	for _, k := range r.Keys() {
		in[k] = true
	}
	for _, k := range r.Effects() {
		if in[k] {
			continue
		}
		in[k] = true
		i, ok := at[k.Fault]
		if !ok {
			i = len(p.boxes)
			at[k.Fault] = i
			p.boxes = append(p.boxes, box{links: []*link{{fault: k.Fault}}})
		}
		if i > 0 {
			p.boxes[i].links[0].keys = append(p.boxes[i].links[0].keys, k)
		}
	}
	p.join(d, in, at)
	p.group()
	p.limit()
	return p
}

// join adds the arrows between boxes, each with the weakest of its edges.
func (p *causeGraph) join(d *diagnosis.Diagnosis, in map[fault.Key]bool, at map[string]int) {
	var all []arrow
	led := map[int]bool{0: true}
	for _, e := range d.Edges {
		if !in[e.Cause] || !in[e.Effect] {
			continue
		}
		from, to := at[e.Cause.Fault], at[e.Effect.Fault]
		if from == to || to == 0 { // what leads back into the ring is the ring itself
			continue
		}
		led[to] = true
		i := slices.IndexFunc(all, func(a arrow) bool { return a.from == from && a.to == to })
		switch {
		case i < 0:
			all = append(all, arrow{from, to, e.Strength})
		case weaker(e.Strength, all[i].strength):
			all[i].strength = e.Strength
		}
	}
	for i := range p.boxes {
		if !led[i] { // the root explains it, by what is not known here
			all = append(all, arrow{0, i, fault.PossibleEdge})
		}
	}
	for _, a := range all {
		if !p.shortcut(a, all) {
			p.arrows = append(p.arrows, a)
		}
	}
}

// shortcut reports whether a way of other arrows, none weaker, leads to the same place.
func (p *causeGraph) shortcut(a arrow, all []arrow) bool {
	var strong []htmlgraph.Edge
	for _, b := range all {
		if !weaker(b.strength, a.strength) {
			strong = append(strong, htmlgraph.Edge{From: b.from, To: b.to})
		}
	}
	return !slices.ContainsFunc(htmlgraph.Reduce(len(p.boxes), strong), func(e htmlgraph.Edge) bool {
		return e.From == a.from && e.To == a.to
	})
}

// group puts ends of the chain that have the same causes into one box.
func (p *causeGraph) group() {
	causes := make([][]arrow, len(p.boxes)) // without their `to`
	end := make([]bool, len(p.boxes))
	for i := range end {
		end[i] = i > 0
	}
	for _, a := range p.arrows {
		end[a.from] = false
		causes[a.to] = append(causes[a.to], arrow{from: a.from, strength: a.strength})
	}
	gone := make([]bool, len(p.boxes))
	for i := range p.boxes {
		if !end[i] || gone[i] {
			continue
		}
		alike := []int{i}
		for j := i + 1; j < len(p.boxes); j++ {
			if end[j] && !gone[j] && slices.Equal(causes[i], causes[j]) {
				alike = append(alike, j)
			}
		}
		if len(alike) < fewLeaves {
			continue
		}
		for _, j := range alike[1:] {
			p.boxes[i].links = append(p.boxes[i].links, p.boxes[j].links...)
			gone[j] = true
		}
	}
	p.drop(gone)
}

// limit keeps the graph readable: it keeps the boxes nearest to the root, and one more with how
// many faults are left out.
func (p *causeGraph) limit() {
	if len(p.boxes) <= maxBoxes {
		return
	}
	gone := make([]bool, len(p.boxes))
	for i := range gone {
		gone[i] = true
	}
	near := []int{0}
	for k := 0; k < len(near) && len(near) < maxBoxes-1; k++ {
		gone[near[k]] = false
		for _, a := range p.arrows {
			if a.from == near[k] && !slices.Contains(near, a.to) && len(near) < maxBoxes-1 {
				near = append(near, a.to)
			}
		}
	}
	for _, i := range near {
		gone[i] = false
	}
	left := 0
	for i, b := range p.boxes {
		if gone[i] {
			left += len(b.links)
		}
	}
	p.drop(gone)
	p.boxes = append(p.boxes, box{more: left})
	p.arrows = append(p.arrows, arrow{0, len(p.boxes) - 1, fault.PossibleEdge})
}

// drop removes boxes and their arrows.
func (p *causeGraph) drop(gone []bool) {
	to := make([]int, len(p.boxes))
	var boxes []box
	for i, b := range p.boxes {
		if to[i] = len(boxes); !gone[i] {
			boxes = append(boxes, b)
		}
	}
	var arrows []arrow
	for _, a := range p.arrows {
		if !gone[a.from] && !gone[a.to] {
			arrows = append(arrows, arrow{to[a.from], to[a.to], a.strength})
		}
	}
	p.boxes, p.arrows = boxes, arrows
}
