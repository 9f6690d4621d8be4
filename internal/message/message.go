// Package message recognizes in any text what programs print when a host does not join:
// the lines of catalog/messages, and what they show.
//
// Invariants:
//   - It decides nothing about a cluster. A text shows what its lines say and no more: what
//     no one pasted is unknown and never healthy.
//   - A fault that does not stand alone, and a line that only says that something failed,
//     are symptoms: with nothing else the result is unknown.
//   - Texts are foreign bytes of any size. They are read once, in bounded memory; of each
//     fault a few lines are kept.
package message

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Index finds the messages of a catalog. It is safe for concurrent use.
type Index struct {
	catalog  *fault.Catalog
	rules    []rule
	set      *scan.Set
	literals []literal // by signature of set
}

// rule is one message, ready to be tried on a line.
type rule struct {
	fault.Message
	program       string
	file          *fault.Messages
	index         int      // of the message in its file
	parts         [][]byte // lower case, blanks as one: all must be in the line
	match, unless *pattern
	over          *pattern // earlier lines that this one ends
}

// literal is what a signature of the automaton stands for.
type literal struct {
	rule int
	with bool // a literal of With: it counts anywhere in the input

	without bool // a literal of Without, likewise
}

// New compiles the messages of a catalog.
func New(c *fault.Catalog) (*Index, error) {
	x := &Index{catalog: c}
	var signatures []scan.Signature
	add := func(text string, l literal) {
		for _, written := range spellings(text) {
			signatures = append(signatures, scan.Signature{ID: fmt.Sprint(len(signatures)), Literal: written})
			x.literals = append(x.literals, l)
		}
	}
	for _, file := range c.Messages {
		for i, m := range file.Messages {
			if m.Neutral() {
				continue
			}
			r := rule{Message: m, program: file.Program, file: file, index: i}
			for _, part := range append([]string{m.Text}, m.Also...) {
				r.parts = append(r.parts, []byte(strings.ToLower(plain(part))))
			}
			var err error
			if r.match, err = compile(m.Match); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			if r.unless, err = compile(m.Unless); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			if r.over, err = compile(m.Over); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			add(sought(m), literal{rule: len(x.rules)})
			for _, w := range m.With {
				add(w, literal{rule: len(x.rules), with: true})
			}
			for _, w := range m.Without {
				add(w, literal{rule: len(x.rules), without: true})
			}
			x.rules = append(x.rules, r)
		}
	}
	var err error
	x.set, err = scan.Compile(signatures)
	return x, err
}

// sought is the literal by which lines of a message are found: its text, or a part of the
// same line that is longer where the text is very short. Longer ones are found faster.
func sought(m fault.Message) string {
	best := m.Text
	for _, part := range m.Also {
		if n := len(spellings(best)[0]); n < 6 && len(spellings(part)[0]) > n {
			best = part
		}
	}
	return best
}

// spellings are the ways in which a literal stands in a log: with its quotes, and with the
// backslashes of one and of two encoders before them. Of letters beyond ASCII, which are
// written in many ways, the literal has what stands between them.
func spellings(text string) []string {
	best := ""
	for _, piece := range strings.FieldsFunc(plain(text), func(r rune) bool { return r == '\\' || r > '~' }) {
		if piece = strings.TrimSpace(piece); len(piece) > len(best) {
			best = piece
		}
	}
	best = strings.ToLower(best)
	list := []string{best}
	if strings.Contains(best, `"`) {
		list = append(list, strings.ReplaceAll(best, `"`, `\"`), strings.ReplaceAll(best, `"`, `\\\"`))
	}
	return list
}

// holds reports whether a line, plain and in lower case, is one of the rule.
func (r *rule) holds(line []byte) bool {
	for _, part := range r.parts {
		if !bytes.Contains(line, part) {
			return false
		}
	}
	if r.match != nil && !r.match.in(line) {
		return false
	}
	return r.unless == nil || !r.unless.in(line)
}

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]`)
	quotes  = strings.NewReplacer(`\\\"`, `"`, `\"`, `"`, `\'`, `'`, "\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, `\t`, " ", `\n`, "\n")
)

// plain is a line without what a terminal, a JSON encoder and a word processor add.
func plain(line string) string {
	control, foreign, blanks := false, false, false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '\t', c == ' ' && i > 0 && line[i-1] == ' ':
			blanks = true
		case c < ' ' && c != '\n', c == 0x7f:
			control = true
		case c == '\\', c >= 0x80:
			foreign = true
		}
	}
	if control {
		line = escapes.ReplaceAllString(line, "")
	}
	if foreign {
		line = quotes.Replace(line)
	}
	if control || foreign || blanks {
		line = oneBlank(line)
	}
	return strings.TrimSpace(line)
}

// plainLower appends a plain line in lower case to buffer. Most lines have nothing that a
// pass over their bytes does not do.
func plainLower(buffer, line []byte) []byte {
	for _, c := range line {
		switch {
		case c >= 0x80, c == '\\', c == 0x7f, c < ' ' && c != '\t':
			return append(buffer[:0], strings.ToLower(plain(string(line)))...)
		case c == ' ' || c == '\t':
			if n := len(buffer); n > 0 && buffer[n-1] != ' ' {
				buffer = append(buffer, ' ')
			}
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		buffer = append(buffer, c)
	}
	return bytes.TrimSuffix(buffer, []byte{' '})
}

// oneBlank makes each run of blanks, tabs and no-break spaces one blank.
func oneBlank(line string) string {
	const noBreak = "\u00a0"
	var b strings.Builder
	b.Grow(len(line))
	last := false
	for i := 0; i < len(line); i++ {
		c := line[i]
		blank := c == ' ' || c == '\t'
		if strings.HasPrefix(line[i:], noBreak) {
			blank = true
			i += len(noBreak) - 1
		}
		if !blank {
			b.WriteByte(c)
		} else if !last {
			b.WriteByte(' ')
		}
		last = blank
	}
	return b.String()
}

// maxTried is how much of one line is looked at, around what was found.
const maxTried = 16 << 10

// window cuts a line that is very long around a position, and says where the cut ends.
func window(line []byte, at int) (part []byte, end int) {
	if len(line) <= maxTried {
		return line, len(line)
	}
	from := max(0, min(at-maxTried/2, len(line)-maxTried))
	return line[from : from+maxTried], from + maxTried
}

// lineAt returns the line of block that a position is in, and where it begins.
func lineAt(block []byte, at int) (line []byte, start int) {
	start = bytes.LastIndexByte(block[:at], '\n') + 1
	end := bytes.IndexByte(block[at:], '\n')
	if end < 0 {
		return block[start:], start
	}
	return block[start : at+end], start
}

// hits returns the rules that hold on a line, from the literals that were met in it. A
// line that is known as normal shows nothing but what is proven by it.
func (x *Index) hits(line []byte, met []int, scratch *[]byte) []int {
	lower := plainLower((*scratch)[:0], line)
	*scratch = lower[:0]
	var list []int
	normal := false
	for _, i := range met {
		if x.rules[i].holds(lower) {
			list = append(list, i)
			normal = normal || x.rules[i].Normal != ""
		}
	}
	if normal {
		list = slices.DeleteFunc(list, func(i int) bool {
			r := &x.rules[i]
			return r.Normal == "" && r.Shows != fault.ShowsProven
		})
	}
	return list
}
