package sanitize

import (
	"slices"
	"strings"
	"unicode"
)

// maxJudged is how much of a value is looked at: what is longer goes on as it began.
const maxJudged = 512

// secretIn returns where the secret is in a value that belongs to a name of a kind: this is the
// one judgement of all pairs that a decoder finds.
func secretIn(value string, kind keyKind, how relation, quoted bool) (from, to int) {
	end := len(value)
	whole := func(is bool) (int, int) {
		if !is {
			return 0, 0
		}
		return 0, end
	}
	if kind != loginKey && kind != userKey {
		value = value[:min(end, maxJudged)]
	}
	short := len(value) < minOpen && !(quoted && kind == deepKey)
	if short || strings.IndexFunc(value, isAtom) >= 0 || !noFlag(strings.TrimRight(value, "`.")) || strings.HasPrefix(value, "<set to") || publicValue(value) {
		return 0, 0
	}
	plain := func() bool { return lowPath.get().MatchString(value) || nameOfObject(value) || isTime(value) }
	switch {
	case kind == loginKey && strings.IndexByte(value, '@') < 0:
		return 0, 0
	case kind == loginKey, kind == userKey:
		return loginSecret(value)
	case kind == weakKey && how <= set && strings.HasPrefix(value, "base64:") && randomKey(value[len("base64:"):]): // of Laravel
		return len("base64:"), end
	case kind == weakKey:
		if colon := strings.IndexByte(value, ':'); colon > 0 && how <= set && randomKey(value[:colon]) {
			return 0, colon // of a list with colons between, as of qemu's rbd
		}
		return whole((how <= set || how == beside) && randomKey(value))
	case kind < deepKey && (isReference(value) || kind == maybeKey && strings.HasPrefix(value, "0x") && len(value) <= 18):
		return 0, 0
	case how == cell || how == told || how == listed && kind < deepKey:
		return whole(chosen(value, kind >= secretKey || how == cell))
	case how == near:
		return whole(randomWord(value))
	case kind == deepKey:
		return whole(quoted || how == beside || !lowPath.get().MatchString(value))
	case kind == secretKey:
		oneWord := (quoted || how == set) && (len(value) >= 8 || likelySecret(value)) && !strings.ContainsAny(value, " \t")
		return whole((how == beside || oneWord || longSecret(value)) && !plain())
	case kind == maybeKey:
		return whole((longSecret(value) || how == beside && likelySecret(value)) && !plain())
	}
	return 0, 0
}

// credentialWord reports whether a word of a sentence is a credential.
func credentialWord(w string, kind keyKind, how relation, first, quoted bool) bool {
	if kind < maybeKey || len(w) < 6 || len(w) > 512 {
		return false
	}
	signs := "\\[]{}@&%"
	if how == told && kind == deepKey { // a sentence that tells a password
		if w[0] == '/' && strings.IndexByte(w[1:], '/') < 0 && randomWord(w[1:]) {
			return true
		}
		if strings.IndexByte(signs+"<", w[0]) < 0 {
			signs = "[]@"
		}
	}
	if strings.ContainsAny(w, signs) || strings.IndexByte(w, '/') >= 0 && !sixtyFour(w) {
		return false
	}
	switch {
	case reference(w), nameOfObject(w), publicValue(w):
		return false
	case kind == maybeKey && how != told: // a name of an object is as likely, in all its forms
		return len(w) >= 16 && randomWord(w) && allCases(w)
	case how == told || quoted:
		return !strings.HasPrefix(w, "base64") && chosen(w, kind >= secretKey) && !isTime(w) && (kind >= secretKey || !isHash(w))
	case first && (kind == deepKey || kind == secretKey && len(w) >= 8):
		return chosen(w, kind == deepKey) && strings.IndexByte(w, ':') < 0 && strings.ContainsAny(w, "0123456789!$^?~")
	}
	return randomWord(w) && !isHash(w) && strings.ContainsAny(w, "0123456789")
}

