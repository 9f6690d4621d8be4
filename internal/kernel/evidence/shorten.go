package evidence

import (
	"strings"
	"unicode/utf8"
)

// Shorten cuts a text to at most so many characters, behind a whole word where one ends in
// the second half, and marks the cut.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	r := []rune(text[:min(len(text), (most+1)*utf8.UTFMax)])
	if len(r) <= most {
		return text
	}
	short := string(r[:most])
	if i := strings.LastIndexByte(short, ' '); i > len(short)/2 && r[most] != ' ' {
		short = short[:i]
	}
	return strings.TrimRight(short, " ,;:(") + "…"
}
