package message

import (
	"strings"
	"testing"
)

// TestCertificateBesideATime: a certificate that is not valid at the time that the text shows is
// said with its name and its host.
func TestCertificateBesideATime(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct{ text, want string }{
		"of the kubelet, its host at the prompt": {"[core@m1 ~]$ sudo openssl x509 -in /var/lib/kubelet/pki/kubelet-client-current.pem -noout -dates\n" +
			"notBefore=Mar 11 08:12:44 2024 GMT\nnotAfter=Apr 10 08:12:44 2024 GMT\n[core@m1 ~]$ date\nThu Jun 13 09:40:12 UTC 2024\n", "kubelet-client-cert-expired"},
		"of the API": {"$ echo | openssl s_client -connect api.ocp.example.com:6443 2>/dev/null | openssl x509 -noout -text\n        Validity\n" +
			"            Not Before: May  2 11:01:02 2023 GMT\n            Not After : Jun  1 11:01:03 2023 GMT\n$ date\nSat 08 Jul 2023 02:00:51 PM CEST\n", "api-certificate-expired"},
		"of the machine config server": {"$ date\nTue Feb 21 22:33:05 CET 2023\n$ oc get secret -n openshift-machine-config-operator machine-config-server-tls -o x | " +
			"openssl x509 -noout -enddate\nnotAfter=Feb 20 10:15:15 2023 GMT\n", "mcs-certificate-expired"},
		"not yet valid": {"sh-5.1# openssl x509 -noout -dates -subject -in /etc/x/etcd-peer-m0.crt\nnotBefore=Nov  3 14:20:11 2025 GMT\nnotAfter=Nov  2 14:20:12 2028 GMT\n" +
			"subject=O=system:etcd-peers, CN=system:etcd-peer:m0\nsh-5.1# date -Is\n2025-11-03T02:11:45+00:00\n",
			"the certificate of system:etcd-peer:m0 (etcd-peer-m0.crt) is not valid yet: it begins 12 hours after the time that the text shows"},
		"a host that ssh names": {"$ ssh core@w0 'date; sudo openssl x509 -in /a/server.pem -noout -enddate'\nMon Jun  3 10:00:00 UTC 2024\nnotAfter=May 20 09:00:00 2024 GMT\n",
			"a certificate (server.pem) on w0 expired 14 days before the time that the text shows"},
		"what curl shows": {"*  start date: Jan  5 10:00:00 2024 GMT\n*  expire date: Feb  4 10:00:00 2024 GMT\n$ date\nTue Feb  6 12:00:00 UTC 2024\n", "a certificate expired 2 days before"},
		"the time of a log": {"     Not Before: Jan  5 10:00:00 2024 GMT\n     Not After : Feb  4 10:00:00 2024 GMT\ntime=\"2024-02-06T12:00:01Z\" level=info msg=\"Waiting for the API\"\n",
			"a certificate expired 2 days before"},
		"a log without years": {"notAfter=Apr  9 07:00:00 2024 GMT\nApr 11 09:32:11 w2 kubenswrapper[2231]: I0411 09:32:11.003322    2231 kubelet.go:2070] \"SyncLoop\"\n",
			"if the log is of 2024"},
		"an annotation": {"    auth.openshift.io/certificate-not-after: \"2022-03-01T00:00:00Z\"\n$ date\nFri Mar  4 10:11:12 UTC 2022\n", "a certificate expired 3 days before"},

		"a zone that is not known, and hours":      {"notAfter=Feb 20 10:15:15 2023 GMT\nMon Feb 20 12:33:05 CST 2023\n", ""},
		"the log of a time before the certificate": {"notBefore=Apr  9 07:00:00 2024 GMT\n2024-04-01T09:32:11Z INFO starting\n", ""},
		"valid": {"notBefore=Jan  5 10:00:00 2024 GMT\nnotAfter=Jan  2 10:00:00 2034 GMT\nWed Feb  7 16:01:09 EST 2024\n", ""},
	} {
		r, got := readText(t, x, c.text), ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got += m.Fault + m.Failure + "\n"
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
