package sanitize

import (
	"strings"
	"testing"
)

func TestMessage(t *testing.T) {
	s, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"password:\x1b[0m\x1b[33m Zq9Kestrel12", "pass\u200bword: Zq9Kestrel12", "password=Zq9\x1b[1mKestrel12",
		"\x1b]0;title\x07password=Zq9Kestrel12", "User \"x\" password=Zq9Kestrel12", "POST https://root:Zq9Kestrel12@192.0.2.1/redfish/v1 401",
		"\u009b31mpassword=Zq9Kestrel12",
	} {
		if got := s.Message(text); strings.Contains(got, "Kestrel12") || strings.ContainsAny(got, "\x1b\x07") {
			t.Errorf("%q: %q", text, got)
		}
	}
	const plain = "nodes is forbidden: User \"x\" cannot list resource\n\tat the cluster scope"
	if got := s.Message(plain); got != plain {
		t.Errorf("changed: %q", got)
	}
}
