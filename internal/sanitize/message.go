package sanitize

import (
	"strings"
	"unicode"
)

// sequences are what a terminal obeys (ECMA-48): CSI with its parameters, strings as OSC up to
// their end, and the short ones.
var sequences = lazily(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|` +
	`(?:\x1b[\]PX^_]|[\x{9d}\x{90}\x{98}\x{9e}\x{9f}])[^\x07\x1b\x{9c}]*(?:\x07|\x1b\\|\x{9c})?|\x1b[ -/]*[0-~]`)

// Message makes a foreign message fit to print: it takes away what a terminal obeys and what has
// no width, and replaces the secrets, in this order: a color between a name and its value hides
// that they belong together. Line breaks and tabs stay. It is no part of a stream: a secret that
// spans messages is not seen.
func (s *Sanitizer) Message(v string) string {
	return Plain(s.Text(v))
}

// Plain takes away what a terminal obeys and what has no width, but line breaks and tabs.
func Plain(v string) string {
	if !strings.ContainsFunc(v, invisible) {
		return v
	}
	v = sequences.get().ReplaceAllString(v, "")
	return strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, v)
}

func invisible(r rune) bool {
	return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
}
