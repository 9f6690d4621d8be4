package objectfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Sink takes what a file of objects holds.
type Sink interface {
	// Object takes one object; item says that it is an item of a List.
	Object(content map[string]any, item bool)
	// List says that a List was seen, in whatever state.
	List()
	// Empty takes a whole List without items; kind is that of its items, "" where the List
	// does not name it.
	Empty(apiVersion, kind string)
	// Damage takes what could not be read.
	Damage(err error)
}

// Choice says which objects of a file are asked for, and which of their fields. The zero value is
// all of all.
type Choice struct {
	Name   string // "": any
	Fields Fields // none: all
	// Known reports whether an object with these metadata need not be read: its namespace, name, UID and
	// resourceVersion. Nil: none. It is asked about objects in files of their own.
	Known func(head map[string]any) bool
}

// Read hands the objects of a file to a sink.
func Read(raw []byte, budget *Budget, sink Sink) { ReadChosen(raw, Choice{}, budget, sink) }

// ReadChosen hands the objects of a file that are asked for to a sink. An object can have more
// fields than those: what is not cheap to leave out stays.
func ReadChosen(raw []byte, choice Choice, budget *Budget, sink Sink) {
	if len(bytes.TrimSpace(raw)) == 0 {
		sink.Damage(errors.New("the file is empty"))
		return
	}
	r := reader{choice, budget, sink}
	n := 0
	for doc := range documents(raw) {
		if n++; n > maxItems {
			sink.Damage(fmt.Errorf("more than %d documents", maxItems))
			break
		}
		r.document(doc)
	}
}

type reader struct {
	choice Choice
	budget *Budget
	Sink
}

// decode decodes what is asked for of an object; nothing of another one.
func (r reader) decode(doc []byte) (map[string]any, error) {
	if r.choice.Name != "" {
		if head, ok := prune(doc, nameFields); ok {
			name, err := decode(head)
			if have := evidence.String(name, "metadata", "name"); err == nil && have != "" && have != r.choice.Name {
				return nil, nil
			}
		}
	}
	if some, ok := prune(doc, r.choice.Fields); ok {
		if content, err := r.budget.Decode(some); err == nil && evidence.String(content, "metadata", "name") != "" {
			return content, nil
		}
	}
	return r.budget.Decode(doc)
}

// nameFields and headFields are what shows which object it is, and in which version.
var (
	nameFields = FieldsOf("metadata.name")
	headFields = FieldsOf("metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion")
)

// other reports whether an object is another one than that which is asked for.
func (r reader) other(content map[string]any) bool {
	return content == nil || r.choice.Name != "" && evidence.String(content, "metadata", "name") != r.choice.Name
}

func (r reader) document(doc []byte) {
	if text := bytes.TrimSpace(doc); text[0] == '{' && r.json(text) {
		return
	}
	h := scanHeader(doc)
	switch {
	case h.noItems:
		if h.kind == "" {
			r.Damage(errors.New("the List is cut off"))
			return
		}
		r.Empty(h.apiVersion, itemKind(h.kind))
	case h.items > 0:
		items, ok := splitItems(doc[h.items:])
		if !ok || !r.items(h, items) {
			r.whole(doc)
		}
	default:
		r.whole(doc)
	}
}

