package sanitize

import (
	"slices"
	"strings"
)

// A decoder finds the structure of a text: what is a name, and where the value is that belongs to
// it. It knows JSON, YAML, TOML, INI, XML, maps of Go and Python, tables and sentences by the
// signs that stand between a name and its value, not by the names.
//
// Invariants: names are looked for in the view, where escapes, colors and characters without
// width are gone; values end where they end in the text itself, because only there a quote tells
// how deep it is nested. It takes time in proportion to the length of the text: a value is
// looked for once, and each look around a name is bounded.
type decoder struct {
	s      *Sanitizer
	v      string // the text
	w      view
	t      string // what w shows
	found  []span
	marks  map[string]int // of anchors in YAML, where their values begin; made when it is needed
	header string         // the header of HTTP whose value is read
	left   int            // characters that may be looked at around names
	steps  int            // that were taken, for a test
	done   int            // up to here in the view, values were found
	ends   map[[2]int]int // of values, by their kind of quote and its depth, see quotedUntil
}

// relation is what a value has to do with a name.
type relation int

const (
	assigned relation = iota // name: value, <name>value</name>
	set                      // name=value
	listed                   // "name", "value" or name(value)
	beside                   // name: NAME, value: VALUE
	cell                     // of a table
	told                     // the password of root was set to VALUE
	near                     // changed the password VALUE
)

// maxNear bounds how far a value may be from its name where other words are between them.
const maxNear = 96

// maxBeside bounds how far apart the fields of one object may be that hold a name and its value.
const maxBeside = 512

// lookAround bounds how many characters in all are looked at around names, for each of the text:
// a text that is nothing but names of columns, or of fields, must not take the square.
const lookAround = 16

// spend reports whether so many characters may still be looked at around a name.
func (d *decoder) spend(n int) bool {
	d.left -= n
	d.steps += n
	return d.left >= 0
}

// decodeMarks are parts of the names of secrets, of which a text must have one.
var decodeMarks = []string{"pass", "pwd", "secret", "token", "key", "cred", "auth", "psk", "cak", "kennwort", "contrasena",
	"motdepasse", "rootpw", "bindpw", "proxy", "cookie", "community",
	"pw:", "pw=", "pw ", "pw\"", "pw'", "pw>", "pw<", "pw]", "pw\\", "pw\n", "pw\r", "pw\t", "pw,", "pw|", "pw)"}

// decode returns where values are that belong to the name of a secret; w is the view of v.
func (s *Sanitizer) decode(v string, w view) []span {
	return s.decoded(v, w).found
}

func (s *Sanitizer) decoded(v string, w view) *decoder {
	d := &decoder{s: s, v: v, w: w, left: lookAround * (len(v) + maxBeside)}
	d.t = d.w.text
	for i := 0; i < len(d.t); {
		if !word(d.t[i]) {
			i++
			continue
		}
		end := d.nameEnd(i)
		if kind := d.kindAt(i, end); kind != plainKey && i >= d.done {
			d.named(i, end, kind)
		}
		i = end
	}
	return d
}

// named looks for the value of a name.
func (d *decoder) named(from, end int, kind keyKind) {
	switch {
	case d.t[from:end] == "passwd" && d.listsUsers(from, end):
		return
	case d.isNameField(from) || kind == deepKey && d.isTypeField(from):
		d.header = headerOf(d.t[from:end])
		defer func() { d.header = "" }()
		if !d.besideName(from, end, kind) {
			d.change(from, d.closed(end), kind, false)
		}
		return
	case d.element(from, end, kind), d.bareVariable(from, end, kind):
		return
	}
	at := d.closed(end)
	quoted := at > end
	blank := skip(d.t, at, " \t")
	if n := skip(d.t, blank, "0123456789"); kind >= secretKey && n-blank < 4 && n < len(d.t) && n > blank && d.t[n] == ':' {
		at, blank = n, n // Unseal Key 1: X
	}
	if blank >= len(d.t) {
		return
	}
	found := len(d.found)
	d.behindName(from, end, at, blank, kind, quoted)
	if len(d.found) > found {
		d.newValue(d.done, kind)
	}
	if d.done <= end || len(d.found) > found {
		d.change(from, max(at, d.done), kind, len(d.found) > found)
	}
}