// chosen reports whether a word may have been chosen as a credential: it is no word of a
// sentence, no number, no time and no version. Where it is sure that a credential stands there,
// also a word with a number of one or two digits behind it is one.
func chosen(w string, sure bool) bool {
	if strings.ContainsAny(w, " \t") || strings.Contains(w, "://") || len(w) < 6 {
		return false
	}
	digits, letters, inner, signs := 0, 0, 0, 0
	for i, c := range w {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case unicode.IsUpper(c):
			letters++
			if i > 0 {
				inner++
			}
		case unicode.IsLetter(c):
			letters++
		case strings.ContainsRune("!#$^*+=?~", c):
			signs++
		}
	}
	if letters == 0 || digits == 0 && signs == 0 && (len(w) < 20 || inner == 0) {
		return false
	}
	return !nameOfObject(w) && (!isVersion(w) || sure && !isRelease(w)) && !lowPath.get().MatchString(w)
}

// randomWord reports whether a word is no name of code and no word with a number: it changes
// between capitals, small letters and digits as nobody spells.
func randomWord(w string) bool {
	if len(w) < 6 || !chosen(w, false) || isTime(w) {
		return false
	}
	runs, groups := 0, 0
	last := byte(0)
	for i := range len(w) {
		class := classOf(w[i])
		if class != last && !(last == 'A' && class == 'a' && (i < 2 || classOf(w[i-2]) != 'A')) {
			runs++
			if class == '0' {
				groups++
			}
		}
		last = class
	}
	return groups > 1 || runs*3 > len(w) || runs > 2 && groups == 1 && len(w) >= 16 || len(w) >= 32 && groups > 0
}

// sixtyFour reports whether a word with a slash is base64 and no path: capitals, small letters
// and digits.
func sixtyFour(w string) bool {
	n := classesOf(w)
	if !onlySixBits(strings.ReplaceAll(w, "=", "")) {
		return false
	}
	if w[0] == '/' { // one key of 64 begins so
		return (len(w) >= 32 || len(w) >= 24 && strings.HasSuffix(w, "=")) && n.upper > 2 && n.lower > 2 && n.digits > 1 && strings.Count(w, "/")*8 < len(w)
	}
	return n.upper > 0 && n.lower > 0 && n.digits > 0
}

// allCases reports whether a word has capitals, small letters and at least two digits, and else
// only the signs of base64.
func allCases(w string) bool {
	n := classesOf(w)
	return n.upper > 0 && n.lower > 0 && n.digits > 1 && only(w, alphanumeric+"._~+/=-")
}

// isHash reports whether a word is a number in hexadecimal as an ID or a digest is, or a pointer.
func isHash(w string) bool {
	if uuid.get().MatchString(strings.ToLower(w)) {
		return true
	}
	return strings.Trim(w, "0123456789abcdef") == "" && (len(w) == 32 || len(w) == 40 || len(w) == 64 || len(w) < 13) ||
		strings.HasPrefix(w, "0x") && len(w) <= 18
}

// isReference reports whether a value without digits repeats what kind of secret it stands for:
// it is a name, a parameter or a field.
func isReference(v string) bool {
	if strings.ContainsAny(v, "0123456789") {
		return false
	}
	lower := strings.ToLower(v)
	for _, end := range []string{"key", "secret", "token", "credential", "credentials"} {
		if strings.HasSuffix(lower, end) {
			return true
		}
	}
	return v[0] == '.' || v[0] == '{' || v[0] == '<'
}

const alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// only reports whether a text has no other than these characters.
func only(v, chars string) bool { return strings.Trim(v, chars) == "" }

// onlySixBits reports whether a text has no other characters than those of base64.
func onlySixBits(v string) bool {
	for i := range len(v) {
		if sixBits[v[i]] == 0xff {
			return false
		}
	}
	return true
}

// classes are how many characters of each class a text has.
type classes struct{ upper, lower, digits int }

func classesOf(v string) (n classes) {
	for i := range len(v) {
		switch classOf(v[i]) {
		case 'A':
			n.upper++
		case 'a':
			n.lower++
		case '0':
			n.digits++
		}
	}
	return n
}

