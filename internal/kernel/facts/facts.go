// Package facts is the frame in which evidence becomes typed values.
//
// A fact is one Go struct about one subject, computed from sanitized evidence.
// Anything with loops, parsing, crypto or arithmetic is a fact; what it means
// stands in the catalog. The facts themselves live in packages below this one,
// one per area; internal/facts/all lists them.
//
// Invariants:
//   - Each field of a fact is a value with its evidence, or unknown with the reason. A
//     field that a fact does not set is unknown.
//   - A value without evidence is a claim from silence. It becomes unknown where
//     something that the computation read was not read whole.
//   - That a fact does not apply to a subject is such a claim, too, where nothing shows it.
//   - A fact declares what it needs; a recording world proves the declaration in tests.
//   - A fact sees no clock but World.Now.
package facts

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// Fact describes how one typed value is computed.
type Fact struct {
	Name   string
	For    fault.Kind
	Doc    string // one line: what it is
	Needs  []evidence.Need
	Type   reflect.Type // the struct
	Fields []fault.FieldType
	read   func(context.Context, *World, fault.Subject) (record, error)
}

// Define makes a fact of a function. T is a struct of Fields, each with a tag
// `cel:"name"`. Define panics where it is not: that is a mistake of the program and is
// found when it starts.
func Define[T any](name string, kind fault.Kind, doc string, needs []evidence.Need,
	read func(context.Context, *World, fault.Subject) (T, error)) Fact {
	fields, err := fieldTypes(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("define fact %s: %v", name, err))
	}
	return Fact{
		Name: name, For: kind, Doc: doc, Needs: needs, Type: reflect.TypeFor[T](), Fields: fields,
		read: func(ctx context.Context, w *World, s fault.Subject) (record, error) {
			v, err := read(ctx, w, s)
			if err != nil {
				return record{}, err
			}
			return record{reflect.ValueOf(&v).Elem()}, nil
		},
	}
}

// record is a computed struct of Fields.
type record struct{ v reflect.Value }

func (r record) at(i int) anyField { return r.v.Field(i).Addr().Interface().(anyField) }

func (r record) field(i int) (any, error) { return r.at(i).get() }

// proof returns the evidence of fields, by their indexes. It may be shared: do not change it.
func (r record) proof(fields []int) []evidence.Item {
	if len(fields) == 1 {
		return r.at(fields[0]).items()
	}
	n := 0
	for _, i := range fields {
		n += len(r.at(i).items())
	}
	if n == 0 {
		return nil
	}
	list := make([]evidence.Item, 0, n)
	for _, i := range fields {
		list = append(list, r.at(i).items()...)
	}
	return list
}

func (r record) limit(gap error) {
	for i := range r.v.NumField() {
		f := r.at(i)
		if gap != nil {
			f.limit(gap)
		}
		f.clean()
	}
}

// World is what facts may look at: the evidence, the run's clock, and what other
// facts computed already. It is safe for concurrent use.
type World struct {
	Now     time.Time
	AtLeast bool      // the evidence may be younger than Now: evidence.Description.AtLeast
	ReadBy  time.Time // where AtLeast: the latest that the evidence can have been read; zero: not known
	Version string    // the cluster's, "" where it could not be read
	// Installed is when the installation began, zero where it could not be read.
	Installed time.Time
	// Topology is Infrastructure's controlPlaneTopology, "" where it could not be read.
	Topology string

	reader  *reader.Reader
	shared  *shared
	touched *touched // of the computation that this World was handed to
}

type shared struct {
	mu     sync.Mutex
	memos  map[string]*memo
	tables map[string]*table            // by the name of a fact
	gaps   map[evidence.TextQuery][]gap // of the texts that were read
}

// table has the values of one fact.
type table struct {
	mu     sync.Mutex
	fact   *Fact
	values map[fault.Subject]*answer
	// needs are what the newest computation needed: mostly what the next one needs, too, which then
	// has no list of its own. A large cluster has some hundred thousand.
	needs []evidence.Need
}

