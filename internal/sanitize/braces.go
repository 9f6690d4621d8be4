package sanitize

import (
	"slices"
	"strings"
)

// Here a decoder reads a value in braces, as ODBC and JDBC write a password: PWD={X}.

// braced reads a value in braces at a place behind a sign. It reports whether what stands there is no object and no
// template, so that nothing else is to be looked for in it.
func (d *decoder) braced(at int, kind keyKind, how relation) bool {
	if kind < weakKey || kind == loginKey || kind == userKey || at+1 >= len(d.t) || d.t[at] != '{' || strings.IndexByte("{%#+-}", d.t[at+1]) >= 0 {
		return false
	}
	end := d.braceEnd(at + 1)
	from := skip(d.t, at+1, " \t")
	if end <= from || d.opensField(at) {
		return false
	}
	if d.quote(from) {
		s := d.quotedValue(from)
		s.to = d.list(s.to)
		return d.judge(s, kind, how, true)
	}
	text := strings.TrimRight(d.t[from:end], " \t")
	attached := how == set && d.t[at-1] == '='
	if !attached && strings.ContainsAny(text, "\"'[") || isPlaceholder(text) || isNumberList(text) {
		return false
	}
	if kind == maybeKey && attached && ofConnection(d.t, at, end) {
		kind = deepKey
	}
	if kind != deepKey && strings.ContainsAny(text, " \t,") && !slices.ContainsFunc(strings.FieldsFunc(text, isBlankOrComma), longSecret) {
		return true
	}
	if kind == secretKey && strings.ContainsAny(text, " \t") {
		kind = deepKey // one of its words is a secret
	}
	d.judge(span{d.w.place(from), d.w.place(from + len(text))}, kind, how, false)
	return true
}

func isBlankOrComma(r rune) bool { return r == ' ' || r == '\t' || r == ',' }

// braceEnd returns where the value ends that begins behind a brace; from if it does not end in its line. Two braces are
// one of the value where it goes on behind them.
func (d *decoder) braceEnd(from int) int {
	stop := min(len(d.t), from+maxBeside)
	for i := from; i < stop; i++ {
		switch d.t[i] {
		case '\n', '\r', '{':
			return from
		case '}':
			if i+2 < stop && d.t[i+1] == '}' && !closes(d.t, i+2) && d.t[i+2] != '&' {
				i++
				continue
			}
			return i
		}
	}
	return from
}

// opensField reports whether what a brace opens is an object: the name of a field and a sign, behind which something stands.
// The name of a field has no digits where it has no quotes.
func (d *decoder) opensField(at int) bool {
	if !d.opensObject(at) {
		return false
	}
	from := skip(d.t, at+1, " \t:")
	if d.quote(from) {
		return true
	}
	end := d.nameEnd(from)
	next := skip(d.t, d.closed(end), " \t") + 1
	return end > from && !strings.ContainsAny(d.t[from:end], "0123456789") && next < len(d.t) && strings.IndexByte("=}", d.t[next]) < 0 ||
		slices.Contains(referenceKeys, d.t[from:end])
}

// isPlaceholder reports whether a text in braces is the name of what a program writes instead: {password}, {0}, {self.pw},
// {password!r}.
func isPlaceholder(text string) bool {
	name, _, _ := strings.Cut(text, "!")
	name, _, _ = strings.Cut(name, ":")
	if name == "" || strings.TrimLeft(name, ".0123456789") == "" && len(name) < minOpen || text == "<nil>" {
		return true
	}
	if !only(name, alphanumeric+"_.[]") || !letter(name[0]) && name[0] != '_' {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	if kindOfKey(last) != plainKey {
		return true
	}
	return len(last) < len(name) && !strings.ContainsAny(name, "0123456789") || slices.Contains(placeholders, strings.ToLower(name))
}

// placeholders stand in braces for what a program writes there.
var placeholders = []string{"value", "name", "user", "username", "host", "hostname", "new", "old", "text", "input", "string", "redacted", "hidden", "masked"}

// ofConnection reports whether the braces from at to end are of one of several fields with semicolons between, as in
// UID=sa;PWD={X}; of ODBC.
func ofConnection(t string, at, end int) bool {
	from := strings.LastIndexAny(t[max(0, at-maxNear):at], "; \t\n\"'")
	return strings.HasPrefix(t[min(end+1, len(t)):], ";") || from >= 0 && t[max(0, at-maxNear)+from] == ';'
}
