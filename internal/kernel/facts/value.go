package facts

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Value is a computed fact.
type Value struct {
	Err error // *evidence.Unavailable, ErrNotApplicable, or a defect

	fact    *Fact
	record  record
	touched *touched
	doubt   func(evidence.Item) error // see WithDoubt
}

// WithDoubt returns the value with doubt set: a field is unknown if doubt returns an error for one
// of its pieces of evidence.
func (v Value) WithDoubt(doubt func(evidence.Item) error) Value {
	v.doubt = doubt
	return v
}

// Field returns the value of the i-th field of the fact, or why it is unknown.
func (v Value) Field(i int) (any, error) {
	if v.Err != nil {
		return nil, v.Err
	}
	if v.doubt != nil {
		for _, item := range v.record.proof([]int{i}) {
			if err := v.doubt(item); err != nil {
				return nil, err
			}
		}
	}
	return v.record.field(i)
}

// Why returns why a field is unknown, or the fact as a whole; nil where it is known.
func (v Value) Why(field string) error {
	if v.Err != nil {
		return v.Err
	}
	for i, f := range v.fact.Fields {
		if f.Name == field {
			_, err := v.record.field(i)
			return err
		}
	}
	return nil
}

// Supply returns what would make the fact known, or its first field for which that can
// be said; zero if there is none.
func (v Value) Supply() evidence.Supply {
	if v.Err != nil {
		return evidence.SupplyOf(v.Err)
	}
	for i := range v.fact.Fields {
		if _, err := v.record.field(i); err != nil && !evidence.SupplyOf(err).IsZero() {
			return evidence.SupplyOf(err)
		}
	}
	return evidence.Supply{}
}

// Proof returns the evidence of the fields with these indexes, in their order. It may be shared: do not
// change it.
func (v Value) Proof(fields []int) []evidence.Item {
	if v.Err != nil {
		return nil
	}
	return v.record.proof(fields)
}

// AppendKey appends to b what an expression sees of the fields with these indexes. Facts with equal keys
// are the same to it. ok is false where a field has no key.
func (v Value) AppendKey(b []byte, fields []int) (key []byte, ok bool) {
	if v.Err != nil {
		return append(b, 'e'), true
	}
	if v.doubt != nil {
		return b, false
	}
	for _, i := range fields {
		if b, ok = v.record.at(i).appendKey(b); !ok {
			return b, false
		}
	}
	return b, true
}

// Indexes returns where the fact has fields with these names.
func (f Fact) Indexes(names []string) []int {
	list := make([]int, 0, len(names))
	for _, name := range names {
		if i := slices.IndexFunc(f.Fields, func(t fault.FieldType) bool { return t.Name == name }); i >= 0 {
			list = append(list, i)
		}
	}
	return list
}

// As returns the struct of a computed fact, for tests and for facts that use another one.
func As[T any](v Value) (T, bool) {
	if v.Err == nil {
		if t, ok := v.record.v.Addr().Interface().(*T); ok {
			return *t, true
		}
	}
	var zero T
	return zero, false
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
