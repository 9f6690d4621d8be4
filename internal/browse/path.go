package browse

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// jsonPath is a JSONPath as the columns of CustomResourceDefinitions and of -o custom-columns have them: without
// braces or with them (k8s.io/apiextensions-apiserver:pkg/registry/customresource/tableconvertor).
type jsonPath struct {
	path   *jsonpath.JSONPath
	fields string // the fields that it begins with, as objectfile.FieldsOf takes them; "" where it begins with another step
}

// parsePath reads a path such as .status.conditions[?(@.type=="Ready")].status.
func parsePath(text string) (jsonPath, error) {
	inner := strings.TrimSpace(text)
	if within, ok := strings.CutPrefix(inner, "{"); ok {
		inner = strings.TrimSuffix(within, "}")
	}
	inner = strings.TrimPrefix(inner, "$")
	if !strings.HasPrefix(inner, ".") && !strings.HasPrefix(inner, "[") {
		return jsonPath{}, fmt.Errorf("read the path %q: it begins with a dot, as in .metadata.name", text)
	}
	p := jsonpath.New("path").AllowMissingKeys(true)
	parsed, err := jsonpath.Parse("path", "{"+inner+"}")
	if err == nil {
		err = p.Parse("{" + inner + "}")
	}
	if err == nil && len(parsed.Root.Nodes) != 1 {
		err = errors.New("it is more than one path")
	}
	if err != nil {
		return jsonPath{}, fmt.Errorf("read the path %q: %w", text, err)
	}
	return jsonPath{p, firstFields(parsed.Root)}, nil
}

// withDot is a path as a person may write it: metadata.name for .metadata.name.
func withDot(path string) string {
	if path == "" || strings.ContainsAny(path[:1], ".[{$") {
		return path
	}
	return "." + path
}

// firstFields are the fields that a path begins with; those behind a name with a dot are not read apart.
func firstFields(root *jsonpath.ListNode) string {
	var names []string
	for _, n := range root.Nodes {
		if list, ok := n.(*jsonpath.ListNode); ok && len(root.Nodes) == 1 {
			return firstFields(list)
		}
		f, ok := n.(*jsonpath.FieldNode)
		if !ok || f.Value == "" || strings.Contains(f.Value, ".") {
			break
		}
		names = append(names, f.Value)
	}
	return strings.Join(names, ".")
}

// first returns the first value that a path leads to; false where there is none.
func (p jsonPath) first(v any) (any, bool) {
	for _, found := range p.all(v) {
		if found != nil {
			return found, true
		}
	}
	return nil, false
}

// all are the values that a path leads to.
func (p jsonPath) all(v any) []any {
	results, err := p.path.FindResults(v)
	if err != nil { // such as an index beyond the end of a list
		return nil
	}
	var list []any
	for _, values := range results {
		for _, value := range values {
			if value.IsValid() && value.CanInterface() {
				list = append(list, value.Interface())
			}
		}
	}
	return list
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
