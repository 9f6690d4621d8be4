package htmlgraph

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// graph makes a graph by chance from a seed: rings, shortcuts and loners included.
func graph(seed uint64) ([]Node, []Edge) {
	r := rand.New(rand.NewPCG(seed, 7))
	nodes := make([]Node, 1+r.IntN(60))
	for i := range nodes {
		nodes[i] = Node{W: 100 + float64(r.IntN(200)), H: 30 + float64(r.IntN(90))}
	}
	var edges []Edge
	for range r.IntN(2 * len(nodes)) {
		edges = append(edges, Edge{From: r.IntN(len(nodes)), To: r.IntN(len(nodes))})
	}
	return nodes, edges
}

func TestLayout(t *testing.T) {
	for seed := range uint64(200) {
		nodes, edges := graph(seed)
		w, h := Layout(nodes, edges, 3)
		for i, a := range nodes {
			if a.X < 0 || a.Y < 0 || a.X+a.W > w+.01 || a.Y+a.H > h+.01 {
				t.Fatalf("seed %d: box %d %+v is outside of %v x %v", seed, i, a, w, h)
			}
			for j, b := range nodes[:i] {
				if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
					t.Fatalf("seed %d: boxes %d and %d overlap", seed, i, j)
				}
			}
		}
		for i, e := range edges {
			checkPath(t, seed, i, e, nodes)
		}
		again, moreEdges := graph(seed)
		Layout(again, moreEdges, 3)
		if !reflect.DeepEqual(nodes, again) || !reflect.DeepEqual(edges, moreEdges) {
			t.Fatalf("seed %d: another picture of the same graph", seed)
		}
	}
}

// checkPath checks that an edge joins its boxes and that its straight parts miss
// all boxes; the other parts run between rows.
func checkPath(t *testing.T, seed uint64, i int, e Edge, nodes []Node) {
	t.Helper()
	if e.From == e.To {
		if e.Path != nil {
			t.Fatalf("seed %d: edge %d leads from a box to itself and is drawn", seed, i)
		}
		return
	}
	if len(e.Path)%2 != 0 || len(e.Path) < 2 {
		t.Fatalf("seed %d: edge %d has %d points", seed, i, len(e.Path))
	}
	if !touches(nodes[e.From], e.Path[0]) || !touches(nodes[e.To], e.Path[len(e.Path)-1]) {
		t.Fatalf("seed %d: edge %d does not join its boxes", seed, i)
	}
	for k := 1; k+1 < len(e.Path); k += 2 {
		a, b := e.Path[k], e.Path[k+1]
		for j, n := range nodes {
			if a.X > n.X && a.X < n.X+n.W && min(a.Y, b.Y) < n.Y+n.H && max(a.Y, b.Y) > n.Y {
				t.Fatalf("seed %d: edge %d runs through box %d", seed, i, j)
			}
		}
	}
}

func touches(n Node, p Point) bool {
	return p.X >= n.X && p.X <= n.X+n.W && (p.Y == n.Y || p.Y == n.Y+n.H)
}

func TestLayoutPutsCausesAbove(t *testing.T) {
	nodes := []Node{{W: 10, H: 10}, {W: 10, H: 10}, {W: 10, H: 10}}
	edges := []Edge{{From: 2, To: 0}, {From: 0, To: 1}}
	Layout(nodes, edges, 3)
	if !(nodes[2].Y < nodes[0].Y && nodes[0].Y < nodes[1].Y) {
		t.Errorf("rows: %+v", nodes)
	}
}

func TestLayoutKeepsRowsNarrow(t *testing.T) {
	nodes := make([]Node, 10)
	row := map[float64]int{}
	for i := range nodes {
		nodes[i] = Node{W: 10, H: 10}
	}
	Layout(nodes, nil, 4)
	for _, n := range nodes {
		if row[n.Y]++; row[n.Y] > 4 {
			t.Fatalf("more than 4 in a row: %+v", nodes)
		}
	}
}

func TestReduce(t *testing.T) {
	for _, c := range []struct {
		name       string
		edges, out [][2]int
	}{
		{"a shortcut", [][2]int{{0, 1}, {1, 2}, {0, 2}}, [][2]int{{0, 1}, {1, 2}}},
		{"two ways of two steps", [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}, [][2]int{{0, 1}, {0, 2}, {1, 3}, {2, 3}}},
		{"a ring", [][2]int{{0, 1}, {1, 0}}, [][2]int{{0, 1}, {1, 0}}},
	} {
		var in, want []Edge
		for _, e := range c.edges {
			in = append(in, Edge{From: e[0], To: e[1]})
		}
		for _, e := range c.out {
			want = append(want, Edge{From: e[0], To: e[1]})
		}
		if got := Reduce(4, in); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
	}
}
