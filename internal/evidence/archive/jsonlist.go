package archive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// readJSON reads a document that is JSON, without the detour over YAML. False
// means that it is none: YAML has braces too.
func (s *Source) readJSON(e entry, doc []byte, c *listing) bool {
	var m typeMeta
	if err := json.Unmarshal(doc, &m); err != nil {
		if end := (*json.SyntaxError)(nil); errors.As(err, &end) && end.Offset >= int64(len(doc)) {
			c.damage(e.file.path, errors.New("the JSON is cut off"))
			return true
		}
		return false
	}
	if !isList(m.Kind) {
		content, err := decodeJSON(doc)
		if err != nil {
			c.damage(e.file.path, err)
			return true
		}
		s.addObject(e, content, false, c)
		return true
	}
	r, _ := resourceOf(m.APIVersion, m.Kind[:len(m.Kind)-len("List")])
	if len(m.Items) == 0 && (!e.mixed || r == e.resource) {
		c.looked = true
	}
	for i, item := range m.Items {
		if i >= maxObjects {
			c.damage(e.file.path, fmt.Errorf("more than %d items", maxObjects))
			break
		}
		content, err := decodeJSON(item)
		if err != nil {
			c.damage(e.file.path, fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		s.addItem(e, header{apiVersion: m.APIVersion, kind: m.Kind}, content, c)
	}
	return true
}

// decodeJSON decodes one object within the limits of decode.
func decodeJSON(raw []byte) (map[string]any, error) {
	if len(raw) > maxObject {
		return nil, fmt.Errorf("one object of %d bytes, the limit is %d", len(raw), maxObject)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	v, err := plain(v, 0)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("no object")
	}
	return m, nil
}
