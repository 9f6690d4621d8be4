package sanitize

import (
	"strings"
)

// A ConfigMap, a template or a log may carry the manifest of a Secret as text. Its
// values are base64 of anything, which nothing but their place tells from other words.
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
