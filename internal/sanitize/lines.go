package sanitize

import (
	"bytes"
	"regexp"
	"strings"
)

// maxKeyLines bounds a private key that spans lines: RSA with 16,384 bits has 200.
// Without it a log that was cut behind BEGIN would be a secret to its end.
const maxKeyLines = 256

var (
	keyBegin = regexp.MustCompile(`(?i)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`)
	keyEnd   = regexp.MustCompile(`(?i)-----END [A-Z0-9 ]*PRIVATE KEY`)
)

func last(find *regexp.Regexp, v string) int {
	at := -1
	for _, m := range find.FindAllStringIndex(v, -1) {
		at = m[0]
	}
	return at
}

// Line sanitises one line of a stream; see Lines.
func (s *Sanitizer) Line(v string) string {
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
		return s.Text(v[:begin]) + redactedPrefix + "private key]"
	}
	return s.line(v)
}

// spanKey goes on with a private key over a line, or begins one; begin and end are
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

// Spans reports whether a line may begin, go on with or end a secret of several
// lines, so that it must be seen even where no one looks for the line itself.
func (s *Sanitizer) Spans(raw []byte) bool {
	if s.inside > 0 || s.block.left > 0 || bytes.Contains(raw, []byte("-----")) {
		return true
	}
	raw = bytes.TrimRight(raw, " \t\r")
	if len(raw) == 0 {
		return false
	}
	if strings.IndexByte(":=|>-+", raw[len(raw)-1]) >= 0 {
		return true
	}
	lead := bytes.TrimLeft(raw, " \t")
	return len(raw) < 256 && (bytes.HasPrefix(lead, []byte("- ")) || bytes.HasPrefix(lead, []byte("name:")) || bytes.HasPrefix(lead, []byte("kind:")))
}

func (s *Sanitizer) line(v string) string {
	if s.block.left > 0 {
		if out, ok := s.block.next(s, v); ok {
			return out
		}
	}
	s.block = opened(v)
	out := s.Text(v)
	s.openBlob(v, out)
	return out
}

// openBlob opens a block of base64 behind a line that ended in a secret.
func (s *Sanitizer) openBlob(v, clean string) {
	if clean != v && strings.HasSuffix(clean, "]") && wrapped.MatchString(v) {
		s.block = block{left: maxKeyLines, blob: true}
	}
}

// block is a secret whose name is on a line of its own: what follows is its value.
type block struct {
	left   int  // lines that still may be of it
	indent int  // of the line with the name
	scalar bool // a block scalar of YAML: all lines that are indented deeper
	sure   bool // the name tells; else the value must look like a secret
	blob   bool // base64 over many lines, of which one carried a secret
	long   int  // the least length of a line of it, 0: any
	name   bool // a name: the value is behind "value:" on the next line
	item   bool // a flag in a list: the value is the next item
	secret bool // a Secret's manifest: what is below data and stringData
	data   bool // a Secret's data, or what may be one
}

