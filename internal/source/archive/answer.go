package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// readAnswer reads a JSON document that is no object of an API. One that cannot be read
// is an object without an answer, which says why: the others are there all the same.
func (s *Source) readAnswer(e entry, raw []byte, c *listing) {
	object := map[string]any{
		"apiVersion": evidence.ProbeGroup + "/v1alpha1", "kind": "EtcdAnswer", "metadata": map[string]any{"name": e.answer},
	}
	answer, err := decodeAnswer(raw)
	if err != nil {
		object["error"] = err.Error()
	} else {
		object["answer"] = answer
	}
	s.addObject(e, object, false, c)
}

func decodeAnswer(raw []byte) (any, error) {
	switch {
	case len(bytes.TrimSpace(raw)) == 0:
		return nil, errors.New("the file is empty")
	case len(raw) > maxObject:
		return nil, fmt.Errorf("%d bytes, the limit is %d", len(raw), maxObject)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return plain(exact(v, 0), 0)
}

// exact turns whole numbers that int64 cannot hold into texts: etcd's IDs have 64 bits.
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
