package accept

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// MaxSize bounds a file, in bytes.
const MaxSize = 1 << 20

// Catalog knows faults by their ids and aliases.
type Catalog interface {
	Named(name string) []*fault.Fault
}

// fields are what an entry can have, those that it needs first.
var fields = []string{"fault", "subject", "reason", "owner", "until", "cluster"}

const needed = 5 // of fields

// Parse reads a file. near returns the end of a message about a word that is no fault, such as
// " (did you mean pool-paused?)". All mistakes are reported together, each with its line.
func Parse(file string, raw []byte, c Catalog, near func(word string) string) (*List, error) {
	if len(raw) > MaxSize {
		return nil, fmt.Errorf("%s: longer than %d bytes", file, MaxSize)
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	var doc, more yaml.Node // aliases are not followed
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return &List{}, nil // nothing but comments
	case err != nil:
		return nil, fmt.Errorf("%s:%w", file, lineOf(err))
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: it holds more than one YAML document", file)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return &List{}, nil
	}
	if top.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%s:%d: want a list of entries, each with %s and %s", file, top.Line, strings.Join(fields[:needed-1], ", "), fields[needed-1])
	}
	p := parser{file: file, catalog: c, near: near}
	l := &List{}
	for _, n := range top.Content {
		if e, ok := p.entry(n); ok {
			l.entries = append(l.entries, e)
		}
	}
	return l, errors.Join(p.wrong...)
}

// lineOf puts the line of an error of the decoder, "yaml: line 3: ...", first.
func lineOf(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		return errors.New(rest)
	}
	return errors.New(" " + text)
}

type parser struct {
	file    string
	catalog Catalog
	near    func(string) string
	wrong   []error
}

func (p *parser) fail(line int, format string, args ...any) {
	p.wrong = append(p.wrong, fmt.Errorf("%s:%d: %s", p.file, line, fmt.Sprintf(format, args...)))
}

// entry reads one entry; false where something in it is wrong.
func (p *parser) entry(n *yaml.Node) (entry, bool) {
	before := len(p.wrong)
	e := entry{At: fmt.Sprintf("%s:%d", p.file, n.Line)}
	values := p.values(n)
	for _, name := range fields[:needed] {
		if n.Kind == yaml.MappingNode && values[name] == nil {
			p.fail(n.Line, "the entry has no %s", name)
		}
	}
	var about *fault.Fault
	if v := values["fault"]; v != nil {
		if about = p.fault(v); about != nil {
			e.Fault = about.ID
		}
	}
	if v := values["subject"]; v != nil {
		e.Subject = p.subject(v, about)
	}
	if v := values["until"]; v != nil {
		e.Until = p.day(v)
	}
	e.Reason, e.Owner, e.Cluster = text(values["reason"]), text(values["owner"]), text(values["cluster"])
	return e, len(p.wrong) == before
}

// values are the fields of an entry that are not empty.
func (p *parser) values(n *yaml.Node) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.fail(n.Line, "want an entry with %s", strings.Join(fields[:needed], ", "))
		return nil
	}
	values, seen := map[string]*yaml.Node{}, map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(fields, key.Value):
			p.fail(key.Line, "%q is no field of an entry; there are %s", key.Value, strings.Join(fields, ", "))
		case seen[key.Value]:
			p.fail(key.Line, "%s is there twice", key.Value)
		case value.Kind != yaml.ScalarNode:
			p.fail(value.Line, "%s is not a text", key.Value)
			values[key.Value] = &yaml.Node{Line: value.Line} // it is there
		case key.Value == "cluster" && text(value) == "":
			p.fail(value.Line, "cluster is empty; leave it out to accept it on every cluster, or write the cluster's id")
		case value.Tag != "!!null" && text(value) != "":
			values[key.Value] = value
		}
		seen[key.Value] = true
	}
	return values
}

// text is a value on one line.
func text(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	return strings.Join(strings.Fields(n.Value), " ")
}

func (p *parser) fault(n *yaml.Node) *fault.Fault {
	word := text(n)
	list := p.catalog.Named(word)
	switch {
	case word == "": // it is reported already
	case len(list) == 0:
		p.fail(n.Line, "there is no fault %q%s", word, p.near(word))
	case len(list) > 1:
		var ids []string
		for _, f := range list {
			ids = append(ids, f.ID)
		}
		p.fail(n.Line, "%q is another name of several faults; name one of %s", word, strings.Join(ids, ", "))
	default:
		return list[0]
	}
	return nil
}

// subject reads "pool/master", "node/w*", "cluster" or "*", for a fault where it is known.
func (p *parser) subject(n *yaml.Node, about *fault.Fault) pattern {
	word := text(n)
	if word == "" {
		return pattern{}
	}
	if word == "*" && about != nil {
		return pattern{about.For, word}
	}
	if word == string(fault.Cluster) || word == "*" {
		word = string(fault.Cluster) + "/*"
	}
	kind, name, ok := strings.Cut(word, "/")
	k, known := fault.KindOf(kind)
	if kind == string(fault.Cluster) {
		k, known = fault.Cluster, true
	}
	switch _, err := path.Match(name, ""); {
	case k == fault.Cluster && ok && name != "*":
		p.fail(n.Line, "subject %q: write cluster, and the cluster's id in the field cluster", word)
	case !ok || !known || name == "":
		p.fail(n.Line, "%q is no subject; write it as node/NAME, mcp/NAME, csr/NAME, co/NAME, nodepool/NAME or cluster, with * for any characters", word)
	case err != nil:
		p.fail(n.Line, "subject %q: it is no valid glob", word)
	case about != nil && about.For != k:
		p.fail(n.Line, "%s is a fault of a %s, and %q is a %s", about.ID, about.For, text(n), k)
	}
	return pattern{k, name}
}

func (p *parser) day(n *yaml.Node) time.Time {
	word := text(n)
	t, err := time.Parse(time.DateOnly, word)
	if err != nil && word != "" {
		p.fail(n.Line, "until %q is no date; write it as 2026-12-31", word)
	}
	return t
}
