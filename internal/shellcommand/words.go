package shellcommand

import "strings"

// word is one word of a command line as a shell sees it.
type word struct {
	text     string
	operator bool // |, >, <, & or a parenthesis that no quotes hold
	open     bool // it has a variable or a command in it that a shell would replace
	at       int  // where it begins in the line
	inside   bool // it is of a line in quotes: at is a place there
}

// words splits a command line into its words. Quotes and backslashes are taken off.
func words(line string) []word {
	w := wordReader{line: line}
	for w.at < len(w.line) {
		w.next()
	}
	w.end()
	return w.list
}

type wordReader struct {
	line string
	at   int
	list []word
	have strings.Builder
	has  bool // a word has begun, be it an empty one
	open bool
	from int // where the word begins
}

func (w *wordReader) end() {
	if w.has {
		w.list = append(w.list, word{text: w.have.String(), open: w.open, at: w.from})
	}
	w.have.Reset()
	w.has, w.open = false, false
}

func (w *wordReader) add(s string) {
	w.has = true
	w.have.WriteString(s)
}

// next reads one byte, or what a quote or a parenthesis holds together.
func (w *wordReader) next() {
	c := w.line[w.at]
	if !w.has {
		w.from = w.at
	}
	switch c {
	case ' ', '\t', '\n', '\r':
		w.end()
	case '\\':
		if w.at++; w.at < len(w.line) && w.line[w.at] != '\n' {
			w.add(w.line[w.at : w.at+1])
		}
	case '\'':
		w.quoted('\'')
	case '"':
		w.quoted('"')
	case '`':
		w.open = true
		w.quoted('`')
	case '$':
		w.variable()
	case '|', '>', '<', '&', '(', ')':
		w.end()
		w.list = append(w.list, word{text: string(c), operator: true, at: w.at})
	default:
		w.add(w.line[w.at : w.at+1])
	}
	w.at++
}

// quoted adds what stands in quotes; w.at is then at the closing one.
func (w *wordReader) quoted(quote byte) {
	w.has = true
	for w.at++; w.at < len(w.line) && w.line[w.at] != quote; w.at++ {
		if w.line[w.at] == '\\' && quote == '"' && w.at+1 < len(w.line) && strings.IndexByte("\"\\$`", w.line[w.at+1]) >= 0 {
			w.at++
		} else if w.line[w.at] == '$' && quote == '"' {
			w.open = true
		}
		w.have.WriteByte(w.line[w.at])
	}
}

// variable adds a variable, or a whole $(…); w.at is then at its last byte.
func (w *wordReader) variable() {
	w.open = true
	begin := w.at
	if depth := 0; strings.HasPrefix(w.line[w.at:], "$(") {
		for ; w.at < len(w.line); w.at++ {
			switch w.line[w.at] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth == 0 && w.line[w.at] == ')' {
				break
			}
		}
		w.at = min(w.at, len(w.line)-1)
	}
	w.add(w.line[begin : w.at+1])
}
