// Package answer renders a diagnosis. Its functions are pure: they compute nothing
// about a cluster and read neither clock nor environment.
//
// Invariants:
//   - Names, commands and locators are wrapped or stand on a line of their own; they
//     are never shortened. Only excerpts of what was read are, and -o wide, json
//     and yaml have them whole.
//   - Color is never the only sign; ASCII output carries the same signs.
//   - What was read from a cluster or an archive is foreign: control characters
//     never reach the terminal.
//   - The same diagnosis gives the same bytes.
package answer

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
)

func (s Style) width() int {
	switch {
	case s.Width == NoWrap:
		return noEnd
	case s.Width <= 0:
		return defaultWidth
	}
	return min(max(s.Width, minWidth), maxWidth)
}

// paint is a way to set text off. The numbers are ANSI SGR parameters.
type paint string

const (
	plain  paint = ""
	bold   paint = "1"
	dim    paint = "2"
	red    paint = "1;31"
	green  paint = "1;32"
	yellow paint = "1;33"
	cyan   paint = "36"
)

func (s Style) paint(p paint, text string) string {
	if !s.Color || p == plain || text == "" {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

// sign is a mark before a word of the same meaning.
type sign int

const (
	signBad sign = iota
	signWarn
	signGood
	signOpen
	signWait
	branch   // of a tree, more follow
	lastOne  // of a tree
	trunk    // next to the children of a branch
	ringTop  // where a ring is entered
	ringSide // along a ring
	ringEnd  // from where a ring goes back to its top
	downward // to the next of a ring
	separator
	ellipsis
	pointer
)

var signs = map[sign][2]string{
	signBad: {"✗", "x"}, signWarn: {"!", "!"}, signGood: {"✓", "ok"}, signOpen: {"?", "?"}, signWait: {"…", "~"},
	branch: {"├─ ", "|- "}, lastOne: {"└─ ", "`- "}, trunk: {"│  ", "|  "},
	ringTop: {"┌─▶ ", "+-> "}, ringSide: {"│   ", "|   "}, ringEnd: {"└── ", "+-- "}, downward: {"↓", "v"},
	separator: {" · ", " | "}, ellipsis: {"…", "..."}, pointer: {"→", "->"},
}

func (s Style) sign(g sign) string {
	if s.ASCII {
		return signs[g][1]
	}
	return signs[g][0]
}

// Clean makes foreign text harmless to print on one line, for those who print
// outside of this package: no control character, none that reorders text, no line end.
func (s Style) Clean(text string) string { return s.clean(text) }

// OneRow is Clean in one row of the terminal, cut where it has more: a row that was wrapped
// could not be taken away again.
func (s Style) OneRow(text string) string {
	text = s.clean(text)
	if room := s.width() - 1; length(text) > room {
		return cut(text, room-length(s.sign(ellipsis))) + s.sign(ellipsis)
	}
	return text
}

// clean makes foreign text harmless for a terminal: control characters and the
// invisible ones that reorder text are shown as escapes, blanks become spaces.
func (s Style) clean(text string) string {
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
			b.WriteString(s.sign(ellipsis))
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
