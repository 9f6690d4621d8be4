package sanitize

import (
	"strings"
	"unicode/utf8"
)

// maxValue bounds a value without quotes: one that turns out to be no secret must not
// be gone over again and again.
const maxValue = 4096

// minOpen is the least number of characters of a value without quotes.
const minOpen = 4

// doubled skips the rest of quotes that open a value several at once, as in YAML inside
// of YAML and in CSV: in "" they are all of it.
func doubled(v string, from int) int {
	next := from
	mark := v[from-1-slashes(v[max(0, from-1-maxDepth):from-1]) : from]        // in a string of JSON with backslashes
	for next < len(v) && strings.HasPrefix(v[next:], mark) && v[next] != '2' { // of u0022
		next += len(mark)
	}
	if next > from && closes(v, next) {
		return from
	}
	return next
}

// maxDepth bounds the backslashes of one quote.
const maxDepth = 16

// slashes returns how many backslashes stand in a row at the end of a text.
func slashes(v string) int { return len(v) - len(strings.TrimRight(v, `\`)) }

// slashRun returns where the backslashes that begin at i end.
func slashRun(v string, i int) int {
	for i < len(v) && v[i] == '\\' {
		i++
	}
	return i
}

// quotedEnd returns where a value ends whose opening quote is right before it. In
// JSON inside of JSON that quote has one backslash or three, its end has as many, and
// a quote that belongs to the value has more.
func quotedEnd(v string, from int) int {
	if head, ok := strings.CutSuffix(v[:from], "u0022"); ok {
		return escapedEnd(v, from, slashes(head))
	}
	mark := v[from-1]
	level := slashes(v[:from-1])
	for i := from; i < len(v); {
		switch c := v[i]; {
		case c == '\n' || c == '\r':
			return i
		case c == '\\':
			next := slashRun(v, i)
			if next == len(v) || v[next] != mark {
				i = next
				continue
			}
			switch n := next - i; {
			case n < level:
				return i
			case n%(2*level+2) == level:
				return next - level
			}
			i = next + 1
		case c == mark && mark == '\'' && i > from && level == 0 && strings.HasPrefix(v[i+1:], "'"):
			i += 2 // YAML's quote inside of quotes
		case c == mark:
			return i
		default:
			i++
		}
	}
	return len(v)
}

// shellEnd returns where a word of a shell ends whose first part ends at the quote at to: parts in
// other quotes and without any may follow, as in 'a'"b"$'c'.
func shellEnd(v string, from, to int) int {
	if from == 0 || to == from || to >= len(v) || from > 1 && v[from-2] == v[from-1] || v[to] != v[from-1] || v[to] != '"' && v[to] != '\'' {
		return to
	}
	end := to
	for i := to + 1; i < len(v); {
		switch c := v[i]; {
		case c == '"' || c == '\'':
			next := quotedEnd(v, i+1)
			if next >= len(v) || v[next] != c {
				return end
			}
			end, i = next, next+1
		case c == '$' && i+1 < len(v) && (v[i+1] == '"' || v[i+1] == '\''):
			i++
		case c == '\\' && lineEscaped(v, i):
			return end // of JSON: the next line begins
		case c == '\\' && i+1 < len(v) && v[i+1] != '\n' && v[i+1] != '"':
			i += 2
			end = i
		case word(c) || strings.IndexByte("!#%+.-@/^*", c) >= 0 && i+1 < len(v) && word(v[i+1]):
			i++
			end = i
		default:
			return end
		}
	}
	return end
}

// lineEscaped reports whether backslashes at a place stand for the end of a line, or a tab, as JSON writes them.
func lineEscaped(v string, i int) bool {
	next := slashRun(v, i)
	return next < len(v) && strings.IndexByte("nrt", v[next]) >= 0
}

// escapedEnd is quotedEnd where the quotes are written as numbers.
func escapedEnd(v string, from, level int) int {
	for i := from; i < len(v); {
		switch c := v[i]; {
		case c == '\n' || c == '\r' || c == '"':
			return i
		case c == '\\':
			next := slashRun(v, i)
			if next-i <= level && strings.HasPrefix(v[next:], "u0022") {
				return i
			}
			i = next + 1
		default:
			i++
		}
	}
	return len(v)
}

var (
	listNext = lazily(`(?i)^(?:\\*["']|\\+u0022)?[ \t]*,[ \t]*[ubr]{0,2}(?:\\*["']|\\+u0022)`)
	listBare = lazily(`^(?:\\*["']|\\+u0022)[ \t]*,[ \t]*`)
	// dottedField is the next of several values of helm --set: primary.size=8Gi.
	dottedField = lazily(`^[A-Za-z][\w-]*(?:\.[\w-]+)+(?:\[\d+\])?=`)
	nextField   = lazily(`^(?:amp;)?[A-Za-z0-9_.%\[\]-]{1,40}=`)
	nextLine    = lazily(`^(?:$|[\s"'\\,}\])#]|-[ \t]|[A-Za-z0-9_.-]{1,60}\\*["']?[ \t]*[:=])`)
)

// unquotedEnd returns where a value without quotes ends. Signs that close something
// are part of it where nothing of a structure follows, as in it's-a-secret.
func unquotedEnd(v string, from int, word bool) int {
	end := min(len(v), from+maxValue)
	i := from
scan:
	for i < end {
		switch c := v[i]; c {
		case ' ', '\t', '\n', '\v', '\f', '\r':
			break scan
		case ',', ';', '[', '{':
			if word && c != '{' || i+1 < len(v) && strings.IndexByte(`"'\`, v[i+1]) >= 0 && i > from {
				break scan // a list continues
			}
			if c == ',' && dottedField.get().MatchString(v[i+1:min(len(v), i+1+maxNear)]) {
				break scan
			}
		case '"', '\'':
			if closes(v, i+1) {
				break scan
			}
		case '-', '+':
			if strings.HasPrefix(v[i:], "-]") || strings.HasPrefix(v[i:], "+}") { // of a word diff of git
				break scan
			}
		case '}', ']', ')':
			j := i
			for j < len(v) && strings.IndexByte("}])", v[j]) >= 0 {
				j++
			}
			if word && c != ')' || closes(v, j) {
				break scan
			}
			i = j - 1
		case '&':
			if word || nextField.get().MatchString(v[i+1:]) {
				break scan
			}
		case '#':
			if i > from && (strings.HasPrefix(v[i:], "#01")) && i+3 < len(v) && v[i+3] >= '0' && v[i+3] < '8' { // a tab or a line break of rsyslog
				break scan
			}
		case '\\':
			j, ends := escaped(v, i, i == from)
			if ends {
				break scan
			}
			i = j - 1
		}
		i++
	}
	i = min(i, len(v))
	for i > from && i < len(v) && !utf8.RuneStart(v[i]) {
		i--
	}
	return from + len(strings.TrimRight(v[from:i], `,;])}"'`))
}

// escaped reports whether backslashes at i, and what they stand for, end a value that
// has no quotes; else it returns where to continue.
func escaped(v string, i int, first bool) (next int, ends bool) {
	next = slashRun(v, i)
	if next == len(v) {
		return next, true
	}
	rest := v[next:]
	switch {
	case rest[0] == '"' || rest[0] == '\'':
		return next + 1, first || strings.IndexByte(",{[;", v[i-1]) >= 0 || closes(v, next+1)
	case strings.HasPrefix(rest, "u0022"):
		return next + 5, first || closes(v, next+5)
	case strings.HasPrefix(rest, "u0026"):
		return next + 5, nextField.get().MatchString(rest[5:])
	case escapedSequence(rest[:min(len(rest), maxSequence)]) > 0:
		next += escapedSequence(rest[:min(len(rest), maxSequence)])
		return next, first || closes(v, next)
	case rest[0] == ' ' && next-i == 1: // a blank of a word of a shell
		return next + 1, first
	case strings.IndexByte("nrt", rest[0]) >= 0:
		return next + 1, first || nextLine.get().MatchString(rest[1:])
	}
	return next, false
}

// closes reports whether what stands at i shows that a quote or bracket before it
// closed something.
func closes(v string, i int) bool {
	if i >= len(v) || strings.IndexByte(" \t\r\n\v\f,:;}])=\\\"'<|\x1b", v[i]) >= 0 {
		return true
	}
	return v[i] == '.' && (i+1 == len(v) || strings.IndexByte(" \t\r\n\"\\", v[i+1]) >= 0)
}

// urlEnd returns where a URL ends at the latest that begins at from. A password in it
// may hold quotes and backslashes, also such as stand for an ampersand.
func urlEnd(v string, from int) int {
	end := min(len(v), from+maxURL)
	if strings.IndexByte(v[from:end], '@') < 0 {
		return from // there is no password
	}
	for i := from; i < end; i++ {
		switch v[i] {
		case ' ', '\t', '\r', '\n', '"', '<', '>':
			return i
		case '\'', '`':
			if closes(v, i+1) {
				return i
			}
		case '\\':
			next := slashRun(v, i)
			if next == len(v) || strings.IndexByte("\"nrt`", v[next]) >= 0 || escapedSequence(v[next:min(len(v), next+maxSequence)]) > 0 ||
				v[next] == '\'' && closes(v, next+1) {
				return i
			}
			for _, sign := range []string{"u0022", "u003c", "u003e", "u003C", "u003E", "u0020"} {
				if strings.HasPrefix(v[next:], sign) {
					return i
				}
			}
			i = next - 1
		}
	}
	return end
}
