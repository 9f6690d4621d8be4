package sanitize

import "strings"

// besideName reads an object whose one field is the name of a secret and whose other is the
// value: {"name": "DB_PASSWORD", "value": "x"} in any order and notation, also over the lines of
// YAML and as elements and attributes of XML.
func (d *decoder) besideName(from, end int, kind keyKind) bool {
	if at := d.formValue(from, end); at > 0 {
		line, _, _ := strings.Cut(d.t[at:min(len(d.t), at+maxValue)], "\n")
		return d.besideAt(at, at+len(strings.TrimRight(line, " \t\r")), kind, true)
	}
	at := d.closed(end)
	stop := min(len(d.t), end+maxBeside)
	if strings.HasPrefix(d.t[at:], "</") {
		n := strings.IndexByte(d.t[at:stop], '>')
		return n > 0 && d.afterTag(at+n, kind) || d.besideBefore(from, kind)
	}
	if !d.spend(maxBeside / 4) {
		return false
	}
	depth, indent := 0, d.column(from)
	for i := at; i < stop; {
		switch c := d.t[i]; {
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth < 0 {
				return d.besideBefore(from, kind)
			}
		case c == '\n' && d.leaves(i+1, indent):
			return d.besideBefore(from, kind)
		case c == '>' && d.isElement(from):
			return d.afterTag(i, kind) || d.besideBefore(from, kind)
		case c == '/' && strings.HasPrefix(d.t[i:], "/>"):
			return d.besideBefore(from, kind)
		case word(c) && !word(d.t[i-1]):
			e := d.nameEnd(i)
			if depth == 0 && isValueField(d.t[i:e]) {
				if p := skip(d.t, d.closed(e), " \t"); p < len(d.t) && (d.t[p] == ':' || d.t[p] == '=' || d.t[p] == '>') {
					return d.besideValue(d.inValue(i, skip(d.t, p+1, " \t")), kind)
				}
			} else if depth == 0 && isNameField(d.t[i:e]) {
				return d.besideBefore(from, kind)
			}
			i = e
			continue
		}
		i++
	}
	return d.besideBefore(from, kind)
}

// formValue returns where the value of a field of a form begins whose name is from from to end: behind
// the empty line that ends the headers of its part (RFC 7578). It is 0 elsewhere.
func (d *decoder) formValue(from, end int) int {
	head := d.t[max(0, from-maxNear):from]
	if !strings.Contains(head[strings.LastIndexByte(head, '\n')+1:], "form-data;") {
		return 0
	}
	if m := emptyLine.get().FindStringIndex(d.t[end:min(len(d.t), end+maxBeside)]); m != nil {
		return end + m[1]
	}
	return 0
}

var (
	emptyLine = lazily(`\n[ \t]*\r?\n`)
	formField = lazily(`form-data;[ \t]*name=\\*["']?([\w.-]+)\\*["']?$`)
)

// inValue returns where a value begins that stands at a place; that of its first field where it is an object, as those
// of OpenTelemetry with the name of their type.
func (d *decoder) inValue(field, at int) int {
	if at >= len(d.t) || d.t[at] != '{' && d.t[at] != '\n' {
		return d.opened(at)
	}
	from := skip(d.t, at+1, " \t\r\n\"'")
	end := d.nameEnd(from)
	sign := skip(d.t, d.closed(end), " \t")
	if end == from || sign >= len(d.t) || d.t[sign] != ':' && d.t[sign] != '=' || d.t[at] == '\n' && d.column(from) <= d.column(field) {
		return d.opened(at)
	}
	return d.opened(skip(d.t, sign+1, " \t"))
}

// besideValue reads the value of such an object.
func (d *decoder) besideValue(i int, kind keyKind) bool {
	if i >= len(d.t) {
		return false
	}
	if d.quote(i) {
		return d.judge(d.quotedValue(i), kind, beside, true)
	}
	if strings.HasPrefix(d.t[i:], "<") || strings.HasPrefix(d.t[i:], "|") || d.t[i] == '\n' {
		return false
	}
	line := d.t[i:min(len(d.t), i+maxValue)]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	if n := strings.Index(line, "ValueFrom:"); n > 0 {
		return d.besideAt(i, i+n-1, kind, false)
	}
	if n := strings.IndexByte(line, '<'); n > 0 && i > 0 && d.t[i-1] == '>' {
		return d.besideAt(i, i+n, kind, false)
	}
	if whole := strings.TrimRight(line, " \t\r"); d.alone(i) && !strings.Contains(whole, " #") {
		return d.besideAt(i, i+len(whole), kind, false)
	}
	from := d.w.place(i)
	return d.judge(span{from, d.unquotedUntil(from, true)}, kind, beside, false)
}

