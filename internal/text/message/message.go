// Package message recognizes in any text what programs print when a host does not join:
// the lines of catalog/messages, and what they show.
//
// Invariants:
//   - It decides nothing about a cluster. A text shows what its lines say and no more: what
//     was not pasted is unknown and never healthy.
//   - A fault that does not stand alone, and a line that only says that something failed,
//     are symptoms: with nothing else the result is unknown.
//   - Texts are foreign bytes of any size. They are read once, in bounded memory; of each
//     fault a few lines are kept.
package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// Index finds the messages of a catalog. It is safe for concurrent use.
type Index struct {
	catalog  *fault.Catalog
	rules    []rule
	set      *scan.Set
	literals []literal // by signature of set

	endpoints []endpoint
	reported  map[string][]reported // what commands say behind their last "error:", by the name of the list
	writers   []*fault.Writer
	steps     map[string]bool // failures that name the step that failed, in their words
	effects   map[string]bool // failures to which others lead, in their words
	reasons   map[string]bool // failures that are the reason of others, in their words
	ofServers map[string]bool // failures that say what came of a request, in their words
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
	command       *pattern // the command whose output the line is in
	step          bool     // it shows which step failed, and not why
	of            partOf   // what its lines are told apart by
	causes        []signal // of Causes, in their order
	waits         bool     // it is normal because something waits
}

// literal is what a signature of the automaton stands for.
type literal struct {
	rule int
	with bool // a literal of With: it counts anywhere in the input

	without bool // a literal of Without, likewise
	cause   int  // of which cause it is a signal, likewise; 0 none, else its place in Causes and 1
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
			if r.command, err = compile(m.Command); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			if r.causes, err = signals(m.Causes); err != nil {
				return nil, fmt.Errorf("compile message %q: %w", m.Text, err)
			}
			add(sought(m), literal{rule: len(x.rules)})
			for _, w := range m.With {
				add(w, literal{rule: len(x.rules), with: true})
			}
			for _, w := range m.Without {
				add(w, literal{rule: len(x.rules), without: true})
			}
			for j, cause := range m.Causes {
				for _, tell := range cause.Tells {
					add(tell, literal{rule: len(x.rules), cause: j + 1})
				}
			}
			x.rules = append(x.rules, r)
		}
	}
	var err error
	if x.endpoints, err = endpoints(c); err != nil {
		return nil, err
	}
	if x.reported, err = reportedErrors(c); err != nil {
		return nil, err
	}
	x.steps, x.effects, x.reasons, x.ofServers = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range c.Messages {
		for _, words := range file.Steps {
			x.steps[words] = true
		}
		for _, words := range file.Effects {
			x.effects[words] = true
		}
		for _, words := range file.Reasons {
			x.reasons[words] = true
		}
		for _, words := range file.OfServers {
			x.ofServers[words] = true
		}
		for i := range file.Writers {
			x.writers = append(x.writers, &file.Writers[i])
		}
	}
	for i := range x.rules {
		r := &x.rules[i]
		f, ok := c.Fault(r.Fault)
		r.step = ok && f.ReasonElsewhere || x.steps[r.Failure]
		r.of = r.tellsApart()
		r.waits = r.Normal != "" && strings.Contains(strings.ToLower(r.Text+r.Normal), "wait")
	}
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
// written in many ways, the literal has what is between them.
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

// matches reports whether a line, plain and in lower case, is one of the rule.
func (r *rule) matches(line []byte) bool {
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

// plainLower is a plain line in lower case, in the space of buffer. Most lines have nothing
// that a pass over their bytes does not do, eight at a time where none of them is special.
func plainLower(buffer, line []byte) []byte {
	out, n := slices.Grow(buffer[:0], len(line))[:len(line)], 0
	for i := 0; i < len(line); {
		if i+wordSize <= len(line) {
			if word := binary.LittleEndian.Uint64(line[i:]); !special(word) && (word&0xff != ' ' || n > 0 && out[n-1] != ' ') {
				binary.LittleEndian.PutUint64(out[n:], lowerWord(word))
				i, n = i+wordSize, n+wordSize
				continue
			}
		}
		switch c := line[i]; {
		case c >= 0x80, c == 0x7f, c < ' ' && c != '\t':
			return append(out[:0], strings.ToLower(plain(string(line)))...)
		case c == '\\':
			width, means := unquoted(line[i:])
			if i += width; means != ' ' || n > 0 && out[n-1] != ' ' {
				out[n] = means
				n++
			}
		case c == ' ' || c == '\t':
			if i++; n > 0 && out[n-1] != ' ' {
				out[n] = ' '
				n++
			}
		default:
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			out[n] = c
			i, n = i+1, n+1
		}
	}
	return bytes.TrimSpace(out[:n])
}

// unquoted is what a backslash and what is behind it mean, as quotes has it, and how long
// they are.
func unquoted(text []byte) (width int, means byte) {
	switch {
	case bytes.HasPrefix(text, []byte(`\\\"`)):
		return 4, '"'
	case bytes.HasPrefix(text, []byte(`\"`)):
		return 2, '"'
	case bytes.HasPrefix(text, []byte(`\'`)):
		return 2, '\''
	case bytes.HasPrefix(text, []byte(`\t`)):
		return 2, ' '
	case bytes.HasPrefix(text, []byte(`\n`)):
		return 2, '\n'
	}
	return 1, '\\'
}

// Eight bytes at once: each constant has one of its kind in every byte.
const (
	wordSize = 8
	ones     = 0x0101010101010101
	highs    = 0x80 * ones
)

// special reports whether one of eight bytes is not plain ASCII, is a backslash, or whether
// two blanks are side by side in them. It may be true where nothing is special.
func special(word uint64) bool {
	zero := func(w uint64) uint64 { return (w - ones) &^ w & highs } // a byte of w is 0
	blanks := zero(word ^ ' '*ones)
	return word&highs|zero(word&(0xe0*ones))|zero(word^'\\'*ones)|zero(word^0x7f*ones)|blanks&(blanks<<8) != 0
}

// lowerWord makes the letters of eight ASCII bytes lower case.
func lowerWord(word uint64) uint64 {
	atLeastA := word + (0x80-'A')*ones
	beyondZ := word + (0x80-'Z'-1)*ones
	return word | (atLeastA&^beyondZ&highs)>>2
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
	lower := plainLower(*scratch, line)
	*scratch = lower[:0]
	var list []int
	normal := false
	first := logline.FirstAsked(lower)
	mirrored := len(first) != len(lower)
	pushes := logline.Pushes(lower)
	for _, i := range met {
		if pushes && strings.HasPrefix(x.rules[i].Fault, "image-pull") {
			continue
		}
		if mirrored && strings.HasPrefix(x.rules[i].Fault, "image-pull") {
			if x.rules[i].matches(append([]byte("docker://"), first...)) {
				list = append(list, i)
			}
			continue
		}
		if x.rules[i].matches(lower) && !(x.rules[i].waits && lastingReason(lower)) {
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
