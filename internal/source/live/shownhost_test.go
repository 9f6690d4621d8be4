package live

import "testing"

func TestShownHost(t *testing.T) {
	for host, want := range map[string]string{
		"https://api.example.com:6443":           "https://api.example.com:6443",
		"https://api.example.com:6443/x":         "https://api.example.com:6443/x",
		"192.0.2.1:6443":                         "192.0.2.1:6443",
		"https://adm:kestrel@127.0.0.1:9":        "https://127.0.0.1:9",
		"https://adm:kes/tr@el@127.0.0.1:9:9/":   "https://127.0.0.1:9:9/",
		"https://kestrel@[2001:db8::1]:6443":     "https://[2001:db8::1]:6443",
		"https://127.0.0.1:9/?token=kestrel":     "https://127.0.0.1:9/",
		"https://127.0.0.1:9/?token=kes@trel":    "https://(an address with a secret)",
		"https://adm:kes?trel@127.0.0.1:9":       "https://(an address with a secret)",
		"https://a:b@127.0.0.1:9/#token=kestrel": "https://127.0.0.1:9/",
		"adm:kestrel@127.0.0.1:9":                "127.0.0.1:9",
	} {
		if got := ShownHost(host); got != want {
			t.Errorf("%s: %q, want %q", host, got, want)
		}
	}
}
