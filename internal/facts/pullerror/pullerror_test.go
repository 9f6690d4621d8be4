package pullerror

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const (
		podman = "Error: initializing source docker://quay.example.com/mco@sha256:1: "
		ping   = podman + "pinging container registry quay.example.com: Get \"https://quay.example.com/v2/\": "
		ostree = "failed to update OS to quay.example.com/os@sha256:1: error running rpm-ostree rebase --experimental ostree-unverified-registry:quay.example.com/os@sha256:1: error: Creating importer: Failed to invoke skopeo proxy method OpenImage: remote error: "
	)
	tests := []struct {
		name, text string
		cause      Cause
		host       string
	}{
		{"name", ping + "dial tcp: lookup quay.example.com on 192.0.2.53:53: no such host", DNS, "quay.example.com"},
		{"name server that does not answer", ping + "dial tcp: lookup quay.example.com: i/o timeout", DNS, "quay.example.com"},
		{"unknown authority", ping + "tls: failed to verify certificate: x509: certificate signed by unknown authority", tls, "quay.example.com"},
		{"plain HTTP", ping + "http: server gave HTTP response to HTTPS client", tls, "quay.example.com"},
		{"refused, with a port", `skopeo: pinging container registry mirror.example.com:5000: Get "https://mirror.example.com:5000/v2/": dial tcp 192.0.2.5:5000: connect: connection refused`, refused, "mirror.example.com:5000"},
		{"no route", ping + "dial tcp 192.0.2.9:443: connect: no route to host", unreachable, "quay.example.com"},
		{"timeout", ostree + `pinging container registry quay.example.com: Get "https://quay.example.com/v2/": dial tcp 192.0.2.99:443: i/o timeout`, timeout, "quay.example.com"},
		{"handshake timeout", ping + "net/http: TLS handshake timeout", timeout, "quay.example.com"},
		{"quoted in a log", `Marking Degraded due to: "` + `failed to update OS to quay.example.com/os: error running rpm-ostree rebase: Get \"https://quay.example.com/v2/\": x509: certificate has expired` + `"`, tls, "quay.example.com"},
		{"credentials", ostree + "reading manifest sha256:1 in quay.example.com/os: unauthorized: access to the requested resource is not authorized", unauthorized, "quay.example.com"},
		{"credentials, no detail", ostree + "unauthorized", unauthorized, "quay.example.com"},
		{"denied", podman + "reading manifest v1 in quay.example.com/mco: denied: requested access to the resource is denied", unauthorized, "quay.example.com"},
		{"no image", ostree + "reading manifest sha256:1 in quay.example.com/os: manifest unknown", notFound, "quay.example.com"},
		{"server error", podman + "reading manifest sha256:1 in quay.example.com/mco: received unexpected HTTP status: 503 Service Unavailable", serverError, "quay.example.com"},
		{"rate limit", podman + "reading manifest sha256:1 in quay.example.com/mco: toomanyrequests: You have reached your pull rate limit", rateLimited, "quay.example.com"},
		{"a storage that it redirects to", `Error: copying system image from manifest list: reading blob sha256:1: Get "https://cdn.example.com/x?y": dial tcp: lookup cdn.example.com: no such host`, DNS, "cdn.example.com"},
		{"disk of podman", "Error: copying system image from manifest list: writing blob: storing blob to file \"/var/tmp/storage1/1\": write /var/tmp/storage1/1: no space left on device", diskFull, ""},
		{"disk of ostree", ostree + "Importing: min-free-space-percent '3%' would be exceeded, at least 13 bytes requested", diskFull, "quay.example.com"},
		{"policy", "Error: Source image rejected: A signature was required, but no signature exists", policy, ""},
		{"proxy", ping + "proxyconnect tcp: dial tcp: lookup proxy.example.com on 192.0.2.53:53: no such host", proxy, "proxy.example.com"},
		{"proxy's port", ping + "proxyconnect tcp: dial tcp 192.0.2.8:3128: connect: connection refused", proxy, "192.0.2.8:3128"},
		{"broken off", ping + "read tcp 192.0.2.1:2->192.0.2.3:443: read: connection reset by peer", interrupted, "quay.example.com"},
		{"new words", ostree + "something else", other, "quay.example.com"},
		{
			"disconnected: the mirror's error counts", "Error: initializing source docker://quay.io/mco@sha256:1: (Mirrors also failed: [mirror.example.com:5000/mco@sha256:1: reading manifest sha256:1 in mirror.example.com:5000/mco: manifest unknown]): quay.io/mco@sha256:1: " +
				`pinging container registry quay.io: Get "https://quay.io/v2/": dial tcp: lookup quay.io on 192.0.2.53:53: no such host`, notFound, "mirror.example.com:5000",
		},
		{
			"connected: the registry's error counts", "Error: initializing source docker://quay.io/mco@sha256:1: (Mirrors also failed: [mirror.example.com:5000/mco@sha256:1: manifest unknown]): quay.io/mco@sha256:1: reading manifest sha256:1 in quay.io/mco: unauthorized: access denied",
			unauthorized, "quay.io",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Parse(tt.text)
			if !ok || got.Cause != tt.cause || got.Host != tt.host {
				t.Errorf("Parse: %+v, %t; want %s at %q", got, ok, tt.cause, tt.host)
			}
		})
	}
	for _, text := range []string{"", "x509: certificate signed by unknown authority", `unexpected on-disk state: content mismatch for file "/etc/hosts"`, "dial tcp: lookup api-int: no such host"} {
		if e, ok := Parse(text); ok {
			t.Errorf("Parse(%q) = %+v, want no pull error", text, e)
		}
	}
}

