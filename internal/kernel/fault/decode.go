package fault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
)

// decodeEntry decodes an entry and refuses unknown fields. Where something is wrong it
// returns all mistakes of the form, and decodes what is not: so that the rest is checked.
// decoded is false where nothing could be.
func decodeEntry(raw []byte, into any) (wrong mistakes, decoded bool) {
	value := reflect.ValueOf(into).Elem()
	if decodeDocument(raw, value) {
		return nil, true
	}
	value.SetZero()
	err := decodeStrict(raw, into)
	if err == nil {
		return nil, true
	}
	var doc yaml.Node
	if syntax := yaml.Unmarshal(raw, &doc); syntax != nil {
		return syntaxMistakes(syntax), false
	}
	if len(doc.Content) == 0 {
		return mistakes{{text: "the file is empty", line: 1, col: 1}}, false
	}
	var s strict
	if !s.walk(doc.Content[0], value.Type(), nil) {
		return s.found, false
	}
	value.SetZero()
	var tree map[string]any
	rest := doc.Content[0].Decode(&tree)
	if rest == nil {
		var asJSON []byte
		if asJSON, rest = json.Marshal(tree); rest == nil {
			rest = json.Unmarshal(asJSON, into)
		}
	}
	if len(s.found) == 0 || rest != nil {
		s.found = append(s.found, mistake{text: errors.Join(err, rest).Error()})
	}
	return s.found, rest == nil
}

// decodeStrict decodes one YAML document and refuses unknown fields.
func decodeStrict(raw []byte, into any) error {
	asJSON, err := yamlToJSON(raw)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(asJSON))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// yamlToJSON does not use the Kubernetes decoder: that one reads the key "on" as the boolean
// of YAML 1.1.
func yamlToJSON(raw []byte) ([]byte, error) {
	docs := yaml.NewDecoder(bytes.NewReader(raw))
	var tree map[string]any
	if err := docs.Decode(&tree); err != nil {
		return nil, err
	}
	if err := docs.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is a second document, which would not be read; write one entry per file")
	}
	return json.Marshal(tree)
}

