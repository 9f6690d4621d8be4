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

// TestRepeatedInMessage: what a message hides once it does not say again.
func TestRepeatedInMessage(t *testing.T) {
	s := sanitizer(t, "a")
	for _, text := range []string{
		`read expectation "password=Tern83Wq9xKp": "Tern83Wq9xKp" is not an address`, `"Tern83Wq9xKp" is no address in "password=Tern83Wq9xKp"`,
		"password=sunshine: sunshine is not an address", "login u:x failed: https://u:Tern83Wq9xKp@h/: Tern83Wq9xKp", "\x1b[31mpassword=Tern83Wq9xKp\x1b[0m: Tern83Wq9xKp",
		"password=Tern83Wq9xKp password=Tern83Wq9xKp password=osprey44wall: Tern83Wq9xKp, osprey44wall",
		`token: "Tern83Wq9xKp77" "a" password: "osprey44wall": neither Tern83Wq9xKp77 nor osprey44wall`,
	} {
		got := s.Message(text)
		for _, secret := range []string{"Tern83Wq9xKp", "sunshine", "osprey44wall"} {
			if strings.Contains(got, secret) {
				t.Errorf("%q became %q", text, got)
			}
		}
		if again := s.Message(got); again != got {
			t.Errorf("not the same twice: %q, %q", got, again)
		}
	}
	const short = `read "password=abcd": abcd.example.com is not an address`
	if got := s.Message(short); !strings.Contains(got, "abcd.example.com") {
		t.Errorf("%q became %q", short, got)
	}
}
