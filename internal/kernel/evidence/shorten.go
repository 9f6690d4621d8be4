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

// Gap marks where the middle of a text is left out.
const Gap = " … "

// ShortenAround cuts a text to at most so many characters and keeps a part of it: a third is how
// the text begins, the rest ends where the part ends. What is left out is marked. A text whose part
// is among the first characters is cut as Shorten cuts it.
func ShortenAround(text, part string, most int) string {
	i := strings.Index(text, part)
	if part == "" || i < 0 || utf8.RuneCountInString(text) <= most {
		return Shorten(text, most)
	}
	end := i + len(part)
	if utf8.RuneCountInString(text[:end]) <= most {
		return Shorten(text, most)
	}
	begin := strings.TrimSuffix(Shorten(text, most/3), "…")
	mark := ""
	if strings.Trim(text[end:], ` "'\)]`) != "" {
		mark = "…"
	}
	kept := []rune(text[len(begin):end])
	kept = kept[max(0, len(kept)-(most-utf8.RuneCountInString(begin+Gap+mark))):]
	tail := string(kept)
	if i := strings.IndexByte(tail, ' '); i >= 0 && i < len(tail)/2 { // a whole word
		tail = tail[i+1:]
	}
	return begin + Gap + tail + mark
}
