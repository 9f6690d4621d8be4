package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// leftOut is what an answer had no room for.
type leftOut struct {
	Part string `json:"part"`
	Here int    `json:"here"` // entries that are in the answer
	Of   int    `json:"of"`
	Get  string `json:"get"` // how to get the others
}

// topLevel are the parts of a document that steps name.
func topLevel(steps []string) []string {
	var list []string
	for _, step := range steps {
		if !strings.Contains(step, "[]") {
			list = append(list, step)
		}
	}
	return list
}

// document is the JSON of an answer, by its parts.
type document map[string]json.RawMessage

func (d document) size() int {
	n := len("{}")
	for k, v := range d {
		n += len(k) + len(`"":,`) + len(v)
	}
	return n
}

// wanted is which part of a document is asked for.
type wanted struct {
	tool string
	part string // "": all
	from int
}

// only leaves the part that is wanted, from an entry on.
func (d document) only(w wanted, steps []string) error {
	if w.part == "" {
		if w.from > 0 {
			return fmt.Errorf("argument from: it counts the entries of a part; name the part, one of: %s", strings.Join(topLevel(steps), ", "))
		}
		return nil
	}
	for _, name := range topLevel(steps) {
		if name != w.part {
			delete(d, name)
		}
	}
	if w.from == 0 {
		return nil
	}
	entries, ok := list(d[w.part])
	if !ok || w.from >= len(entries) {
		return fmt.Errorf("argument from: %d: part %s has %d entries; begin before them", w.from, w.part, len(entries))
	}
	var err error
	d[w.part], err = marshal(entries[w.from:])
	return err
}

// list are the entries of a part; false where it is no list.
func list(raw json.RawMessage) ([]json.RawMessage, bool) {
	var entries []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &entries) != nil {
		return nil, false
	}
	return entries, true
}

// fit leaves out what a document has no room for, in the order of the steps, and says what.
func (d document) fit(w wanted, steps []string, room int) ([]leftOut, error) {
	var left []leftOut
	for _, step := range steps {
		if d.size() <= room {
			break
		}
		part, _, nested := strings.Cut(step, "[]")
		if _, ok := d[part]; !ok {
			continue
		}
		cut := func() (leftOut, error) { return d.prefix(w, part, room) }
		if nested {
			cut = func() (leftOut, error) { return d.without(w, step) }
		}
		out, err := cut()
		if err != nil {
			return nil, err
		}
		if out.Of > out.Here {
			left = append(left, out)
		}
	}
	return left, nil
}

// prefix leaves as many entries of a part as there is room for; of what is no list nothing.
func (d document) prefix(w wanted, part string, room int) (leftOut, error) {
	out := leftOut{Part: part, Of: 1, Get: w.again(part, 0)}
	entries, ok := list(d[part])
	if !ok {
		if w.part == part {
			out.Get = byHand
		}
		delete(d, part)
		return out, nil
	}
	free := room - (d.size() - len(d[part])) - len("[]")
	for out.Here < len(entries) && free >= len(entries[out.Here])+1 {
		free -= len(entries[out.Here]) + 1
		out.Here++
	}
	first := 0
	if w.part == part {
		first = w.from
	}
	out.Of = len(entries)
	out.Get = w.again(part, first+out.Here)
	if w.part == part && out.Here == 0 {
		out.Get = fmt.Sprintf("entry %d alone has %d bytes: %s", first, len(entries[0]), byHand)
		if len(entries) > 1 {
			out.Get += "; for the next ones " + w.again(part, first+1)
		}
	}
	var err error
	d[part], err = marshal(entries[:out.Here])
	return out, err
}

// byHand is how a person gets what no call gets.
const byHand = "ask the person for the command of the answer with -o json, or to start the server with a larger --budget"

// again is the call that gets more of a part.
func (w wanted) again(part string, from int) string {
	call := fmt.Sprintf("call %s with the same arguments and part=%s", w.tool, part)
	if from > 0 {
		call += fmt.Sprintf(", from=%d", from)
	}
	return call
}

// without takes a field away from each entry: "roots[].cases[].ruledOut".
func (d document) without(w wanted, path string) (leftOut, error) {
	part, rest, _ := strings.Cut(path, "[].")
	out := leftOut{Part: path, Get: w.again(part, 0)}
	if w.part == part {
		out.Get = byHand
	}
	var value any
	dec := json.NewDecoder(bytes.NewReader(d[part]))
	dec.UseNumber()
	if err := dec.Decode(&value); err != nil {
		return out, fmt.Errorf("read part %s of the answer: %w", part, err)
	}
	out.Of = remove(value, rest)
	if out.Of == 0 {
		return out, nil
	}
	var err error
	d[part], err = marshal(value)
	return out, err
}

// remove deletes a field of each entry, and counts what was in it.
func remove(value any, path string) (n int) {
	entries, _ := value.([]any)
	field, rest, nested := strings.Cut(path, "[].")
	for _, e := range entries {
		o, ok := e.(map[string]any)
		if !ok {
			continue
		}
		if nested {
			n += remove(o[field], rest)
			continue
		}
		if l, ok := o[field].([]any); ok {
			n += len(l)
			delete(o, field)
		}
	}
	return n
}

// marshal encodes without the escapes of HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode the answer: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// read takes a document apart. A list of pages, as explain has it, becomes a document.
func read(data []byte) (document, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	raw := compact.Bytes()
	if len(raw) > 0 && raw[0] == '[' {
		return document{"pages": raw}, nil
	}
	d := document{}
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return d, nil
}

// cutText leaves the lines of a text that fit, and how many it left out.
func cutText(text string, room int) (string, int) {
	if len(text) <= room {
		return text, 0
	}
	lines := strings.SplitAfter(text, "\n")
	n, kept := 0, 0
	for kept < len(lines) && n+len(lines[kept]) <= room {
		n += len(lines[kept])
		kept++
	}
	return strings.Join(lines[:kept], ""), len(slices.DeleteFunc(lines[kept:], func(l string) bool { return l == "" }))
}
