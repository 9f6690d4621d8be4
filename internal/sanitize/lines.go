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
	return len(raw) > 0 && strings.IndexByte(":=|>-+", raw[len(raw)-1]) >= 0
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
}

var (
	opener = regexp.MustCompile(`(?i)(?:(pass(?:word|wd|phrase)|client_?secret|access_?token|refresh_?token|pull_?secret)|token|secret|secret_?key|api_?key|\bauth)` +
		`\\*["']?[ \t]*[:=][ \t]*(?:([|>][0-9+-]*)[ \t]*)?\r?$`)
	linePrefix = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\dT\S+ )?(?:std(?:out|err) [FP] )?`)
	oneValue   = regexp.MustCompile(`^(?:\\*"((?:[^"\\]|\\.)+?)\\*"|'((?:[^']|'')+)'|([^\s"'{}\[\],]\S*[^\s"'{}\[\],:])),?$`)
	wrapped    = regexp.MustCompile(`[A-Za-z0-9+/_-]{60,}$`)
	onlyBlob   = regexp.MustCompile(`^[A-Za-z0-9+/_-]{4,}={0,2}$`)
)

// opened returns the block that a line opens; most open none.
func opened(v string) block {
	end := strings.TrimRight(v, " \t\r")
	if end == "" || strings.IndexByte(":=|>-+0123456789", end[len(end)-1]) < 0 {
		return block{}
	}
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
	case b.scalar && value == "":
		return v, true
	case b.scalar && indent(body) > b.indent && (b.sure || likelySecret(value) || Redacted(value)),
		b.blob && (onlyBlob.MatchString(value) || Redacted(value)):
		return head + s.digest(value), true
	case !b.scalar && !b.blob:
		if m := oneValue.FindStringSubmatchIndex(value); m != nil {
			from, to := lastGroup(m)
			if secret := value[from:to]; b.sure && len(secret) >= 4 && noFlag(secret) || likelySecret(secret) {
				b.left = 0
				return head + value[:from] + s.digest(secret) + value[to:], true
			}
		}
	}
	b.left = 0
	return "", false
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
