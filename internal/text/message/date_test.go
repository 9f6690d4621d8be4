package message

import (
	"strings"
	"testing"
	"time"
)

// TestLocalDate: date prints the same time in the locales of the users of servers.
func TestLocalDate(t *testing.T) {
	want := time.Date(2024, time.March, 5, 7, 8, 9, 0, time.UTC)
	for _, text := range []string{
		"di  5 mrt 2024  7:08:09 UTC", "Di 5. Mär 07:08:09 UTC 2024", "Di 5. Mär 2024, 07:08:09 UTC", "Dienstag, 5. März 2024, 07:08:09 UTC",
		"mar mar  5 07:08:09 UTC 2024", "mar 05 mar 2024 07:08:09 UTC", "mar. 05 mars 2024 07:08:09 UTC", "mardi 5 mars 2024, 07:08:09 (UTC)",
		"mar 5 mar 2024, 07:08:09, UTC", "ter 05 mar 2024 07:08:09 UTC", "Ter 5 de Mar de 2024 07:08:09 UTC", "terça-feira, 5 de março de 2024 07:08:09 UTC",
	} {
		if got, zone, ok := localDate(text); !ok || zone || !got.Equal(want) {
			t.Errorf("%q: %s, zone %v, %v", text, got, zone, ok)
		}
	}
	for text, hour := range map[string]int{"jue 14 dic 2023 03:00:00 PM CET": 15, "gio 14 dic 2023, 12:00:00 AM, CET": 0} {
		if got, zone, ok := localDate(text); !ok || !zone || got.Hour() != hour || got.Month() != time.December {
			t.Errorf("%q: %s, zone %v, %v", text, got, zone, ok)
		}
	}
	for _, text := range []string{"do not run it: 1:2:3", "di 5 mrt 2024", "Mar 26 07:57:00 m0 kubelet[1]: x", "so 5 x mrt 2024 07:08:09 UTC is bad", "di 45 mrt 2024 07:08:09 UTC"} {
		if got, _, ok := localDate(text); ok {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// TestCertificateThroughFiles: what openssl wrote to a file, and grep takes out of it, is compared
// with date in any locale, and is about the file that the first command read.
func TestCertificateThroughFiles(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, want, next string }{
		"grep of a file, in German": {"[core@cp7 ~]# cat kubelet-client-current.txt | grep Not\n            Not Before: Feb  3 01:02:03 2024 GMT\n            Not After : Feb  4 01:02:03 2024 GMT\n" +
			"[core@cp7 ~]# date\nDi 5. Mär 07:08:09 UTC 2024\n", "kubelet-client-cert-expired", ""},
		"a server's, in Dutch": {"[root@cp7 pki]# openssl x509 -in kubelet-server-current.pem -noout -text | grep Not\n            Not Before: Feb  3 01:02:03 2024 GMT\n            Not After : Feb  4 01:02:03 2024 GMT\n" +
			"[root@cp7 pki]# date\ndi  5 mrt 2024  7:08:09 UTC\n", "(kubelet-server-current.pem) on cp7 expired 30 days before", "on cp7: "},
		"through a file of another name": {"[core@w3 ~]$ sudo openssl x509 -in /var/lib/kubelet/pki/kubelet-client-current.pem -noout -text > /tmp/c.out\n" +
			"[core@w3 ~]$ grep Not /tmp/c.out\n            Not Before: Feb  3 01:02:03 2024 GMT\n            Not After : Feb  4 01:02:03 2024 GMT\n" +
			"[core@w3 ~]$ date\nmar. 05 mars 2024 07:08:09 UTC\n", "kubelet-client-cert-expired", ""},
		"valid": {"[core@cp7 ~]# cat a.txt | grep Not\n            Not Before: Feb  3 01:02:03 2024 GMT\n            Not After : Apr  4 01:02:03 2024 GMT\n" +
			"[core@cp7 ~]# date\nter 05 mar 2024 07:08:09 UTC\n", "", ""},
	} {
		r, got, next := readText(t, x, c.text), "", ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got, next = got+m.Fault+m.Failure+"\n", next+m.Next
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || !strings.Contains(next, c.next) {
			t.Errorf("%s: %q, want %q; %q", name, got, c.want, next)
		}
	}
}