// behindName reads what stands behind a name that ends at end, and its quotes at at.
func (d *decoder) behindName(from, end, at, blank int, kind keyKind, quoted bool) {
	sign := d.sign(blank, quoted)
	if dots := skip(d.t, blank, ". \t"); sign == blank && dots > blank+1 && d.t[blank] == '.' && dots < len(d.t) && d.t[dots] == ':' {
		sign = dots + 1 // Password......: X
	}
	switch {
	case d.t[from:end] == "PASS" && d.t[blank] == ':', d.tellsError(from, end, sign): // PASS of a test
	case sign > blank:
		kind = d.place(from, end, sign, kind)
		if quoted || !d.line(from, end, sign, kind) {
			d.assignment(sign, kind)
		}
	case strings.HasPrefix(d.t[blank:], ".."):
		d.value(skip(d.t, blank, ". \t:"), kind, cell)
	case d.t[blank] == '.' && from > 0 && d.t[from-1] == '(': // a pair of Lisp
		if next := skip(d.t, blank+1, " \t"); d.quote(next) {
			d.value(next, kind, listed)
		}
	case !quoted && d.t[blank] == ',' && from > 0 && strings.IndexByte("{(", d.t[from-1]) >= 0: // of Erlang
		next := skip(d.t, blank+1, " \t")
		if binary := skip(d.t, next, "<"); binary-next == 2 {
			next = binary
		}
		if d.quote(next) {
			d.value(next, kind, listed)
		}
	case quoted && (d.t[blank] == ',' || d.t[blank] == ';'):
		next := skip(d.t, blank+1, " \t")
		if size := len(serialized.get().FindString(d.t[next:min(len(d.t), next+16)])); size > 0 {
			d.value(next+size, kind, assigned)
		} else if d.quote(next) && from > 0 && d.quote(from-1) && !d.namesField(next) {
			d.value(next, kind, listed)
		}
	case d.t[blank] == '(' && blank == at:
		if next := skip(d.t, blank+1, " \t"); d.quote(next) {
			d.value(next, kind, listed)
		} else {
			d.value(next, kind, cell)
		}
	case d.t[blank] == '{' && quoted: // variable "name" { default = "x" }
		d.fallback(blank+1, kind)
	case d.t[blank] == '|' || strings.HasPrefix(d.t[blank:], "│"), blank == at && d.commaSeparated(from, blank, kind):
		d.value(skip(d.t, blank+1, " \t|\x94\x82"), kind, cell)
	case d.t[blank] == '\n':
		d.below(from, blank, kind)
	case blank-at > 1 || d.t[at] == '\t':
		d.value(blank, kind, cell)
	case blank > at:
		d.sentence(blank, kind)
	}
}

// serialized is the length in front of a text that PHP serializes.
var serialized = lazily(`^s:\d{1,9}:`)

// place returns what a name says where more than itself tells: it is a variable of an environment,
// a field of a query, or a header of HTTP.
func (d *decoder) place(from, end, sign int, kind keyKind) keyKind {
	value := d.t[min(len(d.t), skip(d.t, sign, " \t\"'[")):]
	value = value[:min(len(value), maxNear)]
	n := strings.IndexAny(value, " \t\n\"'],&")
	if n < 0 {
		n = len(value)
	}
	switch assigns := d.t[sign-1] == '='; {
	case assigns && kind >= maybeKey && isVariable(d.t[from:end]),
		assigns && kind >= maybeKey && n > 0 && strings.HasSuffix(d.t[from:end], "_pass") && value[0] != '$' && !only(value[:n], "0123456789./%"),
		assigns && kind == secretKey && (from > 0 && strings.IndexByte("?&", d.t[from-1]) >= 0 || n > 0 && n < len(value) && value[n] == '&'):
		return deepKey
	case kind >= maybeKey && kind < deepKey && end-from > 2 && d.t[from]|0x20 == 'x' && d.t[from+1] == '-':
		if n >= 8 {
			return deepKey
		}
		return secretKey
	}
	return kind
}

// closed returns what follows the quotes, brackets and tags behind a name, and its index, as in
// passwords[0], (password) and <b>password</b>.
func (d *decoder) closed(i int) int {
	if i < len(d.t) && strings.IndexByte("[/<", d.t[i]) >= 0 {
		if e := indexBehind.get().FindStringSubmatch(d.t[i:min(len(d.t), i+64)]); e != nil {
			i += len(e[1])
		}
	}
	for n := 0; n < 3 && i < len(d.t) && strings.IndexByte("\"'`]*})?", d.t[i]) >= 0; n++ {
		i++
	}
	if i < len(d.t) && d.t[i] == ':' {
		i += len(fieldOfPHP.get().FindString(d.t[i:min(len(d.t), i+64)]))
	}
	return i
}

