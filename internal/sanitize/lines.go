package sanitize

import (
	"bytes"
	"strings"
)

// maxKeyLines bounds a private key that spans lines: RSA with 16,384 bits has 200.
// Without it a log that was cut behind BEGIN would be a secret to its end.
const maxKeyLines = 256

var (
	keyBegin = lazily(`(?i)-----BEGIN (?:[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?|OpenVPN [a-z0-9 -]*key(?: V\d)?)-----`)
	keyEnd   = lazily(`(?i)-----END (?:[A-Z0-9 ]*PRIVATE KEY|OpenVPN )`)
)

func last(find *expression, v string) int {
	at := -1
	for _, m := range find.get().FindAllStringIndex(v, -1) {
		at = m[0]
	}
	return at
}

// Line sanitizes one line of a stream; see Lines.
func (s *Sanitizer) Line(v string) string {
	s.catchUp()
	return s.nextLine(v)
}

func (s *Sanitizer) nextLine(v string) string {
	if body := strings.TrimRight(v, "\r"); len(body) < len(v) { // of Windows and HTTP
		return s.nextLine(body) + v[len(body):]
	}
	list := readings(v)
	if len(list) == 0 {
		return s.oneLine(v)
	}
	if clean := s.oneLine(list[0]); clean != list[0] {
		return clean
	}
	for _, shown := range list[1:] {
		if clean := s.text(shown); clean != shown {
			return clean
		}
	}
	return v
}

func (s *Sanitizer) oneLine(v string) string {
	if s.inside == 0 && !strings.Contains(v, "-----") {
		return s.line(v)
	}
	begin, end := last(keyBegin, v), last(keyEnd, v)
	switch inside := s.inside > 0; {
	case inside:
		s.spanKey(begin, end)
		return redactedPrefix + "line of a private key]"
	case begin > end:
		s.spanKey(begin, end)
		return s.text(v[:begin]) + redactedPrefix + "private key]"
	}
	return s.line(v)
}

// spanKey continues with a private key over a line, or begins one; begin and end are
// where its marks are in the line.
func (s *Sanitizer) spanKey(begin, end int) {
	switch {
	case s.inside == 0:
		s.inside, s.block = maxKeyLines, block{}
	case end >= 0 && begin < end:
		s.inside = 0
	case begin >= 0:
		s.inside = maxKeyLines
	default:
		s.inside--
	}
}

func (s *Sanitizer) line(v string) string {
	if s.block.left > 0 {
		if out, ok := s.block.next(s, v); ok {
			s.body.read(v)
			return out
		}
	}
	if s.manifest.left > 0 || opensManifest(uncommented(strings.TrimRight(v, " \t\r"))) {
		if out, ok := s.manifest.next(s, v); ok {
			return out
		}
	}
	s.block.open(v)
	out := s.text(s.row(v))
	s.openBlob(v, out)
	return out
}

// row hides the cells of a line that is a row of a table.
func (s *Sanitizer) row(v string) string {
	if !s.table.sees(v) {
		return v
	}
	m := s.mask(v)
	w := m.view()
	m.hideSpans(w.spans(s.table.read(w.text)))
	return m.unmask(m.text)
}

// endsInSecret reports whether a line ended in a secret that may go on in the next one.
func endsInSecret(v, clean string) bool {
	return clean != v && strings.HasSuffix(strings.TrimRight(clean, " \t\r"), "]") && (wrappedEnd([]byte(v)) || endsInToken(v))
}

// openBlob opens a block of base64 behind a line that ended in a secret.
func (s *Sanitizer) openBlob(v, clean string) {
	if endsInSecret(v, clean) {
		s.block = block{left: maxKeyLines, blob: true}
	}
}

// wrappedEnd reports whether a line ends in as many characters of base64, or of a token,
// as lines have that are broken for their length.
func wrappedEnd(v []byte) bool {
	const run = 60
	if len(v) < run {
		return false
	}
	for _, c := range v[len(v)-run:] {
		if sixBits[c] == 0xff && c != '.' {
			return false
		}
	}
	return true
}

