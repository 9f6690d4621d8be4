// Package htmlgraph places the boxes of a directed graph in layers, causes above
// effects, and says along which points the edges run. It knows nothing of what the
// boxes mean.
//
// Invariants:
//   - The same graph gives the same picture: ties are broken by the order of the input.
//   - Boxes never overlap, and an edge never runs through a box.
//   - A ring of edges is no error: the edge that closes it is drawn against the flow.
package htmlgraph

import (
	"cmp"
	"slices"
)

// The room between boxes, in pixels.
const (
	gapX  = 26
	gapY  = 46
	lane  = 14 // width that an edge takes where it passes a row
	calms = 6  // rounds of ordering and of straightening; more changes nothing in graphs of this size
)

// Node is a box: its size goes in, its upper left corner comes out.
type Node struct{ W, H, X, Y float64 }

// Edge leads from one node to another, both by index. Path comes out: the points
// that it passes, from the border of one box to that of the other. Between the
// points 0 and 1, 2 and 3 and so on it changes its place; between 1 and 2 it runs
// straight past a row.
type Edge struct {
	From, To int
	Path     []Point
}

// Point is a place in the picture.
type Point struct{ X, Y float64 }

// Layout places the nodes, at most perRow in a row, and returns the size of the picture.
func Layout(nodes []Node, edges []Edge, perRow int) (width, height float64) {
	if len(nodes) == 0 {
		return 0, 0
	}
	g := &grid{nodes: nodes, edges: edges}
	back := backEdges(len(nodes), edges)
	g.rank(back, max(perRow, 1))
	g.lanes(back)
	g.order()
	g.place()
	g.route(back)
	return g.size()
}

// slot is a node in its row, or a lane along which an edge passes the row.
type slot struct {
	node     int // -1: a lane
	row      int
	w, x     float64
	up, down []int // neighboring slots
	at       float64
}

type grid struct {
	nodes []Node
	edges []Edge
	row   []int // of each node
	slots []slot
	rows  [][]int
	chain [][]int // of each edge: the slots that it passes, cause first
	top   []float64
	tall  []float64
}

// backEdges marks the edges that close a ring, found depth first in input order.
func backEdges(n int, edges []Edge) []bool {
	out := make([][]int, n)
	for i, e := range edges {
		out[e.From] = append(out[e.From], i)
	}
	back := make([]bool, len(edges))
	state := make([]byte, n) // 1: on the path, 2: done
	var visit func(int)
	visit = func(v int) {
		state[v] = 1
		for _, i := range out[v] {
			switch to := edges[i].To; state[to] {
			case 0:
				visit(to)
			case 1:
				back[i] = true
			}
		}
		state[v] = 2
	}
	for v := range n {
		if state[v] == 0 {
			visit(v)
		}
	}
	return back
}

// forward returns an edge with the flow: one that closes a ring is turned.
func forward(e Edge, back bool) (from, to int) {
	if back {
		return e.To, e.From
	}
	return e.From, e.To
}

// rank gives each node the first row below its causes that has room.
func (g *grid) rank(back []bool, perRow int) {
	n := len(g.nodes)
	waits := make([]int, n)
	next := make([][]int, n)
	for i, e := range g.edges {
		from, to := forward(e, back[i])
		if from == to {
			continue
		}
		waits[to]++
		next[from] = append(next[from], to)
	}
	g.row = make([]int, n)
	var used []int
	for done := 0; done < n; done++ {
		v := -1
		for i := range n { // the highest that waits for nothing; graphs are small
			if waits[i] == 0 && (v < 0 || g.row[i] < g.row[v]) {
				v = i
			}
		}
		for ; ; g.row[v]++ {
			for len(used) <= g.row[v] {
				used = append(used, 0)
			}
			if used[g.row[v]] < perRow {
				break
			}
		}
		used[g.row[v]]++
		waits[v] = -1
		for _, to := range next[v] {
			waits[to]--
			g.row[to] = max(g.row[to], g.row[v]+1)
		}
	}
	g.rows = make([][]int, len(used))
}

// lanes makes the slots: one for each node and one for each row that an edge passes.
func (g *grid) lanes(back []bool) {
	add := func(s slot) int {
		g.slots = append(g.slots, s)
		at := len(g.slots) - 1
		g.rows[s.row] = append(g.rows[s.row], at)
		return at
	}
	for i, n := range g.nodes {
		add(slot{node: i, row: g.row[i], w: n.W})
	}
	g.chain = make([][]int, len(g.edges))
	for i, e := range g.edges {
		from, to := forward(e, back[i])
		if from == to {
			continue
		}
		way := []int{from}
		for r := g.row[from] + 1; r < g.row[to]; r++ {
			way = append(way, add(slot{node: -1, row: r, w: lane}))
		}
		way = append(way, to)
		for k := 1; k < len(way); k++ {
			g.slots[way[k-1]].down = append(g.slots[way[k-1]].down, way[k])
			g.slots[way[k]].up = append(g.slots[way[k]].up, way[k-1])
		}
		g.chain[i] = way
	}
}

// order sorts each row by where the neighbors stand, down and up in turn, so that
// few edges cross.
func (g *grid) order() {
	number := func(row []int) {
		for i, s := range row {
			g.slots[s].at = float64(i)
		}
	}
	for _, row := range g.rows {
		number(row)
	}
	for round := range calms {
		for k := range g.rows {
			r := k
			if round%2 == 1 {
				r = len(g.rows) - 1 - k
			}
			want := map[int]float64{}
			for _, s := range g.rows[r] {
				near := g.slots[s].up
				if round%2 == 1 {
					near = g.slots[s].down
				}
				want[s] = g.slots[s].at
				if len(near) > 0 {
					sum := 0.0
					for _, n := range near {
						sum += (g.slots[n].at + .5) / float64(len(g.rows[g.slots[n].row]))
					}
					want[s] = sum / float64(len(near)) * float64(len(g.rows[r]))
				}
			}
			slices.SortStableFunc(g.rows[r], func(a, b int) int { return cmp.Compare(want[a], want[b]) })
			number(g.rows[r])
		}
	}
}