type answer struct {
	mu    sync.Mutex
	done  atomic.Bool
	value Value // once done
}

type memo struct {
	once  sync.Once
	value any
	err   error
	needs []evidence.Need
	gaps  [][]gap
}

// NewWorld returns a world over a reader at a time.
func NewWorld(r *reader.Reader, now time.Time) *World {
	return &World{
		Now:     now,
		reader:  r,
		shared:  &shared{memos: map[string]*memo{}, tables: map[string]*table{}, gaps: map[evidence.TextQuery][]gap{}},
		touched: &touched{},
	}
}

func (w *World) scope() *World {
	inner := *w
	inner.touched = &touched{}
	return &inner
}

// List returns all objects of a resource. Where only some could be read it is an
// *evidence.Unavailable: what is counted or not found among some says nothing.
func (w *World) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, err := w.Some(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	if u := w.reader.Partial(ctx, r, namespace); u != nil {
		return nil, u
	}
	return list, nil
}

// Some returns the objects of a resource that could be read, for facts in which each
// object speaks for itself. Where some could not be read, what the computation claims
// without evidence is unknown.
func (w *World) Some(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	w.touched.add(evidence.Objects(r, namespace))
	list, err := w.reader.List(ctx, r, namespace)
	w.missed(err)
	if u := w.reader.Partial(ctx, r, namespace); u != nil {
		w.touched.addGap(gap{err: u})
	}
	return list, err
}

// Get returns one object; see reader.Reader.Get.
func (w *World) Get(ctx context.Context, r evidence.Resource, namespace, name string) (evidence.Object, bool, error) {
	w.touched.add(evidence.Objects(r, namespace))
	o, ok, err := w.reader.Get(ctx, r, namespace, name)
	w.missed(err)
	if u := w.reader.Partial(ctx, r, namespace); u != nil && u.Fields {
		w.touched.addGap(gap{err: u})
	}
	return o, ok, err
}

// Unlisted reports whether nothing lists which objects of a need there were: see reader.Reader.
func (w *World) Unlisted(ctx context.Context, n evidence.Need) bool { return w.reader.Unlisted(ctx, n) }

// missed remembers a read that failed. What its source never has is left to the fact.
func (w *World) missed(err error) {
	if u, ok := evidence.AsUnavailable(err); ok && u.Why.MayHideObjects() {
		w.touched.addGap(gap{err: u})
	}
}

// Concerns says which texts the computation is about: a text that was not read and that
// is another host's or pod's leaves its claims alone.
func (w *World) Concerns(texts func(evidence.Text) bool) {
	w.touched.concerns, w.touched.owners = texts, nil
}

// ConcernsOf says that the computation is about the texts of one owner, and about those that may be its.
func (w *World) ConcernsOf(owners *Owners, owner string) {
	w.touched.concerns, w.touched.owners, w.touched.owner = nil, owners, owner
}

// Hosted returns the hosted cluster that is looked at together with its management
// cluster, nil where a cluster is looked at alone.
func (w *World) Hosted(ctx context.Context) (*evidence.Hosted, error) {
	return Memo(ctx, w, "facts.hosted", func(ctx context.Context, w *World) (*evidence.Hosted, error) {
		return w.reader.Hosted(ctx)
	})
}

// SourceKind is what kind of source is read (evidence.Description.Kind).
func (w *World) SourceKind(ctx context.Context) (string, error) {
	d, err := w.reader.Describe(ctx)
	return d.Kind, err
}

// Matches returns the lines that carry a signature. A text that was not read whole
// makes what the computation claims without evidence unknown, if it Concerns it.
func (w *World) Matches(ctx context.Context, q evidence.TextQuery, signature string) ([]evidence.Match, error) {
	need := evidence.Texts(q)
	seen := w.touched.add(need)
	list, err := w.reader.Matches(ctx, q, signature)
	if seen {
		return list, err
	}
	w.missed(err)
	gaps, gapsErr := w.textGaps(ctx, q)
	if gapsErr != nil {
		return nil, gapsErr
	}
	w.touched.missTexts(gaps)
	return list, err
}

