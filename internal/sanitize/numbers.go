package sanitize

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// Bytes that a program prints as numbers: Go's %v of a []byte, its %#v, JSON of a buffer, and
// hexadecimal as %x writes it. What they say is read as base64 is.

// minNumbers is how many numbers in a row are read: what is shorter says nothing without a name.
const minNumbers = 8

// numberMarks are the beginnings of a key in PEM and of a pull secret in numbers, and what is in front of the
// arguments of a process in a log of audit: hexadecimal with zeros between.
var numberMarks = []string{"45 45 45 45", "45,45,45,45", "45, 45, 45", "0x2d, 0x2d", "0x2d,0x2d", "2d2d2d2d2d424547494e",
	"123 34 97 117 116 104", "123,34,97,117,116,104",
	"7b2261757468",
	"proctitle=", "70617373", "50415353", "746f6b656e", "736563726574", "112 97 115 115", "112,97,115,115", "112, 97, 115", // pass, PASS, token, secret
	"700061007300", "500061007300", "700077006400", "74006f006b00", "73006500630072", "006100730073", // of UTF-16
	"0x70, 0x61, 0x73", "0x70,0x61,0x73", "103, 104, 112, 95", "103,104,112,95", "103 104 112 95", "6768705f"} // ghp_

var (
	numberLists = lazily(`(?:\b(?:0x[0-9a-fA-F]{1,2}|\d{1,3})(?:, ?| )){7,}(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\b`)
	hexRuns     = lazily(`(?:\b|\b0x|\\x)((?:[0-9a-fA-F]{2}){16,})\b`)
)

// What a character is in a run of numbers.
const (
	digitOfNumber = 1 + iota
	betweenNumbers
)

var numberSigns = func() (signs [256]byte) {
	for _, c := range []byte("0123456789abcdefABCDEFx") {
		signs[c] = digitOfNumber
	}
	signs[' '], signs[','] = betweenNumbers, betweenNumbers
	return signs
}()

// saysNumbers reports whether a text may have numbers that say something: hexadecimal, or a list, that begins as text does.
// It is asked of every text, and looks at one character of so many.
func saysNumbers(v string) bool {
	const least = 3*minNumbers - 1
	for i := least - 1; i < len(v); i += least { // a run of that length meets every such place
		if numberSigns[v[i]] == 0 {
			continue
		}
		from, to := i, i+1
		for from > 0 && i-from < least && numberSigns[v[from-1]] != 0 {
			from--
		}
		for to < len(v) && numberSigns[v[to]] != 0 {
			to++
		}
		if to-from >= least && runSays(v[from:to]) {
			return true
		}
		i = to
	}
	return false
}

// runSays reports whether one of the numbers of a run is a text, or so many in a row are.
func runSays(run string) bool {
	row := 0
	for at := 0; at < len(run); {
		end := at
		for end < len(run) && numberSigns[run[end]] == digitOfNumber {
			end++
		}
		switch n := end - at; {
		case n >= 32:
			hexed := strings.TrimLeft(strings.TrimPrefix(run[at:end], "0x"), "x")
			if row = 0; len(hexed) >= 32 && hexText(hexed) {
				return true
			}
		case n > 0 && n < 5:
			c, err := strconv.ParseUint(run[at:end], 0, 8)
			if err != nil || c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0 && c != 0x1b || c >= 0x7f {
				row = 0
			} else if row++; row >= minNumbers {
				return true
			}
		case n > 0:
			row = 0
		}
		at = end + 1
	}
	return false
}

// numbers returns where lists of numbers and hexadecimal are that hold a secret.
func (s *Sanitizer) numbers(v string) (found []span) {
	for _, at := range numberLists.get().FindAllStringIndex(v, -1) {
		if raw, ok := numberedBytes(v[at[0]:at[1]]); ok && s.tells(raw) {
			found = append(found, span{at[0], at[1]})
		}
	}
	for _, m := range hexRuns.get().FindAllStringSubmatchIndex(v, -1) {
		at := m[2:]
		run := v[at[0]:at[1]]
		if raw, err := hex.DecodeString(run); err == nil && (hexText(run) || keyStore(string(raw))) && s.tells(string(raw)) {
			found = append(found, span{at[0], at[1]})
		}
	}
	return found
}

// isNumberList reports whether a text begins with a list of bytes.
func isNumberList(v string) bool { return numberStart.get().MatchString(v[:min(len(v), 64)]) }

var numberStart = lazily(`^(?:(?:0x[0-9a-fA-F]{1,2}|\d{1,3})(?:, ?| )){3,}(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\b`)

// numberedBytes returns the bytes of a list of numbers.
func numberedBytes(list string) (string, bool) {
	var b strings.Builder
	for field := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.ParseUint(field, 0, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(n))
	}
	return b.String(), b.Len() >= minNumbers
}

// tells reports whether bytes are a text with a secret, or a key.
func (s *Sanitizer) tells(raw string) bool {
	if keyStore(raw) || strings.Contains(raw, "openssh-key-v1") {
		return true
	}
	if raw = strings.TrimPrefix(strings.TrimPrefix(raw, "\xff\xfe"), "\xfe\xff"); strings.Count(raw, "\x00")*2 < len(raw)-1 {
		raw = strings.ReplaceAll(raw, "\x00", " ") // between arguments, and not of UTF-16
	}
	raw = asShown(raw)
	text := textStart(raw)
	return len(text) == len(raw) && (s.finds(text) || len((&bodyReader{opaque: s.opaque}).read(text)) > 0)
}

// hexText reports whether hexadecimal begins as text does, which that of a digest hardly does.
func hexText(run string) bool {
	raw, err := hex.DecodeString(run[:min(len(run), 16)])
	if strings.HasPrefix(string(raw), "\xff\xfe") || strings.HasPrefix(string(raw), "\xfe\xff") { // the mark of UTF-16
		raw = raw[2:]
	}
	text := strings.ReplaceAll(strings.TrimLeft(string(raw), "\x1b"), "\x00", " ") // of a color; between arguments
	return err == nil && textStart(text) == text
}
