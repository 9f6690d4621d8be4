package facts

// The facts that are not made of Fields yet. This file goes with the last of them.

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// DefinePlain makes a fact of a function. T is a struct with `cel:"name"` tags.
func DefinePlain[T any](name string, kind fault.Kind, doc string, needs []evidence.Need,
	read func(context.Context, *World, fault.Subject) (T, Proof, error)) Fact {
	f := Fact{Name: name, For: kind, Doc: doc, Needs: needs, Type: reflect.TypeFor[T]()}
	for i := range f.Type.NumField() {
		field := f.Type.Field(i)
		f.Fields = append(f.Fields, fault.FieldType{Name: field.Tag.Get("cel"), Type: field.Type})
	}
	f.read = func(ctx context.Context, w *World, s fault.Subject) (record, error) {
		v, p, err := read(ctx, w, s)
		if err != nil {
			return nil, err
		}
		return &plainRecord{v: v, p: p, fields: f.Fields}, nil
	}
	return f
}

type plainRecord struct {
	v      any
	p      Proof
	fields []fault.FieldType
}

func (r *plainRecord) field(i int) (any, error) {
	name := r.fields[i].Name
	if why, ok := r.p.Unknown[name]; ok {
		return nil, &plainUnknown{why, r.p.Next[name]}
	}
	return reflect.ValueOf(r.v).Field(i).Interface(), nil
}

type plainUnknown struct{ why, supply string }

func (u *plainUnknown) Error() string { return u.why }

func (r *plainRecord) proof(fields []int) []evidence.Item {
	var names []string
	for _, i := range fields {
		names = append(names, r.fields[i].Name)
	}
	var list []evidence.Item
	for _, item := range r.p.Items {
		if len(item.Fields) == 0 && len(names) > 0 || slices.ContainsFunc(item.Fields, func(f string) bool { return slices.Contains(names, f) }) {
			list = append(list, item)
		}
	}
	return list
}

func (r *plainRecord) limit(error) {
	for i := range r.p.Items { // decoded into types, too
		if !evidence.Plausible(r.p.Items[i].Time) {
			r.p.Items[i].Time = time.Time{}
		}
	}
}

// PlainProof returns the proof of a plain fact.
func (v Value) PlainProof() Proof {
	if r, ok := v.record.(*plainRecord); ok {
		return r.p
	}
	return Proof{}
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