// fieldOfPHP is who may read the field of an object that PHP dumps, behind its name.
var fieldOfPHP = lazily(`^:(?:"[\w\\]{1,40}":)?(?:private|protected)\]`)

// indexBehind is an index, the place that a password is for, or the end of a tag; a sign follows.
var indexBehind = lazily(`^(\[(?:\w{0,8}|:?\w{1,40}|["'][\w.-]{1,40}["'])\]|/\w{1,20}|</\w{1,8}>)[ \t]{0,2}(?:[:=]|$)`)

func (d *decoder) quote(i int) bool { return i < len(d.t) && (d.t[i] == '"' || d.t[i] == '\'') }

// sign returns where a sign ends that stands between a name and its value; i if there is none.
func (d *decoder) sign(i int, quoted bool) int {
	for _, sign := range []string{"==>", ":=>", ":=", "=>", "===", "==", "->", "<-", "=", ":: ", ":", "→", "←", "+=", "~=", "?=", "|=", "!="} {
		if strings.HasPrefix(d.t[i:], sign) {
			if sign == "->" && quoted {
				return i
			}
			return i + len(sign)
		}
	}
	return i
}

// assignment reads the value behind a sign.
func (d *decoder) assignment(at int, kind keyKind) {
	sign, how := at, assigned
	if strings.HasSuffix(d.t[:at], "=") {
		how = set
	}
	if strings.HasSuffix(d.t[:at], "->") || strings.HasSuffix(d.t[:at], "→") {
		how = told
	}
	if d.t[at-1] == ':' {
		if n := len(typeOfName.get().FindString(d.t[at:min(len(d.t), at+maxNear)])); n > 0 {
			at += n - 1 // the quote
		}
	}
	if at = skip(d.t, at, " \t\r"); d.braced(at, kind, how) {
		return
	}
	if strings.HasPrefix(d.t[at:], "# ") && strings.IndexByte(" \t", d.t[at-1]) >= 0 { // a comment
		n := strings.IndexByte(d.t[at:min(len(d.t), at+maxBeside)], '\n')
		if n < 0 {
			return
		}
		at += n
	}
	at = d.opened(at)
	stars := skip(d.t, at, "*")
	if stars-at >= minOpen {
		return // masked, whatever is told behind it
	}
	if stars > at && stars < len(d.t) && strings.IndexByte(" \t`", d.t[stars]) >= 0 { // of Markdown
		at = skip(d.t, stars, " \t")
	}
	if at >= len(d.t) || d.alias(at, kind) {
		return
	}
	if d.t[at-1] == '{' && !isNumberList(d.t[at:]) {
		d.fields(at, kind)
		return
	}
	if d.t[at] == '\n' || strings.IndexByte("|>", d.t[at]) >= 0 && strings.HasPrefix(d.t[min(len(d.t), skip(d.t, at, "|>+-0123456789")):], "\n") {
		if at = strings.IndexByte(d.t[at:], '\n') + at + 1; at >= len(d.t) {
			return
		}
		if kind >= weakKey && d.fieldsBelow(sign, at, kind) {
			return
		}
		next, how := skip(d.t, at, " \t\n"), told
		if line, _, more := strings.Cut(d.t[next:min(len(d.t), next+maxBeside)], "\n"); more && underline(line) {
			next, how = skip(d.t, next+len(line), " \t\n"), assigned
		}
		next = skip(d.t, next, "- ")
		if size := len(dumpedText.get().FindString(d.t[next:min(len(d.t), next+32)])); size > 0 {
			next, how = next+size, assigned
		}
		if e := d.nameEnd(next); e > next && e < len(d.t) && d.t[e] == ':' {
			return // another key
		}
		if kind >= secretKey {
			d.value(next, kind, how)
		}
		return
	}
	switch {
	case d.value(at, kind, how) || kind <= userKey:
	case d.quote(at):
		d.newValue(d.w.shownAt(d.quotedValue(at).to), kind) // password: "" -> "VALUE"
	default:
		d.changed(at, kind) // password: changed to VALUE
	}
}