// block is a secret whose name is on a line of its own: what follows is its value.
type block struct {
	left   int    // lines that still may be of it
	indent int    // of the line with the name
	scalar bool   // a block scalar of YAML: all lines that are indented deeper
	loose  bool   // or the next line, as no colon was in front of the sign
	sure   bool   // the name tells; else the value must look like a secret
	blob   bool   // base64 over many lines, of which one carried a secret
	long   int    // the least length of a line of it
	key    bool   // only a random key is a secret
	item   bool   // a flag in a list: the value is the next item
	logins bool   // lines of chpasswd
	users  bool   // below it are users and passwords, of cloud-init
	here   bool   // it is a here-document, which a line of the log itself ends, too
	head   bool   // the line that opens it has the head of a log
	klog   bool   // and that of klog
	doc    string // the word that ends a here-document, of which each line is a secret
	goesOn bool   // the value of a flag is the first word of the next line
	lone   bool   // and only if there is no other
	bare   bool   // there was no sign: one may be in front of the value
	nested bool   // that value is an object
	colon  bool   // the value is behind a colon
	named  string // the name of a variable: the value is behind "value:"

	below   keyKind // what the name says where the next lines may be an object
	object  bool    // they are
	skipped int     // how far a field of it is indented that refers to another object; 0 if there is none
	command command // the program whose words go on in the next lines
	flag    string  // of it, whose value is to come
}

var (
	// linePrefix is what CRI-O, the journal and klog write in front of each line.
	linePrefix = lazily(`^(?:\d{4}-\d\d-\d\dT\S+ )?(?:std(?:out|err) [FP] )?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? \S+ ` +
		`[^\s:\[]+(?:\[\d+\])?: )?(?:[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ [^\s\]]+:\d+\] )?`)
	oneValue = lazily(`^(?:\\*"((?:[^"\\]|\\.)+?)\\*"|'((?:[^']|'')+)'|([^\s"'{}\[\],]\S*[^\s"'{}\[\],:])),?$`)
	onlyBlob = lazily(`^[A-Za-z0-9+/_.-]{4,}={0,2}["']?$`)
)

// prefixEnd returns where the text of a line begins, behind what the programs of linePrefix
// write. Most values begin as none of these does.
func prefixEnd(v string) int {
	if v == "" || v[0] != 's' && (v[0] < '0' || v[0] > '9') && (v[0] < 'A' || v[0] > 'Z') {
		return 0
	}
	return len(linePrefix.get().FindString(v))
}

// opensScalar reports whether a line is a key with the head of a block scalar.
func opensScalar(v string) bool {
	rest := strings.TrimRight(v, "0123456789+-")
	rest = blockHead(rest)
	return (strings.HasSuffix(rest, ": |") || strings.HasSuffix(rest, ": >")) && strings.IndexByte(rest, ' ') == len(rest)-2
}