var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): (.*)`)

// syntaxMistakes is what the YAML parser reports; it stops at the first error.
func syntaxMistakes(err error) mistakes {
	m := mistake{text: "this is no YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	if parts := syntaxLine.FindStringSubmatch(err.Error()); parts != nil {
		m.line, _ = strconv.Atoi(parts[1])
		m.col, m.text = 1, "this is no YAML, here or on one of the next lines: "+parts[2]
	}
	m.hint = "put a text with a colon, a brace or a quote at its start into quotes, and check the indentation"
	return mistakes{m}
}

// strict compares a document with the type that it is decoded into. It removes what does
// not fit, and renames a field that is misspelled.
type strict struct{ found mistakes }

func (s *strict) add(n *yaml.Node, at Where, hint, format string, args ...any) {
	s.found = append(s.found, mistake{at: slices.Clone(at), hint: hint, text: fmt.Sprintf(format, args...), line: n.Line, col: n.Column})
}

// walk reports whether a node can be decoded into a type, after what was removed.
func (s *strict) walk(n *yaml.Node, t reflect.Type, at Where) bool {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Tag == "!!null" {
		return true
	}
	if t == reflect.TypeFor[Duration]() {
		return s.duration(n, at)
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.object(n, t, at)
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			s.add(n, at, "write `name: value` lines", "want a mapping, got %s", kindOf(n))
			return false
		}
		s.pairs(n, at, func(key string) (reflect.Type, bool) { return t.Elem(), true })
		return true
	case reflect.Slice:
		return s.list(n, t, at)
	case reflect.String:
		if n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "!!timestamp") {
			return true
		}
		hint := "put it into quotes"
		if n.Kind == yaml.ScalarNode {
			hint = "write " + strconv.Quote(shortValue(n))
		}
		s.add(n, at, hint, "want a text, got %s", kindOf(n))
		return false
	case reflect.Bool:
		if n.Tag != "!!bool" {
			s.add(n, at, "write true or false", "want true or false, got %s", kindOf(n))
			return false
		}
	}
	return true
}

func (s *strict) duration(n *yaml.Node, at Where) bool {
	var d Duration
	text, err := json.Marshal(n.Value)
	if err == nil {
		err = d.UnmarshalJSON(text)
	}
	if n.Kind != yaml.ScalarNode || err != nil {
		s.add(n, at, "write it as 30m, 2h or 1h30m", "%s is not a duration", kindOf(n))
		return false
	}
	return true
}

func (s *strict) list(n *yaml.Node, t reflect.Type, at Where) bool {
	if n.Kind != yaml.SequenceNode {
		hint := "begin each element with a dash"
		if n.Kind == yaml.ScalarNode {
			hint = "write [" + shortValue(n) + "]"
		}
		s.add(n, at, hint, "want a list, got %s", kindOf(n))
		return false
	}
	for i, e := range n.Content {
		if !s.walk(e, t.Elem(), append(slices.Clone(at), i)) {
			// Its place is kept, so that the others have their indexes.
			n.Content[i] = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: e.Line, Column: e.Column}
		}
	}
	return true
}

func (s *strict) object(n *yaml.Node, t reflect.Type, at Where) bool {
	types := map[string]reflect.Type{}
	var names []string
	needed := "" // the first field that may not be left out
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		types[name], names = t.Field(i).Type, append(names, name)
		if options == "" && needed == "" {
			needed = name
		}
	}
	if n.Kind != yaml.MappingNode {
		hint := "its fields are " + join(names)
		if n.Kind == yaml.ScalarNode && needed != "" {
			hint = "write {" + needed + ": " + shortValue(n) + "}"
		}
		s.add(n, at, hint, "want a mapping, got %s", kindOf(n))
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 { // a misspelled key becomes the one that was meant
		key := n.Content[i]
		if _, ok := types[key.Value]; ok {
			continue
		}
		free := slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, v := child(n, name); return v != nil })
		near := suggest.Nearest(key.Value, free)
		hint := "the fields here are " + join(names)
		if near != "" {
			hint = "did you mean " + near + "?"
		}
		s.add(key, append(slices.Clone(at), key.Value), hint, "there is no such field")
		if near != "" {
			key.Value, s.found[len(s.found)-1].meant = near, near
		}
	}
	s.pairs(n, at, func(key string) (reflect.Type, bool) { t, ok := types[key]; return t, ok })
	return true
}

// pairs walks the values of a mapping and removes those that do not fit.
func (s *strict) pairs(n *yaml.Node, at Where, typeOf func(key string) (reflect.Type, bool)) {
	kept := n.Content[:0:0]
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		here := append(slices.Clone(at), key.Value)
		if line, twice := first[key.Value]; twice {
			s.add(key, here, "keep one of them", "the field is there twice, first in line %d", line)
			continue
		}
		first[key.Value] = key.Line
		if t, ok := typeOf(key.Value); ok && s.walk(value, t, here) {
			kept = append(kept, key, value)
		}
	}
	n.Content = kept
}

// kindOf names what a node is.
func kindOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!int" || n.Tag == "!!float":
		return "the number " + shortValue(n)
	case n.Tag == "!!bool":
		return "the boolean " + shortValue(n)
	}
	return fmt.Sprintf("%.40q", n.Value)
}

// shortValue bounds what a message repeats of a file: it may be a file of another kind, which
// a link leads to, with a secret in it.
func shortValue(n *yaml.Node) string {
	const most = 40
	if r := []rune(n.Value); len(r) > most {
		return string(r[:most]) + "..."
	}
	return n.Value
}

// meant suggests a known word, "" where none is near.
func meant[T ~string](word string, known []T) string {
	list := make([]string, len(known))
	for i, k := range known {
		list[i] = string(k)
	}
	if near := suggest.Nearest(word, list); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
