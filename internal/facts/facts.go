// Package facts is the frame in which evidence becomes typed values.
//
// A fact is one Go struct about one subject, computed from sanitised evidence.
// Anything with loops, parsing, crypto or arithmetic is a fact; what it means
// stands in the catalogue. The facts themselves live in packages below this one,
// one per area; internal/facts/all lists them.
//
// Invariants:
//   - A fact that could not look returns *evidence.Unavailable (or marks single
//     fields unknown); it never returns a zero value in its place.
//   - A fact declares what it needs; a recording world proves the declaration in tests.
//   - A fact sees no clock but World.Now.
package facts

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/reader"
)

// Fact describes how one typed value is computed.
type Fact struct {
	Name  string
	For   fault.Kind
	Doc   string // one line: what it is
	Needs []evidence.Need
	Type  reflect.Type // the struct that expressions see
	read  func(context.Context, *World, fault.Subject) (any, Proof, error)
}

// ErrNotApplicable says that the fact has no meaning for the subject.
var ErrNotApplicable = errors.New("not applicable")

// NotApplicable returns an ErrNotApplicable with its reason.
func NotApplicable(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNotApplicable, fmt.Sprintf(format, args...))
}

// Proof is what a fact was read from.
type Proof struct {
	Items   []evidence.Item   // best first
	Unknown map[string]string // field -> why it could not be read
	Next    map[string]string // field -> what would supply it
}

// Add appends an item that proves the named fields of the fact.
func (p *Proof) Add(loc evidence.Locator, excerpt string, at time.Time, fields ...string) {
	p.Items = append(p.Items, evidence.Item{Locator: loc, Excerpt: excerpt, Time: at, Fields: fields})
}

// Miss marks a field as unknown. err is usually an *evidence.Unavailable.
func (p *Proof) Miss(field string, err error) {
	if p.Unknown == nil {
		p.Unknown, p.Next = map[string]string{}, map[string]string{}
	}
	p.Unknown[field] = err.Error()
	if u, ok := evidence.AsUnavailable(err); ok {
		p.Next[field] = u.Supply
	}
}

// Define makes a fact of a function. T is a struct with `cel:"name"` tags.
func Define[T any](name string, kind fault.Kind, doc string, needs []evidence.Need,
	read func(context.Context, *World, fault.Subject) (T, Proof, error)) Fact {
	return Fact{
		Name: name, For: kind, Doc: doc, Needs: needs, Type: reflect.TypeFor[T](),
		read: func(ctx context.Context, w *World, s fault.Subject) (any, Proof, error) {
			v, p, err := read(ctx, w, s)
			return v, p, err
		},
	}
}

// Value is a computed fact.
type Value struct {
	V     any
	Proof Proof
	Err   error // *evidence.Unavailable, ErrNotApplicable, or a defect

	touched *touched
}

// Needs returns what was really read, sorted.
func (v Value) Needs() []string {
	if v.touched == nil {
		return nil
	}
	var needs []string
	for _, n := range v.touched.all() {
		needs = append(needs, n.String())
	}
	slices.Sort(needs)
	return needs
}

// World is what facts may look at: the evidence, the run's clock, and what other
// facts computed already. It is safe for concurrent use.
type World struct {
	Now     time.Time
	Version string // the cluster's, "" where it could not be read
	// Topology is Infrastructure's controlPlaneTopology, "" where it could not be read.
	Topology string

	reader  *reader.Reader
	shared  *shared
	touched *touched // of the computation that this World was handed to
}

type shared struct {
	mu     sync.Mutex
	memos  map[string]*memo
	values map[asked]*answer
}

// asked is what Compute computes once.
type asked struct {
	fact    string
	subject fault.Subject
}

type answer struct {
	once  sync.Once
	value Value
}

type memo struct {
	once  sync.Once
	value any
	err   error
	needs []evidence.Need
}

// touched is what a computation read: itself, and through memos. Written for every
// fact of every host and hardly ever asked, so it is put together when it is.
type touched struct {
	mu    sync.Mutex
	needs []evidence.Need
	memos []*memo
}

func (t *touched) add(n evidence.Need) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.needs, n) {
		t.needs = append(t.needs, n)
	}
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

// NewWorld returns a world over a reader at a time.
func NewWorld(r *reader.Reader, now time.Time) *World {
	return &World{Now: now, reader: r, shared: &shared{memos: map[string]*memo{}, values: map[asked]*answer{}}, touched: &touched{}}
}

func (w *World) scope() *World {
	inner := *w
	inner.touched = &touched{}
	return &inner
}

// List returns the objects of a resource; see evidence.Reader.List.
func (w *World) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	w.touched.add(evidence.Objects(r, namespace))
	return w.reader.List(ctx, r, namespace)
}

