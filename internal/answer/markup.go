package answer

import (
	"fmt"
	"html"
	"strings"
)

// markup builds a page of HTML. What is foreign reaches it only as an argument, and
// every argument is escaped for text and for a quoted attribute alike; no other place
// takes one: not a name, not a style, not a script. (html/template finds the place by
// itself, and calls methods by their names: with it the linker keeps every method of
// the whole program, a quarter of its size.)
type markup struct {
	b   strings.Builder
	err error
}

// literal is text of the program itself. Nothing that was read is ever converted to it.
type literal string

// put writes a piece of the page with each {} replaced by the next argument, escaped.
func (m *markup) put(piece literal, args ...string) {
	rest := string(piece)
	for _, a := range args {
		before, after, ok := strings.Cut(rest, "{}")
		if !ok {
			m.err = fmt.Errorf("render the answer as HTML: %q has too few places", piece)
			return
		}
		m.b.WriteString(before)
		m.b.WriteString(html.EscapeString(a))
		rest = after
	}
	if strings.Contains(rest, "{}") {
		m.err = fmt.Errorf("render the answer as HTML: %q has too many places", piece)
	}
	m.b.WriteString(rest)
}

// some writes a piece whose places are all of one text, where there is text.
func (m *markup) some(piece literal, arg string) {
	if arg != "" {
		m.put(piece, arg)
	}
}

// each writes a piece once for each text.
func (m *markup) each(piece literal, list []string) {
	for _, s := range list {
		m.put(piece, s)
	}
}

// fold writes a part that is closed until somebody opens it.
func (m *markup) fold(class, summary literal, count string, body func()) {
	m.put(`<details`)
	if class != "" {
		m.put(` class="` + class + `"`)
	}
	m.put(`><summary>`)
	if count != "" {
		m.put(summary, count)
	} else {
		m.put(summary)
	}
	m.put("</summary>")
	body()
	m.put("</details>\n")
}
