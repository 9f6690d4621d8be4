package csr

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
)

func TestParseExpect(t *testing.T) {
	e, err := ParseExpect("control0=192.0.2.10, 2001:db8::1")
	if err != nil || e.Name != "control0" || !slices.Equal(e.IPs, []string{"192.0.2.10", "2001:db8::1"}) || !e.Explicit {
		t.Errorf("ParseExpect: %+v, %v", e, err)
	}
	for _, bad := range []string{"", "=1.2.3.4", "a=x", "a=", "a b", "*", "a,b"} {
		if _, err := ParseExpect(bad); err == nil {
			t.Errorf("ParseExpect(%q) is content", bad)
		}
	}
	for text, want := range map[string]string{
		"password=abcd":  `read expectation "password=abcd": the value behind the sign = is not an address`,
		"a=1.2.3.4,abcd": `read expectation "a=1.2.3.4,abcd": the value behind the sign = is not an address (number 2)`,
	} {
		if _, err := ParseExpect(text); err == nil || err.Error() != want { // what may be a password stands next to its name only
			t.Errorf("ParseExpect(%q): %v", text, err)
		}
	}
}

func FuzzParseExpect(f *testing.F) {
	f.Add("control0=192.0.2.10,::1")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseExpect(text)
		if err != nil {
			return
		}
		for _, ip := range e.IPs {
			if _, err := netip.ParseAddr(ip); err != nil {
				t.Errorf("%q gives the address %q", text, ip)
			}
		}
	})
}

// TestSeveralKeysAreNamed: the refusal names every request by UID and whole key,
// says that they may all be the host's, and how to find out.
func TestSeveralKeysAreNamed(t *testing.T) {
	a, b := clientRequest(), clientRequest()
	b.Name, b.UID, b.KeyDigest = "csr-b", "uid-b", strings.Repeat("b", 64)
	a.UID = "uid-a"
	e := &Expectation{Name: "control0", Explicit: true, IPs: []string{"192.0.2.10"}, NotBefore: noon.Add(-time.Hour), Boot: "it booted"}
	d := Judge(a, e, Snapshot{Now: noon, Requests: []csrs.Request{a, b}})
	for _, want := range []string{"UID uid-a", "UID uid-b", a.KeyDigest, b.KeyDigest} {
		if !strings.Contains(d.Why, want) {
			t.Errorf("the refusal lacks %s: %s", want, d.Why)
		}
	}
	for _, want := range []string{"15 minutes", "restart the kubelet of control0", "--expect control0=192.0.2.10", "--key sha256:",
		"kubelet-client-current.pem", "deny"} {
		if !strings.Contains(d.WayOut, want) {
			t.Errorf("the way out lacks %q: %s", want, d.WayOut)
		}
	}
	var many []csrs.Request
	for range 50 {
		b.UID += "x"
		many = append(many, b)
	}
	if d = Judge(a, e, Snapshot{Now: noon, Requests: append(many, a)}); len(d.Why) > 2000 || !strings.Contains(d.Why, "more") {
		t.Errorf("a refusal of %d bytes: %.200s", len(d.Why), d.Why)
	}
}

func TestParseKey(t *testing.T) {
	digest := strings.Repeat("0a", 32)
	if got, err := ParseKey("sha256:" + digest); err != nil || got != digest {
		t.Errorf("ParseKey: %q, %v", got, err)
	}
	for _, bad := range []string{"", digest, "sha256:", "sha256:" + digest[:16], "sha256:" + digest + "0", "sha256:" + strings.ToUpper(digest),
		"sha256:" + digest + "\n"} {
		if got, err := ParseKey(bad); err == nil {
			t.Errorf("ParseKey(%q) is content: %q", bad, got)
		}
	}
}

func TestShown(t *testing.T) {
	for _, tt := range []struct{ node, cn, want string }{
		{"control0", "system:node:control0", "control0"},
		{"control0\x1b[2K\u202e", "", `"control0\x1b[2K\u202e"`},
		{"", "system:admin", `"system:admin"`},
		{"", "", ""},
	} {
		if got := Shown(csrs.Request{NodeName: tt.node, CN: tt.cn}); got != tt.want {
			t.Errorf("Shown(%q, %q) = %s, want %s", tt.node, tt.cn, got, tt.want)
		}
	}
	if got := Shown(csrs.Request{NodeName: strings.Repeat("\n", 1<<20)}); len(got) > 4*maxQuoted {
		t.Errorf("%d bytes are shown", len(got))
	}
}
