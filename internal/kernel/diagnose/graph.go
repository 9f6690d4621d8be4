package diagnose

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// graph has the findings of one run and the edges between them. Its nodes are indexes of findings.
type graph struct {
	engine   *Engine
	world    *facts.World
	findings []diagnosis.Finding
	index    map[fault.Key]int // of the active ones: others are no effect
	byFault  map[string][]int
	effects  map[string]bool // faults with an active finding
	edges    []edge
	hosts    []diagnosis.HostState
}

type edge struct {
	from, to int
	strength fault.Strength
}

func (e *Engine) graph(ctx context.Context, w *facts.World, findings []diagnosis.Finding, hosts []diagnosis.HostState) (*graph, error) {
	g := &graph{engine: e, world: w, findings: findings, hosts: hosts, index: map[fault.Key]int{}, byFault: map[string][]int{},
		effects: map[string]bool{}}
	for i, f := range findings {
		g.byFault[f.Fault] = append(g.byFault[f.Fault], i)
		if g.active(i) {
			g.effects[f.Fault], g.index[f.Key()] = true, i
		}
	}
	for i, f := range findings {
		if f.Outcome != fault.Present && f.Outcome != fault.Unknown && !f.Waiting() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := g.edgesFrom(ctx, i); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(g.edges, func(a, b edge) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	return g, nil
}

// edgesFrom adds the edges from one finding to findings that are present or waiting. An edge over
// a relation that could not be read is never certain.
func (g *graph) edgesFrom(ctx context.Context, from int) error {
	cause := g.findings[from]
	f, ok := g.engine.catalog.Fault(cause.Fault)
	if !ok {
		return nil
	}
	for _, e := range f.Explains {
		if !g.effects[e.Fault] || cause.Outcome == fault.Unknown && e.OfPresent() {
			continue
		}
		to, known, err := g.targets(ctx, e, cause.Subject)
		if err != nil {
			return fmt.Errorf("relate %s of %s: %w", e.On, cause.Subject, err)
		}
		for _, s := range to {
			i, ok := g.index[fault.Key{Fault: e.Fault, Subject: s}]
			if !ok || i == from || ofOtherNodes(cause, g.findings[i]) {
				continue
			}
			holds, err := g.holds(ctx, f, e, cause, g.findings[i])
			if err != nil {
				return err
			}
			if !holds {
				continue
			}
			sure := known
			if !known {
				if sure, err = g.knownForSubject(ctx, e.On, cause.Subject, s); err != nil {
					return err
				}
			}
			g.edges = append(g.edges, edge{from, i, strength(e.Strength, sure)})
		}
	}
	return nil
}

// targets returns the subjects at which the effect of a cause may be. The effect of a cause whose
// subject is not known may be at any of them.
func (g *graph) targets(ctx context.Context, e fault.Edge, from fault.Subject) ([]fault.Subject, bool, error) {
	if from.Name != fault.Unnamed {
		return g.engine.relate.Relate(ctx, g.world, e.On, from)
	}
	var to []fault.Subject
	for _, i := range g.byFault[e.Fault] {
		if f := g.findings[i]; f.Subject.Name != fault.Unnamed {
			to = append(to, f.Subject)
		}
	}
	return to, false, nil
}

// knownForSubject reports whether a relation that is not known as a whole is known for one
// subject, seen from the other side: one host without a proven pool makes "the hosts of the pool"
// unknown, and does not affect the other hosts.
func (g *graph) knownForSubject(ctx context.Context, on fault.Relation, cause, effect fault.Subject) (bool, error) {
	if on != fault.HostsOfPool {
		return false, nil
	}
	back, known, err := g.engine.relate.Relate(ctx, g.world, fault.PoolsOfHost, effect)
	if err != nil {
		return false, fmt.Errorf("relate %s of %s: %w", fault.PoolsOfHost, effect, err)
	}
	return known && slices.Contains(back, cause), nil
}

func strength(s fault.Strength, known bool) fault.Strength {
	if s == fault.Certain && !known {
		return fault.LikelyEdge
	}
	return s
}

// holds evaluates the condition of an edge. A condition that cannot be decided is true for an
// unknown cause, which stays a suspect, and false for a present one.
func (g *graph) holds(ctx context.Context, f *fault.Fault, e fault.Edge, cause, effect diagnosis.Finding) (bool, error) {
	if e.When == "" || cause.Subject.Name == fault.Unnamed {
		return true, nil
	}
	p, err := g.engine.compiler.Compile(f, e.When)
	if err != nil {
		return false, err
	}
	b := g.engine.bind(ctx, g.world, f, cause.Subject)
	if b.err != nil {
		return false, b.err
	}
	vars := b.variables()
	vars["effect"] = fault.Effect{Name: effect.Subject.Name, Kind: string(effect.Subject.Kind), Since: orLatest(effect.Since)}
	r, err := p.Eval(vars)
	if err != nil {
		return false, fmt.Errorf("condition of the edge %s -> %s: %w", f.ID, e.Fault, err)
	}
	if !r.Known() {
		return cause.Outcome == fault.Unknown, nil
	}
	return r.True(), nil
}

// orLatest returns t, or a time in the far future if it is zero: an edge that asks whether the
// cause is older does not fail because the start of the effect is not known.
func orLatest(t time.Time) time.Time {
	if t.IsZero() {
		return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return t
}

// active reports whether a finding can explain or be explained: it is present, or its condition
// holds and is still normal.
func (g *graph) active(i int) bool {
	return g.findings[i].Outcome == fault.Present || g.findings[i].Waiting()
}

// certain returns the certain edges between active findings, as successor lists.
func (g *graph) certain() [][]int {
	next := make([][]int, len(g.findings))
	for _, e := range g.edges {
		if e.strength == fault.Certain && g.active(e.from) && g.active(e.to) {
			next[e.from] = append(next[e.from], e.to)
		}
	}
	return next
}

// reach returns the active findings that can be reached from the starts over certain and likely
// edges, in order, without the starts.
func (g *graph) reach(starts []int) []int {
	seen := map[int]bool{}
	queue := slices.Clone(starts)
	for _, s := range starts {
		seen[s] = true
	}
	var list []int
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if !g.active(at) {
			continue
		}
		for _, e := range g.from(at) {
			if e.strength != fault.PossibleEdge && g.active(e.to) && !seen[e.to] {
				seen[e.to] = true
				queue = append(queue, e.to)
				list = append(list, e.to)
			}
		}
	}
	slices.Sort(list)
	return list
}

// from returns the edges that leave a finding; edges are sorted by where they begin.
func (g *graph) from(at int) []edge {
	begin, _ := slices.BinarySearchFunc(g.edges, at, func(e edge, at int) int { return e.from - at })
	end, _ := slices.BinarySearchFunc(g.edges, at+1, func(e edge, at int) int { return e.from - at })
	return g.edges[begin:end]
}

// components returns the strongly connected components of the active findings (Tarjan), each
// sorted, in the order of their first member. next has no edge to another finding.
func (g *graph) components(next [][]int) [][]int {
	t := &tarjan{next: next, index: make([]int, len(next)), low: make([]int, len(next)), on: make([]bool, len(next))}
	for v := range next {
		if t.index[v] == 0 && g.active(v) {
			t.visit(v)
		}
	}
	for _, c := range t.found {
		slices.Sort(c)
	}
	slices.SortFunc(t.found, func(a, b []int) int { return a[0] - b[0] })
	return t.found
}

type tarjan struct {
	next       [][]int
	index, low []int
	on         []bool
	stack      []int
	count      int
	found      [][]int
}

func (t *tarjan) visit(v int) {
	t.count++
	t.index[v], t.low[v] = t.count, t.count
	t.stack = append(t.stack, v)
	t.on[v] = true
	for _, w := range t.next[v] {
		if t.index[w] == 0 {
			t.visit(w)
			t.low[v] = min(t.low[v], t.low[w])
		} else if t.on[w] {
			t.low[v] = min(t.low[v], t.index[w])
		}
	}
	if t.low[v] != t.index[v] {
		return
	}
	at := slices.Index(t.stack, v)
	c := slices.Clone(t.stack[at:])
	for _, w := range c {
		t.on[w] = false
	}
	t.stack = t.stack[:at]
	t.found = append(t.found, c)
}
