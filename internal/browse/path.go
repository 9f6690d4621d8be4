package browse

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// jsonPath is a JSONPath as the columns of CustomResourceDefinitions have them: fields, an index, and a
// filter by one field (k8s.io/apiextensions-apiserver:pkg/registry/customresource/tableconvertor).
type jsonPath []step

// step is one part of a path. Exactly one of name, index and filter is used.
type step struct {
	name   string
	index  string // a number, or "*"
	filter jsonPath
	equal  bool   // of a filter: its field has this value, or another one
	value  string // of a filter
}

// parsePath reads a path such as .status.conditions[?(@.type=="Ready")].status.
func parsePath(text string) (jsonPath, error) {
	rest := strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(rest, "{"); ok {
		rest = strings.TrimSuffix(inner, "}")
	}
	rest = strings.TrimPrefix(rest, "$")
	var p jsonPath
	for rest != "" {
		var s step
		var err error
		switch {
		case rest[0] == '.':
			s.name, rest = fieldName(rest[1:])
			if s.name == "" {
				err = fmt.Errorf("a field without a name")
			}
		case rest[0] == '[':
			s, rest, err = bracket(rest)
		default:
			err = fmt.Errorf("%.10q is neither a field nor a filter", rest)
		}
		if err != nil {
			return nil, fmt.Errorf("read the path %q: %w", text, err)
		}
		p = append(p, s)
	}
	return p, nil
}

// fieldName reads a name up to the next part; a dot behind a backslash belongs to it.
func fieldName(text string) (name, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '.' || c == '[':
			return b.String(), text[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}

// bracket reads ['name'], [0], [*] or [?(@.field=="value")].
func bracket(text string) (step, string, error) {
	if inner, ok := strings.CutPrefix(text, "[?(@"); ok {
		condition, rest, ok := strings.Cut(inner, ")]")
		if !ok {
			return step{}, "", fmt.Errorf("a filter without an end")
		}
		s, err := filter(condition)
		return s, rest, err
	}
	inner, rest, ok := strings.Cut(text[1:], "]")
	if !ok {
		return step{}, "", fmt.Errorf("a bracket without an end")
	}
	if name := strings.Trim(inner, `'"`); name != inner {
		return step{name: strings.ReplaceAll(name, `\`, "")}, rest, nil
	}
	if _, err := strconv.Atoi(inner); err != nil && inner != "*" {
		return step{}, "", fmt.Errorf("[%s] is no index", inner)
	}
	return step{index: inner}, rest, nil
}

func filter(condition string) (step, error) {
	left, right, equal := strings.Cut(condition, "==")
	if !equal {
		var other bool
		if left, right, other = strings.Cut(condition, "!="); !other {
			return step{}, fmt.Errorf("a filter is == or !=, not %q", condition)
		}
	}
	field, err := parsePath(strings.TrimSpace(left))
	return step{filter: field, equal: equal, value: strings.Trim(strings.TrimSpace(right), `'"`)}, err
}

// first returns the first value that a path leads to; false where there is none.
func (p jsonPath) first(v any) (any, bool) {
	if len(p) == 0 {
		return v, v != nil
	}
	s, rest := p[0], p[1:]
	if s.name != "" {
		m, _ := v.(map[string]any)
		child, ok := m[s.name]
		if !ok {
			return nil, false
		}
		return rest.first(child)
	}
	items, _ := v.([]any)
	if s.index != "" && s.index != "*" {
		i, _ := strconv.Atoi(s.index)
		if i < 0 {
			i += len(items)
		}
		if i < 0 || i >= len(items) {
			return nil, false
		}
		items = items[i : i+1]
	}
	for _, item := range items {
		if s.filter != nil {
			have, ok := s.filter.first(item)
			if same := scalar(have) == s.value; !ok || same != s.equal {
				continue
			}
		}
		if found, ok := rest.first(item); ok {
			return found, true
		}
	}
	return nil, false
}

// field is the part of a path that names fields alone, as objectfile.FieldsOf takes it; false where a
// name has a dot.
func (p jsonPath) field() string {
	var names []string
	for _, s := range p {
		if s.name == "" || strings.Contains(s.name, ".") {
			break
		}
		names = append(names, s.name)
	}
	return strings.Join(names, ".")
}

// scalar is a value in one cell.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return "<invalid>"
	}
	return string(raw)
}
