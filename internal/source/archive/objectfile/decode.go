package objectfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// decode reads one object as Kubernetes reads YAML. Whole numbers become int64, as they
// are in objects from an API server. How often aliases are followed is the decoder's own
// limit (go.yaml.in/yaml/v2 "document contains excessive aliasing").
func decode(raw []byte) (map[string]any, error) {
	if err := tooLarge(raw); err != nil {
		return nil, err
	}
	if deepFlow(raw) {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	text, err := yamlin.ToJSON(raw, 2*MaxObject)
	if err != nil {
		return nil, err
	}
	return object(text)
}

// decodeJSON reads one object of JSON within the limits of decode.
func decodeJSON(raw []byte) (map[string]any, error) {
	if err := tooLarge(raw); err != nil {
		return nil, err
	}
	return object(raw)
}

func tooLarge(raw []byte) error {
	if len(raw) > MaxObject {
		return fmt.Errorf("one object of %d bytes, the limit is %d", len(raw), MaxObject)
	}
	return nil
}

func object(text []byte) (map[string]any, error) {
	v, err := value(text)
	if err != nil {
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

// value decodes JSON and leaves its numbers as they are printed.
func value(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// Answer decodes a JSON document that is no object of an API. Whole numbers that int64
// cannot hold become texts: etcd's IDs have 64 bits.
func Answer(raw []byte) (any, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errors.New("the file is empty")
	case len(raw) > MaxObject:
		return nil, fmt.Errorf("%d bytes, the limit is %d", len(raw), MaxObject)
	}
	v, err := value(raw)
	if err != nil {
		return nil, err
	}
	return plain(exact(v, 0), 0)
}

// exact turns whole numbers that int64 cannot hold into texts.
func exact(v any, depth int) any {
	if depth > maxDepth {
		return v // plain refuses it
	}
	switch v := v.(type) {
	case map[string]any:
		for k, child := range v {
			v[k] = exact(child, depth+1)
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i], depth+1)
		}
	case json.Number:
		if _, err := v.Int64(); err != nil && len(v) >= len("9223372036854775808") {
			return v.String()
		}
	}
	return v
}

// Budget is the memory that the objects of one answer have taken so far. Beyond its limit
// nothing more is decoded. The zero value is ready to use.
type Budget struct {
	spent, limit int
	block        blockReader
}

// Decode is the function decode as long as there is room for another object.
func (b *Budget) Decode(raw []byte) (map[string]any, error) { return b.decode(raw, b.yaml) }

// yaml is the function decode. What has the form that programs print is read in a fifth of the time.
func (b *Budget) yaml(raw []byte) (map[string]any, error) {
	if content, ok := b.block.object(raw); ok {
		return content, nil
	}
	return decode(raw)
}

func (b *Budget) decode(raw []byte, decode func([]byte) (map[string]any, error)) (map[string]any, error) {
	limit := cmp.Or(b.limit, maxNeed)
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

// plain replaces json.Number by int64 or float64 and refuses what nests too deep.
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
