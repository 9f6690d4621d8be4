package sanitize

import "strings"

// Keys as JSON writes them (RFC 7517, RFC 7518 section 6): beside "kty" the names of the private
// parts are one or two letters.

var (
	jwkMarks = []string{"kty"}
	jwkType  = lazily(`\\*["']kty\\*["'][ \t]*:`)
	jwkField = lazily(`\\*["'](?:d|p|q|dp|dq|qi|k)\\*["'][ \t]*:[ \t\r\n]*\\*["']([A-Za-z0-9_-]{16,})`)
)

// jwkParts are the names of the private parts.
var jwkParts = []string{"d", "p", "q", "dp", "dq", "qi", "k"}

// jwkFields returns where the private parts of keys are.
func jwkFields(v string) (found []span) {
	if !strings.Contains(v, "kty") || !jwkType.get().MatchString(v) {
		return nil
	}
	for _, m := range jwkField.get().FindAllStringSubmatchIndex(v, -1) {
		found = append(found, span{m[2], m[3]})
	}
	return found
}

// jwk hides the private parts of a key that was decoded.
func (s *Sanitizer) jwk(v map[string]any) {
	if _, ok := v["kty"].(string); !ok {
		return
	}
	for _, part := range jwkParts {
		if text, ok := v[part].(string); ok && len(text) >= 16 {
			v[part] = s.digest(text)
		}
	}
}
