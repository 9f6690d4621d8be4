// Package yamlin reads YAML that others wrote, within a bound.
//
// The decoder bounds how often aliases are followed, not how long what they stand
// for is: an alias to one long text costs the decoder nothing and the JSON that is
// made of it everything. So the size of the JSON is known before it is made.
package yamlin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	kyaml "sigs.k8s.io/yaml"
)

// ToJSON turns the first document of raw into JSON, as Kubernetes reads YAML. With its
// aliases followed it may have limit bytes.
func ToJSON(raw []byte, limit int) ([]byte, error) {
	if isJSON(raw) {
		if len(raw) > limit {
			return nil, tooLong(limit)
		}
		return raw, nil
	}
	if err := check(raw, limit); err != nil {
		return nil, err
	}
	text, err := kyaml.YAMLToJSON(raw)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	if len(text) > limit {
		return nil, tooLong(limit)
	}
	return text, nil
}

// Unmarshal reads the first document of raw into v, by the names that JSON has for
// its fields. With its aliases followed it may have limit bytes as JSON.
func Unmarshal(raw []byte, v any, limit int) error {
	if err := check(raw, limit); err != nil {
		return err
	}
	return kyaml.Unmarshal(raw, v)
}

// UnmarshalStrict is Unmarshal that refuses fields that v does not have, and double ones.
func UnmarshalStrict(raw []byte, v any, limit int) error {
	if err := check(raw, limit); err != nil {
		return err
	}
	return kyaml.UnmarshalStrict(raw, v)
}

// UnmarshalExact reads raw into v, by the names that YAML has for its fields, where it can be read
// in one way only: it refuses a second document, a field that v does not have, that is there
// twice, or that differs in case, and a merge of fields, an anchor, an alias, a tag, a byte order mark, and a bare word that is
// no text for a reader of some version of YAML. All values of v are texts and times. A text without
// a document leaves v as it is.
func UnmarshalExact(raw []byte, v any, limit int) error {
	if len(raw) > limit {
		return tooLong(limit)
	}
	if err := oneLayout(raw); err != nil {
		return err
	}
	if err := check(raw, limit); err != nil {
		return err
	}
	var doc yaml.Node // of the first document
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return err
	}
	if err := ambiguous(&doc, strings.Split(string(raw), "\n")); err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(v); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return err
	}
	var more yaml.Node
	switch err := d.Decode(&more); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return err
	}
	return fmt.Errorf("line %d: a second document", more.Line)
}

// oneLayout refuses characters at which readers and editors disagree about where a line ends, or what is shown: YAML 1.1
// ends a line, and with it a comment, at NEL, LS and PS, and YAML 1.2 does not (yaml.org/spec/1.2.2, 5.4).
func oneLayout(raw []byte) error {
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 { // readers of YAML also take UTF-16 and UTF-32
		return errors.New("it is not plain UTF-8; save it as UTF-8, without zeros in it")
	}
	line := 1
	if plain := bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf")); bytes.HasPrefix(plain, []byte("%")) || bytes.Contains(raw, []byte("\n%")) {
		return errors.New("a line begins with %: directives of YAML change what the rest means; leave them out")
	}
	for i, r := range string(raw) {
		switch {
		case r == '\n':
			line++
		case r == '\t', r == '\r' && i+1 < len(raw) && raw[i+1] == '\n':
		case !unicode.IsPrint(r), unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector), r == blankBraille:
			return fmt.Errorf("line %d: the character %U, which readers take for a line's end, or which is not shown; write plain lines", line, r)
		}
	}
	return nil
}

// blankBraille is a pattern of Braille without dots. It counts as a sign.
const blankBraille = '\u2800'

// bareDate is what YAML 1.1 reads as a time.
var bareDate = regexp.MustCompile(`^\d{4}-\d\d?-\d\d?$`)

