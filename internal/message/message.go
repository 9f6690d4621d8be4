// Package message recognizes in any text what programs print when a host does not join:
// the lines of catalog/messages, and what they show.
//
// Invariants:
//   - It decides nothing about a cluster. A text shows what its lines say and no more: what
//     nobody pasted is unknown and never healthy.
//   - A fault that does not stand alone, and a line that only says that something failed,
//     are symptoms: with nothing else the result is unknown.
//   - Texts are foreign bytes of any size. They are read once, in bounded memory; of each
//     fault a few lines are kept.
package message

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

// Index finds the messages of a catalogue. It is safe for concurrent use.
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
	parts         []string // lower case, blanks as one: all must be in the line
	match, unless *regexp.Regexp
}

// literal is what a signature of the automaton stands for.
type literal struct {
	rule int
	with bool // a literal of With: it counts anywhere in the input

	without bool // a literal of Without, likewise
}

// New compiles the messages of a catalogue.
func New(c *fault.Catalog) (*Index, error) {
	x := &Index{catalog: c}
	common := pairsOf(c.Messages)
	var signatures []scan.Signature
	add := func(text string, l literal) {
		signatures = append(signatures, scan.Signature{ID: fmt.Sprint(len(signatures)), Literal: common.rarest(core(text))})
		x.literals = append(x.literals, l)
	}
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			r := rule{Message: m, program: file.Program}
			for _, part := range append([]string{m.Text}, m.Also...) {
				r.parts = append(r.parts, strings.ToLower(plain(part)))
			}
			var err error
			if r.match, err = compile(m.Match); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			if r.unless, err = compile(m.Unless); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			add(m.Text, literal{rule: len(x.rules)})
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

func compile(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	return regexp.Compile(`(?i)` + expr)
}

// core is the longest piece of a literal that stands in a line as it is, however the line
// was quoted, escaped and wrapped: without quotes, backslashes and runs of blanks.
func core(text string) string {
	best := ""
	for _, piece := range strings.FieldsFunc(plain(text), func(r rune) bool { return r == '"' || r == '\\' || r == '\'' || r > '~' }) {
		if piece = strings.TrimSpace(piece); len(piece) > len(best) {
			best = piece
		}
	}
	return strings.ToLower(best)
}

// maxLiteral is how much of a literal is looked for; the rule then tries all of it. Fewer
// states of the automaton stay in the cache of the processor.
const maxLiteral = 12

// pairs is how often two bytes stand side by side in messages.
type pairs map[[2]byte]int

func pairsOf(files []*fault.Messages) pairs {
	p := pairs{}
	for _, file := range files {
		for _, m := range file.Messages {
			text := strings.ToLower(m.Text)
			for i := range len(text) - 1 {
				p[[2]byte{text[i], text[i+1]}]++
			}
		}
	}
	return p
}

// rarest is the piece of a literal whose pairs of bytes are the rarest.
func (p pairs) rarest(text string) string {
	if len(text) <= maxLiteral {
		return text
	}
	best, least := "", math.Inf(1)
	for from := 0; from+maxLiteral <= len(text); from++ {
		sum := 0.0
		for i := from; i < from+maxLiteral-1; i++ {
			sum += math.Log(float64(1 + p[[2]byte{text[i], text[i+1]}]))
		}
		if sum < least {
			best, least = text[from:from+maxLiteral], sum
		}
	}
	return best
}

// holds reports whether a line, plain and in lower case, is one of the rule.
func (r *rule) holds(line string) bool {
	for _, part := range r.parts {
		if !strings.Contains(line, part) {
			return false
		}
	}
	if r.match != nil && !r.match.MatchString(line) {
		return false
	}
	return r.unless == nil || !r.unless.MatchString(line)
}

var (
	escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]|[\x00-\x08\x0b-\x1f\x7f]`)
	blanks  = regexp.MustCompile(`[ \t\x{a0}]+`)
	quotes  = strings.NewReplacer(`\\\"`, `"`, `\"`, `"`, `\'`, `'`, "\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, `\t`, " ", `\n`, "\n")
)

// plain is a line without what a terminal, a JSON encoder and a word processor add.
func plain(line string) string {
	if strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xa0 }) >= 0 {
		line = escapes.ReplaceAllString(line, "")
	}
	if strings.ContainsAny(line, "\\\u2018\u2019\u201c\u201d") {
		line = quotes.Replace(line)
	}
	return strings.TrimSpace(blanks.ReplaceAllString(line, " "))
}

// maxTried is how much of one line is looked at, around what was found.
const maxTried = 16 << 10

// window cuts a line that is very long around a position.
func window(line []byte, at int) []byte {
	if len(line) <= maxTried {
		return line
	}
	from := max(0, min(at-maxTried/2, len(line)-maxTried))
	return line[from : from+maxTried]
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
func (x *Index) hits(line string, met []int) []int {
	lower := strings.ToLower(plain(line))
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
