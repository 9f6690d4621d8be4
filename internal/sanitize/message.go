package sanitize

import (
	"strconv"
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
	return Plain(s.repeated(v, s.Text(v)))
}

// minSaidAgain is the least length of a secret that is looked for in the rest of a message: a shorter one is a part of
// other words.
const minSaidAgain = 6

// maxSaidAgain is how many secrets of a message are looked for again: the work must not be the square of its length.
const maxSaidAgain = 16

// repeated hides in a message what was hidden in it once: what could not be read is often quoted a second time, without
// its name.
func (s *Sanitizer) repeated(v, clean string) string {
	if clean == v {
		return clean
	}
	if list := readings(v); len(list) > 0 {
		v = list[0]
	}
	at, was := 0, 0
	for range maxSaidAgain {
		m := redactedSize.get().FindStringSubmatchIndex(clean[at:])
		if m == nil {
			return clean
		}
		was += m[0]
		mark := clean[at+m[0] : at+m[1]]
		if was < len(v) && strings.HasPrefix(v[was:], mark) { // hidden by now
			at, was = at+m[1], was+len(mark)
			continue
		}
		size, err := strconv.Atoi(clean[at+m[2] : at+m[3]])
		if err != nil || was+size > len(v) || s.digest(v[was:was+size]) != mark {
			return clean // it was hidden before, or more than this was changed
		}
		secret := strings.TrimRight(v[was:was+size], ":;,.")
		at, was = at+m[1], was+size
		if len(secret) >= minSaidAgain {
			mark = s.digest(secret)
			head, behind := strings.ReplaceAll(clean[:at], secret, mark), strings.ReplaceAll(clean[at:], secret, mark)
			v = v[:was] + strings.ReplaceAll(v[was:], secret, mark)
			clean, at = head+behind, len(head)
		}
	}
	return clean
}

var redactedSize = lazily(`\[redacted [0-9a-f]{16}, (\d{1,12}) bytes\]`)

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
