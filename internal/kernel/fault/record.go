package fault

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
)

// FactType is what the expressions need to know of a fact.
type FactType struct {
	Name   string
	For    Kind
	Fields []FieldType
	Needs  []string
}

// FieldType is a field of a fact as expressions see it.
type FieldType struct {
	Name string
	Type reflect.Type // of the value where it is known
}

// Record is a computed fact. Field returns the value of the i-th field of its type, or
// why it is unknown.
type Record interface {
	Field(i int) (any, error)
}

// Effect is what an edge's condition may know of the finding that it explains.
type Effect struct {
	Name  string
	Kind  string
	Since time.Time
}

var effectFields = []FieldType{{"name", reflect.TypeFor[string]()}, {"kind", reflect.TypeFor[string]()}, {"since", reflect.TypeFor[time.Time]()}}

// Field implements Record.
func (e Effect) Field(i int) (any, error) {
	switch i {
	case 0:
		return e.Name, nil
	case 1:
		return e.Kind, nil
	}
	return e.Since, nil
}

// This is what every expression may know of the run.
type This struct {
	Name      string
	Namespace string // "" where its kind has none
	Kind      string
	Now       time.Time
	Version   string // of the cluster, "" where it is not known
}

var thisFields = []FieldType{
	{"name", reflect.TypeFor[string]()}, {"namespace", reflect.TypeFor[string]()}, {"kind", reflect.TypeFor[string]()},
	{"now", reflect.TypeFor[time.Time]()}, {"version", reflect.TypeFor[string]()},
}

// Field implements Record.
func (t This) Field(i int) (any, error) {
	switch i {
	case 0:
		return t.Name, nil
	case 1:
		return t.Namespace, nil
	case 2:
		return t.Kind, nil
	case 3:
		return t.Now, nil
	}
	return t.Version, nil
}

// Names of the types of "this" and "effect" in expressions. No fact has such a name.
const thisType, effectType = "fault.This", "fault.Effect"

// Var is a variable of an expression: a fact under the name that the fault gives it.
type Var struct {
	Name   string
	Record Record // nil: the fact as a whole is unknown
}

// records tells the expressions' compiler which fields facts have, and reads them. A
// field that is unknown is CEL's unknown with the name "variable.field", so it makes an
// expression unknown exactly where the value matters.
type records struct {
	types.Provider
	fields map[string][]FieldType // by the name of the expressions' type
}

// recordType is the name of a fact's type in expressions.
func recordType(fact string) string { return "fact." + fact }

// FindStructType implements types.Provider.
func (p records) FindStructType(name string) (*types.Type, bool) {
	if _, ok := p.fields[name]; ok {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

// FindStructFieldNames implements types.Provider.
func (p records) FindStructFieldNames(name string) ([]string, bool) {
	fields, ok := p.fields[name]
	if !ok {
		return p.Provider.FindStructFieldNames(name)
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names, true
}

// FindStructFieldType implements types.Provider.
func (p records) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	fields, ok := p.fields[name]
	if !ok {
		return p.Provider.FindStructFieldType(name, field)
	}
	i := slices.IndexFunc(fields, func(f FieldType) bool { return f.Name == field })
	if i < 0 {
		return nil, false
	}
	t, err := celType(fields[i].Type)
	if err != nil {
		return nil, false
	}
	return &types.FieldType{
		Type:  t,
		IsSet: func(any) bool { return true },
		GetFrom: func(target any) (any, error) {
			if always, ok := target.(Record); ok {
				return always.Field(i)
			}
			v, ok := target.(Var)
			if !ok {
				return nil, fmt.Errorf("read %s.%s of a %T", name, field, target)
			}
			if v.Record == nil {
				return types.NewUnknown(1, types.NewAttributeTrail(v.Name)), nil
			}
			value, err := v.Record.Field(i)
			if err != nil {
				trail := types.NewAttributeTrail(v.Name)
				return types.NewUnknown(1, types.QualifyAttribute[string](trail, field)), nil
			}
			return value, nil
		},
	}, true
}

// celType returns the expressions' type of a field's value.
func celType(t reflect.Type) (*types.Type, error) {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return types.TimestampType, nil
	case t == reflect.TypeFor[time.Duration]():
		return types.DurationType, nil
	}
	switch t.Kind() {
	case reflect.String:
		return types.StringType, nil
	case reflect.Bool:
		return types.BoolType, nil
	case reflect.Int, reflect.Int64:
		return types.IntType, nil
	case reflect.Float64:
		return types.DoubleType, nil
	case reflect.Slice:
		elem, err := celType(t.Elem())
		if err != nil {
			return nil, err
		}
		return types.NewListType(elem), nil
	}
	return nil, fmt.Errorf("expressions have no type for %s", t)
}

// withRecords extends an environment by the types of facts, of "this" and of "effect".
func withRecords(env *cel.Env, facts map[string]FactType) (*cel.Env, error) {
	byType := map[string][]FieldType{thisType: thisFields, effectType: effectFields}
	for _, f := range facts {
		for _, field := range f.Fields {
			if _, err := celType(field.Type); err != nil {
				return nil, fmt.Errorf("fact %s: field %s: %w", f.Name, field.Name, err)
			}
		}
		byType[recordType(f.Name)] = f.Fields
	}
	return env.Extend(cel.CustomTypeProvider(records{env.CELTypeProvider(), byType}))
}
