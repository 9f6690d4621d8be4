package htmlgraph

// Reduce returns the edges without shortcuts: an edge is left out where another way
// of two steps or more leads to the same place. In a ring nothing is a shortcut.
func Reduce(n int, edges []Edge) []Edge {
	back := backEdges(n, edges)
	next := make([][]int, n)
	for i, e := range edges {
		if !back[i] && e.From != e.To {
			next[e.From] = append(next[e.From], e.To)
		}
	}
	reach := make([]map[int]bool, n) // without edges back there are no rings
	var from func(int) map[int]bool
	from = func(v int) map[int]bool {
		if reach[v] != nil {
			return reach[v]
		}
		reach[v] = map[int]bool{}
		for _, to := range next[v] {
			reach[v][to] = true
			for far := range from(to) {
				reach[v][far] = true
			}
		}
		return reach[v]
	}
	var list []Edge
	for i, e := range edges {
		if back[i] || !shortcut(e, next[e.From], from) {
			list = append(list, e)
		}
	}
	return list
}

func shortcut(e Edge, next []int, from func(int) map[int]bool) bool {
	for _, via := range next {
		if via != e.To && from(via)[e.To] {
			return true
		}
	}
	return false
}
