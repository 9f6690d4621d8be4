package sanitize

import (
	"strings"
	"unicode/utf8"
)

// maxURL bounds how far behind "://" an "@" is looked for: a text of nothing but
// "://" would take the square of its length.
const maxURL = 1024

var (
	portFirst  = lazily(`^\d{1,5}(?:[/?#,;)\]'\\]|$)`)
	digestNext = lazily(`^sha(?:256|384|512):`)
)

// userinfo hides passwords in URLs, also those that hold "/" or "@" unencoded, and
// tokens that stand for a user. A reference to an image by digest has none.
func userinfo(v string) (found []span) {
	for at := 0; ; {
		i := strings.Index(v[at:], "://")
		if i < 0 {
			return found
		}
		at += i + len("://")
		if lo, hi := userinfoIn(v[at:urlEnd(v, at)]); lo < hi {
			found = append(found, loginSpans(v, at+lo, at+hi)...)
			at += hi
		}
	}
}

// loginSpans returns where the passwords are in what a URL of several hosts has from its first password
// to the @ in front of its last host: user:x@host1:5672,user:y@host2:5672, as of oslo.messaging.
func loginSpans(v string, from, to int) (found []span) {
	for {
		m := nextLogin.get().FindStringIndex(v[from:to])
		if m == nil || m[0] == 0 {
			return append(found, span{from, to})
		}
		found = append(found, span{from, from + m[0]})
		from += m[1]
	}
}

// nextLogin has a port: without one it may as well be a part of the password.
var nextLogin = lazily(`@[A-Za-z0-9.\[\]:_-]{1,253}:\d{1,5},[^\s:@/,]{1,64}:`)

// userinfoIn returns where the secret is in what follows "://".
func userinfoIn(rest string) (from, to int) {
	host := len(rest)
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = i
	}
	sign := -1 // the @ before the host
	for i := strings.LastIndexByte(rest, '@'); i >= 0; i = strings.LastIndexByte(rest[:i], '@') {
		if i+1 < len(rest) && !digestNext.get().MatchString(rest[i+1:]) {
			sign = i
			break
		}
	}
	if sign < 0 {
		return 0, 0
	}
	colon := strings.IndexByte(rest[:sign], ':')
	switch {
	case colon >= 8 && rest[colon+1:sign] == "x-oauth-basic" && sign < host: // of GitHub: the user is the token
		return 0, colon
	case colon >= 0 && colon < host && !strings.Contains(rest[:colon], "[") && (sign < host || !portFirst.get().MatchString(rest[colon+1:])):
		return colon + 1, sign
	case colon < 0 && sign < host && sign >= 8 && likelySecret(rest[:sign]):
		return 0, sign
	}
	return 0, 0
}

const (
	minBlob = 36 // from this length on base64 is looked into
	// maxNested is how many times base64 is looked into that was inside of base64: a
	// Secret's manifest in a file of an Ignition config takes two.
	maxNested = 2
	minText   = 24 // so much text in a row is looked at in what it decodes to
)

