package sanitize

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// secretPattern finds a secret as the last of its groups that took part.
type secretPattern struct {
	marks []string // literals of which a text must carry one, in lower case
	needs string   // what it finds holds one of these characters; "" says nothing
	find  *expression
	// likely tells a credential from a word; nil takes everything. It is for keys
	// that also stand in front of prose: "token: expired", "basic authentication".
	likely func(string) bool
}

// quote is what may stand between a key and its sign in JSON, also inside a string.
const quote = `(?:\\*["']{1,2}|\\+u0022)?`

// refusedValue is a value that a validation quotes.
const refusedValue = `(?:Invalid|Unsupported|Duplicate|Not) (?:value|found): \\*"((?:[^"\\]|\\[^"])+)`

// foreign is text of others that looks like a digest.
var foreign = secretPattern{find: lazily(`(\[redacted [^\]\r\n]*\]?)`)}

// secretPatterns are tried in this order, each on texts that carry one of its marks.
var secretPatterns = []secretPattern{
	{[]string{"private key"}, "", lazily(`(?is)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(.+?)(?:-----END [A-Z0-9 ]*PRIVATE KEY|$)`), nil},
	{[]string{"openvpn "}, "", lazily(`(?is)-----BEGIN OpenVPN [a-z0-9 -]*key(?: V\d)?-----(.+?)(?:-----END OpenVPN|$)`), nil},
	{[]string{"eyj"}, ".", lazily(`(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`), nil}, // JWT
	// OAuth token of OpenShift
	{[]string{"sha256~"}, "", lazily(`(?i)sha256~([A-Za-z0-9_-]{20,})`), nil},
	{[]string{"age-secret-key-"}, "", lazily(`(?i)AGE-SECRET-KEY-((?:PQ-)?1[0-9A-Z]{20,})`), nil},
	{[]string{"pullsecret", "pull_secret"}, ":=", lazily(`(?i)pull_?secret` + quote + `\s*[:=]\s*(.{12,})`), notRefused},
	{[]string{"\"auth"}, ":", lazily(`(?i)\\*"auth\\*"\s*:\s*\\*"([^"\\]+)`), nil},
	{[]string{"bearer", "basic "}, " \t\n\f\r", lazily(`(?i)\b(?:bearer|basic)\s+["']?([A-Za-z0-9._~+/=-]{8,})`), likelySecret},
	// A validation quotes the value of a field behind its words (field.ErrorBody, see refusal).
	{[]string{"invalid value", "not found", "unsupported value", "duplicate value"}, ":",
		lazily(`(?i)(?:secret|token|credential)s?[\w\[\]]*\s*:\s*` + refusedValue), likelySecret},
	{[]string{"invalid value", "not found", "unsupported value", "duplicate value"}, ":",
		lazily(`(?i)pass(?:word|wd|phrase)?s?[\w\[\]]*\s*:\s*` + refusedValue), noFlag},
	{[]string{"token"}, ".", lazily(`\b([a-z0-9]{6}\.[a-z0-9]{16})\b`), kubeadmToken},
}

// refusal is how a validation speaks of a field without its value
// (kubernetes/kubernetes:staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go
// ErrorBody: the types that it prints without one). "Invalid value" is followed by it.
var refusal = lazily(`^(?:Required value|Forbidden)(?:[ :,.;"'\\\])]|$)`)

// nameOnly is a reference to a pull secret.
var nameOnly = lazily(`^\{[ \t]*\\*"?name\\*"?[ \t]*:[ \t]*\\*"?[a-z0-9.-]{1,253}\\*"?[ \t]*\}[}\]",\\ \t\r]*$`)

// classWord is a word of a sentence.
var classWord = lazily(`^[A-Z]?[a-z]+`)

// notRefused tells a pull secret from the sentence that it is missing. All that stands
// behind it on the line must be words, too: another secret may follow.
func notRefused(v string) bool {
	if nameOnly.get().MatchString(v) {
		return false
	}
	words := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(" \t:,;.\"'()[]\\", r) })
	const sentence = 5 // words, of which the first is one of a sentence
	told := len(words) >= sentence && strings.HasPrefix(v, words[0]+" ") && len(classWord.get().FindString(words[0])) == len(words[0])
	if !refusal.get().MatchString(v) && !told || strings.ContainsAny(v, "{}=%") || strings.IndexFunc(v, isAtom) >= 0 {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		lower := strings.ToLower(w)
		return len(w) > 24 || likelySecret(w) || strings.Contains(lower, "pullsecret") || strings.Contains(lower, "pull_secret")
	})
}

