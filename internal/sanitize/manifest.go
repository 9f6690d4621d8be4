package sanitize

import (
	"strings"
)

// A ConfigMap, a template or a log may carry the manifest of a Secret as text. Its
// values are base64 of anything, which nothing but their place tells from other words.
var (
	secretKind   = lazily(`(?m)^[ \t]*(?:-[ \t]+)?["']?kind["']?:[ \t]*["']?Secret["']?[ \t]*\r?$`)
	secretInJSON = lazily(`\\*"kind\\*"[ \t\r\n]*:[ \t\r\n]*\\*"Secret\\*"`)
	dataInJSON   = lazily(`\\*"(?:data|stringData)\\*"[ \t\r\n]*:[ \t\r\n]*\{`)
	dataInYAML   = lazily(`^([ \t]*(?:-[ \t]+)?)["']?(?:data|stringData)["']?:[ \t]*(.*?)\r?$`)
	entryInYAML  = lazily(`^([ \t]*["']?[-A-Za-z0-9._]+["']?:[ \t]*)(.*?)(\r?)$`)
)

// manifests digests the values of Secrets in a text of YAML, all documents of it
// where one is a Secret: "data" may stand before "kind". What is JSON is digested whole.
func (s *Sanitizer) manifests(v string) string {
	if !strings.Contains(v, "Secret") {
		return v
	}
	if secretInJSON.get().MatchString(v) && dataInJSON.get().MatchString(v) {
		return s.digest(v)
	}
	if !strings.Contains(v, "\n") {
		return v
	}
	if !secretKind.get().MatchString(v) {
		return s.manifestLines(v)
	}
	var out strings.Builder
	inside, at := false, 0 // in data, and how far that is indented
	for i, line := range strings.Split(v, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if inside && strings.TrimSpace(line) != "" && indent(line) <= at {
			inside = false
		}
		if m := dataInYAML.get().FindStringSubmatch(line); m != nil && !inside {
			inside, at = true, len(m[1])
			if m[2] != "" && m[2][0] != '#' { // {a: b}
				line = line[:len(line)-len(m[2])] + s.digest(m[2])
			}
		} else if inside {
			line = s.entry(line)
		}
		out.WriteString(line)
	}
	return out.String()
}

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
