package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// decode reads one object as Kubernetes reads YAML. Whole numbers become int64,
// as they are in objects that come from an API server. How often aliases are followed
// is the decoder's own limit (go.yaml.in/yaml/v2 "document contains excessive aliasing").
func decode(raw []byte) (map[string]any, error) {
	if len(raw) > maxObject {
		return nil, fmt.Errorf("one object of %d bytes, the limit is %d", len(raw), maxObject)
	}
	if deepFlow(raw) {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	text, err := yamlin.ToJSON(raw, 2*maxObject)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if v, err = plain(v, 0); err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("no object")
	}
	return m, nil
}

// spending is what the objects of one answer have taken so far.
type spending struct{ spent, limit int }

// decode decodes one object while there is room for it.
func (b *spending) decode(raw []byte, decode func([]byte) (map[string]any, error)) (map[string]any, error) {
	limit := b.limit
	if limit == 0 {
		limit = maxNeed
	}
	if b.spent > limit {
		return nil, fmt.Errorf("the objects that came before take more than %d bytes", limit)
	}
	content, err := decode(raw)
	b.spent += len(raw) + valueCost*values(content)
	return content, err
}

// values counts what a decoded value holds.
func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, child := range v {
			n += values(child)
		}
	case []any:
		for _, child := range v {
			n += values(child)
		}
	}
	return n
}

// plain replaces json.Number by int64 or float64 and holds the depth.
func plain(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			if v[k], err = plain(child, depth+1); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = plain(v[i], depth+1); err != nil {
				return nil, err
			}
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n, nil
		}
		return v.Float64()
	}
	return v, nil
}

// deepFlow reports brackets that open far more often than they close: the YAML
// decoder recurses on them before anything else could stop it. Brackets inside
// quotes and block scalars count too, so the bound is wide.
func deepFlow(raw []byte) bool {
	depth := 0
	for _, c := range raw {
		switch c {
		case '[', '{':
			if depth++; depth > 50*maxDepth {
				return true
			}
		case ']', '}':
			if depth > 0 {
				depth--
			}
		}
	}
	return false
}