// ambiguous returns what another reader may take for something else than a text or a time.
func ambiguous(n *yaml.Node, lines []string) error {
	bare := n.Kind == yaml.ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return fmt.Errorf("line %d: an anchor or an alias (& or *); write what it stands for", n.Line)
	case n.Tag == "!!merge":
		return fmt.Errorf("line %d: fields are merged (<<)", n.Line)
	case n.Style&yaml.TaggedStyle != 0 || tagged(n, lines):
		return fmt.Errorf("line %d: a tag (%s)", n.Line, n.Tag)
	case bare && n.Tag == "!!null":
		return fmt.Errorf("line %d: a field without a value; write the value, or leave the field out", n.Line)
	case bare && (bareDate.MatchString(n.Value) || n.Tag == "!!int" || n.Tag == "!!float" || n.Tag == "!!bool" || yesNo(n.Value)):
		return fmt.Errorf("line %d: %.40q may be read as a number, a date or a yes or no; write it in quotes", n.Line, n.Value)
	}
	for _, child := range n.Content {
		if err := ambiguous(child, lines); err != nil {
			return err
		}
	}
	return nil
}

// tagged reports whether a tag is in front of a node, also the tag ! alone, which the decoder does not keep. An anchor may be in front.
func tagged(n *yaml.Node, lines []string) bool {
	if n.Kind == yaml.DocumentNode || n.Line < 1 || n.Line > len(lines) {
		return false
	}
	runes := []rune(lines[n.Line-1])
	text := strings.TrimLeft(string(runes[min(max(n.Column-1, 0), len(runes)):]), "\ufeff")
	if anchor, rest, _ := strings.Cut(text, " "); strings.HasPrefix(anchor, "&") {
		text = strings.TrimLeft(rest, " ")
	}
	return strings.HasPrefix(text, "!")
}

// yesNo are the words that YAML 1.1 reads as booleans (yaml.org/type/bool.html).
func yesNo(word string) bool {
	switch strings.ToLower(word) {
	case "y", "n", "yes", "no", "on", "off":
		return true
	}
	return false
}

// isJSON knows an object that is JSON already: reading it as YAML would take many times
// as long.
func isJSON(raw []byte) bool {
	return len(raw) > 1 && raw[0] == '{' && json.Valid(raw)
}

func tooLong(limit int) error {
	return fmt.Errorf("more than %d bytes after its aliases were followed", limit)
}

// check refuses a document whose aliases make it longer than limit.
func check(raw []byte, limit int) error {
	if !mayAlias(raw) {
		return nil
	}
	var doc yaml.Node // its aliases are not followed
	if err := yaml.Unmarshal(raw, &doc); err != nil {
		return err
	}
	m := measure{limit: limit, known: map[*yaml.Node]int{}}
	if n := m.size(&doc); m.circle {
		return errors.New("an alias stands for what it is a part of")
	} else if n > limit {
		return tooLong(limit)
	}
	return nil
}

// mayAlias reports whether there may be an anchor and an alias: both signs with a
// letter of a name behind them (go.yaml.in/yaml/v2:scannerc.go yaml_parser_scan_anchor).
func mayAlias(raw []byte) bool {
	if len(raw) > 1 && (raw[0] == 0xfe && raw[1] == 0xff || raw[0] == 0xff && raw[1] == 0xfe) {
		return true // UTF-16
	}
	anchor, alias := false, false
	for i := 0; i+1 < len(raw) && !(anchor && alias); i++ {
		switch raw[i] {
		case '&':
			anchor = anchor || ofName(raw[i+1])
		case '*':
			alias = alias || ofName(raw[i+1])
		}
	}
	return anchor && alias
}

func ofName(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c == '-'
}

// measure sums the size of a document as JSON, with what its aliases stand for.
type measure struct {
	limit  int
	known  map[*yaml.Node]int // of what aliases stand for; -1 while it is summed
	circle bool
}

func (m *measure) size(n *yaml.Node) int {
	switch n.Kind {
	case yaml.ScalarNode:
		return max(jsonLen(n.Value), len("null")) + 1
	case yaml.AliasNode:
		size, ok := m.known[n.Alias]
		if size < 0 {
			m.circle = true
			return 0
		}
		if !ok {
			m.known[n.Alias] = -1
			size = m.size(n.Alias)
			m.known[n.Alias] = size
		}
		return size
	}
	sum := 2
	for _, child := range n.Content {
		if sum += m.size(child); sum > m.limit || m.circle {
			break // also long before a number could overflow
		}
	}
	return sum
}

// jsonLen is the length of a text as encoding/json writes it.
func jsonLen(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ' || c == '<' || c == '>' || c == '&':
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}
