package sanitize

import (
	"strings"
)

// A text may carry a whole Secret, in whatever notation a program prints one: YAML in blocks and in
// a line, JSON, TOML, XML, and the types of Go, Python, Ruby, PHP, Java and Rust. That it is one
// tells its kind, its type, or the name of the type; then all that stands in "data" and
// "stringData" is a secret, whatever its names are.

var objectMarks = []string{"secret", "opaque", "kubernetes.io/tls", "kubernetes.io/basic-auth", "kubernetes.io/ssh-auth", "kubernetes.io/dockerc",
	"kubernetes.io/service-account-token", "kubernetes.io/token", "data:map[", "stringdata", "string_data", "last-applied-configuration"}

var (
	// secretDeclared says that a Secret is in a text.
	secretDeclared = lazily(`\b(?i:kind)["'\]]{0,2}[ \t]*(?:=>|[:=])[ \t\r\n]*(?:string\(\d+\)[ \t]*)?u?["']?(?:Secret|SecretList)\b` +
		`|\b(?:\w{1,20}\.)?(?:V1)?(?:Secret|SecretList)[ \t]?[{(<>]|\(\*?(?:\w{1,20}\.)?Secret\)|` +
		`<(?:Secret|SecretList)>|\b[sS]tring_?[dD]ata\b|\bpatch secrets?\b|\bkubernetes_secret(?:_v1)?\b` +
		`|\(["'](?:kind["'],[ \t]*u?["'](?:Secret|SecretList)|type["'],[ \t]*u?["'](?:Opaque|kubernetes\.io/(?:tls|basic-auth|ssh-auth|dockerc)))\b` +
		`|\b(?i:type)["'\]]{0,2}[ \t]*(?:=>|[:=])[ \t]*(?:string\(\d+\)[ \t]*)?u?["']?(?:Opaque\b|kubernetes\.io/(?:tls|basic-auth|ssh-auth|dockerconfigjson|` +
		`dockercfg|service-account-token)|bootstrap\.kubernetes\.io/token)`)
	// secretData is the name of what holds the values, up to where they begin: with a bracket, or
	// below it. Between the two may be the type of a program, a tag, an anchor and a comment.
	secretData = lazily(`\b(?i:string_?data|data)(?:["'\]]{0,2}[ \t]*(?:=>|[:=])(?:[ \t]+[!&][\w!./:-]{0,60}){0,2}[ \t\r\n]*(?:&|` +
		`\(?map\[(?:string|interface ?\{\}|any)\](?:\[\](?:uint8|byte)|string|interface ?\{\}|any)\)?[ \t]*(?:\(len=\d+\)[ \t]*)?|map|dict|` +
		`OrderedDict|object\([\w\\]{1,60}\)#\d+[ \t]*\(\d+\)[ \t]*|[\w\\]{1,60}[ \t]Object[ \t]*\n?[ \t]*|` +
		`[\w\\]{1,60}::__set_state\(array[ \t]*|\(object\)[ \t]*(?:array[ \t]*)?|` +
		`array\(\d+\)[ \t]*|Array[ \t]*\n?[ \t]*|` +
		`array[ \t]*|Some)?[ \t]*([{\[(])|["'],[ \t]*OrderedDict(\()|["'\]]{0,2}[ \t]*(?:=>|=)[ \t]*#<[\w:]{1,60}(?:0x[0-9a-f]{1,16})?( )|` +
		`[ \t]+(\{)|(>)|` +
		`["']?[ \t]*:(?:[ \t]+[!&][\w!./:-]{0,60}){0,2}(?:[ \t]*|[ \t]+#[^\n]{0,500})\r?(\n)|\][ \t]*\r?(\n))`)
	lastApplied = form{"last-applied-configuration", lazily(`\blast-applied-configuration["']{0,2}[:=][ \t]*["']?\{`)}
	// byteMap are the values of a Secret as Go prints them: no other object has bytes there.
	byteMap = form{"Data:map[", lazily(`\bData:map\[(?:string\]\[\](?:uint8|byte)\{|[^\s:\]]{1,253}:\[\d{1,3} )`)}
)

// secretTypes are the types of Secrets behind "kubernetes.io/".
var secretTypes = []string{"tls", "basic-auth", "ssh-auth", "dockerconfigjson", "dockercfg", "service-account-token", "token"}

// writesSecret is a quick look for what secretDeclared needs: many lines have the word in small letters.
func writesSecret(t string) bool {
	for rest := t; ; {
		_, behind, ok := strings.Cut(rest, "Secret")
		if !ok {
			break
		}
		if rest = behind; behind == "" || !word(behind[0]) || strings.HasPrefix(behind, "List") {
			return true
		}
	}
	for _, literal := range []string{"Opaque", "patch secret", "kubernetes_secret", "tringData", "tringdata", "tring_data", "tring_Data"} {
		if strings.Contains(t, literal) {
			return true
		}
	}
	for rest := t; ; {
		_, behind, ok := strings.Cut(rest, "kubernetes.io/")
		if !ok {
			return false
		}
		for _, kind := range secretTypes {
			if strings.HasPrefix(behind, kind) {
				return true
			}
		}
		rest = behind
	}
}

