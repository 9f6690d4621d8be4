package repair

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// pointer returns the JSON pointer of a path, escaped.
func pointer(path ...string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(pointerEscapes.Replace(p))
	}
	return b.String()
}

// fieldAt returns the value at a JSON pointer. A path element "[type=X]" selects
// the first element of a list whose field type is X.
func fieldAt(content any, ptr string) (any, bool) {
	at := content
	for _, raw := range strings.Split(strings.TrimPrefix(ptr, "/"), "/") {
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(raw)
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return nil, false
			}
			at = next
		case []any:
			next, ok := elementAt(v, key)
			if !ok {
				return nil, false
			}
			at = next
		default:
			return nil, false
		}
	}
	return at, true
}

func elementAt(list []any, key string) (any, bool) {
	if field, want, ok := strings.Cut(strings.Trim(key, "[]"), "="); ok && strings.HasPrefix(key, "[") {
		i := slices.IndexFunc(list, func(e any) bool {
			m, _ := e.(map[string]any)
			return m[field] == want
		})
		if i < 0 {
			return nil, false
		}
		return list[i], true
	}
	i, err := strconv.Atoi(key)
	if err != nil || i < 0 || i >= len(list) {
		return nil, false
	}
	return list[i], true
}

func stringAt(content map[string]any, path ...string) string {
	v, _ := fieldAt(content, pointer(path...))
	s, _ := v.(string)
	return s
}

func intAt(content map[string]any, path ...string) int64 {
	v, _ := fieldAt(content, pointer(path...))
	switch n := v.(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	}
	return 0
}

func boolAt(content map[string]any, path ...string) bool {
	v, _ := fieldAt(content, pointer(path...))
	b, _ := v.(bool)
	return b
}

// conditionOf returns the condition of the type in the status of an object, nil where it has none.
func conditionOf(o Object, kind string) map[string]any {
	c, _ := fieldAt(o, "/status/conditions/[type="+kind+"]")
	m, _ := c.(map[string]any)
	return m
}

// isTrue reports whether the object has the condition and it is True.
func isTrue(o Object, kind string) bool {
	c := conditionOf(o, kind)
	return c != nil && c["status"] == "True"
}

// digestFields digests the named fields of an object; nil content is an object
// that does not exist. Absent and null are the same: controllers drop empty fields.
func digestFields(content map[string]any, fields []string) (string, error) {
	if content == nil {
		return digestBytes([]byte("absent")), nil
	}
	values := make([]any, 0, 2*len(fields))
	for _, f := range fields {
		v, there := fieldAt(content, f)
		values = append(values, f, digestible(f, v, there))
	}
	raw, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("digest fields: %w", err)
	}
	return digestBytes(raw), nil
}

// digestible is a field's value as it is digested. An empty annotation is not the same as
// none: metal3 checks only whether its annotations exist.
func digestible(ptr string, v any, there bool) any {
	if text, ok := v.(string); ok && there && strings.HasPrefix(ptr, "/metadata/annotations/") {
		return text
	}
	return canonical(v)
}

// canonical maps empty values to nil, so that a field that a controller writes
// as "", {} or [] digests like one that it leaves out.
func canonical(v any) any {
	switch t := v.(type) {
	case string:
		if t == "" {
			return nil
		}
	case []any:
		if len(t) == 0 {
			return nil
		}
	case map[string]any:
		out := map[string]any{}
		for k, e := range t {
			if c := canonical(e); c != nil {
				out[k] = c
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	}
	return v
}

// shown returns the short scalar values of fields, for people.
func shown(content map[string]any, fields []string) map[string]string {
	const most = 200
	out := map[string]string{}
	for _, f := range fields {
		v, ok := fieldAt(content, f)
		if ok && v == "" && digestible(f, v, ok) != nil {
			out[f] = `""`
			continue
		}
		if !ok || canonical(v) == nil {
			out[f] = "(empty)"
			continue
		}
		switch v.(type) {
		case string, bool, int64, float64:
			if s := fmt.Sprint(v); len(s) <= most {
				out[f] = s
			}
		}
	}
	return out
}

// reading makes the Reading of an object; nil content is an object that does not exist.
func reading(ref Ref, content map[string]any, fields ...string) (Reading, error) {
	d, err := digestFields(content, fields)
	if err != nil {
		return Reading{}, err
	}
	r := Reading{Object: ref, Fields: fields, Digest: d}
	if content == nil {
		r.Seen = map[string]string{"": "does not exist"}
	} else {
		r.Seen = shown(content, fields)
	}
	return r, nil
}

// splitPointer returns the unescaped elements of a JSON pointer.
func splitPointer(ptr string) []string {
	var out []string
	for _, raw := range strings.Split(strings.TrimPrefix(ptr, "/"), "/") {
		out = append(out, strings.NewReplacer("~1", "/", "~0", "~").Replace(raw))
	}
	return out
}