// Get returns one object; see evidence.Reader.Get.
func (w *World) Get(ctx context.Context, r evidence.Resource, namespace, name string) (evidence.Object, bool, error) {
	w.touched.add(evidence.Objects(r, namespace))
	return w.reader.Get(ctx, r, namespace, name)
}

// Hosted returns the hosted cluster that is looked at together with its management
// cluster, nil where a cluster is looked at alone.
func (w *World) Hosted(ctx context.Context) (*evidence.Hosted, error) {
	return Memo(ctx, w, "facts.hosted", func(ctx context.Context, w *World) (*evidence.Hosted, error) {
		return w.reader.Hosted(ctx)
	})
}

// Matches returns the lines that carry a signature; see evidence.Reader.Matches.
func (w *World) Matches(ctx context.Context, q evidence.TextQuery, signature string) ([]evidence.Match, error) {
	w.touched.add(evidence.Texts(q))
	return w.reader.Matches(ctx, q, signature)
}

// Unread says which pods' logs of a query are not known; see evidence.Reader.Unread.
func (w *World) Unread(ctx context.Context, q evidence.TextQuery) (map[[2]string]string, error) {
	w.touched.add(evidence.Texts(q))
	return w.reader.Unread(ctx, q)
}

// Cut returns the first text of a query that concerns a fact and was not read to its
// end, as an error, nil where there is none; see evidence.Reader.Cut. concerns nil:
// all do.
func (w *World) Cut(ctx context.Context, q evidence.TextQuery, concerns func(evidence.Text) bool) error {
	w.touched.add(evidence.Texts(q))
	cut, err := w.reader.Cut(ctx, q)
	if err != nil {
		return err
	}
	for _, c := range cut {
		if concerns == nil || concerns(c.Text) {
			return &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.Damaged, Detail: "not read to its end: " + c.Why, Supply: "the whole of " + c.Text.Path}
		}
	}
	return nil
}

// Unheard marks fields that no line has set (silent) as unknown, where a text of the
// query that concerns them was not read to its end: the line may stand in the rest.
// What a line has set stays.
func (w *World) Unheard(ctx context.Context, p *Proof, q evidence.TextQuery, concerns func(evidence.Text) bool, silent map[string]bool) error {
	err := w.Cut(ctx, q, concerns)
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for field, is := range silent {
		if is {
			p.Miss(field, err)
		}
	}
	return nil
}

// Memo computes something once per run and attributes what it read to every
// fact that uses it. Keys are package-qualified: "hosts.all".
func Memo[T any](ctx context.Context, w *World, key string, compute func(context.Context, *World) (T, error)) (T, error) {
	w.shared.mu.Lock()
	m := w.shared.memos[key]
	if m == nil {
		m = &memo{}
		w.shared.memos[key] = m
	}
	w.shared.mu.Unlock()
	m.once.Do(func() {
		inner := w.scope()
		m.value, m.err = compute(ctx, inner)
		m.needs = inner.touched.all()
	})
	w.touched.use(m)
	value, _ := m.value.(T)
	return value, m.err
}

// Compute computes a fact for a subject, once. The value is shared: do not change it.
func (w *World) Compute(ctx context.Context, f Fact, s fault.Subject) Value {
	if f.For == fault.Cluster {
		s = fault.Subject{Cluster: s.Cluster, Kind: fault.Cluster}
	}
	key := asked{f.Name, s}
	w.shared.mu.Lock()
	a := w.shared.values[key]
	if a == nil {
		a = &answer{}
		w.shared.values[key] = a
	}
	w.shared.mu.Unlock()
	a.once.Do(func() {
		inner := w.scope()
		v, p, err := f.read(ctx, inner, s)
		for i := range p.Items { // decoded into types, too
			if !evidence.Plausible(p.Items[i].Time) {
				p.Items[i].Time = time.Time{}
			}
		}
		a.value = Value{V: v, Proof: p, Err: err, touched: inner.touched}
	})
	return a.value
}

// Needs returns what facts read, each need once.
func Needs(list []Fact) []evidence.Need {
	var needs []evidence.Need
	for _, f := range list {
		for _, n := range f.Needs {
			if !slices.Contains(needs, n) {
				needs = append(needs, n)
			}
		}
	}
	return needs
}

// Types returns what the catalogue's compiler needs to know of the facts.
func Types(list []Fact) []fault.FactType {
	types := make([]fault.FactType, 0, len(list))
	for _, f := range list {
		t := fault.FactType{Name: f.Name, For: f.For, Type: f.Type}
		for _, n := range f.Needs {
			t.Needs = append(t.Needs, n.String())
		}
		types = append(types, t)
	}
	return types
}
