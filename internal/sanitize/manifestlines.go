package sanitize

import (
	"encoding/base64"
	"strings"
)

// maxManifest bounds the lines of a manifest in a stream: a Secret with the keys of
// an installation has a few hundred.
const maxManifest = 1024

// manifestState tracks the manifest of a Secret that comes line by line, as YAML or as
// JSON with one field a line. Where "data" precedes "kind", as in what oc prints,
// its values are hidden if they are base64.
type manifestState struct {
	left   int  // lines that still may be of it
	secret bool // it is a Secret
	inside bool // in data or stringData
	indent int  // of data
}

var (
	kindLine = lazily(`^[ \t]*(?:-[ \t]+)?["']?kind["']?[ \t]*:[ \t]*["']?([A-Za-z]+)["']?,?[ \t]*(?:[ \t]#.*)?\r?$`)
	// typeLine is the type of a Secret that does not say its kind.
	typeLine = lazily(`^[ \t]*(?:-[ \t]+)?["']?type["']?[ \t]*:[ \t]*["']?(?:Opaque|kubernetes\.io/(?:tls|basic-auth|ssh-auth|dockerconfigjson|dockercfg|` +
		`service-account-token)|bootstrap\.kubernetes\.io/token)["']?,?[ \t]*(?:[ \t]#.*)?\r?$`)
	dataLine = lazily(`^([ \t]*(?:-[ \t]+)?)["']?(?:data|(string)Data)["']?[ \t]*:(?:[ \t]+[!&][\w!./:-]*){0,2}[ \t]*\{?[ \t]*(?:[ \t]#.*)?\r?$`)
	yamlLine = lazily(`^[ \t]*(?:-[ \t]+)?(?:["']?[-A-Za-z0-9_./]+["']?[ \t]*:(?:[ \t].*)?|\{\{.*|[\]{}[,]+[ \t]*|-[ \t].*|#.*|)\r?$`)
	jsonPart = lazily(`^([ \t]*"[^"\\]+":[ \t]*)("(?:[^"\\]|\\.)*")(,?[ \t]*\r?)$`)
)

// manifestTail is how much of a line opensManifest looks at. So many bytes become a string
// without an allocation.
const manifestTail = 32

// opensManifest is a quick look for a line that begins a manifest, or its data.
func opensManifest(end string) bool {
	if n := len(end); n < 5 || strings.IndexByte(`t",:{'ehngs`, end[n-1]) < 0 {
		return false
	}
	end = strings.TrimRight(end[max(0, len(end)-manifestTail):], "\"',{ \t")
	if end == "" {
		return false
	}
	switch end[len(end)-1] {
	case 'a', ':':
		return strings.HasSuffix(strings.TrimRight(end, `":' `), "ata")
	case 't':
		return strings.HasSuffix(end, "Secret")
	}
	return endsInSecretType(end)
}

// endsInSecretType reports whether a line ends in the type of a Secret.
func endsInSecretType(end string) bool {
	for _, kind := range []string{"Opaque", "s.io/tls", "basic-auth", "ssh-auth", "dockerconfigjson", "dockercfg", "service-account-token", "s.io/token"} {
		if strings.HasSuffix(end, kind) {
			return true
		}
	}
	return false
}

// uncommented returns a line without the comment that ends it.
func uncommented(line string) string {
	if i := strings.LastIndex(line, " #"); i > 0 {
		return strings.TrimRight(line[:i], " \t")
	}
	return line
}

// isDiffLine reports whether a line is one that a diff added or took away: a sign in the first column.
func isDiffLine(body string) bool {
	if body == "" || body[0] != '+' && body[0] != '-' {
		return false
	}
	return len(body) == 1 || body[1] == ' ' || letter(body[1]) || body[0] == '+' && strings.IndexByte("\"'#{}", body[1]) >= 0
}

// next sanitizes a line of a manifest, or reports that the line is not all of its data.
func (m *manifestState) next(s *Sanitizer, v string) (string, bool) {
	head := v[:prefixEnd(v)]
	body := v[len(head):]
	if isDiffLine(body) {
		head, body = head+body[:1], body[1:]
		m.indent--
		defer func() { m.indent++ }()
	}
	if k := kindLine.get().FindStringSubmatch(body); k != nil {
		if !m.inside || indent(body) <= m.indent {
			*m = manifestState{secret: k[1] == "Secret" || k[1] == "SecretList"}
			if m.secret {
				m.left = maxManifest
			}
			return "", false
		}
	}
	if endsInSecretType(strings.TrimRight(uncommented(body), "\"', \t\r")) && (!m.inside || indent(body) <= m.indent) && typeLine.get().MatchString(body) {
		*m = manifestState{secret: true, left: maxManifest}
		return "", false
	}
	if d := dataLine.get().FindStringSubmatch(body); d != nil && (!m.inside || len(d[1]) <= m.indent) {
		m.left, m.inside, m.indent, m.secret = maxManifest, true, len(d[1]), m.secret || d[2] != ""
		return "", false
	}
	if m.left == 0 {
		return "", false
	}
	m.left--
	deeper := strings.TrimSpace(body) == "" || indent(body) > m.indent
	switch {
	case m.inside && !deeper && besideEntries(body):
	case m.inside && deeper:
		if clean, ok := m.value(s, body); ok {
			return head + clean, true
		}
	case strings.TrimSpace(body) == "---", !yamlLine.get().MatchString(body):
		*m = manifestState{}
	default:
		m.inside = false
		if !m.secret {
			m.left = 0
		}
	}
	return "", false
}

// value hides the value of one line of data.
func (m *manifestState) value(s *Sanitizer, body string) (string, bool) {
	if j := jsonPart.get().FindStringSubmatch(body); j != nil {
		value := j[2][1 : len(j[2])-1]
		if !m.secret && !encoded(value) {
			return "", false
		}
		return j[1] + `"` + s.digest(value) + `"` + j[3], true
	}
	if m.secret {
		return s.entry(body), true
	}
	if e := entryInYAML.get().FindStringSubmatch(body); e != nil && encoded(e[2]) {
		return e[1] + s.digest(e[2]) + e[3], true
	}
	return "", false
}

// encoded reports whether a value is base64 rather than a word.
func encoded(v string) bool {
	if Redacted(v) {
		return true
	}
	raw, err := base64.StdEncoding.DecodeString(v)
	if err != nil || len(v) < 8 || hexDigest(v) {
		return false
	}
	digits := len(v) - len(strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, v))
	return v[len(v)-1] == '=' || likelySecret(v) && (len(textStart(string(raw))) == len(raw) || len(v) >= 20 && digits > 1)
}

var entryInYAML = lazily(`^([ \t]*["']?[-A-Za-z0-9._]+["']?:[ \t]*)(.*?)(\r?)$`)

// entry digests the value of one entry of a Secret's data, or a line that continues
// with one.
func (s *Sanitizer) entry(line string) string {
	m := entryInYAML.get().FindStringSubmatch(line)
	switch {
	case m == nil:
		value := strings.TrimSpace(line)
		return strings.Replace(line, value, s.digest(value), 1)
	case m[2] == "" || strings.Trim(m[2], "|>+-0123456789") == "" && strings.ContainsAny(m[2][:1], "|>"):
		return line
	}
	return m[1] + s.digest(m[2]) + m[3]
}
