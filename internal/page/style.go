// Package page lays text out for a terminal or a pipe: a page with lines, paragraphs and signs, in
// a style. It knows nothing of a diagnosis; the answer and what the wings print are written on it.
//
// Invariants:
//   - What is written on a page is foreign: control characters never reach the terminal.
//   - Color is never the only sign; ASCII output carries the same signs.
//   - A line is never broken; a paragraph is broken at blanks, and no word of it.
package page

import (
	"strconv"
	"strings"
	"unicode"
)

// Style says how text may look.
type Style struct {
	Width int  // columns; 0: 80; NoWrap: as long as a paragraph is
	Color bool // ANSI colors
	ASCII bool // no characters beyond ASCII
}

const (
	defaultWidth = 80
	minWidth     = 40
	maxWidth     = 160 // longer lines are hard to read

	// NoWrap is the width of what no person reads as it is: grep and its like need a
	// paragraph on one line.
	NoWrap = -1
	noEnd  = 1 << 16 // columns that no paragraph fills

	// LineRoom is how many characters a line of a text that is cut has. It is a line of the
	// narrowest usual terminal, indented, so that the same words are on each.
	LineRoom = 76
)

// Room is how many columns a line has.
func (s Style) Room() int {
	switch {
	case s.Width == NoWrap:
		return noEnd
	case s.Width <= 0:
		return defaultWidth
	}
	return min(max(s.Width, minWidth), maxWidth)
}

// Paint is a way to set text off. Its text has the numbers of ANSI SGR parameters.
type Paint string

// The paints. Who cannot see them reads the sign or the word next to them.
const (
	Plain  Paint = ""
	Bold   Paint = "1"
	Dim    Paint = "2"
	Red    Paint = "1;31"
	Green  Paint = "1;32"
	Yellow Paint = "1;33"
	Cyan   Paint = "36" // of commands
)

// Paint sets text off where the style has colors.
func (s Style) Paint(p Paint, text string) string {
	if !s.Color || p == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// Sign is a mark before a word of the same meaning.
type Sign int

// The signs.
const (
	Bad Sign = iota
	Warn
	Good
	Open // not known
	Wait
	Branch     // of a tree, more follow
	LastBranch // of a tree
	Trunk      // next to the children of a branch
	RingTop    // where a ring is entered
	RingSide   // along a ring
	RingEnd    // from where a ring goes back to its top
	Downward   // to the next of a ring
	Separator
	Ellipsis
	Pointer
)

// signs are each sign in Unicode and in ASCII.
var signs = map[Sign][2]string{
	Bad: {"✗", "x"}, Warn: {"!", "!"}, Good: {"✓", "ok"}, Open: {"?", "?"}, Wait: {"…", "~"},
	Branch: {"├─ ", "|- "}, LastBranch: {"└─ ", "`- "}, Trunk: {"│  ", "|  "},
	RingTop: {"┌─▶ ", "+-> "}, RingSide: {"│   ", "|   "}, RingEnd: {"└── ", "+-- "}, Downward: {"↓", "v"},
	Separator: {" · ", " | "}, Ellipsis: {"…", "..."}, Pointer: {"→", "->"},
}

// Mark is a sign in its paint.
type Mark struct {
	Sign  Sign
	Paint Paint
}

// Sign is a sign in the characters of the style.
func (s Style) Sign(g Sign) string {
	if s.ASCII {
		return signs[g][1]
	}
	return signs[g][0]
}

// Clean makes foreign text harmless for one line of a terminal: control characters and the
// invisible ones that reorder text are shown as escapes, blanks and line ends become spaces.
func (s Style) Clean(text string) string {
	harmless := true
	for _, r := range text {
		if r < ' ' || !s.shown(r) {
			harmless = false
			break
		}
	}
	if harmless {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			b.WriteByte(' ')
		case r == '…': // ours, of titles and excerpts
			b.WriteString(s.Sign(Ellipsis))
		case s.shown(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

func (s Style) shown(r rune) bool {
	if s.ASCII && r > unicode.MaxASCII {
		return false
	}
	return unicode.IsPrint(r) && r != unicode.ReplacementChar
}

// OneRow is Clean in one row of the terminal, cut where it has more: a row that was wrapped
// could not be taken away again.
func (s Style) OneRow(text string) string { return s.Shorten(s.Clean(text), s.Room()-1) }

// Shorten cuts a clean text that has more than n characters, and shows that it did.
func (s Style) Shorten(text string, n int) string {
	if Length(text) <= n {
		return text
	}
	return Cut(text, n-Length(s.Sign(Ellipsis))) + s.Sign(Ellipsis)
}

// CutLines cuts a clean text at a blank to so many lines of LineRoom characters; 0: not at all.
func (s Style) CutLines(text string, limit int) string {
	most := limit*(LineRoom+1) - 1
	if limit <= 0 || Length(text) <= most {
		return text
	}
	return cutWords(text, most-Length(s.Sign(Ellipsis))) + s.Sign(Ellipsis)
}

// Wrap is a paragraph in the width of the style, without what a terminal obeys.
func (s Style) Wrap(text string) string { return s.Indent(text, 0) }

// Indent is Wrap with each line indented.
func (s Style) Indent(text string, indent int) string {
	room := s.Room() - indent
	lead := strings.Repeat(" ", indent)
	return lead + strings.Join(Break(s.Clean(text), room, room), "\n"+lead)
}
