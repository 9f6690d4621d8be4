package sanitize

import (
	"slices"
	"strings"
	"time"
)

// Here an object of YAML is read that stands in the lines below the name of a secret:
//
//	password:
//	  value: X
//
// In a whole text a decoder reads it, also one that a string holds, in the lines of a log a block.

// valueNames are the fields of such an object that are the value, whatever it looks like. Of others only what looks like a
// secret is one: a rule for passwords has fields, too.
var valueNames = []string{"value", "val", "plain", "plaintext", "text", "data", "content", "string", "stringvalue", "raw", "clear", "cleartext", "current",
	"old", "new", "previous", "from", "to", "default", "literal", "inline", "unencrypted", "decrypted", "secret"}

// belowLine is a line of such an object: a hyphen, the name of a field, its value, and what may stand behind that.
var belowLine = lazily(`^([ \t]*(?:-[ \t]+)*)\\*["']?([A-Za-z_][\w.-]*)\\*["']?(?:[ \t]*:|[ \t]+=)` +
	`(?:[ \t]+(?:[!&][\w!./:-]+[ \t]+)*(.*?))?([ \t]*,?[ \t]*\r?)$`)

// belowField is a field below the name of a secret.
type belowField struct {
	column     int // of the name
	name       string
	from, to   int // of its value in the line, without quotes
	scalar     bool
	refersElse bool // it says where the value is
}

// fieldBelow reads a line as such a field.
func fieldBelow(line string) (f belowField, ok bool) {
	m := belowLine.get().FindStringSubmatchIndex(line)
	if m == nil {
		return f, false
	}
	f = belowField{column: m[3], name: line[m[4]:m[5]]}
	lower := strings.ToLower(f.name)
	f.refersElse = slices.Contains(referenceKeys, f.name) || strings.HasSuffix(lower, "from") && lower != "from" || strings.HasSuffix(lower, "ref") ||
		strings.HasSuffix(lower, "name")
	if m[6] < 0 || m[6] == m[7] {
		return f, true
	}
	f.from, f.to = m[6], m[7]
	value := line[f.from:f.to]
	f.scalar = strings.IndexByte("|>", value[0]) >= 0 && strings.Trim(value[1:], "0123456789+-") == ""
	if open := slashRun(value, 0); open < len(value) && (value[open] == '"' || value[open] == '\'') {
		f.from += open + 1
		f.to = min(f.to, quotedEnd(line, f.from))
	} else if n := strings.Index(value, " #"); n >= 0 {
		f.to = f.from + len(strings.TrimRight(value[:n], " \t"))
	}
	return f, true
}

// isValue reports whether the name of the field leaves no doubt.
func (f belowField) isValue() bool {
	return slices.Contains(valueNames, strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(f.name)))
}

// secret reports whether the value of the field is one; kind is what the name above it says.
func (f belowField) secret(line string, kind keyKind) bool {
	value := line[f.from:f.to]
	const phrase = 3 // words, more are a sentence
	words := strings.Fields(value)
	if f.refersElse || f.scalar || Redacted(value) || len(words) == 0 || len(words) > phrase || !noFlag(words[0]) {
		return false
	}
	how := assigned
	if !f.isValue() {
		if _, err := time.ParseDuration(value); kind < secretKey || err == nil || !randomWord(value) {
			return false
		}
		how = told
	}
	from, to := secretIn(value, kind, how, false)
	return from < to
}

// maxBelow bounds the lines of an object below a name.
const maxBelow = 2 * maxFields

// fieldsBelow reads the lines that are indented deeper than the name of a secret, and reports whether there are any. at
// is the first of them.
func (d *decoder) fieldsBelow(sign, at int, kind keyKind) (any bool) {
	indent := d.column(sign)
	skipped := -1 // how far a field is indented that refers to another object
	stop := min(len(d.t), at+maxBeside)
	for n := 0; at < stop && n < maxBelow && d.spend(1); n++ {
		line, _, _ := strings.Cut(d.t[at:min(len(d.t), at+maxBeside)], "\n")
		from := at
		at += len(line) + 1
		if body := strings.TrimSpace(line); body == "" || body[0] == '#' {
			continue
		}
		f, ok := fieldBelow(line)
		if !ok || f.column <= indent {
			return any
		}
		any = true
		switch {
		case skipped >= 0 && f.column > skipped:
			continue
		case f.refersElse:
			skipped = f.column
			continue
		case f.secret(line, kind):
			d.note(from+f.from, from+f.to)
		}
		skipped = -1
	}
	return any
}

// field sanitizes a line of a stream if it is of the object below a name.
func (b *block) field(s *Sanitizer, head, body string) (out string, hidden, is bool) {
	f, ok := fieldBelow(body)
	switch {
	case !ok:
		comment := strings.HasPrefix(strings.TrimSpace(body), "#")
		if comment && !b.object {
			b.object, b.left = true, maxBelow
		}
		return "", false, comment || b.object && strings.TrimSpace(body) == ""
	case f.column <= b.indent && !b.object:
		return "", false, false
	case f.column <= b.indent:
		b.left = 0
		return "", false, true
	}
	if !b.object {
		b.object, b.left, b.skipped = true, maxBelow, 0
	}
	switch {
	case b.skipped > 0 && f.column > b.skipped:
	case f.refersElse:
		b.skipped = f.column
	case f.scalar:
		if sure := f.isValue() && b.below >= secretKey; sure || b.below >= secretKey {
			*b = block{left: maxKeyLines, scalar: true, sure: sure, indent: indent(body)}
			return head + body, true, true
		}
	case f.secret(body, b.below):
		b.skipped = 0
		return head + body[:f.from] + s.digest(body[f.from:f.to]) + body[f.to:], true, true
	default:
		b.skipped = 0
	}
	return "", false, true
}