// sixBits is the value of a character of base64, of both alphabets; 0xff of others.
var sixBits = func() (t [256]byte) {
	for i := range t {
		t[i] = 0xff
	}
	for i, c := range []byte(alphanumeric + "+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// longRun reports whether a text carries characters of base64 in a row.
func longRun(v string) bool {
	for i := minBlob - 1; i < len(v); i += minBlob { // a run of that length meets every such place
		if sixBits[v[i]] == 0xff {
			continue
		}
		lo, hi := i, i+1
		for lo > 0 && sixBits[v[lo-1]] != 0xff {
			lo--
		}
		for hi < len(v) && sixBits[v[hi]] != 0xff {
			hi++
		}
		if hi-lo >= minBlob && !hexDigest(v[lo:hi]) {
			return true
		}
		i = hi // the next run begins behind it
	}
	return false
}

// hexDigest reports whether a run is a number in hexadecimal, as the digests of images
// and the IDs of containers, of which a cluster has tens of thousands. Read as base64,
// in any alignment, its digits give none of a, e, p, P, '"' and '/': no key in PEM, no
// auth, token or password, no URL. Nor do they begin as gzip or a key store does.
func hexDigest(run string) bool {
	for _, c := range []byte(strings.Trim(run, "/")) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// nextBlob returns where the next base64 is from a place on, also where it continues over
// lines, each of minBlob characters at least; from is len(v) if there is none.
func nextBlob(v string, at int) (from, to int) {
	for i := at + minBlob - 1; i < len(v); i += minBlob { // a run of that length meets every such place
		if sixBits[v[i]] == 0xff {
			continue
		}
		from, to = i, i+1
		for from > at && sixBits[v[from-1]] != 0xff {
			from--
		}
		to = runEnd(v, to)
		if to-from >= minBlob {
			for {
				next := lineBreak(v, to)
				if next == to {
					break
				}
				end := runEnd(v, next)
				if end-next < minBlob {
					break
				}
				to = end
			}
			for n := 0; n < 2 && to < len(v) && v[to] == '='; n++ {
				to++
			}
			return from, to
		}
		i = to // the next run begins behind it
	}
	return len(v), len(v)
}

// wholeBlob is nextBlob with the last, shorter line of base64 over many lines.
func wholeBlob(v string, at int) (from, to int) {
	from, to = nextBlob(v, at)
	if e := blobEnd.get().FindStringSubmatchIndex(v[to:min(len(v), to+128)]); e != nil {
		to += e[3]
	}
	return from, to
}

func runEnd(v string, i int) int {
	for i < len(v) && sixBits[v[i]] != 0xff {
		i++
	}
	return i
}

// lineBreak returns where the next line begins, and its blanks end, whose break is at i,
// also one that is written as an escape; i if there is none.
func lineBreak(v string, i int) int {
	for _, mark := range []string{"\r\n", "\n"} {
		if strings.HasPrefix(v[i:], mark) {
			i += len(mark)
			for i < len(v) && (v[i] == ' ' || v[i] == '\t') {
				i++
			}
			return i
		}
	}
	for _, mark := range []string{`\r\n`, `\n`} {
		if strings.HasPrefix(v[i:], mark) {
			return i + len(mark)
		}
	}
	return i
}

var (
	// blobEnd is the last, shorter line of base64 over many lines, and what must follow.
	blobEnd = lazily(`^((?:\r?\n[ \t]*|\\r\\n|\\n)[A-Za-z0-9+/_-]{1,39}={0,2})(?:[ \t\r"']*\n|\\|[ \t\r"']*$)`)
)

// blobs hides base64, also over many lines, that decodes to a text with a secret, or
// to a key or a key store in its binary form. It is decoded once, and gunzipped where
// that gives gzip, as Ignition's sources and cloud-init's user data are: a kubeconfig,
// a pull secret, a key or a token in a value that nothing else tells of.
func (m *masked) blobs() {
	left := maxInflated
	var found []span
	for from, end := wholeBlob(m.text, 0); from < end; from, end = wholeBlob(m.text, end) {
		if m.s.revealsSecret(m.text[from:end], &left, maxNested) {
			found = append(found, span{from, end})
		}
	}
	m.hideSpans(found)
}

// revealsSecret reports whether base64 decodes to something that holds a secret. What stands
// in front of it, as the directories of a path, may belong to the same alphabet, so
// every alignment is tried. What inflates to more than it may, or than is left for its
// text, is not checked and counts as a secret.
func (s *Sanitizer) revealsSecret(blob string, left *int, deeper int) bool {
	if len(blob) < minBlob || !hasCapital(blob) {
		return false
	}
	if keyStoreIn(blob) {
		return true
	}
	for skip := range 4 {
		raw := decode64(blob[skip:], len(blob))
		if strings.HasPrefix(raw, "\x1f\x8b\x08") {
			text, whole := inflated(raw, min(*left, inflatedBase+inflatedTimes*len(blob)))
			if !whole {
				return true
			}
			*left -= len(text)
			raw = text
		}
		least, size := minText, len(raw)
		if raw = asShown(raw); len(raw)*2 <= size { // of UTF-16
			least = minText / 2
		}
		for _, mark := range []string{"PRIVATE KEY-----", `"auth"`, `"auths"`, "openssh-key-v1"} {
			if strings.Contains(raw, mark) {
				return true
			}
		}
		if skip == 0 && wholeDER(raw) {
			return false // no key, else keyStoreIn had found it
		}
		whole := true
		for len(raw) >= least {
			text := textStart(raw)
			whole = whole && len(text) == len(raw)
			if len(text) >= least && (s.finds(text) || deeper > 0 && s.nested(text, left, deeper-1)) {
				return true
			}
			_, size := utf8.DecodeRuneInString(raw[len(text):])
			raw = raw[len(text)+size:]
		}
		if skip == 0 && whole {
			return false // it was not in the other alignments that this was encoded
		}
	}
	return false
}

// hasCapital reports whether there is a capital letter: two of five characters of base64 that encodes a text or a key
// are one, and a path, a digest or a name has none.
func hasCapital(v string) bool {
	for i := range len(v) {
		if v[i] >= 'A' && v[i] <= 'Z' {
			return true
		}
	}
	return false
}

// nested reports whether a text that was decoded holds base64 that tells.
func (s *Sanitizer) nested(text string, left *int, deeper int) bool {
	if !longRun(text) {
		return false
	}
	for from, to := wholeBlob(text, 0); from < to; from, to = wholeBlob(text, to) {
		if s.revealsSecret(text[from:to], left, deeper) {
			return true
		}
	}
	return false
}

// decode64 decodes what it can and passes over ends of lines.
func decode64(v string, limit int) string {
	out := make([]byte, 0, limit/4*3)
	var bits uint32
	n := 0
	for i := 0; i < len(v); i++ {
		if v[i] == '\\' && i+1 < len(v) { // \n in a quoted text
			i++
			continue
		}
		c := sixBits[v[i]]
		if c == 0xff {
			continue
		}
		bits = bits<<6 | uint32(c)
		if n++; n == 4 {
			out = append(out, byte(bits>>16), byte(bits>>8), byte(bits))
			bits, n = 0, 0
		}
	}
	switch n {
	case 2:
		out = append(out, byte(bits>>4))
	case 3:
		out = append(out, byte(bits>>10), byte(bits>>2))
	}
	return string(out)
}

// textStart returns the longest start of raw that is text.
func textStart(raw string) string {
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t', c == '\r':
			i++
		case c < utf8.RuneSelf:
			return raw[:i]
		default:
			r, size := utf8.DecodeRuneInString(raw[i:])
			if r == utf8.RuneError && size == 1 {
				return raw[:i]
			}
			i += size
		}
	}
	return raw
}

// wholeDER reports whether bytes are one SEQUENCE and nothing else, as a certificate.
func wholeDER(raw string) bool {
	return len(raw) > 4 && raw[0] == 0x30 && raw[1] == 0x82 && int(raw[2])<<8|int(raw[3]) == len(raw)-4
}
