package sanitize

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a text as it was before a program quoted it: what a log in JSON, logfmt or
// klog's structured form carries as \n, \" and \u003c. Every place knows where it is in
// the text itself.
type view struct {
	text string
	at   []int // where each byte of the view is, and its end; nil where they are the same
}

// escapes are what follows backslashes, however many levels of quotes make of them.
var escapes = []struct{ written, means string }{
	{"n", "\n"}, {"r", "\r"}, {"t", "\t"}, {`"`, `"`}, {"'", "'"}, {"/", "/"},
}

// quotedLines returns the view of a text in which what is in double quotes is a line of its own.
func (w view) quotedLines() view {
	return view{text: strings.ReplaceAll(w.text, `"`, "\n"), at: w.at}
}

// spans returns where in the text itself is what was found in the view.
func (w view) spans(found []span) []span {
	if w.at == nil {
		return found
	}
	for i, s := range found {
		found[i] = span{w.at[s.from], w.at[s.to]}
	}
	return found
}

// place returns where in the text a place of the view is.
func (w view) place(i int) int {
	if w.at == nil {
		return i
	}
	return w.at[i]
}

// shownAt returns where in the view a place of the text is.
func (w view) shownAt(i int) int {
	if w.at == nil {
		return i
	}
	n, _ := slices.BinarySearch(w.at, i)
	return n
}

// shown returns what the view shows of a part of the text.
func (w view) shown(s span) string {
	return w.text[w.shownAt(s.from):min(len(w.text), w.shownAt(s.to))]
}

// readable returns the view of a text that a reader has: without colors, signs that have no
// width, and the zeros of UTF-16, and with what escapes and entities stand for.
func readable(v string) view {
	if !strings.ContainsAny(v, "\\\x1b\x00&\u009b") && !hasFormat(v) {
		return view{text: v}
	}
	w := view{at: make([]int, 0, len(v)+1)}
	var b strings.Builder
	b.Grow(len(v))
	for i := 0; i < len(v); {
		means, next := unescaped(v, i)
		b.WriteString(means)
		for range len(means) {
			w.at = append(w.at, i)
		}
		i = next
	}
	w.text, w.at = b.String(), append(w.at, len(v))
	return w
}

// covered reports whether a text has what hides names from a search: colors, zeros, characters
// without width, and letters that are written as numbers.
func covered(v string) bool {
	return strings.IndexByte(v, '\x1b') >= 0 || strings.IndexByte(v, 0) >= 0 || strings.IndexByte(v, '\\') >= 0 && strings.Contains(v, `\u00`) || hasFormat(v)
}

// hasFormat reports whether a text may have characters without width: U+00AD, and those of
// U+2000 and U+FE00.
func hasFormat(v string) bool {
	return strings.IndexByte(v, 0xe2) >= 0 && (strings.Contains(v, "\xe2\x80") || strings.Contains(v, "\xe2\x81")) ||
		strings.IndexByte(v, 0xc2) >= 0 && (strings.Contains(v, "\u00ad") || strings.Contains(v, "\u00a0")) ||
		strings.IndexByte(v, 0xef) >= 0 && (strings.Contains(v, "\ufeff") || strings.Contains(v, "\uff1a") || strings.Contains(v, "\uff1d"))
}

var entities = []struct{ written, means string }{
	{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", `"`}, {"&#34;", `"`}, {"&apos;", "'"}, {"&#39;", "'"}, {"&#x27;", "'"}, {"&amp;", "&"},
}

// unescaped returns what stands at i, and where the next begins.
func unescaped(v string, i int) (means string, next int) {
	switch c := v[i]; {
	case c == 0:
		return "", i + 1
	case c == '\x1b':
		return "", i + max(1, len(colour.get().FindString("e"+v[i+1:min(len(v), i+32)])))
	case c == '&':
		for _, e := range entities {
			if strings.HasPrefix(v[i:], e.written) {
				return e.means, i + len(e.written)
			}
		}
	case c == '\\':
		run := slashRun(v, i)
		rest := v[run:min(len(v), run+32)]
		if e := colour.get().FindString(rest); e != "" {
			return "", run + len(e)
		}
		if len(rest) >= 5 && rest[0] == 'u' {
			if r, err := strconv.ParseUint(rest[1:5], 16, 32); err == nil {
				if r = r & 0xffff; unicode.Is(unicode.Cf, rune(r)) {
					return "", run + 5
				}
				return string(rune(r)), run + 5
			}
		}
		for _, e := range escapes {
			if strings.HasPrefix(rest, e.written) {
				if e.means == "\n" && (run-i)%3 == 0 {
					return "\\\n", run + len(e.written) // a backslash is before it, of a script
				}
				return e.means, run + len(e.written)
			}
		}
		return v[i:run], run
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeRuneInString(v[i:])
		switch {
		case unicode.Is(unicode.Cf, r):
			return "", i + size
		case r == 0xa0: // a blank that does not break
			return " ", i + size
		case r == 0xff1a || r == 0xff1d: // the colon and the equals sign of Chinese and Japanese
			return string(r - 0xfee0), i + size
		}
		return v[i : i+size], i + size
	}
	return v[i : i+1], i + 1
}