// opened returns the block that a line opens; most open none.
func opened(v string) block {
	end := strings.TrimRight(v, " \t\r")
	if strings.HasSuffix(end, `\`) {
		if b, ends := openedByLastWords(end); ends {
			return b
		}
	}
	if strings.Contains(end, "<<") {
		if m := heredoc.get().FindStringSubmatch(end); m != nil {
			return openedByDocument(end, m[1]+m[2], strings.Contains(end, "chpasswd"))
		}
	}
	if b := openedByKey(end); b.left > 0 {
		return b
	}
	if b := openedByField(end); b.left > 0 {
		return b
	}
	if b := openedByItem(end); b.left > 0 {
		return b
	}
	if b := openedByList(end); b.left > 0 {
		return b
	}
	object := strings.HasSuffix(end, "{")
	if object {
		end = strings.TrimRight(end, "{\"' \t")
		if b := openedByVariable(end); b.left > 0 {
			return b
		}
	}
	if i := strings.Index(end, ": #"); i > 0 { // a comment behind a name
		end = end[:i+1]
	}
	doc := ""
	for _, mark := range []string{`"""`, "'''"} { // of TOML
		if head, text, ok := strings.Cut(end, mark); ok && !strings.Contains(text, mark) {
			end, doc = strings.TrimRight(head, " \t"), mark
		}
	}
	end = blockHead(taggedHead(end))
	if end == "" || strings.IndexByte(":=|>-+0123456789", end[len(end)-1]) < 0 {
		return block{}
	}
	rest := strings.TrimRight(end, "0123456789+-")
	scalar := (strings.HasSuffix(rest, "|") || strings.HasSuffix(rest, ">")) && !strings.HasSuffix(rest, "=>")
	if !scalar {
		rest = end
	}
	rest = strings.TrimRight(strings.TrimRight(rest, "|>"), " \t")
	loose := false
	if name := strings.TrimSpace(rest[prefixEnd(rest):]); scalar && end[len(rest)] == ' ' && isColumn(name) && strings.IndexByte(name, ' ') < 0 {
		rest, loose = rest+":", true // password |
	}
	if !strings.HasSuffix(rest, ":") && !strings.HasSuffix(rest, "=") {
		return block{}
	}
	rest = strings.TrimRight(strings.TrimRight(rest[:len(rest)-1], " \t"), "\"'\\]")
	name := len(rest)
	for name > 0 && len(rest)-name < 80 && (word(rest[name-1]) || strings.IndexByte("-.", rest[name-1]) >= 0) {
		name--
	}
	if end := rest[name:]; end == "protected" || end == "private" { // ["password":protected] of PHP
		rest, _, _ = strings.Cut(rest, `":`)
		name = strings.LastIndexAny(rest, `["`) + 1
	}
	kind := kindOfKey(rest[name:])
	if kind < maybeKey && kind != weakKey {
		return block{}
	}
	if object {
		return block{left: maxFields, named: rest[name:], below: kind, indent: indent(end[prefixEnd(end):]) + 1}
	}
	b := block{
		left:   1,
		sure:   kind == deepKey || kind == secretKey && !strings.EqualFold(rest[name:], "token"),
		scalar: scalar,
		loose:  loose,
		key:    kind == weakKey,
		indent: indent(end[prefixEnd(end):]),
		below:  kind,
	}
	switch {
	case b.scalar:
		b.left, b.below = maxKeyLines, plainKey
	case (b.sure || b.key) && doc != "":
		b.left, b.doc, b.below = maxKeyLines, doc, plainKey
	}
	return b
}

var (
	nameLine  = lazily(`^[ \t]*(?:-[ \t]+)?["']?(?:name|key)["']?:[ \t]*["']?([\w.-]+)["']?,?$`)
	valueLine = lazily(`^([ \t]*["']?(?:value["']?:|default["']?[ \t]*[:=])[ \t]*["']?)([^\s"'{\[|>].*?)(["']?,?[ \t]*\r?)$`)
	// variableOpened is a variable of Terraform, without the bracket that opens it.
	variableOpened = lazily(`\bvariable[ \t]+"([\w-]+)$`)
	// valueOpened and fieldLine are a value that is an object, and its first field.
	valueOpened = lazily(`^[ \t]*["']?value["']?:[ \t]*\{?[ \t]*\r?$`)
	fieldLine   = lazily(`^([ \t]*["']?\w+["']?:[ \t]*["']?)([^\s"'{\[|>].*?)(["']?,?[ \t]*\r?)$`)
	flagGoesOn  = lazily(`(?:^|[ \t])(--?[A-Za-z][\w.-]*)[ \t=]*\\$`)
	// valueGoesOn is a value that has no blank in front of the backslash.
	// nameGoesOn is a name whose value is in the next line.
	nameGoesOn    = lazily(`(?:^|[ \t"'])([A-Za-z][\w.-]*)[ \t]*(?:([=:])[ \t]*|[ \t]|)\\$`)
	valueGoesOn   = lazily(`(?:^|[ \t])([A-Za-z][\w.-]*)[=:][ \t]*[^=\\]*[^\s\\]\\$`)
	historyNumber = lazily(`^\d{1,6}  `)
	// loneFlag is a flag in a line of its own, as oc describe prints the arguments of a container.
	loneFlag = lazily(`^[ \t]*(--[A-Za-z][\w.-]*)$`)
	flagLine = lazily(`^[ \t]*(?:-[ \t]+["']?|")(--?[A-Za-z][\w.-]*)["']?,?$`)
	listItem = lazily(`^(-[ \t]+["']?|")(.*?)(["']?,?)$`)
	// xmlNamed is the name of a value in the next element, of property lists and of Hadoop.
	xmlNamed  = lazily(`<(?:key|name)>([\w.-]+)</(?:key|name)>$`)
	xmlOpened = lazily(`<(?:[\w.-]+:)?([\w.-]+)(?:[ \t][^<>]*)?>$`)
)

// opensItem is a quick look for a line that openedByItem opens a block for. It reads from
// the end: a word, in quotes or not, and before it the name of a field or the hyphen of an
// item.
func opensItem(end []byte) bool {
	if len(end) >= 256 {
		return false
	}
	i := len(end)
	before := func(signs string) bool { return i > 0 && strings.IndexByte(signs, end[i-1]) >= 0 }
	if before(",") {
		i--
	}
	if before(`"'`) {
		i--
	}
	to := i
	for i > 0 && (word(end[i-1]) || before(".-")) {
		i--
	}
	if isProgramItem(end, i, to) {
		return true
	}
	if i < len(end) && end[i] == '-' && i > 0 { // "- --flag": the hyphen of the item has a blank behind it
		j := i
		if before(`"'`) {
			j--
		}
		if bytes.HasSuffix(end[:j], []byte("- ")) || j < i && (len(bytes.TrimLeft(end[:j], " \t")) == 0 || end[j-1] == ' ') {
			return true
		}
	}
	if bytes.HasPrefix(end[i:], []byte("--")) && (i == 0 || before(" \t")) {
		return true // a flag alone
	}
	if before(`"'`) {
		i--
	}
	for before(" \t") {
		i--
	}
	if !before(":") {
		return false
	}
	head := end[:i-1]
	return bytes.HasSuffix(head, []byte("name")) || bytes.HasSuffix(head, []byte(`name"`)) || bytes.HasSuffix(head, []byte("key")) ||
		bytes.HasSuffix(head, []byte(`key"`))
}

// openedByField returns the block of a line that is a field of a form, or the name of a
// here-document of Terraform.
func openedByField(end string) block {
	if strings.Contains(end, string(formData)) {
		if m := formField.get().FindStringSubmatch(end); m != nil && kindOfKey(m[1]) >= maybeKey {
			return block{left: 1, sure: kindOfKey(m[1]) >= secretKey}
		}
	}
	if strings.Contains(end, "<<") {
		if m := assignedDoc.get().FindStringSubmatch(end); m != nil && kindOfKey(m[1]) >= maybeKey {
			return openedByDocument(end, m[2], false)
		}
	}
	return block{}
}

// openedByItem returns the block of a line that names the value of the next one: the name
// of a variable, a flag in a list, a tag of XML.
func openedByItem(end string) block {
	if strings.HasSuffix(end, ">") {
		if m := xmlOpened.get().FindStringSubmatch(end); m != nil && kindOfKey(m[1]) >= weakKey {
			kind := kindOfKey(m[1])
			if kind >= maybeKey || kind == weakKey {
				return block{left: 1, sure: kind >= secretKey, key: kind == weakKey}
			}
		}
	}
	if strings.HasSuffix(end, ">") {
		if m := xmlNamed.get().FindStringSubmatch(end); m != nil && kindOfKey(m[1]) >= secretKey {
			return block{left: 1, sure: true}
		}
	}
	if !opensItem([]byte(end)) {
		return block{}
	}
	body := end[prefixEnd(end):]
	if b := openedByProgram(body); b.left > 0 {
		return b
	}
	if m := nameLine.get().FindStringSubmatch(body); m != nil && kindOfKey(m[1]) >= weakKey {
		return block{left: maxFields, named: m[1], indent: skip(body, 0, " \t-")}
	}
	if m := loneFlag.get().FindStringSubmatch(body); m != nil {
		var c command
		if use := c.use(m[1]); use != noSecret {
			return block{left: 1, goesOn: true, lone: true, sure: use == wholeSecret, key: use == keyOnly}
		}
	}
	if m := flagLine.get().FindStringSubmatch(body); m != nil {
		var c command
		if use := c.use(m[1]); use != noSecret || m[1] == "-p" || m[1] == "-P" {
			return block{left: 1, item: true, sure: use == wholeSecret, key: use == keyOnly}
		}
	}
	return block{}
}

// maxFields bounds the fields of an object between its name and its value.
const maxFields = 8

// open replaces a block by that which a line opens. One that waits for the value of a name goes
// on over the other fields of the same object.
func (b *block) open(v string) {
	if next := opened(v); next.left > 0 || b.left == 0 || b.named == "" && !b.users && !b.object && b.command.program == "" {
		*b = next
	}
}

// logins are lines with a user, a colon and a password, as chpasswd reads them.
var logins = lazily(`^[A-Za-z_][\w.-]*:(\S{4,})$`)

func indent(v string) int { return len(v) - len(strings.TrimLeft(v, " \t")) }
