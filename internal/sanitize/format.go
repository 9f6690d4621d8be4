package sanitize

import (
	"slices"
	"strings"
)

// span is where a secret is in a text.
type span struct{ from, to int }

// format reads one format of text and returns where its secrets are.
//
// Invariants: it runs only on texts with one of its marks, it takes time in proportion
// to the length of the text, and where a secret was replaced by one rune (see masked)
// it finds that rune or nothing.
type format struct {
	marks []string // in lower case, at least 3 bytes
	find  func(string) []span
	lines bool // it reads whole lines

	decode func(s *Sanitizer, v string, w view) []span // instead of find: it needs more than the text
}

// formats are all that are read, in this order.
var formats = []format{
	{marks: objectMarks, decode: (*Sanitizer).secretObjects},
	{marks: []string{"data:"}, find: dataURLs},
	{marks: tokenMarks, find: prefixedTokens},
	{marks: jwtMarks, find: wrappedTokens},
	{marks: commandMarks, find: commandLines},
	{marks: pipeMarks, find: pipes},
	{marks: positionMarks, find: positions},
	{marks: directiveMarks, find: directiveLines, lines: true},
	{marks: hashMarks, find: hashes, lines: true},
	{marks: headerMarks, find: headers},
	{marks: jwkMarks, find: jwkFields},
	{marks: queryMarks, decode: (*Sanitizer).queryFields},
	{marks: []string{"proxy", "@tcp", "@unix(", "iscsi:"}, find: bareLogins},
	{marks: numberMarks}, // Sanitizer.numbers
	{marks: decodeMarks, decode: (*Sanitizer).tables},
	{marks: decodeMarks, decode: (*Sanitizer).decode},
}

// read replaces what a format finds in what the text quotes, where lines end, and then
// in the text itself, where the quotes of values end.
func (m *masked) read(f format) {
	if f.find == nil && f.decode == nil {
		m.hideSpans(m.s.numbers(m.text))
		return
	}
	if f.find == nil {
		m.hideSpans(f.decode(m.s, m.text, m.view()))
		return
	}
	if f.lines {
		w := m.view().quotedLines()
		m.hideSpans(w.spans(f.find(w.text)))
	}
	m.both(f.find)
}

// view returns what a reader sees of the text. Few formats change it.
func (m *masked) view() view {
	if m.shown.text == "" || m.shownOf != m.text {
		m.shown, m.shownOf = readable(m.text), m.text
	}
	return m.shown
}

// hideSpans replaces what a format found.
func (m *masked) hideSpans(found []span) {
	if len(found) == 0 {
		return
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var b strings.Builder
	at := 0
	for _, f := range found {
		if f.from < at || f.from >= f.to {
			continue
		}
		b.WriteString(m.text[at:f.from])
		b.WriteString(m.hide(m.text[f.from:f.to]))
		at = f.to
	}
	b.WriteString(m.text[at:])
	m.text = b.String()
}
