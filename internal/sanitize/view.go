package sanitize

import (
	"slices"
	"strconv"
	"strings"
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

// readable returns the view of a text that a reader has: with what escapes and entities stand for.
func readable(v string) view {
	if !strings.ContainsAny(v, "\\&%") && !printedSequence(v) {
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

var entities = []struct{ written, means string }{
	{"lt;", "<"}, {"gt;", ">"}, {"quot;", `"`}, {"apos;", "'"}, {"amp;", "&"}, {"shy;", ""}, {"colon;", ":"}, {"equals;", "="},
}

// unescaped returns what stands at i, and where the next begins.
func unescaped(v string, i int) (means string, next int) {
	switch v[i] {
	case '&':
		return entity(v, i)
	case '%':
		return percent(v, i)
	case '\\':
		return backslashed(v, i)
	case '#', '^', '[', '<', '\xe2':
		return control(v, i)
	}
	return v[i : i+1], i + 1
}

// controls are how programs print the signs that a terminal obeys: rsyslog as #033, cat -v and less
// as ^[, others as a picture; or the terminal has taken away the sign alone.
var controls = lazily(`^(?:(?:#033|\^\[|␛|<(?i:esc)>)(?:\[[0-?]*[ -/]*[@-~]|[()][0-9A-Z]|[78=>])|\[\d{1,3}(?:;\d{1,3})*m|#0[0-3][0-7])`)

// control reads a sign that a terminal obeys, as a program prints it.
func control(v string, i int) (means string, next int) {
	switch n := len(controls.get().FindString(v[i:min(len(v), i+32)])); {
	case n == 0:
		return v[i : i+1], i + 1
	case n == 4 && v[i] == '#':
		c, _ := strconv.ParseUint(v[i+1:i+4], 8, 8)
		return shownRune(rune(c)), i + 4
	default:
		return "", i + n
	}
}

// printedSequence is a quick look for what control reads.
func printedSequence(v string) bool {
	if strings.Contains(v, "#0") || strings.Contains(v, "^[") || strings.Contains(v, "␛") || strings.Contains(v, "sc>") || strings.Contains(v, "SC>") {
		return true
	}
	for i := strings.IndexByte(v, '['); i >= 0; {
		end := skip(v, i+1, "0123456789;")
		if end < len(v) && v[end] == 'm' && end > i+1 {
			return true
		}
		n := strings.IndexByte(v[end:], '[')
		if n < 0 {
			return false
		}
		i = end + n
	}
	return false
}

// entity reads an entity of XML.
func entity(v string, i int) (means string, next int) {
	rest := v[i+1 : min(len(v), i+10)]
	for _, e := range entities {
		if strings.HasPrefix(rest, e.written) {
			return e.means, i + 1 + len(e.written)
		}
	}
	end := strings.IndexByte(rest, ';')
	if end > 1 && rest[0] == '#' {
		number, base := rest[1:end], 10
		if number[0]|0x20 == 'x' {
			number, base = number[1:], 16
		}
		if r, err := strconv.ParseUint(number, base, 21); err == nil {
			return shownRune(rune(r)), i + 1 + end + 1
		}
	}
	return "&", i + 1
}

// percent reads a letter that is encoded as in a URL, also one that is encoded more than once.
func percent(v string, i int) (means string, next int) {
	at := i + 1
	for strings.HasPrefix(v[at:], "25") {
		at += 2
	}
	if at+2 <= len(v) {
		if c, err := strconv.ParseUint(v[at:at+2], 16, 8); err == nil && (c >= ' ' && c < 0x7f || c == '\n') {
			return string(rune(c)), at + 2
		}
	}
	return "%", i + 1
}

// backslashed reads an escape, however many levels of quotes stand around it.
func backslashed(v string, i int) (means string, next int) {
	run := slashRun(v, i)
	rest := v[run:min(len(v), run+maxSequence)]
	if n := escapedSequence(rest); n > 0 {
		return "", run + n
	}
	if r, size := numbered(rest); size > 0 {
		return shownRune(r), run + size
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
}

// numbered reads a character that an escape gives by its number.
func numbered(rest string) (r rune, size int) {
	digits, base := "", 16
	switch {
	case rest == "":
		return 0, 0
	case rest[0] == 'u' && len(rest) >= 5 && rest[1] != '{':
		digits, size = rest[1:5], 5
	case rest[0] == 'U' && len(rest) >= 9:
		digits, size = rest[1:9], 9
	case strings.HasPrefix(rest, "u{"):
		end := strings.IndexByte(rest[:min(len(rest), 10)], '}')
		if end < 0 {
			return 0, 0
		}
		digits, size = rest[2:end], end+1
	case rest[0] == 'x' && len(rest) >= 3:
		digits, size = rest[1:3], 3
	case rest[0] >= '0' && rest[0] <= '3' && len(rest) >= 3:
		digits, size, base = rest[:3], 3, 8
	}
	n, err := strconv.ParseUint(digits, base, 21)
	if err != nil {
		return 0, 0
	}
	return rune(n), size
}

// shownRune returns what a reader sees of a character that is written as a number.
func shownRune(r rune) string {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return string(r)
	case isAtom(r):
		return string(utf8.RuneError)
	}
	return folded(string(r))
}

// maxSequence bounds a sequence of a terminal that is written in escapes.
const maxSequence = 128

// escapedSequence returns how long a sequence of a terminal is that is written in escapes, behind
// the backslashes; 0 if there is none.
func escapedSequence(rest string) int {
	if rest == "" || strings.IndexByte("xu0e", rest[0]) < 0 {
		return 0
	}
	return len(escapedCSI.get().FindString(rest))
}

var escapedCSI = lazily(`^(?:x1b|u001[bB]|033|e)(?:\[[0-?]*[ -/]*[@-~]|` +
	`[\]PX^_][^"'\\\n]*(?:\\+(?:u0007|x07|a|007)|\\+(?:u001[bB]|x1b|033|e)\\+)|[()][0-9A-Z]|[78=>])` +
	`|^(?:u009[bB]|x9b)[0-?]*[ -/]*[@-~]`)
