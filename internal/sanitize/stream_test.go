package sanitize

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestJoined: what spans lines is hidden, what a line has alone stays for Alone, and there are as many lines.
func TestJoined(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "aeGh4chohn7oosh"
	for _, text := range []string{
		"NAME   PASSWORD\nm0     " + secret + "\n",
		"| host | password |\r\n| --- | --- |\r\n| m1 | " + secret + " |\r\n",
		"password: |\n  " + secret + "\nother: x\n",
		"-----BEGIN RSA PRIVATE KEY-----\n" + secret + "\n-----END RSA PRIVATE KEY-----\nafter",
		"name,password\nm1," + secret,
	} {
		raw, err := io.ReadAll(iotest.OneByteReader(s.Joined(strings.NewReader(text))))
		if err != nil || strings.Contains(string(raw), secret) || strings.Count(string(raw), "\n") != strings.Count(text, "\n") {
			t.Errorf("%q, %v of %q", raw, err, text)
		}
	}
	for _, text := range []string{
		"", "\n", "one\r\n\r\ntwo", "token: " + secret + "\nnext line\n", strings.Repeat("x", 200<<10) + "\nPASSWORD\n", strings.Repeat("a: \"b\"\n", 1<<20),
	} {
		raw, err := io.ReadAll(s.Joined(strings.NewReader(text)))
		if err != nil || string(raw) != text {
			t.Errorf("%.80q, %v of %.80q", raw, err, text)
		}
	}
	if clean := s.Alone("token: " + secret); strings.Contains(clean, secret) || s.Alone("next") != "next" {
		t.Errorf("%q", clean)
	}
}