// opened skips what may stand in front of a value: types of a dump, anchors and tags of YAML, a
// bracket, and the letter in front of a quote.
func (d *decoder) opened(i int) int {
	for range 6 {
		at := i
		switch rest := d.t[i:]; {
		case rest == "":
			return i
		case rest[0] == '&' || rest[0] == '!':
			if e := strings.IndexAny(rest[:min(len(rest), 64)], " \t\n"); e > 0 && rest[e] != '\n' && (rest[0] == '!' || e < 24) && d.quietTag(rest[1:e]) {
				i += skip(rest, e, " \t")
			}
		case rest[0] == '(' && d.quote(i+1):
			i++
		case rest[0] == '(':
			if e := strings.IndexByte(rest[:min(len(rest), 32)], ')'); e > 0 && dumpType(rest[1:e]) {
				i += skip(rest, e+1, " \t")
			}
		case rest[0] == 'm' && strings.HasPrefix(rest, "map["):
			i += len(mapType.get().FindString(rest[:min(len(rest), 64)]))
		case rest[0] == 'i' && strings.HasPrefix(rest, "interface"), rest[0] == 'a' && strings.HasPrefix(rest, "any("):
			i += len(typed.get().FindString(rest[:min(len(rest), 32)]))
		case strings.HasPrefix(rest, "string("):
			i += len(dumpedText.get().FindString(rest[:min(len(rest), 32)]))
		case strings.HasPrefix(rest, "[]uint8{"), strings.HasPrefix(rest, "[]byte{"):
			i += strings.IndexByte(rest, '{') + 1
		case strings.HasPrefix(rest, "[-"), strings.HasPrefix(rest, "{+"): // a word diff of git
			i += 2
		case rest[0] == '[' || rest[0] == '{':
			i++
		case strings.IndexByte("uUbBrRfF@$", rest[0]) >= 0 && d.quote(i+1):
			i++
		case rest[0] == '$' || rest[0] == '`':
			i += len(printed.get().FindString(rest[:min(len(rest), 64)]))
		}
		if i == at {
			return i
		}
	}
	return i
}

// typed is the type in front of a value that Go prints with %#v.
var typed = lazily(`^(?:interface ?\{\}|any)\(`)

// mapType is the type of an object that Go prints with %#v; the bracket that opens it follows.
var mapType = lazily(`^map\[(?:string|interface ?\{\}|any)\](?:string|interface ?\{\}|any)`)

// printed is what a shell runs for the sake of what it prints, up to that, and the variable that a
// value is the default of.
var printed = lazily("^(?:(?:\\$\\(|`)[ \\t]*(?:echo|printf|print)[ \\t]+(?:-[neE]+[ \\t]+|'%s'[ \\t]+)*|\\$\\{[A-Za-z_][A-Za-z0-9_]*:?[-=+])")

// commaSeparated reports whether a name is in a row of values with commas between, and not in a
// sentence.
func (d *decoder) commaSeparated(from, i int, kind keyKind) bool {
	return (d.t[i] == ',' || d.t[i] == ';') && i+1 < len(d.t) && d.t[i+1] != ' ' &&
		(kind >= secretKey || strings.IndexByte(d.t[max(0, from-maxNear):from], ' ') < 0)
}

// fallback reads the default of a variable of Terraform and the like.
func (d *decoder) fallback(i int, kind keyKind) {
	const field = "default"
	n := strings.Index(d.t[i:min(len(d.t), i+maxBeside)], field)
	if n < 0 || strings.IndexByte(d.t[i:i+n], '}') >= 0 {
		return
	}
	at := skip(d.t, d.closed(i+n+len(field)), " \t")
	if at < len(d.t) && (d.t[at] == '=' || d.t[at] == ':') {
		d.value(skip(d.t, at+1, " \t"), kind, beside)
	}
}

// fields reads an object that stands behind the name of a secret, but what refers to another.
func (d *decoder) fields(at int, kind keyKind) {
	stop := min(len(d.t), at+maxBeside)
	for deep := 0; at < stop; {
		if d.t[at] == '}' {
			if deep--; deep < 0 {
				return
			}
			at++
			continue
		}
		if at = skip(d.t, at, " \t\n\"',"); at < stop && d.t[at] == '}' {
			continue
		}
		end := d.nameEnd(at)
		sign := skip(d.t, d.closed(end), " \t")
		if end == at || sign >= len(d.t) || d.t[sign] != ':' && d.t[sign] != '=' {
			return
		}
		value := skip(d.t, sign+1, " \t")
		if value < len(d.t) && d.t[value] == '{' && d.opensObject(value) {
			deep++
			at = value + 1
			continue
		}
		value = d.opened(value)
		if value >= len(d.t) || slices.Contains(referenceKeys, d.t[at:end]) || !d.value(value, kind, assigned) {
			at = value
			for at < stop && strings.IndexByte(",}\n", d.t[at]) < 0 {
				at++
			}
			continue
		}
		at = max(d.done, value)
	}
}
