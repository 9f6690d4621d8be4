package objectfile

import (
	"bytes"
	"slices"
	"strings"
)

// Fields are the fields of an object that somebody asks for, by name. Of a field without fields of
// its own everything is kept; lists are passed through, their items have the fields.
type Fields map[string]Fields

// FieldsOf are the fields of paths such as "status.conditions", each whole.
func FieldsOf(paths ...string) Fields {
	all := Fields{}
	for _, path := range paths {
		if slices.ContainsFunc(paths, func(other string) bool { return strings.HasPrefix(path, other+".") }) {
			continue
		}
		at := all
		for name := range strings.SplitSeq(path, ".") {
			if at[name] == nil {
				at[name] = Fields{}
			}
			at = at[name]
		}
	}
	return all
}

// prune leaves out the lines of a block style document that hold other fields than the given ones:
// to decode YAML takes a hundred times as long as to read its lines. What it does not understand
// stays. False means that the document has to be decoded as it is.
//
// It relies on what every program that writes objects does: what belongs to a key stands further
// right than the key, or is a list whose dashes stand below it. A document in another form is cut
// at the wrong line, and mostly cannot be decoded then; the caller decodes it whole.
func prune(doc []byte, fields Fields) ([]byte, bool) {
	if len(fields) == 0 || otherBreaks(doc) {
		return nil, false
	}
	p := pruner{out: make([]byte, 0, len(doc)/4), levels: []level{{column: -1, fields: fields}}, ends: -1}
	for line := range bytes.Lines(doc) {
		p.line(line)
	}
	return p.out, true
}

// level is a mapping whose fields are told apart: those of the document, of a field, of an item.
type level struct {
	column int    // of the key that it belongs to; -1: the document
	fields Fields // never empty
}

// pruner reads a document line by line.
type pruner struct {
	out    []byte
	levels []level
	ends   int  // column of the key whose value is passed over as a whole; -1: of none
	keep   bool // and whether it is kept
}

func (p *pruner) line(line []byte) {
	left := margin(line)
	if left == len(line) || line[left] == '\n' || line[left] == '\r' {
		if p.keep && p.ends >= 0 {
			p.out = append(p.out, line...)
		}
		return
	}
	item := dash(line, left)
	if p.ends >= 0 && (left > p.ends || left == p.ends && item) {
		if p.keep {
			p.out = append(p.out, line...)
		}
		return
	}
	if line[left] == '#' {
		return // a comment
	}
	p.ends = -1
	for top := p.levels[len(p.levels)-1]; left < top.column || left == top.column && !item; top = p.levels[len(p.levels)-1] {
		p.levels = p.levels[:len(p.levels)-1]
	}
	for item {
		p.out = append(append(p.out, line[:left+1]...), '\n') // what is kept of the item follows
		at := left + 1
		for at < len(line) && line[at] == ' ' {
			at++
		}
		if at == len(line) || line[at] == '\n' || line[at] == '\r' {
			return
		}
		line, left = append(bytes.Repeat([]byte(" "), at), line[at:]...), at
		item = dash(line, left)
	}
	p.key(line, left)
}

// key keeps or leaves out what belongs to the key at the left of a line.
func (p *pruner) key(line []byte, left int) {
	name, value, ok := bytes.Cut(line[left:], []byte(":"))
	if p.ends, p.keep = left, true; !ok || !plainKey(name) || len(value) > 0 && value[0] != ' ' && value[0] != '\n' && value[0] != '\r' {
		p.out = append(p.out, line...) // no key that is known for one: it stays
		return
	}
	below, wanted := p.levels[len(p.levels)-1].fields[string(name)]
	if !wanted {
		p.keep = false
		return
	}
	p.out = append(p.out, line...)
	if len(below) > 0 && len(bytes.TrimSpace(value)) == 0 {
		p.levels, p.ends = append(p.levels, level{left, below}), -1
	}
}

// plainKey reports whether a key is written without quotes and signs.
func plainKey(name []byte) bool {
	for _, c := range name {
		if !ofName(c) && c != '.' && c != '/' {
			return false
		}
	}
	return len(name) > 0 && name[0] != '-'
}

func ofName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}
