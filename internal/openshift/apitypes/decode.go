package apitypes

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// fromContent is a type that reads what a JSON value decodes to itself.
type fromContent interface {
	FromContent(v any) error
}

// Decode converts content, as JSON or YAML decode to, into a struct of the API's tags.
// Unknown fields are ignored, null is the zero value, and a value of another type than
// its field's is an error that says where it is. Names of fields are compared as they are
// written, as the API server compares them.
func Decode(content map[string]any, into any) error {
	if err := decode(content, reflect.ValueOf(into).Elem()); err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(strings.Join(err.path(), ""), "."), err.cause)
	}
	return nil
}

// misfit is a value that does not fit; at is where it is, the innermost first.
type misfit struct {
	at    []string
	cause error
}

func (m *misfit) within(format string, args ...any) *misfit {
	m.at = append(m.at, fmt.Sprintf(format, args...))
	return m
}

func (m *misfit) path() []string {
	out := slices.Clone(m.at)
	slices.Reverse(out)
	return out
}

func misfitf(format string, args ...any) *misfit { return &misfit{cause: fmt.Errorf(format, args...)} }

func decode(v any, to reflect.Value) *misfit {
	if v == nil {
		to.SetZero()
		return nil
	}
	if handled, err := decodeOwn(v, to.Addr().Interface()); err != nil {
		return &misfit{cause: err}
	} else if handled {
		return nil
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		return decode(v, to.Elem())
	case reflect.Struct:
		return decodeStruct(v, to)
	case reflect.Slice:
		return decodeSlice(v, to)
	case reflect.Map:
		return decodeMap(v, to)
	case reflect.Interface:
		to.Set(reflect.ValueOf(v))
		return nil
	}
	return decodeScalar(v, to)
}

// decodeOwn decodes what reads itself.
func decodeOwn(v, into any) (handled bool, err error) {
	switch own := into.(type) {
	case fromContent:
		return true, own.FromContent(v)
	case *time.Time:
		text, ok := v.(string)
		if !ok {
			return true, fmt.Errorf("%T instead of a time", v)
		}
		*own, err = time.Parse(time.RFC3339, text)
		return true, err
	case json.Unmarshaler:
		raw, err := json.Marshal(v)
		if err != nil {
			return true, err
		}
		return true, own.UnmarshalJSON(raw)
	}
	return false, nil
}

func decodeScalar(v any, to reflect.Value) *misfit {
	switch to.Kind() {
	case reflect.String:
		if s, ok := v.(string); ok {
			to.SetString(s)
			return nil
		}
	case reflect.Bool:
		if b, ok := v.(bool); ok {
			to.SetBool(b)
			return nil
		}
	case reflect.Float32, reflect.Float64:
		switch n := v.(type) {
		case float64:
			to.SetFloat(n)
			return nil
		case int64:
			to.SetFloat(float64(n))
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, ok := whole(v)
		if ok && n >= 0 && !to.OverflowUint(uint64(n)) {
			to.SetUint(uint64(n))
			return nil
		}
		if ok {
			return misfitf("%d is out of range", n)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, ok := whole(v)
		if ok && !to.OverflowInt(n) {
			to.SetInt(n)
			return nil
		}
		if ok {
			return misfitf("%d is out of range", n)
		}
	}
	return misfitf("%T instead of %s", v, to.Kind())
}

// whole returns a whole number: decoders disagree on the type of numbers.
func whole(v any) (int64, bool) {
	switch n := v.(type) {
	case int64:
		return n, true
	case int:
		return int64(n), true
	case float64:
		return int64(n), n == math.Trunc(n) && math.Abs(n) < 1<<63
	}
	return 0, false
}

func decodeSlice(v any, to reflect.Value) *misfit {
	if text, ok := v.(string); ok && to.Type().Elem().Kind() == reflect.Uint8 {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return &misfit{cause: err}
		}
		to.SetBytes(raw)
		return nil
	}
	list, ok := v.([]any)
	if !ok {
		return misfitf("%T instead of a list", v)
	}
	out := reflect.MakeSlice(to.Type(), len(list), len(list))
	for i, e := range list {
		if err := decode(e, out.Index(i)); err != nil {
			return err.within("[%d]", i)
		}
	}
	to.Set(out)
	return nil
}

func decodeMap(v any, to reflect.Value) *misfit {
	m, ok := v.(map[string]any)
	if !ok {
		return misfitf("%T instead of an object", v)
	}
	out := reflect.MakeMapWithSize(to.Type(), len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		element := reflect.New(to.Type().Elem()).Elem()
		if err := decode(m[k], element); err != nil {
			return err.within(".%s", k)
		}
		out.SetMapIndex(reflect.ValueOf(k).Convert(to.Type().Key()), element)
	}
	to.Set(out)
	return nil
}

func decodeStruct(v any, to reflect.Value) *misfit {
	m, ok := v.(map[string]any)
	if !ok {
		return misfitf("%T instead of an object", v)
	}
	for _, f := range fieldsOf(to.Type()) {
		if f.name == "" {
			if err := decodeStruct(v, to.Field(f.index)); err != nil {
				return err
			}
			continue
		}
		if e, ok := m[f.name]; ok {
			if err := decode(e, to.Field(f.index)); err != nil {
				return err.within(".%s", f.name)
			}
		}
	}
	return nil
}

// field is a field of a struct; without a name its own fields are used instead.
type field struct {
	index int
	name  string
}

// known are the fields of the types that were met.
var known sync.Map // of reflect.Type: []field

func fieldsOf(t reflect.Type) []field {
	if list, ok := known.Load(t); ok {
		return list.([]field)
	}
	list := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && !f.Anonymous {
			name = f.Name
		}
		if f.IsExported() && name != "-" {
			list = append(list, field{i, name})
		}
	}
	known.Store(t, list)
	return list
}
