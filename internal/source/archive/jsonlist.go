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
		content, err := c.cost.decode(doc, decodeJSON)
		if err != nil {
			c.damage(e.file.path, err)
			return true
		}
		s.addObject(e, content, false, c)
		return true
	}
	c.listed = true
	r, _ := resourceOf(m.APIVersion, m.Kind[:len(m.Kind)-len("List")])
	if len(m.Items.list) == 0 && (!e.mixed || r == e.resource) {
		c.looked = true
	}
	if m.Items.more {
		c.damage(e.file.path, fmt.Errorf("more than %d items", maxObjects))
	}
	for i, item := range m.Items.list {
		content, err := c.cost.decode(item, decodeJSON)
		if err != nil {
			c.damage(e.file.path, fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		s.addItem(e, header{apiVersion: m.APIVersion, kind: m.Kind}, content, c)
	}
	return true
}

// jsonItems are the texts of a list's items, not more than maxObjects.
type jsonItems struct {
	list []json.RawMessage
	more bool
}

// UnmarshalJSON implements json.Unmarshaler. What comes is valid JSON.
func (l *jsonItems) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("items is not a list")
	}
	for d.More() {
		if len(l.list) >= maxObjects {
			l.more = true
			return nil
		}
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return err
		}
		l.list = append(l.list, item)
	}
	return nil
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
