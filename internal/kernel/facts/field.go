package facts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Field is one value of a fact: known with the evidence that shows it, or unknown
// with the reason. The zero Field is unknown: a fact that forgets to set a field
// claims nothing.
//
// A value that was set without evidence is a claim from silence: nothing that was
// read says otherwise. World.Compute makes it unknown where something that the fact
// read was not read whole.
type Field[T any] struct {
	value T
	state fieldState
	why   error
	proof []evidence.Item
}

type fieldState uint8

const (
	unset fieldState = iota
	known
	unknown
)

// errUnset is why a field is unknown that its fact has not set.
var errUnset = errors.New("the fact has no value")

// Known returns a field with a value and what shows it.
func Known[T any](v T, proof ...evidence.Item) Field[T] {
	return Field[T]{value: v, state: known, proof: proof}
}

// Unknown returns a field that could not be determined. err is usually an
// *evidence.Unavailable, which says what would supply it.
func Unknown[T any](err error) Field[T] { return Field[T]{state: unknown, why: err} }

// Set makes the field known and adds to its evidence.
func (f *Field[T]) Set(v T, proof ...evidence.Item) {
	f.value, f.state, f.why = v, known, nil
	f.proof = append(f.proof, proof...)
}

// Miss makes the field unknown. err is usually an *evidence.Unavailable.
func (f *Field[T]) Miss(err error) {
	var zero T
	f.value, f.state, f.why = zero, unknown, err
}

// Clear forgets value, reason and evidence.
func (f *Field[T]) Clear() { *f = Field[T]{} }

// Prove adds evidence and changes neither value nor state.
func (f *Field[T]) Prove(proof ...evidence.Item) { f.proof = append(f.proof, proof...) }

// Get returns the value, or why it is unknown.
func (f Field[T]) Get() (T, error) {
	switch f.state {
	case known:
		return f.value, nil
	case unknown:
		return f.value, f.why
	}
	return f.value, errUnset
}

// Value returns the value, and the zero value where it is unknown. It is for a fact
// that computes one field from another one that it has set itself; all others use Get.
func (f Field[T]) Value() T { return f.value }

// Proof returns the evidence.
func (f Field[T]) Proof() []evidence.Item { return f.proof }

// Equal compares values and whether they are known, without evidence and reasons.
func (f Field[T]) Equal(g Field[T]) bool {
	return f.state == g.state && reflect.DeepEqual(f.value, g.value)
}

// String renders the field for tests and logs.
func (f Field[T]) String() string {
	if _, err := f.Get(); err != nil {
		return "unknown: " + err.Error()
	}
	return fmt.Sprint(f.value)
}

// Setter is what can be done to a field of any type.
type Setter interface {
	Miss(err error)
	Prove(proof ...evidence.Item)
}

// Miss makes fields unknown because of an *evidence.Unavailable. Every other error is
// returned: it is a defect and no outcome.
func Miss(err error, fields ...Setter) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for _, f := range fields {
		f.Miss(err)
	}
	return nil
}

// Missed reports whether an error of Get says that something could not be read, and not
// that the field was not set yet.
func Missed(err error) bool { return err != nil && !errors.Is(err, errUnset) }

// Prove adds one piece of evidence to fields.
func Prove(item evidence.Item, fields ...Setter) {
	for _, f := range fields {
		f.Prove(item)
	}
}

// Append adds a value to a field that is a list.
func Append[T any](f *Field[[]T], v T, proof ...evidence.Item) { f.Set(append(f.value, v), proof...) }

// Earliest sets a time that is known and earlier than the one that the field has.
func Earliest(f *Field[time.Time], t time.Time, proof ...evidence.Item) {
	if !t.IsZero() && (f.value.IsZero() || t.Before(f.value)) {
		f.Set(t, proof...)
	}
}

// Complete sets the fields of a fact that are not set yet to their zero values: all
// that could have set them was read and did not.
func Complete[T any](fact *T) {
	r := record{reflect.ValueOf(fact).Elem()}
	for i := range r.v.NumField() {
		r.at(i).complete()
	}
}