// secretObjects returns where the values of Secrets are in a text; w is the view of v.
func (s *Sanitizer) secretObjects(v string, w view) []span {
	d := &decoder{s: s, v: v, w: w, t: w.text}
	d.secretObjects()
	return d.found
}

func (d *decoder) secretObjects() {
	for _, m := range lastApplied.findAll(d.t) {
		if m[0] >= d.done {
			d.hideAll(m[1], d.bracketEnd(m[1]))
		}
	}
	d.done = 0
	if (!writesSecret(d.t) || !secretDeclared.get().MatchString(d.t)) && len(byteMap.findAll(d.t)) == 0 {
		return
	}
	for _, m := range secretData.get().FindAllStringSubmatchIndex(d.t, -1) {
		_, open := lastGroup(m)
		if m[0] < d.done {
			continue
		}
		switch d.t[open-1] {
		case '\n':
			d.indented(m[0], open)
		case ' ':
			d.hideAll(open, d.angleEnd(open))
		case '>':
			if n := strings.Index(d.t[open:], "</"+d.t[m[0]:open]); n > 0 && m[0] > 0 && d.t[m[0]-1] == '<' {
				d.hideAll(open, open+n)
			}
		default:
			if line := strings.LastIndexByte(d.t[m[0]:open], '\n'); line >= 0 && besideEntries(d.t[open-1:]) { // of a template
				d.indented(m[0], m[0]+line+1)
				continue
			}
			d.hideAll(open, d.bracketEnd(open))
		}
	}
}

// hideAll notes all of a part of the view, but the blanks around.
func (d *decoder) hideAll(from, to int) {
	part := d.t[from:to]
	from += len(part) - len(strings.TrimLeft(part, " \t\r\n"))
	to = from + len(strings.TrimSpace(part))
	if to <= from || hasAtom(d.t[from:to]) && strings.IndexFunc(d.t[from:to], isAtom) == 0 && !strings.ContainsAny(d.t[from:to], ":=") {
		return
	}
	d.note(from, to)
}

// bracketEnd returns where the bracket closes that is opened in front of a place; the end of the
// text if it does not. Brackets in quotes do not count.
func (d *decoder) bracketEnd(i int) int {
	depth := 1
	for i < len(d.t) {
		switch d.t[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'':
			if i > 0 && strings.IndexByte(" \t\n:,=>{[(ub", d.t[i-1]) >= 0 {
				if s := d.quotedValue(i); s.to < len(d.v) && s.to > s.from {
					i = max(i+1, d.w.shownAt(s.to))
				}
			}
		}
		i++
	}
	return len(d.t)
}

// angleEnd returns where the object of Ruby ends whose fields begin at a place: #<OpenStruct a="x">.
func (d *decoder) angleEnd(i int) int {
	for depth := 1; i < len(d.t); i++ {
		switch d.t[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i
			}
		case '\n':
			return i
		}
	}
	return i
}

// besideEntries reports whether a line in the lines of values is a comment, or steers a template: the values go on behind it.
func besideEntries(line string) bool {
	if line != "" && (line[0] == '+' || line[0] == '-') { // of a diff
		line = line[1:]
	}
	body := strings.TrimLeft(line, " \t")
	return strings.HasPrefix(body, "#") || strings.HasPrefix(body, "{{") || strings.HasPrefix(body, "{%")
}

// indented notes the values of the lines below a name that are indented deeper than it.
func (d *decoder) indented(from, at int) {
	start := strings.LastIndexByte(d.t[:from], '\n') + 1
	column := from - start
	toml := column > 0 && d.t[from-1] == '['
	if column > 0 && (d.t[from-1] == '"' || d.t[from-1] == '\'') {
		column--
	}
	for at < len(d.t) {
		line := d.t[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n]
		}
		deep := len(line) > column && strings.TrimLeft(line[column:], " \t") != line[column:]
		body := min(skip(line, min(column, len(line)), " \t"), len(line))
		switch {
		case strings.TrimSpace(line) == "", !deep && besideEntries(line):
		case toml && line[0] != '[':
			d.entryValue(at, line)
		case toml || !deep:
			return
		default:
			d.entryValue(at+body, line[body:])
		}
		at += len(line) + 1
	}
}

// entryValue notes the value of an entry, or a line that continues with one.
func (d *decoder) entryValue(at int, line string) {
	line = strings.TrimRight(line, " \t\r\",")
	from := 0
	if m := entryHead.get().FindString(line); m != "" {
		from = len(m)
	}
	value := line[from:]
	if value == "" || strings.Trim(value, "|>+-0123456789") == "" && strings.IndexByte("|>", value[0]) >= 0 {
		return
	}
	if r := []rune(value); len(r) == 1 && isAtom(r[0]) {
		return
	}
	d.note(at+from, at+len(line))
}

var entryHead = lazily(`^["']?[-A-Za-z0-9._]+["']?[ \t]*[:=][ \t]*["']?`)
