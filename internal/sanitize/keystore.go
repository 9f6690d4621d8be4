package sanitize

import (
	"bytes"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// keyStoreIn reports whether base64 is that of a key or a store of keys, also behind
// the directories of a path, whose signs are of the same alphabet.
func keyStoreIn(blob string) bool {
	const head = 64
	for i := range len(blob) - minBlob + 1 {
		if i > 0 && blob[i-1] != '/' {
			continue
		}
		switch rest := blob[i:]; {
		case rest[0] == 'M', strings.HasPrefix(rest, "/u3+7QAAAA"), strings.HasPrefix(rest, "_u3-7QAAAA"):
			if keyStore(decode64(rest[:min(head, len(rest))], head)) {
				return true
			}
		}
	}
	return false
}

// keyStore reports whether bytes begin as a private key in DER or as a store of keys:
// PKCS#1 and DSA (RFC 8017 A.1.2), SEC 1 (RFC 5915), PKCS#8 plain and encrypted (RFC
// 5208, RFC 5958), PKCS#12 (RFC 7292) and Java's own. What is public begins in another
// way: a certificate and a request with a SEQUENCE that holds no object identifier at
// its head, a public key with one of its algorithm, or with a long INTEGER.
func keyStore(raw string) bool {
	if strings.HasPrefix(raw, "\xfe\xed\xfe\xed\x00\x00\x00") {
		return true
	}
	body, ok := derHead(raw, 0x30)
	if !ok || len(body) < 8 {
		return false
	}
	if algorithm, ok := derHead(body, 0x30); ok {
		// pkcs-5 and pkcs-12PbeIds
		return strings.HasPrefix(algorithm, "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05") ||
			strings.HasPrefix(algorithm, "\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01")
	}
	if len(body) < 8 || body[0] != 0x02 || body[1] != 1 {
		return false
	}
	version, rest := body[2], body[3:]
	switch {
	case version == 0 && rest[0] == 0x02: // PKCS#1, DSA
		modulus, ok := derHead(rest, 0x02)
		return ok && len(modulus) >= 16
	case version <= 1 && rest[0] == 0x30: // PKCS#8
		algorithm, ok := derHead(rest, 0x30)
		return ok && algorithm[0] == 0x06
	case version == 1 && rest[0] == 0x04: // SEC 1
		return rest[1] >= 20 && rest[1] <= 66
	case version == 3 && rest[0] == 0x30: // PKCS#12
		content, ok := derHead(rest, 0x30)
		return ok && strings.HasPrefix(content, "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07")
	}
	return false
}

// derHead returns what is there of an element's content; base64 may have been cut.
func derHead(raw string, tag byte) (string, bool) {
	if len(raw) < 3 || raw[0] != tag {
		return "", false
	}
	switch n := raw[1]; {
	case n < 0x80:
		return raw[2:], true
	case n > 0x80 && n <= 0x84 && len(raw) > int(n-0x80)+2:
		return raw[2+int(n-0x80):], true
	}
	return "", false
}

// What is looked at of gzip in base64: so much in all blobs of one text, and so many
// times the length of each. Usual text is ten times its gzip; a thousand times are
// made to make this slow. A limit depends on nothing around the blob, so that what
// stays the first time does so the next.
const (
	maxInflated   = 2 << 20
	inflatedBase  = 1 << 10
	inflatedTimes = 16
)

// inflated returns the text in gzip, and whether it is no longer than the limit.
func inflated(raw string, limit int) (string, bool) {
	z, err := gzip.NewReader(strings.NewReader(raw))
	if err != nil {
		return "", true
	}
	var out bytes.Buffer
	n, _ := io.Copy(&out, io.LimitReader(z, int64(limit)+1)) // of what is broken, as far as it came
	return out.String(), n <= int64(limit)
}