// besideAt judges the value of such an object that is at a place of the view.
func (d *decoder) besideAt(from, to int, kind keyKind, quoted bool) bool {
	return d.judge(span{d.w.place(from), d.w.place(to)}, kind, beside, quoted)
}

// besideBefore looks for the value in front of the name.
func (d *decoder) besideBefore(from int, kind keyKind) bool {
	low := max(0, from-maxBeside)
	if !d.spend(from - low) {
		return false
	}
	depth := 0
	for i := from - 1; i > low; i-- {
		switch c := d.t[i]; {
		case c == '}' || c == ']':
			depth++
		case c == '{' || c == '[':
			if depth--; depth < 0 {
				return false
			}
		case depth == 0 && c == 'e' && i >= 4 && strings.EqualFold(d.t[i-4:i+1], "value") && (i == 4 || !word(d.t[i-5])):
			p := skip(d.t, d.closed(i+1), " \t")
			if p >= from || strings.IndexByte(":=>", d.t[p]) < 0 {
				continue
			}
			lines := d.t[p:from]
			if n := strings.IndexByte(lines, '\n'); n >= 0 && strings.Contains(lines[n:], "\n") && strings.Contains(lines, "\n- ") {
				return false // it belongs to the item before
			}
			return d.besideValue(d.opened(skip(d.t, p+1, " \t")), kind)
		}
	}
	return false
}

// isNameField reports whether what begins at i is the value of a field called name or key.
func (d *decoder) isNameField(i int) bool {
	path := false
	for n := 0; n < 4 && i > 1 && d.t[i-1] == '~'; n++ { // ~1 of a JSON pointer
		for i--; i > 0 && word(d.t[i-1]); i-- {
		}
	}
	for low := i - maxNear; i > max(0, low) && d.t[i-1] == '/'; path = true { // /spec/password of a JSON patch
		for i--; i > max(0, low) && (word(d.t[i-1]) || strings.IndexByte("-.~", d.t[i-1]) >= 0); i-- {
		}
	}
	for n := 0; n < 2 && i > 0 && strings.IndexByte("\"'", d.t[i-1]) >= 0; n++ {
		i--
	}
	for i > 0 && strings.IndexByte(" \t", d.t[i-1]) >= 0 {
		i--
	}
	if i == 0 || strings.IndexByte(":=>", d.t[i-1]) < 0 {
		return false
	}
	i--
	for i > 0 && strings.IndexByte(" \t\"'", d.t[i-1]) >= 0 {
		i--
	}
	end := i
	for i > 0 && word(d.t[i-1]) {
		i--
	}
	return isNameField(d.t[i:end]) && !path || path && d.t[i:end] == "path"
}

// isTypeField reports whether what begins at i is the value of a field called type, as {"type": "password", "value": X} has it.
func (d *decoder) isTypeField(i int) bool {
	for n := 0; n < 2 && i > 0 && strings.IndexByte("\"'", d.t[i-1]) >= 0; n++ {
		i--
	}
	head := strings.TrimRight(d.t[max(0, i-16):i], " \t")
	if head == "" || strings.IndexByte(":=", head[len(head)-1]) < 0 {
		return false
	}
	head = strings.TrimRight(head[:len(head)-1], " \t\"'")
	return len(head) >= 4 && strings.EqualFold(head[len(head)-4:], "type") && (len(head) == 4 || !word(head[len(head)-5]))
}

func isNameField(v string) bool {
	return len(v) < 8 && (strings.EqualFold(v, "name") || strings.EqualFold(v, "key") || strings.EqualFold(v, "option") || strings.EqualFold(v, "field"))
}

func isValueField(v string) bool {
	return len(v) < 8 && (strings.EqualFold(v, "value") || strings.EqualFold(v, "val") || strings.EqualFold(v, "content"))
}