// ProveAll adds one piece of evidence to all fields of a fact that are known.
func ProveAll[T any](fact *T, item evidence.Item) {
	r := record{reflect.ValueOf(fact).Elem()}
	for i := range r.v.NumField() {
		if f := r.at(i); f.isKnown() {
			f.Prove(item)
		}
	}
}

// Gap returns why something that the computation looked for was not read whole, nil where
// all was: a count is then what was found, and may be more.
func (v Value) Gap() error {
	if v.touched == nil {
		return nil
	}
	return v.touched.gap()
}

// anyField is a field of any type, as the frame uses it.
type anyField interface {
	Setter
	get() (any, error)
	items() []evidence.Item
	elem() reflect.Type
	isKnown() bool
	complete()
	limit(gap error)
	clean()
	appendKey(b []byte) ([]byte, bool)
}

func (f *Field[T]) get() (any, error)      { return f.Get() }
func (f *Field[T]) items() []evidence.Item { return f.proof }
func (f *Field[T]) elem() reflect.Type     { return reflect.TypeFor[T]() }

func (f *Field[T]) isKnown() bool { return f.state == known }

func (f *Field[T]) complete() {
	if f.state == unset {
		f.state = known
	}
}

// limit undoes a claim from silence where not all was read. An object without all of its
// fields is silent, too: what it seems to have as false, zero or empty is not known.
func (f *Field[T]) limit(gap error) {
	if f.state != known {
		return
	}
	if len(f.proof) == 0 || partOfFields(gap) && reflect.ValueOf(&f.value).Elem().IsZero() {
		f.Miss(gap)
	}
}

func partOfFields(gap error) bool {
	u, ok := evidence.AsUnavailable(gap)
	return ok && u.Fields
}

// clean removes times that cannot be ones of a cluster from the evidence.
func (f *Field[T]) clean() {
	for i := range f.proof {
		if t := f.proof[i].Time; !t.IsZero() && !evidence.Plausible(t) {
			f.proof = slices.Clone(f.proof) // it may be shared with another field
			f.proof[i].Time = time.Time{}
		}
	}
}

// appendKey appends to b what an expression sees of the field: fields with equal keys are the same to
// it. ok is false for a type that has no key.
func (f *Field[T]) appendKey(b []byte) (key []byte, ok bool) {
	if f.state != known {
		return append(b, 'u'), true
	}
	switch v := any(&f.value).(type) {
	case *string:
		return appendText(append(b, 's'), *v), true
	case *bool:
		if *v {
			return append(b, 't'), true
		}
		return append(b, 'f'), true
	case *int:
		return binary.AppendVarint(append(b, 'i'), int64(*v)), true
	case *int64:
		return binary.AppendVarint(append(b, 'i'), *v), true
	case *time.Duration:
		return binary.AppendVarint(append(b, 'd'), int64(*v)), true
	case *time.Time:
		return binary.AppendVarint(binary.AppendVarint(append(b, 'a'), v.Unix()), int64(v.Nanosecond())), true
	case *[]string:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(*v)))
		for _, text := range *v {
			b = appendText(b, text)
		}
		return b, true
	}
	return b, false
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// fieldTypes returns the fields of a fact, and a mistake in how it is defined.
func fieldTypes(t reflect.Type) ([]fault.FieldType, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	var list []fault.FieldType
	for i := range t.NumField() {
		field := t.Field(i)
		name := field.Tag.Get("cel")
		typed, ok := reflect.New(field.Type).Interface().(anyField)
		switch {
		case !ok || !field.IsExported():
			return nil, fmt.Errorf("%s.%s is not an exported Field", t, field.Name)
		case name == "" || strings.ContainsAny(name, " ,\"."):
			return nil, fmt.Errorf("%s.%s has no name for expressions", t, field.Name)
		case slices.ContainsFunc(list, func(f fault.FieldType) bool { return f.Name == name }):
			return nil, fmt.Errorf("%s.%s: the name %q is used twice", t, field.Name, name)
		}
		list = append(list, fault.FieldType{Name: name, Type: typed.elem()})
	}
	return list, nil
}
