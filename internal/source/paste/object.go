package paste

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/objectfile"
	"github.com/rollcall-project/rollcall/internal/text/octable"
)

const (
	maxObjects = 20_000
	maxTries   = 20           // lines at the end of a YAML object that are given up to read the rest
	maxSpent   = 8 * MaxBytes // bytes that are decoded of one text, the tries included
)

var (
	beginsYAML = regexp.MustCompile(`^[ ]{0,12}(?:- )?apiVersion: *["']?[a-z0-9./-]+["']?$`)
	keyAtLeft  = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9_.-]*:(?: |$)|- |\.\.\.|---)`)
)

// object takes an object of YAML or JSON, as `oc get -o yaml` prints it.
func (sp *splitter) object() bool {
	line := sp.lines[sp.at]
	switch {
	case len(line) > 0 && line[0] == '{':
		return sp.json()
	case beginsYAML.Match(line):
		return sp.yaml()
	}
	return false
}

// json decodes one value from the line on.
func (sp *splitter) json() bool {
	in := &lineReader{lines: sp.lines[sp.at:]}
	d := json.NewDecoder(in)
	var raw json.RawMessage
	err := d.Decode(&raw)
	if sp.spent += in.read; err != nil || sp.spent > maxSpent {
		sp.brokenJSON(err)
		return false
	}
	end := sp.at + 1 + bytes.Count(raw, []byte{'\n'})
	if !sp.addObject(raw, sp.at+1) {
		return false
	}
	sp.at = end
	return true
}

// lineReader reads lines one after the other, as far as it is asked.
type lineReader struct {
	lines [][]byte
	rest  []byte
	read  int
}

// Read implements io.Reader.
func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if len(r.lines) == 0 {
			return 0, io.EOF
		}
		r.rest, r.lines = append(bytes.Clone(r.lines[0]), '\n'), r.lines[1:]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	r.read += n
	return n, nil
}

// yaml gathers the lines of one object by their margin, and decodes them. A paste is often
// cut within an object: then its last lines are given up.
func (sp *splitter) yaml() bool {
	first := sp.at
	margin := len(sp.lines[first]) - len(bytes.TrimLeft(sp.lines[first], " "))
	item := bytes.HasPrefix(sp.lines[first][margin:], []byte("- "))
	end := first + 1
	for ; end < len(sp.lines); end++ {
		line := sp.lines[end]
		left := len(line) - len(bytes.TrimLeft(line, " "))
		if len(line) == 0 || left > margin {
			continue
		}
		if item || left < margin || !keyAtLeft.Match(line[left:]) || bytes.HasPrefix(line[left:], []byte("---")) {
			break
		}
		if sp.isCommand(end) || bytes.HasPrefix(line[left:], []byte("apiVersion:")) {
			break
		}
	}
	if end-first < 3 { // apiVersion, kind and a name
		return false
	}
	var b bytes.Buffer
	for i := first; i < end; i++ {
		line := sp.lines[i]
		if i == first && item {
			line = append(bytes.Repeat([]byte(" "), margin+2), line[margin+2:]...)
		}
		b.Write(line[min(margin, len(line)):])
		b.WriteByte('\n')
	}
	text := b.Bytes()
	if item { // the keys of an item of a list stand two further right
		var inner bytes.Buffer
		for line := range bytes.Lines(text) {
			inner.Write(line[min(2, len(line)-1):])
		}
		text = inner.Bytes()
	}
	var err, whole error
	for range maxTries {
		if sp.spent += len(text); sp.spent > maxSpent {
			return false
		}
		if _, _, _, err = objectfile.DecodeKind(text); err == nil {
			break
		}
		whole = cmp.Or(whole, err)
		cut := bytes.LastIndexByte(bytes.TrimRight(text, "\n"), '\n')
		if cut < 0 {
			break
		}
		text = text[:cut+1]
	}
	if whole != nil && sp.begins() {
		sp.s.broken = fmt.Errorf("no valid YAML: %w", whole)
	}
	if err != nil || !sp.addObject(text, first+1) {
		if err != nil {
			sp.s.addUnreadable(first+1, "object", err)
		}
		return false
	}
	sp.at = end
	return true
}

// begins reports whether nothing but comments stands before the present line: the text is a
// file of one object, and not a paste that has one in it.
func (sp *splitter) begins() bool {
	return !slices.ContainsFunc(sp.lines[:sp.at], func(line []byte) bool {
		line = bytes.TrimSpace(line)
		return len(line) > 0 && line[0] != '#' && string(line) != "---"
	})
}

// brokenJSON notes that a file of one object cannot be decoded, with the line.
func (sp *splitter) brokenJSON(err error) {
	text := bytes.Join(sp.lines[sp.at:], []byte{'\n'})
	if err == nil || !sp.begins() || !bytes.Contains(text, []byte(`"apiVersion"`)) {
		return
	}
	line := len(sp.lines)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		line = sp.at + 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte{'\n'})
	}
	sp.s.broken = fmt.Errorf("no valid JSON: line %d: %w", line, err)
}

func (sp *splitter) isCommand(i int) bool {
	return prompt.MatchString(octable.Unmarked(string(sp.lines[i])))
}

// addObject keeps an object, or the items of a List; false where it is no object of an API.
func (sp *splitter) addObject(raw []byte, line int) bool {
	content, resource, ok, err := objectfile.DecodeKind(objectfile.Typed(raw))
	if err != nil || !ok {
		return false
	}
	listVersion, listKind := evidence.String(content, "apiVersion"), strings.TrimSuffix(evidence.String(content, "kind"), "List")
	items, isList := content["items"].([]any)
	if !isList {
		sp.put(content, resource, line)
		return true
	}
	for _, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if m["kind"] == nil && listKind != "" { // typed Lists may leave out their items' kind
			m["kind"], m["apiVersion"] = listKind, listVersion
		}
		text, err := json.Marshal(m)
		if err != nil {
			sp.s.addUnreadable(line, "item of a list", err)
			continue
		}
		content, resource, ok, err := objectfile.DecodeKind(text)
		if err == nil && ok {
			sp.put(content, resource, line)
		}
	}
	return true
}

// put keeps an object that has a name.
func (sp *splitter) put(content map[string]any, r evidence.Resource, line int) {
	name := evidence.String(content, "metadata", "name")
	if name == "" {
		return
	}
	if len(sp.s.objects[r]) >= maxObjects {
		return
	}
	if evidence.String(content, "metadata", "uid") == "" { // somebody has cut it: what the API server gives has one
		mark(content)
	}
	o := evidence.Object{Resource: r, Namespace: evidence.String(content, "metadata", "namespace"), Name: name, Content: content, Loc: sp.s.at(line)}
	o.Loc.Path = r.Name + "/" + name
	key := strings.Join([]string{r.String(), o.Namespace, name}, "\x00")
	i, again := sp.known[key]
	switch {
	case !again:
		sp.known[key] = len(sp.s.objects[r])
		sp.s.objects[r] = append(sp.s.objects[r], o)
	case !tableOnly(o) || tableOnly(sp.s.objects[r][i]): // the whole object says more than a row
		sp.s.objects[r][i] = o
	}
}

// mark notes in an object that it may lack fields.
func mark(content map[string]any) {
	meta, ok := content["metadata"].(map[string]any)
	if !ok {
		return
	}
	notes, ok := meta["annotations"].(map[string]any)
	if !ok {
		notes = map[string]any{}
		meta["annotations"] = notes
	}
	if notes[evidence.PartMark] == nil {
		notes[evidence.PartMark] = "fields"
	}
}
