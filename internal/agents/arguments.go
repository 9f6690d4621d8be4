package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// param is an argument of a tool: its schema, and what it is checked against.
type param struct {
	name, doc string
	kind      string // string, boolean or integer
	most      int    // characters of a string, or the largest integer
	form      *regexp.Regexp
	like      string   // how a string of the form is written
	words     []string // a string is one of these; nil: any
	required  bool
}

// schema is a JSON schema of arguments.
func schema(params []param) map[string]any {
	properties := map[string]any{}
	required := []string{}
	for _, p := range params {
		one := map[string]any{"type": p.kind, "description": p.doc}
		switch p.kind {
		case "string":
			one["maxLength"] = p.most
			if p.form != nil {
				one["pattern"] = p.form.String()
			}
			if p.words != nil {
				one["enum"] = p.words
			}
			if p.required {
				one["minLength"] = 1
			}
		case "integer":
			one["minimum"], one["maximum"] = 0, p.most
		}
		properties[p.name] = one
		if p.required {
			required = append(required, p.name)
		}
	}
	s := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// arguments are the values of a call, checked.
type arguments map[string]any

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }
func (a arguments) is(name string) bool     { b, _ := a[name].(bool); return b }
func (a arguments) number(name string) int  { n, _ := a[name].(int); return n }

// parse reads the arguments of a call. An error names the argument, what is wrong with it and
// how it is written.
func parse(raw []byte, params []param) (arguments, error) {
	values := map[string]json.RawMessage{}
	if len(bytes.TrimSpace(raw)) > 0 {
		d := json.NewDecoder(bytes.NewReader(raw))
		if err := d.Decode(&values); err != nil {
			return nil, errors.New("arguments: they are not a JSON object; write {\"NAME\": VALUE}")
		}
		if _, err := d.Token(); !errors.Is(err, io.EOF) {
			return nil, errors.New("arguments: more follows the JSON object; write one object")
		}
	}
	args := arguments{}
	for name, value := range values {
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		if i < 0 {
			return nil, fmt.Errorf("argument %s: there is none of this name; %s", quote(name), named(params))
		}
		if string(value) == "null" {
			continue
		}
		v, err := params[i].value(value)
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
		args[name] = v
	}
	for _, p := range params {
		if p.required && args.text(p.name) == "" {
			return nil, fmt.Errorf("argument %s: it is missing; give %s", p.name, lowerFirst(p.doc))
		}
	}
	return args, nil
}

func named(params []param) string {
	if len(params) == 0 {
		return "this tool takes no argument"
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
	}
	return "there are: " + strings.Join(names, ", ")
}

// value decodes and checks one argument.
func (p param) value(raw json.RawMessage) (any, error) {
	switch p.kind {
	case "boolean":
		var b bool
		if json.Unmarshal(raw, &b) != nil {
			return nil, fmt.Errorf("%s is neither true nor false", quote(string(raw)))
		}
		return b, nil
	case "integer":
		n, err := strconv.Atoi(string(raw))
		if err != nil || n < 0 || n > p.most {
			return nil, fmt.Errorf("%s is not a number from 0 to %d", quote(string(raw)), p.most)
		}
		return n, nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return nil, fmt.Errorf("%s is not a string", quote(string(raw)))
	}
	if n := utf8.RuneCountInString(s); n > p.most {
		return nil, fmt.Errorf("it has %d characters, and at most %d are read; give less of it", n, p.most)
	}
	if s != "" && p.words != nil && !slices.Contains(p.words, s) {
		return nil, fmt.Errorf("%s is none of: %s", quote(s), strings.Join(p.words, ", "))
	}
	if s != "" && p.form != nil && !p.form.MatchString(s) {
		return nil, fmt.Errorf("%s has not the form of one; write it as %s", quote(s), p.like)
	}
	return s, nil
}

// quote shows a value of a client, shortened.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.QuoteToGraphic(s)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