// classOf returns 'a', 'A' and '0' for small letters, capitals and digits, and '-' for all else.
func classOf(b byte) byte {
	switch {
	case b >= 'a' && b <= 'z':
		return 'a'
	case b >= 'A' && b <= 'Z':
		return 'A'
	case b >= '0' && b <= '9':
		return '0'
	}
	return '-'
}

// randomKey reports whether a value is the base64 of a key of 16 bytes or more, or one in
// hexadecimal.
func randomKey(v string) bool {
	body := strings.TrimRight(v, "=")
	if len(body) < 22 || !onlySixBits(body) {
		return false
	}
	n, hex := classesOf(body), only(strings.ToLower(body), "0123456789abcdef")
	return hex && len(body) >= 32 && n.digits > 2 || !hex && n.upper > 1 && n.lower > 1 && n.digits > 0 && !nameOfObject(body) || len(v) > len(body)
}

// nameOfObject reports whether a value is the name of an object of Kubernetes, as
// router-certs-x7k2p: small letters and digits, and words that hyphens or dots join.
func nameOfObject(v string) bool {
	if len(v) > 253 || !strings.ContainsAny(v, "-.") || len(v) == 36 && uuid.get().MatchString(v) {
		return false
	}
	words := 0
	for part := range strings.FieldsFuncSeq(v, func(r rune) bool { return r == '-' || r == '.' || r == '/' || r == ':' }) {
		letters := 0
		for i := range len(part) {
			switch classOf(part[i]) {
			case 'a':
				letters++
			case '0':
			default:
				return false
			}
		}
		if letters == len(part) && letters > 2 && strings.ContainsAny(part, "aeiouy") {
			words++
		}
	}
	return words > 0
}

// publicValue reports whether a value is a public key, a certificate, or a digest that names what
// it is of.
func publicValue(v string) bool {
	return slices.ContainsFunc(publicStarts, func(start string) bool { return strings.HasPrefix(v, start) })
}

var publicStarts = []string{"ssh-rsa ", "ssh-ed25519 ", "ssh-dss ", "ecdsa-sha2-", "sha256:", "sha512:", "SHA256:",
	"-----BEGIN CERT", "-----BEGIN PUBLIC", "-----BEGIN RSA PUBLIC", "secret://", "file://"}

// loginSecret returns where the password is in user:password and user:password@host.
func loginSecret(v string) (from, to int) {
	colon := strings.IndexByte(v, ':')
	if colon <= 0 || colon+1 == len(v) || strings.HasPrefix(v[colon:], "://") || strings.IndexByte(v[:colon], '/') >= 0 {
		return 0, 0
	}
	to = len(v)
	if i := strings.LastIndexByte(v, '@'); i > colon {
		to = i
	} else if strings.Trim(v[colon+1:], "0123456789/") == "" {
		return 0, 0 // a port
	}
	return colon + 1, to
}

var (
	times    = lazily(`^\d{4}-\d\d-\d\dT.*$`)
	releases = lazily(`^(?:v?\d[\d.]*[A-Za-z]?|v\d+(?:alpha|beta)\d+)$`)
	versions = lazily(`^(?:v?\d[\d.]*[A-Za-z]?|v\d+(?:alpha|beta)\d+|[A-Za-z.-]+\d{1,2})$`)
)

func isTime(w string) bool { return times.get().MatchString(w) }

func isRelease(w string) bool { return releases.get().MatchString(w) || isTime(w) }

// isVersion reports whether a word is a version, or a word with a number of one or two digits
// behind it, as node12 and SHA256 are.
func isVersion(w string) bool { return versions.get().MatchString(w) && len(w) < 12 && !mixedCase(w) }

// mixedCase reports whether capitals stand behind small letters.
func mixedCase(w string) bool {
	for i := 1; i < len(w); i++ {
		if classOf(w[i]) == 'A' && classOf(w[i-1]) == 'a' {
			return true
		}
	}
	return false
}
