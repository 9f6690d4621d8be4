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
	"0x70, 0x61, 0x73", "0x70,0x61,0x73", "103, 104, 112, 95", "103,104,112,95", "103 104 112 95", "6768705f"} // ghp_

var (
	numberLists = lazily(`(?:\b(?:0x[0-9a-fA-F]{1,2}|\d{1,3})(?:, ?| )){7,}(?:0x[0-9a-fA-F]{1,2}|\d{1,3})\b`)
	hexRuns     = lazily(`(?:\b|\b0x|\\x)((?:[0-9a-fA-F]{2}){16,})\b`)
)

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
	raw = asShown(strings.ReplaceAll(raw, "\x00", " "))
	text := textStart(raw)
	return len(text) == len(raw) && (s.finds(text) || len((&bodyReader{opaque: s.opaque}).read(text)) > 0)
}

// hexText reports whether hexadecimal begins as text does, which that of a digest hardly does.
func hexText(run string) bool {
	raw, err := hex.DecodeString(run[:min(len(run), 16)])
	text := strings.ReplaceAll(strings.TrimLeft(string(raw), "\x1b"), "\x00", " ") // of a color; between arguments
	return err == nil && textStart(text) == text
}
