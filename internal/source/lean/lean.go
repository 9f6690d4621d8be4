// Package lean knows of the kinds that a cluster has most of which fields facts read, and
// decodes no others: from protobuf, as a live cluster answers, and from what the objects of
// an archive were decoded to. Who writes down what was read has no use for it.
//
// Invariant: an object has the same fields, values and types whichever way it came.
package lean

import (
	"maps"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Of returns what is kept of a resource's objects in a version of its API, nil for
// everything. The fields are those of the version v1.
func Of(r evidence.Resource, version string) Message {
	if version != "v1" {
		return nil
	}
	return kinds[r.In("")]
}

// Kinds are the resources of which only some fields are kept, in no order.
func Kinds() []evidence.Resource { return slices.Collect(maps.Keys(kinds)) }

// Paths are those of all fields of a message, as in ".spec.nodeName", in no order.
func (m Message) Paths() []string {
	var list []string
	for _, f := range m {
		list = append(list, "."+f.name)
		for _, below := range f.of.Paths() {
			list = append(list, "."+f.name+below)
		}
	}
	return list
}

// Decoder decodes the objects of one list. Strings that come again and again (namespaces,
// nodes, labels, times) are kept once, as values: to make a value of a string is an allocation
// of its own. It is not for concurrent use.
type Decoder struct {
	known map[string]any
}

// NewDecoder returns a decoder that has seen nothing.
func NewDecoder() *Decoder { return &Decoder{known: map[string]any{}} }

// Longer strings than longestKnown do not come again; of shorter ones mostKnown are kept.
const longestKnown, mostKnown = 80, 1 << 14

// text returns a string, of short ones the same one each time.
func (d *Decoder) text(raw []byte) any {
	if len(raw) > longestKnown {
		return string(raw)
	}
	if v, ok := d.known[string(raw)]; ok {
		return v
	}
	s := string(raw)
	return d.remember(s, s)
}

// name is text for the key of a map.
func (d *Decoder) name(raw []byte) string {
	s, _ := d.text(raw).(string)
	return s
}

// once is text for a value that is a string.
func (d *Decoder) once(s string, v any) any {
	if len(s) > longestKnown {
		return v
	}
	if have, ok := d.known[s]; ok {
		return have
	}
	return d.remember(s, v)
}

// key is once for the key of a map.
func (d *Decoder) key(s string) string {
	if have, ok := d.known[s].(string); ok {
		return have
	}
	if len(s) <= longestKnown {
		d.remember(s, s)
	}
	return s
}

func (d *Decoder) remember(s string, v any) any {
	if len(d.known) < mostKnown {
		d.known[s] = v
	}
	return v
}

// Object keeps of an object of any version what is kept of its resource. Secrets stay
// whole: those of a collection have keys that say how much of them was read, and those of a
// person may have fields that no API returns.
func (d *Decoder) Object(r evidence.Resource, content map[string]any) map[string]any {
	if r.In("") == evidence.Secrets {
		return content
	}
	of := evidence.String(content, "apiVersion")
	m := Of(r, of[strings.LastIndexByte(of, '/')+1:])
	out := d.Keep(content, m)
	if m != nil {
		out["apiVersion"], out["kind"] = content["apiVersion"], content["kind"]
	}
	return out
}

// Keep drops of an object that was decoded from JSON or YAML what is not kept of it. The
// object itself is not changed. A nil message keeps every field.
func (d *Decoder) Keep(content map[string]any, m Message) map[string]any {
	if m == nil {
		out, _ := d.all(content).(map[string]any)
		return out
	}
	out := make(map[string]any, min(len(m), len(content)))
	for _, f := range m {
		v, ok := content[f.name]
		if !ok || v == nil {
			continue
		}
		out[f.name] = d.keep(v, f)
	}
	return out
}

func (d *Decoder) keep(v any, f field) any {
	switch v := v.(type) {
	case map[string]any:
		if f.kind == object {
			return d.Keep(v, f.of)
		}
	case []any:
		if f.kind == manyObject {
			out := make([]any, len(v))
			for i, e := range v {
				out[i] = e
				if o, ok := e.(map[string]any); ok {
					out[i] = d.Keep(o, f.of)
				}
			}
			return out
		}
	}
	return d.all(v)
}

// all keeps every part of a value, and equal strings once.
func (d *Decoder) all(value any) any {
	switch v := value.(type) {
	case string:
		return d.once(v, value)
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, child := range v {
			out[d.key(k)] = d.all(child)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, child := range v {
			out[i] = d.all(child)
		}
		return out
	}
	return value
}