// column returns how far the field is indented that a name at i is the value of, without the
// hyphen of an item.
func (d *decoder) column(i int) int {
	line := d.t[max(0, i-maxBeside):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return skip(line, 0, " \t-")
}

// leaves reports whether a line of YAML is no more of the object that is indented as far: another
// item, or a line that is further left.
func (d *decoder) leaves(i, indent int) bool {
	n := skip(d.t, i, " \t") - i
	return i+n < len(d.t) && strings.IndexByte("{}[]\"<", d.t[i+n]) < 0 && (n < indent || d.t[i+n] == '-')
}

// alone reports whether only the name of a field stands in front of its value on a line.
func (d *decoder) alone(i int) bool {
	head := d.t[max(0, i-64):i]
	head = head[strings.LastIndexByte(head, '\n')+1:]
	return len(strings.Fields(strings.Replace(head, "- ", "", 1))) == 1 && !strings.ContainsAny(head, "{[<,")
}

// isElement reports whether a name at i is in a tag, or the text of an element.
func (d *decoder) isElement(i int) bool {
	head := d.t[max(0, i-maxNear):i]
	return strings.LastIndexByte(head, '<') > strings.LastIndexByte(head, '\n')
}

// afterTag reads the text behind a tag that ends at i, or that of the next element.
func (d *decoder) afterTag(i int, kind keyKind) bool {
	at := skip(d.t, i+1, " \t\n\r")
	for n := 0; n < 2 && at < len(d.t) && d.t[at] == '<'; n++ {
		if e := strings.IndexByte(d.t[at:min(len(d.t), at+maxNear)], '>'); e > 0 {
			at = skip(d.t, at+e+1, " \t\n\r")
		}
	}
	end := strings.IndexByte(d.t[at:min(len(d.t), at+maxValue)], '<')
	if end <= 0 {
		return false
	}
	text := strings.TrimRight(d.t[at:at+end], " \t\r\n")
	return d.besideAt(at, at+len(text), kind, true)
}

// element reads <name>value</name>, also with attributes, a namespace and CDATA.
func (d *decoder) element(from, end int, kind keyKind) bool {
	i := from
	if i > 0 && d.t[i-1] == ':' {
		for i--; i > 0 && word(d.t[i-1]); i-- {
		}
	}
	if i == 0 || d.t[i-1] != '<' {
		return false
	}
	stop := strings.IndexAny(d.t[end:min(len(d.t), end+256)], "<>")
	if stop > 0 && d.t[end+stop] == '>' && d.attribute(end, end+stop, kind) {
		return true
	}
	if stop < 0 || d.t[end+stop] != '>' || stop > 0 && d.t[end+stop-1] == '/' || stop > 0 && strings.IndexByte(" \t\n\r", d.t[end]) < 0 {
		return false
	}
	at := skip(d.t, end+stop+1, " \t\r\n")
	if rest, ok := strings.CutPrefix(d.t[at:], "<![CDATA["); ok {
		at += len("<![CDATA[")
		if n := strings.Index(rest[:min(len(rest), maxValue)], "]]>"); n > 0 {
			return d.besideAt(at, at+n, kind, true)
		}
	}
	for n := 0; n < maxComments && strings.HasPrefix(d.t[at:], "<!--"); n++ {
		e := strings.Index(d.t[at:min(len(d.t), at+maxBeside)], "-->")
		if e < 0 {
			return false
		}
		at = skip(d.t, at+e+len("-->"), " \t\r\n")
	}
	at += len(insideTag.get().FindString(d.t[at:min(len(d.t), at+maxNear)]))
	n := strings.IndexByte(d.t[at:min(len(d.t), at+maxValue)], '<')
	if n <= 0 {
		return false
	}
	text := strings.TrimRight(d.t[at:at+n], " \t\r\n")
	return d.besideAt(at, at+len(text), kind, true)
}

// attribute reads the value of an element that is an attribute of it: <password value="X"/>.
func (d *decoder) attribute(from, to int, kind keyKind) bool {
	if strings.IndexByte(d.t[from:to], '=') < 0 {
		return false
	}
	m := valueAttribute.get().FindStringIndex(d.t[from:to])
	return m != nil && d.quote(from+m[1]) && d.t[from+m[1]+1] != d.t[from+m[1]] && d.value(from+m[1], kind, beside)
}

var valueAttribute = lazily(`[ \t\r\n](?i:value|val|text|plain|content)[ \t]*=[ \t]*`)

// maxComments bounds the comments in front of the text of an element.
const maxComments = 4

// insideTag is the tag of an element that holds nothing but the value of its parent.
var insideTag = lazily(`^(?i:<(?:value|string|text|plain)(?:[ \t][^<>]{0,60})?>)[ \t\r\n]*`)

// below reads the value of a key of YAML that has a line of its own: ? name\n: value.
func (d *decoder) below(from, line int, kind keyKind) {
	if strings.HasSuffix(d.t[max(0, from-2):from], "? ") {
		if at := skip(d.t, line+1, " \t"); strings.HasPrefix(d.t[min(at, len(d.t)):], ": ") {
			d.value(d.opened(skip(d.t, at+1, " \t")), kind, assigned)
		}
	}
}

// sentence reads what follows a name without a sign between.
func (d *decoder) sentence(at int, kind keyKind) {
	if kind == deepKey && d.changedWords(at) {
		return
	}
	if d.quote(at) && kind >= secretKey && strings.IndexByte(" \t(", d.t[at-1]) >= 0 {
		if d.value(at, kind, listed) {
			return
		}
	}
	d.behind(at, kind)
}

// behind looks at the words behind a name for one that is a credential.
func (d *decoder) behind(at int, kind keyKind) {
	how, first, about := near, true, false
	end := min(len(d.t), at+maxNear)
	for i := at; i < end; {
		i = skip(d.t, i, " \t|>'\"`(),:=-*")
		to := i
		for to < len(d.t) && to < i+128 && strings.IndexByte(wordEnds, d.t[to]) < 0 {
			to++
		}
		tells := how == told && kind == deepKey
		field := isField(d.t[i:to]) && !(tells && mixedField(d.t[i:to]))
		if to == i || strings.IndexFunc(d.t[i:to], isAtom) >= 0 || field || first && d.t[i] == '\n' {
			return // the value is hidden, or another field begins
		}
		if tells {
			to = d.toldEnd(i, to)
		}
		w := d.t[i:to]
		if next := skip(d.t, to, " \t"); kind == deepKey && (w == "is:" || w == "was:" || w == "are:" || first && (w == "is" || w == "was") && d.quote(next)) {
			d.value(next, kind, assigned)
			return
		}
		if len(w) < 5 && w == strings.ToUpper(w) {
			w = strings.ToLower(w)
		}
		switch w {
		case "now", "still", "currently":
			if how == told {
				i, first = to, false
				continue
			}
		case "is", "was", "to", "are", "be", "with", "for", "of", "from", "by", "Is", "To":
			if w == "Is" || w == "To" {
				w = strings.ToLower(w)
			}
			if w == "is" || w == "was" || w == "to" {
				how = told
			}
			i, first, about = to, false, w == "for" || w == "of"
			continue
		}
		word := strings.TrimRight(d.t[i:to], ".:*")
		quoted := i > 0 && strings.IndexByte("\"'`", d.t[i-1]) >= 0
		if credentialWord(word, kind, how, first, quoted) {
			for to < len(d.t) && to < i+maxValue && strings.IndexByte(wordEnds, d.t[to]) < 0 {
				to++ // all of a long one
			}
			d.note(i, i+len(strings.TrimRight(d.t[i:to], ".:")))
			return
		}
		if how = near; about && strings.HasSuffix(w, ":") {
			how = told
		}
		i, first, about = to, false, false
	}
}

// toldEnd returns where a word ends that a sentence tells as a password: signs that end other words may be in it.
func (d *decoder) toldEnd(from, to int) int {
	for to < len(d.t) && to-from < 128 && to > from && strings.IndexByte(";<>", d.t[to]) >= 0 && to+1 < len(d.t) && (word(d.t[to+1]) || d.t[to] == d.t[to+1]) &&
		strings.ContainsAny(d.t[from:to], "0123456789") {
		for to++; to < len(d.t) && strings.IndexByte(wordEnds, d.t[to]) < 0; {
			to++
		}
	}
	return to
}

// mixedField reports whether what stands in front of a colon is no name of a field: it has digits.
func mixedField(w string) bool {
	name, _, ok := strings.Cut(w, ":")
	return ok && strings.IndexByte(name, '=') < 0 && classesOf(name).upper > 0 && strings.ContainsAny(name, "0123456789")
}

// wordEnds are the signs between words.
const wordEnds = " \t\r\n|'\"`(),;<>"

// isField reports whether a word is a field of its own, as user=root.
func isField(w string) bool {
	i := strings.IndexAny(w, "=:")
	return i > 0 && i+1 < len(w) && letter(w[0]) && only(w[:i], alphanumeric+"_.-")
}

// note notes a secret by its place in the view.
func (d *decoder) note(from, to int) {
	d.found = append(d.found, span{d.w.place(from), d.w.place(to)})
	d.done = max(d.done, to)
}
