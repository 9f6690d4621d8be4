package message

import (
	"slices"
	"strings"
	"testing"
)

// TestPushIsNoPull: where an image is copied to a registry, nothing is said of what a host pulls. The same error of a pull is.
func TestPushIsNoPull(t *testing.T) {
	x := builtIn(t)
	const push, pull = "error: unable to push lark.example.net/a/b: failed to upload blob sha256:1: ", "Error: initializing source docker://lark.example.net/a/b:1: pinging container registry lark.example.net: "
	for _, end := range []string{
		"unauthorized: access to the requested resource is not authorized", "unauthorized: authentication required", "denied: requested access to the resource is denied",
		`Get "https://lark.example.net/v2/": http: server gave HTTP response to HTTPS client`, `Get "https://lark.example.net/v2/": x509: certificate signed by unknown authority`,
		`Get "https://lark.example.net/v2/": dial tcp 192.0.2.7:443: connect: connection refused`, `Get "https://lark.example.net/v2/": dial tcp 192.0.2.7:443: i/o timeout`,
		"manifest unknown", "toomanyrequests: slow down",
	} {
		isPull := func(m Match) bool {
			return strings.HasPrefix(m.Fault, "image-pull") || slices.ContainsFunc(m.Candidates, func(id string) bool { return strings.HasPrefix(id, "image-pull") })
		}
		if r := readText(t, x, push+end+"\n"); r.Result == Absent || slices.ContainsFunc(append(r.Matches, r.Symptoms...), isPull) {
			t.Errorf("pushed, %s: %s %+v %+v", end, r.Result, r.Matches, r.Symptoms)
		}
		if r := readText(t, x, pull+end+"\n"); !slices.ContainsFunc(append(r.Matches, r.Symptoms...), isPull) {
			t.Errorf("pulled, %s: %s %+v %+v", end, r.Result, r.Matches, r.Symptoms)
		}
	}
	retrieve := "error: unable to push lark.example.net/a/b: failed to retrieve blob sha256:1: unauthorized: authentication required\n"
	if r := readText(t, x, retrieve); !slices.ContainsFunc(r.Matches, func(m Match) bool { return m.Fault == "image-pull-unauthorized" }) {
		t.Errorf("the source refuses: %+v", r.Matches)
	}
}

// TestSockets: a program of the same host that is not reached through its socket is no matter of firewalls and routes.
func TestSockets(t *testing.T) {
	x := builtIn(t)
	for text, want := range map[string]string{
		"E0611 07:00:01.123456       1 haproxy.go:442] unexpected error while reading CSV: read unix @->/var/lib/haproxy/run/haproxy.sock: i/o timeout":                     "HAProxy of the router, at the socket /var/lib/haproxy/run/haproxy.sock: the process behind it does not answer",
		"E0611 07:00:01.123456       1 haproxy.go:442] can't scrape HAProxy: dial unix /var/lib/haproxy/run/haproxy.sock: connect: connection refused":                      "no process listens at it",
		`time="2026-06-11T07:00:01Z" level=fatal msg="connect: dial unix /var/run/crio/crio.sock: connect: no such file or directory"`:                                      "the container runtime, at the socket /var/run/crio/crio.sock: it does not exist",
		"E0611 07:00:01.123456       1 x.go:1] failed to dial: dial unix /var/run/ovn/ovnnb_db.sock: connect: connection refused":                                           "a process of OVN or Open vSwitch, at the socket",
		"E0611 07:00:01.123456       1 x.go:1] rpc error: connection error: desc = \"transport: error while dialing: dial unix /gizmo/g.sock: connect: permission denied\"": "a process of the same host, at the socket /gizmo/g.sock: no permission",
	} {
		r := readText(t, x, text+"\n")
		says := ""
		for _, m := range append(r.Symptoms, r.Matches...) {
			says += m.Failure + m.Fault + "\n" + m.Next + "\n"
		}
		if !strings.Contains(says, want) || strings.Contains(says, "nc -zv") || strings.Contains(says, "firewall") {
			t.Errorf("%s: %q, want %q", text, says, want)
		}
	}
	for name, text := range map[string]string{
		"a router that was reloaded":   `I0611 07:00:01.123456       1 router.go:669] template "msg"="router reloaded" "output"=" - Checking http://localhost:80 using PROXY protocol ...\n - Health check ok : 0 retry attempt(s).\n"`,
		"an image that was copied":     "uploading: lark.example.net/a/b sha256:1 40MiB\nsha256:2 lark.example.net/a/b:1\ninfo: Mirroring completed in 3m1s (12MB/s)",
		"a socket that is listened at": "time=\"2026-06-11T07:00:01Z\" level=info msg=\"serving on unix /run/gizmo.sock\"",
	} {
		if r := readText(t, x, text+"\n"); r.Result != Absent {
			t.Errorf("%s: %+v %+v %+v", name, r.Matches, r.Symptoms, r.Errors)
		}
	}
}

// TestNoNetwork: a host without a route has no network; what it asks for is not looked at.
func TestNoNetwork(t *testing.T) {
	x := builtIn(t)
	for text, want := range map[string]string{
		`Get "http://169.254.169.254/latest": dial tcp 169.254.169.254:80: connect: network is unreachable`:                                "ip route",
		`Get "https://gizmo.example.net/": dial tcp 192.0.2.7:443: connect: network is unreachable`:                                        "ip route",
		`Get "https://gizmo.example.net/": dial tcp 192.0.2.7:443: connect: no route to host`:                                              "curl -v",
		"listen tcp: lookup localhost on 192.0.2.53:53: no such host":                                                                      "/etc/hosts",
		"Thing.example.com \"a\" is invalid: status.host: Invalid value: \"a.b9\": status.host in body must be of type hostname: \"a.b9\"": "baseDomain",
	} {
		r := readText(t, x, "E0611 07:00:01.123456       1 x.go:1] it failed: "+text+"\n")
		if len(r.Symptoms) == 0 || !strings.Contains(r.Symptoms[0].Next, want) {
			t.Errorf("%s: %+v, want %q", text, r.Symptoms, want)
		}
	}
}