// itemKind is the kind of the items of a List of some kind.
func itemKind(list string) string { return strings.TrimSuffix(list, "List") }

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// items decodes the items of a List. The keys of a List are printed in the
// order of the alphabet, so a List whose kind never came is cut off, and its last
// item may be too, even where it can still be parsed.
//
// False means that nothing was handed over and that the document has to be decoded as a
// whole: an item cannot be decoded, and perhaps the List was split at the wrong line, as
// within a quote whose lines begin further left than YAML allows and its decoders take.
func (r reader) items(h header, items [][]byte) bool {
	cut := h.kind == ""
	if cut && len(items) > 0 {
		items = items[:len(items)-1]
	}
	contents, errs := make([]map[string]any, len(items)), make([]error, len(items))
	failed := false
	for i, item := range items {
		contents[i], errs[i] = r.decode(item)
		failed = failed || errs[i] != nil
	}
	if failed && !cut {
		if _, err := decode(h.doc); err == nil {
			return false
		}
	}
	for i, err := range errs {
		if err != nil {
			r.Damage(fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		r.item(h.apiVersion, h.kind, contents[i])
	}
	switch {
	case cut:
		r.Damage(fmt.Errorf("cut off after %d items", len(items)))
	case len(items) == 0:
		r.Empty(h.apiVersion, itemKind(h.kind))
	}
	return true
}

// whole decodes a document that is one object, or a List in another style. The programs
// that write objects end the last line: without its end a value may be half of itself, a name
// the beginning of another name.
func (r reader) whole(doc []byte) {
	if last := doc[len(doc)-1]; last != '\n' && last != '}' && last != ']' {
		r.Damage(errors.New("its last line has no end: the file is cut off"))
		return
	}
	some := r
	if h := scanHeader(doc); h.kind == "" || isList(h.kind) || h.items > 0 || h.noItems {
		some.choice = Choice{} // a List in another style: its items have the fields
	}
	if some.choice.Known != nil {
		if head, ok := prune(doc, headFields); ok {
			if m, err := decode(head); err == nil && some.choice.Known(m) {
				return
			}
		}
	}
	content, err := some.decode(doc)
	if err != nil {
		r.Damage(err)
		return
	}
	apiVersion, kind := evidence.String(content, "apiVersion"), evidence.String(content, "kind")
	items, isArray := content["items"].([]any)
	_, has := content["items"]
	if kind != "List" && !(has && isList(kind)) {
		if !r.other(content) {
			r.Object(content, false)
		}
		return
	}
	if !isArray && content["items"] != nil {
		r.Damage(errors.New("items is not a list"))
		return
	}
	if len(items) == 0 {
		r.Empty(apiVersion, itemKind(kind))
	}
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			r.Damage(fmt.Errorf("item %d is not an object", i+1))
			continue
		}
		r.item(apiVersion, kind, m)
	}
}

// item hands over an item of a List; typed Lists may leave out their items' kind.
func (r reader) item(apiVersion, list string, content map[string]any) {
	if r.other(content) {
		r.List()
		return
	}
	if kind := itemKind(list); kind != "" && content["kind"] == nil {
		content["kind"], content["apiVersion"] = kind, apiVersion
	}
	r.Object(content, true)
}

// json reads a document that is JSON, without the detour over YAML. False means that it is
// none: YAML has braces too.
func (r reader) json(doc []byte) bool {
	var m typeMeta
	if err := json.Unmarshal(doc, &m); err != nil {
		if end := (*json.SyntaxError)(nil); errors.As(err, &end) && end.Offset >= int64(len(doc)) {
			r.Damage(errors.New("the JSON is cut off"))
			return true
		}
		return false
	}
	if m.infer(); !isList(m.Kind) {
		content, err := r.budget.decode(doc, decodeJSON)
		if err != nil {
			r.Damage(err)
			return true
		}
		if !r.other(content) {
			r.Object(content, false)
		}
		return true
	}
	r.List()
	if len(m.Items.list) == 0 {
		r.Empty(m.APIVersion, itemKind(m.Kind))
	}
	if m.Items.more {
		r.Damage(fmt.Errorf("more than %d items", maxItems))
	}
	for i, item := range m.Items.list {
		content, err := r.budget.decode(item, decodeJSON)
		if err != nil {
			r.Damage(fmt.Errorf("item %d: %w", i+1, err))
			continue
		}
		r.item(m.APIVersion, m.Kind, content)
	}
	return true
}

// typeMeta is what a JSON document says of its kind.
type typeMeta struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Items      jsonItems `json:"items"`

	Metadata json.RawMessage `json:"metadata"`
}

// jsonItems are the texts of a list's items, not more than maxItems.
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
		if len(l.list) >= maxItems {
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