// noPath tells what follows "pass" and "pwd" from a result or a directory.
func noPath(v string) bool { return likelySecret(v) && !lowPath.get().MatchString(v) }

var lowPath = lazily(`^(?:/[a-z0-9._-]+){2,}/?$`)

func longSecret(v string) bool { return len(v) >= 8 && likelySecret(v) }

// kubeadmToken tells a bootstrap token (k8s.io/cluster-bootstrap/token/api
// BootstrapTokenPattern), which is random, from a host's name.
func kubeadmToken(v string) bool {
	return strings.ContainsAny(v[:6], "0123456789") && strings.ContainsAny(v[7:], "0123456789")
}

// Text replaces the secrets in a text. Certificates and public keys stay. A text that a terminal
// shows in another way than it is written becomes what is shown, if it has a secret.
func (s *Sanitizer) Text(v string) string {
	s.catchUp()
	for _, shown := range readings(v) {
		if clean := s.text(shown); clean != shown {
			return s.continued(shown, clean)
		}
	}
	return s.continued(v, s.text(v))
}

func (s *Sanitizer) text(v string) string {
	if len(v) < 8 && !s.body.active() {
		return v
	}
	whole := v
	again := len(v) >= minRepeated
	if again && s.whole.has(v) {
		return v
	}
	if longRun(v) || strings.IndexByte(v, '%') >= 0 && longRun(readable(v).text) || s.body.active() || strings.Contains(v, "-----") {
		body := s.body
		if body == nil {
			body = &bodyReader{opaque: s.opaque}
		}
		m := s.mask(v)
		w := m.view()
		m.hideSpans(w.spans(body.read(w.text)))
		m.blobs()
		v = m.unmask(m.text)
	}
	if v = s.patterns(v); again && v == whole {
		s.whole.add(v)
	}
	return v
}

// minRepeated is the length in bytes from which a text is looked up among those that were
// found clean before it is read: bundles of certificates, and annotations with whole objects,
// are the same at many objects. A shorter one is read as fast.
const minRepeated = 256

// patterns is Text without a look into base64.
func (s *Sanitizer) patterns(v string) string {
	clean, _ := s.search(v, false)
	return clean
}

// writesLetters reports whether a text may have letters that are written as numbers.
func writesLetters(v string) bool {
	if strings.IndexByte(v, '%') >= 0 || strings.IndexByte(v, '&') >= 0 || printedSequence(v) {
		return true
	}
	for i := strings.IndexByte(v, '\\'); i >= 0 && i+1 < len(v); {
		if strings.IndexByte("uUx0123e", v[i+1]) >= 0 {
			return true
		}
		n := strings.IndexByte(v[i+1:], '\\')
		if n < 0 {
			return false
		}
		i += n + 1
	}
	return false
}

