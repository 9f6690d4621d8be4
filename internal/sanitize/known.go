package sanitize

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"strconv"
	"strings"
)

// Known are values that must not be repeated by somebody who was given them: a provider program, a BMC.
// They are found plain, in other case, in base64 of every alphabet and offset, base32, hexadecimal, decimal,
// percent encoding, entities and escapes, also with anything but letters and digits between, as line breaks.
//
// Finding takes time in proportion to the values and to the text.
type Known struct {
	values []string
	bytes  int
	seen   map[string]bool
}

// Lengths of Known.
const (
	// knownLeast is how many letters and digits a value has at least that is found in other forms. A shorter one is
	// found only as it is.
	knownLeast = 8
	// knownRun is how many letters and digits of a longer form in a row are enough.
	knownRun = 12
	// knownExact is the least length of a value that is found only as it is: "core" is in many sentences.
	knownExact = 6
	// maxKnown bounds all values, and maxKnownText the text that is looked through.
	maxKnown     = 4 << 20
	maxKnownText = 64 << 10
	maxUnescaped = 3 // times that a text is freed of escapes
)

// Add takes in a value, what its base64 holds, and the password of user:password.
func (k *Known) Add(v string) { k.add(strings.TrimSpace(v), 3) }

func (k *Known) add(v string, deep int) {
	if len(v) < knownExact || k.seen[v] || k.bytes+len(v) > maxKnown {
		return
	}
	if k.seen == nil {
		k.seen = map[string]bool{}
	}
	k.seen[v] = true
	k.bytes += len(v)
	_, password, ok := strings.Cut(v, ":")
	if ok = ok && deep > 0 && len(password) >= knownExact && !strings.ContainsAny(v, " \n") && !strings.Contains(v, "://"); ok {
		k.add(password, deep-1)
	}
	if !ok || len(password) < knownRun { // of a longer one the password is enough: the user is public
		k.values = append(k.values, v)
	}
	if deep == 0 {
		return
	}
	if inner, ok := unbase64(v); ok {
		k.add(inner, deep-1)
	}
}

func unbase64(v string) (string, bool) {
	v = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "", " ", "").Replace(v), "=")
	raw, err := base64.RawStdEncoding.DecodeString(v)
	return string(raw), err == nil && len(v) >= knownLeast
}

// In reports whether a text repeats one of the values.
func (k *Known) In(text string) bool {
	if len(text) > maxKnownText {
		text = text[:maxKnownText]
	}
	runs, short := map[string]bool{}, map[string]bool{}
	for range maxUnescaped {
		for _, v := range k.values {
			if strings.Contains(text, v) {
				return true
			}
		}
		for _, v := range []string{text, strings.ReplaceAll(strings.ToLower(text), "0x", " ")} {
			v = squeeze(v)
			for i := range v {
				if i+knownRun <= len(v) {
					runs[v[i:i+knownRun]] = true
				}
				if i+knownLeast <= len(v) {
					short[v[i:i+knownLeast]] = true
				}
			}
		}
		free := unescape(text)
		if free == text {
			break
		}
		text = free
	}
	for _, v := range k.values {
		for _, form := range knownForms(v) {
			if form = squeeze(form); among(form, runs, short) {
				return true
			}
		}
	}
	return false
}

// among reports whether a run of a form is in the text. A short one must be there from its first to its last letter.
func among(form string, runs, short map[string]bool) bool {
	for i := 0; i+knownRun <= len(form); i++ {
		if runs[form[i:i+knownRun]] {
			return true
		}
	}
	if len(form) >= knownRun || len(form) < knownLeast {
		return false
	}
	for i := 0; i+knownLeast <= len(form); i++ {
		if !short[form[i:i+knownLeast]] {
			return false
		}
	}
	return true
}

// knownForms are a value as programs write it.
func knownForms(v string) []string {
	raw := []byte(v)
	out := []string{v, hex.EncodeToString(raw), base32.StdEncoding.EncodeToString(raw), decimal(raw)}
	for _, once := range knownBase64(raw) {
		out = append(out, once, hex.EncodeToString([]byte(once)))
		out = append(out, knownBase64([]byte(once))...)
	}
	return out
}

// knownBase64 is a value as it is in the base64 of a text, wherever it begins there.
func knownBase64(raw []byte) []string {
	var out []string
	for before := range 3 {
		text := base64.RawStdEncoding.EncodeToString(append(bytes.Repeat([]byte{0}, before), raw...))
		from := (before*8 + 5) / 6        // the character that also holds what stands in front
		to := (before + len(raw)) * 8 / 6 // the last one holds what stands behind, too
		if from < to && to <= len(text) {
			out = append(out, text[from:to])
		}
	}
	return out
}

func decimal(raw []byte) string {
	var b strings.Builder
	for _, c := range raw {
		b.WriteString(strconv.Itoa(int(c)))
	}
	return b.String()
}

// squeeze leaves only letters and digits, in lower case.
func squeeze(v string) string {
	out := make([]byte, 0, len(v))
	for i := range len(v) {
		switch c := v[i]; {
		case letter(c):
			out = append(out, c|0x20)
		case c >= '0' && c <= '9':
			out = append(out, c)
		}
	}
	return string(out)
}

// unescape replaces percent encoding, entities and escapes of JSON, C and shells by what they stand for.
func unescape(v string) string {
	v = html.UnescapeString(v)
	var b strings.Builder
	for i := 0; i < len(v); i++ {
		n, digits, base := 0, 0, 16
		switch rest := v[i:min(len(v), i+6)]; {
		case rest[0] == '%':
			n, digits = 1, 2
		case strings.HasPrefix(rest, `\x`):
			n, digits = 2, 2
		case strings.HasPrefix(rest, `\u`):
			n, digits = 2, 4
		case len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("nrtbfv\n", rest[1]) >= 0:
			b.WriteByte(' ')
			i++
			continue
		case len(rest) > 1 && rest[0] == '\\' && rest[1] >= '0' && rest[1] <= '3':
			n, digits, base = 1, 3, 8
		}
		if end := i + n + digits; n > 0 && end <= len(v) {
			if c, err := strconv.ParseUint(v[i+n:end], base, 16); err == nil {
				if digits == 4 {
					b.WriteRune(rune(c))
				} else {
					b.WriteByte(byte(c))
				}
				i = end - 1
				continue
			}
		}
		if v[i] == '\\' && i+1 < len(v) && !letter(v[i+1]) {
			continue
		}
		b.WriteByte(v[i])
	}
	return b.String()
}
