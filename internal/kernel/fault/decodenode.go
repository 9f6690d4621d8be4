package fault

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

// decodeDocument decodes the only document of a file, and reports whether it did: not where
// something is wrong, nor where a document has what no built-in entry has, as aliases. The
// value is then undefined. A decoder that makes JSON first takes half as long again.
func decodeDocument(raw []byte, v reflect.Value) bool {
	docs := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, second yaml.Node
	return docs.Decode(&doc) == nil && errors.Is(docs.Decode(&second), io.EOF) && decodeNode(doc.Content[0], v)
}

func decodeNode(n *yaml.Node, v reflect.Value) bool {
	if n.Kind == yaml.AliasNode {
		return false
	}
	if n.Tag == "!!null" {
		return true
	}
	if d, ok := v.Addr().Interface().(*Duration); ok {
		var err error
		d.Duration, err = time.ParseDuration(n.Value)
		return n.Tag == "!!str" && err == nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeNode(n, v.Elem())
	case reflect.Struct:
		return decodeObject(n, v)
	case reflect.Map:
		return decodeMap(n, v)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			return false
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, e := range n.Content {
			if !decodeNode(e, v.Index(i)) {
				return false
			}
		}
		return true
	case reflect.String:
		v.SetString(n.Value)
		return n.Tag == "!!str"
	case reflect.Bool:
		v.SetBool(n.Value == "true")
		return n.Tag == "!!bool" && (n.Value == "true" || n.Value == "false")
	case reflect.Int:
		i, err := strconv.Atoi(n.Value)
		v.SetInt(int64(i))
		return n.Tag == "!!int" && err == nil
	}
	return false
}

func decodeObject(n *yaml.Node, v reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	fields := fieldsOf(v.Type())
	var seen uint64
	for i := 0; i+1 < len(n.Content); i += 2 {
		field, ok := fields[n.Content[i].Value]
		if !ok || seen&(1<<field) != 0 || !decodeNode(n.Content[i+1], v.Field(field)) {
			return false
		}
		seen |= 1 << field
	}
	return true
}

func decodeMap(n *yaml.Node, v reflect.Value) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(n.Content)/2))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := reflect.ValueOf(n.Content[i].Value)
		value := reflect.New(v.Type().Elem()).Elem()
		if n.Content[i].Tag != "!!str" || v.MapIndex(key).IsValid() || !decodeNode(n.Content[i+1], value) {
			return false
		}
		v.SetMapIndex(key, value)
	}
	return true
}

// fieldsByType has the indexes of the fields of each type of an entry, by their names in YAML.
var fieldsByType sync.Map

func fieldsOf(t reflect.Type) map[string]int {
	if known, ok := fieldsByType.Load(t); ok {
		return known.(map[string]int)
	}
	fields := map[string]int{}
	for i := range t.NumField() {
		if name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = i
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}