// writesAddress reports whether a text may have an address with a scheme, also one whose slashes JSON escapes.
func writesAddress(v string) bool {
	return strings.Contains(v, "://") || strings.Contains(v, `:\`) && strings.Contains(v, `\/`)
}

// finds reports whether a text holds a secret. It stops at the first.
func (s *Sanitizer) finds(v string) bool {
	_, found := s.search(v, true)
	return found
}

// search hides what the patterns find and reports whether that was anything. With
// first it stops there; the text is then of no use.
func (s *Sanitizer) search(v string, first bool) (string, bool) {
	var tries uint64 // a bit for each reader
	s.marks.Positions([]byte(v), func(mark, _ int) bool {
		tries |= s.tries[mark]
		return true
	})
	urls, dashed := writesAddress(v), installerPassword(v, 0) >= 0
	bare, dumped := bareToken(v, 0) >= 0, dumpsWireguard(v)
	if writesLetters(v) {
		shown := readable(v).text
		s.marks.Positions([]byte(shown), func(mark, _ int) bool {
			tries |= s.tries[mark]
			return true
		})
		urls, dashed = urls || strings.Contains(shown, "://"), dashed || installerPassword(shown, 0) >= 0
		bare, dumped = bare || bareToken(shown, 0) >= 0, dumped || dumpsWireguard(shown)
	}
	if saysNumbers(v) {
		tries |= s.listed
	}
	strange := strings.Contains(v, redactedPrefix)
	if tries == 0 && !urls && !strange && !dashed && !bare && !dumped {
		return v, false
	}
	if s.clean.has(v) {
		return v, false
	}
	whole := v
	if tries != 0 && strings.Contains(v, "\n") {
		if v = s.blocks(v); first && v != whole {
			return v, true
		}
	}
	m := s.mask(v)
	if tries != 0 && strings.Contains(v, `\n`) {
		if m.hideSpans(s.escapedBlocks(m.text, m.view())); first && m.text != v && !strange {
			return v, true
		}
	}
	if strange {
		if m.apply(foreign); first && m.text != v && strings.Contains(m.text, redactedPrefix) {
			return v, true
		}
	}
	// What one pattern hides may join what another sees: until nothing changes, so
	// that a replay finds nothing new.
	for range 4 {
		before := m.text
		if urls {
			m.both(userinfo)
		}
		if dashed {
			m.both(installerPasswords)
		}
		if bare {
			m.both(bareTokens)
		}
		if dumped {
			m.both(wireguardKeys)
		}
		for left := tries; left != 0; left &= left - 1 {
			if i := bits.TrailingZeros64(left); i < len(formats) {
				m.read(formats[i])
			} else {
				m.apply(secretPatterns[i-len(formats)])
			}
			if first && m.text != before {
				return v, true
			}
		}
		if m.text == before {
			break
		}
	}
	clean := m.unmask(m.text)
	if clean == whole {
		s.clean.add(whole)
	}
	return clean, clean != whole
}

// masked is a text in which every digest is one rune of plane 16, which is for
// private use and which no text of a cluster holds. So no pattern sees half a
// digest, and what stands around one is judged together with it.
type masked struct {
	s     *Sanitizer
	text  string
	atoms []string

	shown   view // of shownOf
	shownOf string
}

const firstAtom, lastAtom = 0x100000, 0x10fffd

func isAtom(r rune) bool { return r >= firstAtom && r <= lastAtom }

func (s *Sanitizer) mask(v string) *masked {
	m := &masked{s: s}
	if strings.IndexByte(v, 0xf4) >= 0 { // the first byte of that plane in UTF-8
		v = strings.Map(func(r rune) rune {
			if isAtom(r) {
				return utf8.RuneError
			}
			return r
		}, v)
	}
	m.text = v
	if strings.Contains(v, redactedPrefix) {
		m.text = redactions.get().ReplaceAllStringFunc(v, m.atom)
	}
	return m
}

// atom returns the rune for a digest. A text with too many digests shares the last.
func (m *masked) atom(digest string) string {
	if len(m.atoms) > lastAtom-firstAtom {
		return string(rune(lastAtom))
	}
	m.atoms = append(m.atoms, digest)
	return string(rune(firstAtom + len(m.atoms) - 1))
}

func (m *masked) unmask(v string) string {
	if len(m.atoms) == 0 || strings.IndexByte(v, 0xf4) < 0 {
		return v
	}
	var b strings.Builder
	for i, r := range v {
		switch {
		case isAtom(r):
			b.WriteString(m.atoms[r-firstAtom])
		default:
			_, size := utf8.DecodeRuneInString(v[i:])
			b.WriteString(v[i : i+size])
		}
	}
	return b.String()
}

// hide returns what replaces a secret; digests stay as they are.
func (m *masked) hide(secret string) string {
	if strings.IndexFunc(secret, func(r rune) bool { return !isAtom(r) }) < 0 {
		return secret
	}
	return m.atom(m.s.digest(m.unmask(secret)))
}

func (m *masked) apply(p secretPattern) {
	if p.needs != "" && !strings.ContainsAny(m.text, p.needs) {
		return
	}
	m.both(func(v string) (found []span) {
		for _, g := range p.find.get().FindAllStringSubmatchIndex(v, -1) {
			if from, to := lastGroup(g); from < to && (p.likely == nil || p.likely(v[from:to])) {
				found = append(found, span{from, to})
			}
		}
		return found
	})
}

// both replaces what is found in what a reader sees of the text, and then in the text itself.
func (m *masked) both(find func(string) []span) {
	if w := m.view(); w.text != m.text {
		m.hideSpans(w.spans(find(w.text)))
	}
	m.hideSpans(find(m.text))
}

// lastGroup returns the bounds of the last group that took part in a match.
func lastGroup(m []int) (from, to int) {
	for i := len(m) - 2; i >= 0; i -= 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return 0, 0
}