var (
	opener = regexp.MustCompile(`(?i)(?:(pass(?:word|wd|phrase)|client_?secret|access_?token|refresh_?token|pull_?secret)|token|secret|secret_?key|api_?key|\bauth)` +
		`\\*["']?[ \t]*[:=][ \t]*(?:([|>][0-9+-]*)[ \t]*)?\r?$`)
	linePrefix = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT\S+ )?(?:std(?:out|err) [FP] )?`)
	oneValue   = regexp.MustCompile(`^(?:\\*"((?:[^"\\]|\\.)+?)\\*"|'((?:[^']|'')+)'|([^\s"'{}\[\],]\S*[^\s"'{}\[\],:])),?$`)
	wrapped    = regexp.MustCompile(`[A-Za-z0-9+/_-]{60,}$`)
	onlyBlob   = regexp.MustCompile(`^[A-Za-z0-9+/_.-]{4,}={0,2}$`)
	onlyBase64 = regexp.MustCompile(`^[A-Za-z0-9+/]+={0,2}$`)
	listItem   = regexp.MustCompile(`^(-[ \t]+["']?)(.*?)(["']?)$`)
	flagLine   = regexp.MustCompile(`^[ \t]*-[ \t]+["']?(--?[A-Za-z][\w-]*)["']?$`)
	kindSecret = regexp.MustCompile(`(?i)^[ \t]*(?:-[ \t]+)?["']?kind["']?:[ \t]*["']?Secret["']?$`)
	dataLine   = regexp.MustCompile(`^([ \t]*(?:-[ \t]+)?)["']?(?:data|stringData)["']?:$`)
)

// opened returns the block that a line opens; most open none.
func opened(v string) block {
	end := strings.TrimRight(v, " \t\r")
	if end == "" {
		return block{}
	}
	switch last := end[len(end)-1]; {
	case strings.IndexByte(":=|>-+0123456789", last) >= 0:
		if b := openedByKey(end); b.left > 0 {
			return b
		}
		if m := xmlOpened.FindStringSubmatch(end); m != nil && kindOfKey(m[1]) >= secretKey {
			return block{left: 1, sure: true}
		}
		if m := dataLine.FindStringSubmatch(end); m != nil {
			return block{left: maxKeyLines, data: true, indent: len(m[1])}
		}
	}
	body := end[len(linePrefix.FindString(end)):]
	if m := nameLine.FindStringSubmatch(body); m != nil && kindOfKey(m[1]) != plainKey {
		return block{left: 1, name: true, sure: kindOfKey(m[1]) >= secretKey}
	}
	if m := flagLine.FindStringSubmatch(body); m != nil && (kindOfKey(m[1]) >= secretKey || m[1] == "-p" || m[1] == "-P") {
		return block{left: 1, item: true, sure: kindOfKey(m[1]) >= secretKey}
	}
	if kindSecret.MatchString(body) {
		return block{left: maxKeyLines, secret: true, indent: indent(body)}
	}
	return block{}
}

// openedByKey returns the block of a line that ends with a secret's key.
func openedByKey(end string) block {
	m := opener.FindStringSubmatchIndex(end)
	if m == nil {
		return block{}
	}
	b := block{left: 1, sure: m[2] >= 0, scalar: m[4] >= 0, indent: indent(end[len(linePrefix.FindString(end)):])}
	if b.scalar {
		b.left = maxKeyLines
	}
	return b
}

func indent(v string) int { return len(v) - len(strings.TrimLeft(v, " \t")) }

// next sanitises a line if it belongs to the block, else it closes the block.
func (b *block) next(s *Sanitizer, v string) (string, bool) {
	b.left--
	head := linePrefix.FindString(v)
	body := v[len(head):]
	head += body[:indent(body)]
	value := strings.TrimSpace(body)
	switch {
	case b.secret || b.data:
		return b.manifest(s, v, body)
	case b.scalar && value == "":
		return v, true
	case b.scalar && indent(body) > b.indent && (b.sure || likelySecret(value) || Redacted(value)),
		b.blob && len(value) >= b.long && (onlyBlob.MatchString(value) || Redacted(value)):
		return head + s.digest(value), true
	case b.name:
		b.left = 0
		if m := valueLine.FindStringSubmatch(v[len(linePrefix.FindString(v)):]); m != nil && (b.sure && noFlag(m[2]) || noPath(m[2])) && !structure(m[2]+" ") {
			return linePrefix.FindString(v) + m[1] + s.digest(m[2]) + m[3], true
		}
	case b.item:
		b.left = 0
		if m := listItem.FindStringSubmatch(value); m != nil && !strings.HasPrefix(m[2], "--") && (b.sure && noFlag(m[2]) || noPath(m[2])) {
			return head + m[1] + s.digest(m[2]) + m[3], true
		}
	case !b.scalar && !b.blob:
		return b.one(s, head, value)
	}
	b.left = 0
	return "", false
}

// one sanitises the only value of a block, which may be an item of a list. Base64 may go
// on over more lines.
func (b *block) one(s *Sanitizer, head, value string) (string, bool) {
	b.left = 0
	item := ""
	if rest, ok := strings.CutPrefix(value, "- "); ok {
		item, value = "- ", strings.TrimSpace(rest)
	}
	m := oneValue.FindStringSubmatchIndex(value)
	if m == nil {
		return "", false
	}
	from, to := lastGroup(m)
	secret := value[from:to]
	if (!b.sure || len(secret) < 4 || !noFlag(secret)) && !likelySecret(secret) {
		return "", false
	}
	if item != "" {
		b.left = 1
	} else if len(secret) >= 16 && onlyBlob.MatchString(secret) {
		*b = block{left: maxKeyLines, blob: true, long: 16}
	}
	return head + item + value[:from] + s.digest(secret) + value[to:], true
}

// manifest sanitises a line of a Secret. In a manifest whose kind is not known yet only
// what is base64 is taken for a value: in YAML "data" comes before "kind".
func (b *block) manifest(s *Sanitizer, v, body string) (string, bool) {
	if strings.TrimSpace(body) == "" {
		return v, true
	}
	end := strings.TrimRight(body, " \t\r")
	switch m := dataLine.FindStringSubmatch(end); {
	case strings.HasPrefix(end, "---"), indent(body) < b.indent, b.left == 0:
		b.left = 0
		return "", false
	case m != nil:
		b.data, b.indent = true, len(m[1])
		return v, true
	case b.data && indent(body) <= b.indent:
		b.data = false
		if !b.secret {
			b.left = 0
			return "", false
		}
	case b.data:
		e := entryInYAML.FindStringSubmatch(body)
		if b.secret {
			return v[:len(v)-len(body)] + s.entry(body), true
		}
		if e != nil && len(e[2]) >= 12 && len(e[2])%4 == 0 && onlyBase64.MatchString(e[2]) {
			return v[:len(v)-len(body)] + e[1] + s.digest(e[2]) + e[3], true
		}
	}
	return s.Text(v), true
}

// blocks sanitises the blocks of a text of many lines.
func (s *Sanitizer) blocks(v string) string {
	var out strings.Builder
	var b block
	for i, line := range strings.Split(v, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if b.left > 0 {
			if clean, ok := b.next(s, line); ok {
				out.WriteString(clean)
				continue
			}
		}
		b = opened(line)
		out.WriteString(line)
	}
	return out.String()
}
