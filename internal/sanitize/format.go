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
}

// formats are all that are read, in this order. That without a function is the decoder.
var formats = []format{
	{[]string{"data:"}, dataURLs, false},
	{tokenMarks, prefixedTokens, false},
	{jwtMarks, wrappedTokens, false},
	{commandMarks, commandLines, false},
	{[]string{"private key"}, keyTails, false},
	{pipeMarks, pipes, false},
	{positionMarks, positions, false},
	{directiveMarks, directiveLines, true},
	{hashMarks, hashes, true},
	{headerMarks, headers, false},
	{queryMarks, queries, false},
	{[]string{"proxy", "@tcp", "@unix("}, bareLogins, false},
	{decodeMarks, nil, false}, // Sanitizer.decode
}

// read replaces what a format finds in what the text quotes, where lines end, and then
// in the text itself, where the quotes of values end.
func (m *masked) read(f format) {
	if f.find == nil {
		m.hideSpans(m.s.decode(m.text, m.view()))
		return
	}
	w := m.view()
	if f.lines {
		w = w.quotedLines()
	}
	if w.text != m.text {
		m.hideSpans(w.spans(f.find(w.text)))
	}
	m.hideSpans(f.find(m.text))
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
