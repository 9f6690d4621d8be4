package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/fault"
)

// encode returns the diagnosis as JSON whose strings hold nothing that a terminal
// obeys and nothing that YAML has no spelling for. Both forms of the contract come
// from here, so they say the same.
func encode(d *fault.Diagnosis) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("encode the answer as JSON: %w", err)
	}
	return harmless(b.Bytes()), nil
}

// harmless shows control characters and invisible ones in the strings of a JSON
// document as the escapes that the text form shows ("\x1b", "\u202e"), spelled out.
// Tabs and ends of lines stay. encoding/json already made bytes that are no UTF-8
// the replacement character.
func harmless(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		c := doc[i]
		switch {
		case c == '\\' && i+1 < len(doc):
			r, size := escaped(doc[i:])
			if r >= 0 && hidden(r) {
				out = spell(out, r)
			} else {
				out = append(out, doc[i:i+size]...)
			}
			i += size
		case c < utf8.RuneSelf && c != 0x7f:
			out = append(out, c)
			i++
		default:
			r, size := utf8.DecodeRune(doc[i:])
			if hidden(r) {
				out = spell(out, r)
			} else {
				out = append(out, doc[i:i+size]...)
			}
			i += size
		}
	}
	return out
}

// escaped returns the rune of the escape at the start of s and its length; -1 for
// those that stand for themselves, as \" and \n.
func escaped(s []byte) (rune, int) {
	switch {
	case s[1] == 'b':
		return '\b', 2
	case s[1] == 'f':
		return '\f', 2
	case s[1] == 'u' && len(s) >= 6:
		if n, err := strconv.ParseUint(string(s[2:6]), 16, 32); err == nil {
			return rune(n), 6
		}
	}
	return -1, 2
}

// hidden reports whether a rune is not shown: it controls, reorders or is none.
func hidden(r rune) bool {
	return !unicode.IsGraphic(r) && r != '\t' && r != '\n' && r != '\r'
}

func spell(out []byte, r rune) []byte {
	q := strconv.QuoteRuneToASCII(r)
	return append(append(out, '\\'), q[1:len(q)-1]...)
}
