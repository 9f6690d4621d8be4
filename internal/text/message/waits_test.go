package message

import "testing"

// TestWaitWithLastingReason: a wait is normal alone, and counts as its reason where that does not pass
// by itself.
func TestWaitWithLastingReason(t *testing.T) {
	x := builtIn(t)
	const wait = `DEBUG Still waiting for the Kubernetes API: Get "https://api.lab.example:6443/version?timeout=32s": `
	for reason, want := range map[string]string{
		"dial tcp 192.0.2.5:6443: connect: connection refused":                                      "",
		"dial tcp: lookup api.lab.example on 192.0.2.53:53: server misbehaving":                     "installer-name-not-resolved",
		"dial tcp: lookup api.lab.example on 192.0.2.53:53: no such host":                           "installer-name-not-resolved",
		"proxyconnect tcp: dial tcp 192.0.2.80:3128: connect: connection refused":                   reachesNot,
		"x509: certificate is valid for api.old.example, not api.lab.example":                       reachesNot,
		"tls: failed to verify certificate: x509: certificate signed by unknown authority":          reachesNot,
		"proxyconnect tcp: dial tcp: lookup proxy.lab.example on 192.0.2.53:53: server misbehaving": reachesNot,
	} {
		r := readText(t, x, wait+reason+"\n")
		got := ""
		switch {
		case len(r.Matches) > 0:
			got = r.Matches[0].Fault
		case len(r.Symptoms) > 0:
			got = r.Symptoms[0].Failure
		}
		if got != want || (want == "") != (len(r.Normal) > 0) {
			t.Errorf("%s: %q, normal: %v, want %q", reason, got, r.Normal, want)
		}
	}
}

const reachesNot = "openshift-install does not reach the API of the new cluster, and waiting does not change that"
