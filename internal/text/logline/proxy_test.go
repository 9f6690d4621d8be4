package logline

import "testing"

// TestProxy: an error of the way to a proxy is about the proxy, and the bare text of a status behind a URL is its answer.
func TestProxy(t *testing.T) {
	for text, want := range map[string]Failure{
		`Post https://192.0.2.9:8443/api/v1/nodes: proxyconnect tcp: dial tcp 127.0.0.1:7890: connection refused`: {Leaf: Refused, Proxy: ProxyFailed,
			Host: "127.0.0.1", Port: "7890", To: "192.0.2.9:8443"},
		`Get "https://r.example.com/v2/": proxyconnect tcp: dial tcp: lookup proxy.example.com on 192.0.2.53:53: no such host`: {Leaf: NameUnknown,
			Proxy: ProxyFailed, Host: "proxy.example.com", To: "r.example.com:443", Resolver: "192.0.2.53"},
		`Get "https://r.example.com/v2/": proxyconnect tcp: tls: first record does not look like a TLS handshake`: {Leaf: PlainHTTP, Proxy: ProxyFailed,
			To: "r.example.com:443"},
		`FATAL failed waiting for Kubernetes API: Get "https://api.c.example.com:6443/version?timeout=32s": Service Unavailable`: {Leaf: ServerError,
			Proxy: ProxyAnswered, Scheme: "https", Host: "api.c.example.com", Port: "6443", Path: "/version", Says: "Service Unavailable"},
		`Get https://api.c.example.com:6443/version?timeout=32s: Forbidden`: {Leaf: Forbidden, Proxy: ProxyAnswered, Scheme: "https",
			Host: "api.c.example.com", Port: "6443", Path: "/version", Says: "Forbidden"},
		`Failed to list *v1.Pod: Get "https://localhost:6443/api/v1/pods":`:               {Leaf: Cut, Scheme: "https", Host: "localhost", Port: "6443", Path: "/api/v1/pods"},
		`tls: failed to verify certificate: x509: certificate signed by unknown autority`: {Leaf: Untrusted},
		`http2: server sent GOAWAY and closed the connection; LastStreamID=3`:             {Leaf: Closed},
	} {
		if got, ok := Failing([]byte(text)); !ok || got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", text, got, want)
		}
	}
	for text, other := range map[string]ProxyPart{
		`Get "https://r.example.com/v2/": received unexpected HTTP status: 503 Service Unavailable`: NoProxy,
		`Get "https://r.example.com/v2/": dial tcp 192.0.2.1:443: connect: connection refused`:      NoProxy,
		`GET https://api-int.c.example.com:22623/config/master: attempt #3`:                         NoProxy,
	} {
		if got, _ := Failing([]byte(text)); got.Proxy != other || got.Leaf == Cut {
			t.Errorf("%s: %+v", text, got)
		}
	}
}
