package htmlgraph

import (
	"cmp"
	"slices"
)

// place chooses the places: rows one below the other, boxes under the middle of
// what leads to them and above the middle of what they lead to.
func (g *grid) place() {
	y := 0.0
	for _, row := range g.rows {
		tall := 0.0
		for _, s := range row {
			if n := g.slots[s].node; n >= 0 {
				tall = max(tall, g.nodes[n].H)
			}
		}
		g.top, g.tall = append(g.top, y), append(g.tall, tall)
		y += tall + gapY
	}
	for _, row := range g.rows {
		g.pack(row, func(int) float64 { return 0 })
	}
	for round := range calms {
		for k := range g.rows {
			r := k
			if round%2 == 1 {
				r = len(g.rows) - 1 - k
			}
			g.pack(g.rows[r], func(s int) float64 { return g.middle(s, round) })
		}
	}
	left := g.slots[0].x
	for _, s := range g.slots {
		left = min(left, s.x)
	}
	for i := range g.slots {
		s := &g.slots[i]
		if s.x -= left; s.node >= 0 {
			g.nodes[s.node].X, g.nodes[s.node].Y = s.x, g.top[s.row]
		}
	}
}

// middle is where the center of a slot wants to be: over, or under, the middle of
// its neighbors; the last round looks both ways.
func (g *grid) middle(s, round int) float64 {
	near := g.slots[s].up
	switch {
	case round == calms-1:
		near = slices.Concat(g.slots[s].up, g.slots[s].down)
	case round%2 == 1:
		near = g.slots[s].down
	}
	if len(near) == 0 {
		return g.slots[s].x + g.slots[s].w/2
	}
	sum := 0.0
	for _, n := range near {
		sum += g.slots[n].x + g.slots[n].w/2
	}
	return sum / float64(len(near))
}

// pack sets the slots of a row as near as can be to where their centres want to be.
// Pushing to the right alone and to the left alone both keep the room between
// slots, and so does the middle of the two.
func (g *grid) pack(row []int, centre func(int) float64) {
	want := make([]float64, len(row))
	for i, s := range row {
		want[i] = centre(s) - g.slots[s].w/2
	}
	right, left := slices.Clone(want), slices.Clone(want)
	for i := 1; i < len(row); i++ {
		right[i] = max(right[i], right[i-1]+g.slots[row[i-1]].w+gapX)
	}
	for i := len(row) - 2; i >= 0; i-- {
		left[i] = min(left[i], left[i+1]-g.slots[row[i]].w-gapX)
	}
	for i, s := range row {
		g.slots[s].x = (right[i] + left[i]) / 2
	}
}

// route lays the edges: from a port at the lower border of the cause, past the rows
// between, to a port at the upper border of the effect.
func (g *grid) route(back []bool) {
	out, in := g.ports(true), g.ports(false)
	for i, way := range g.chain {
		if len(way) == 0 {
			continue
		}
		first, last := g.slots[way[0]], g.slots[way[len(way)-1]]
		path := []Point{{out[i], g.top[first.row] + g.nodes[first.node].H}}
		for _, s := range way[1 : len(way)-1] {
			x, r := g.slots[s].x+g.slots[s].w/2, g.slots[s].row
			path = append(path, Point{x, g.top[r]}, Point{x, g.top[r] + g.tall[r]})
		}
		path = append(path, Point{in[i], g.top[last.row]})
		if back[i] {
			slices.Reverse(path)
		}
		g.edges[i].Path = path
	}
}

// ports spreads the edges of each box over its border, in the order of where they go.
func (g *grid) ports(leaving bool) []float64 {
	port := make([]float64, len(g.edges))
	at := map[int][]int{} // edges by box
	far := make([]float64, len(g.edges))
	for i, way := range g.chain {
		if len(way) == 0 {
			continue
		}
		box, next := way[0], way[1]
		if !leaving {
			box, next = way[len(way)-1], way[len(way)-2]
		}
		far[i] = g.slots[next].x + g.slots[next].w/2
		at[box] = append(at[box], i)
	}
	for box, list := range at {
		slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
		for k, i := range list {
			port[i] = g.slots[box].x + g.slots[box].w*float64(k+1)/float64(len(list)+1)
		}
	}
	return port
}

func (g *grid) size() (width, height float64) {
	for _, s := range g.slots {
		width = max(width, s.x+s.w)
	}
	last := len(g.rows) - 1
	return width, g.top[last] + g.tall[last]
}
