package browse

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// columnsFrom reads NAME:PATH,NAME:PATH as -o custom-columns takes it.
func columnsFrom(spec string) ([]column, error) {
	var list []column
	for part := range strings.SplitSeq(spec, ",") {
		name, path, ok := strings.Cut(part, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("-o custom-columns: %q is not NAME:PATH, as in NODE:.spec.nodeName", part)
		}
		p, err := parsePath(withDot(path))
		if err != nil {
			return nil, fmt.Errorf("-o custom-columns: column %s: %w", name, err)
		}
		list = append(list, column{name: name, fields: []string{p.fields}, cell: func(o object) string {
			var values []string
			for _, v := range p.all(o.content) {
				values = append(values, cmp.Or(scalar(v), "<none>"))
			}
			return cmp.Or(strings.Join(values, ","), "<none>")
		}})
	}
	return list, nil
}

// labelsColumn is that of --show-labels.
func labelsColumn() column {
	return column{name: "LABELS", fields: []string{"metadata.labels"}, cell: func(o object) string {
		set := labelSet(evidence.Object{Content: o.content})
		var pairs []string
		for _, key := range slices.Sorted(maps.Keys(set)) {
			pairs = append(pairs, key+"="+set[key])
		}
		return cmp.Or(strings.Join(pairs, ","), "<none>")
	}}
}

// Template is a text that is made of an object, or of a list, by -o jsonpath.
type Template struct{ path *jsonpath.JSONPath }

// maxRanges and maxTemplate bound a template: each range inside another doubles the work, also one that finds nothing
// (k8s.io/client-go:util/jsonpath/jsonpath.go FindResults).
const (
	maxRanges   = 8
	maxTemplate = 64 << 10
)

// rangesInside returns how many ranges of a template are inside each other, at most.
func rangesInside(text string) (most int) {
	depth := 0
	for action := range strings.SplitSeq(text, "{") {
		switch action = strings.TrimSpace(action); {
		case strings.HasPrefix(action, "range"):
			depth++
		case strings.HasPrefix(action, "end") && depth > 0:
			depth--
		}
		most = max(most, depth)
	}
	return most
}

// ParseTemplate reads a template such as {.items[*].metadata.name}. A field that is not there is empty.
func ParseTemplate(text string) (Template, error) {
	if n := rangesInside(text); n > maxRanges {
		return Template{}, fmt.Errorf("-o jsonpath: the template has %d ranges inside each other, it may have %d; end each one with {end}", n, maxRanges)
	}
	if len(text) > maxTemplate {
		return Template{}, fmt.Errorf("-o jsonpath: the template has %d bytes, it may have %d", len(text), maxTemplate)
	}
	p := jsonpath.New("jsonpath").AllowMissingKeys(true)
	if err := p.Parse(text); err != nil {
		return Template{}, fmt.Errorf("-o jsonpath=%s: %w", text, err)
	}
	if text == "" {
		return Template{}, fmt.Errorf("-o jsonpath: the template is empty; write it as -o jsonpath='{.items[*].metadata.name}'")
	}
	return Template{p}, nil
}

// Of is what the template makes of a document.
func (t Template) Of(document any) (string, error) {
	var b bytes.Buffer
	if err := t.path.Execute(&b, document); err != nil {
		return "", fmt.Errorf("-o jsonpath: %w", err)
	}
	return b.String(), nil
}