func TestSaid(t *testing.T) {
	tests := map[string]string{
		"docker://a/b: Get \"https://a/v2/\": tls: failed to verify certificate: x509: certificate signed by unknown authority: exit status 1": "tls: failed to verify certificate: x509: certificate signed by unknown authority",
		`"docker://a/b: Get \"https://a/v2/\": dial tcp 192.0.2.1:443: i/o timeout\nsecond line"`:                                              "i/o timeout",
		"reading manifest a in b: received unexpected HTTP status: 503 Service Unavailable":                                                    "unexpected HTTP status: 503 Service Unavailable",
		"reading manifest a in b: something": "",
	}
	for text, want := range tests {
		if e, _ := Parse(text); e.Said != want {
			t.Errorf("Parse(%q) says %q, want %q", text, e.Said, want)
		}
	}
}

func TestLookup(t *testing.T) {
	const begin = "docker://a/b: dial tcp: "
	tests := map[string]Lookup{
		"lookup a on 192.0.2.53:53: read udp 192.0.2.6:1->192.0.2.53:53: i/o timeout":              {"192.0.2.53", true, "name server 192.0.2.53 does not answer (i/o timeout)"},
		"lookup a on 192.0.2.53:53: no such host":                                                  {"192.0.2.53", false, "name server 192.0.2.53 has no such host"},
		"lookup a on [2001:db8::53]:53: server misbehaving":                                        {"2001:db8::53", false, "name server 2001:db8::53 has no usable answer (server misbehaving)"},
		"lookup a on 192.0.2.53:53: read udp 192.0.2.6:1->192.0.2.53:53: read: connection refused": {"192.0.2.53", true, "name server 192.0.2.53 is not reached (connection refused)"},
		"lookup a on 192.0.2.53:53: dial udp 192.0.2.53:53: connect: network is unreachable":       {"192.0.2.53", true, "name server 192.0.2.53 is not reached (network is unreachable)"},
		"lookup a: no such host":                                 {"", false, "the name server has no such host"},
		"lookup a: Temporary failure in name resolution":         {"", false, "Temporary failure in name resolution"},
		"lookup no-route-to-host on 192.0.2.53:53: no such host": {"192.0.2.53", false, "name server 192.0.2.53 has no such host"},
	}
	long := strings.Repeat("registry.", 20) + "example.com"
	tests["lookup "+long+" on [2001:db8::53]:53: read udp [2001:db8::6]:40349->[2001:db8::53]:53: i/o timeout"] = Lookup{
		"2001:db8::53", true, "name server 2001:db8::53 does not answer (i/o timeout)"}
	for text, want := range tests {
		e, _ := Parse(begin + text)
		if got := LookupOf(e.Said); e.Cause != DNS || got != want {
			t.Errorf("%q: %s %+v, want %+v", text, e.Cause, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("docker://a/b (Mirrors also failed: [c: EOF]): d: x509: e")
	f.Fuzz(func(t *testing.T, text string) {
		if e, ok := Parse(text); ok && e.Cause == "" {
			t.Error("an error without a cause")
		}
	})
}