// Signatures returns the ids of the catalog's messages that begin with prefix, for a fact that
// reads every message of a program.
func (w *World) Signatures(prefix string) []string { return w.reader.Signatures(prefix) }

// textGaps are the texts of a query that were not read whole. They are put together once:
// the logs of a large cluster's hosts are mostly not read, and each host asks for its own.
func (w *World) textGaps(ctx context.Context, q evidence.TextQuery) ([]gap, error) {
	gaps, err := w.reader.Gaps(ctx, q)
	if err != nil {
		return nil, err
	}
	w.shared.mu.Lock()
	defer w.shared.mu.Unlock()
	list, known := w.shared.gaps[q]
	if !known {
		need := evidence.Texts(q)
		list = make([]gap, 0, len(gaps))
		for _, g := range gaps {
			list = append(list, gap{text: &g.Text, err: &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: "not read to its end: " + g.Why,
				Supply: evidence.Supply{Kind: evidence.SupplyWholeText, Path: g.Text.Path}}})
		}
		w.shared.gaps[q] = list
	}
	return list, nil
}

// Gap returns why a text of a query that satisfies which was not read whole, nil where
// all were. It is for facts in which the last line counts: they cannot go by what was
// found before a text breaks off.
func (w *World) Gap(ctx context.Context, q evidence.TextQuery, which func(evidence.Text) bool) error {
	return w.GapOf(ctx, q, nil, "", which)
}

// GapOf is Gap for the texts of one owner, and those that may be its; nil owners: for all.
func (w *World) GapOf(ctx context.Context, q evidence.TextQuery, owners *Owners, owner string, which func(evidence.Text) bool) error {
	if _, err := w.Matches(ctx, q, ""); err != nil {
		return err
	}
	gaps, err := w.textGaps(ctx, q)
	if err != nil {
		return err
	}
	for g := range owners.among(gaps, owner) {
		if which == nil || which(*g.text) {
			return g.err
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
		m.needs, m.gaps = inner.touched.all(), inner.touched.allGaps()
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
	t := w.shared.table(&f)
	a := t.answer(s)
	if !a.done.Load() {
		a.compute(ctx, w, t, s)
	}
	return a.value
}

// table returns the values of a fact.
func (s *shared) table(f *Fact) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[f.Name]
	if t == nil {
		kept := *f
		t = &table{fact: &kept, values: map[fault.Subject]*answer{}}
		s.tables[f.Name] = t
	}
	return t
}

// answer returns the value for a subject, which may not be computed yet.
func (t *table) answer(s fault.Subject) *answer {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.values[s]
	if a == nil {
		a = &answer{}
		t.values[s] = a
	}
	return a
}

// compute computes the value, once; who asks meanwhile waits.
func (a *answer) compute(ctx context.Context, w *World, t *table, s fault.Subject) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.done.Load() {
		return
	}
	inner := w.scope()
	r, err := t.fact.read(ctx, inner, s)
	gap := inner.touched.gap()
	if err == nil {
		r.limit(gap)
	}
	t.settle(inner.touched)
	a.value = Value{Err: asUnknown(err, gap), fact: t.fact, record: r, touched: inner.touched}
	a.done.Store(true)
}

// settle shares with a computation that is over what the one before it needed.
func (t *table) settle(now *touched) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now.mu.Lock()
	defer now.mu.Unlock()
	if slices.Equal(t.needs, now.needs) {
		now.needs = t.needs
	}
	now.needs = slices.Clip(now.needs) // it is shared from now on
	t.needs = now.needs
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

// Types returns what the catalog's compiler needs to know of the facts.
func Types(list []Fact) []fault.FactType {
	types := make([]fault.FactType, 0, len(list))
	for _, f := range list {
		t := fault.FactType{Name: f.Name, For: f.For, Fields: f.Fields}
		for _, n := range f.Needs {
			t.Needs = append(t.Needs, n.String())
		}
		types = append(types, t)
	}
	return types
}
