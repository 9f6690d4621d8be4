package message

import "testing"

// TestInstallerTrust: what openshift-install asks outside the cluster is about its own machine, and not
// about the CA of the cluster.
func TestInstallerTrust(t *testing.T) {
	x := builtIn(t)
	const (
		own     = "the machine with openshift-install does not trust the certificate of a server outside the cluster"
		unknown = `x509: certificate signed by unknown authority (possibly because of "crypto/rsa: verification error" while trying to verify ` +
			`candidate authority certificate "A")`
	)
	for line, want := range map[string]string{
		`ERROR Error: failed to upload: Post "https://esx.example/nfc/1/disk-0.vmdk": tls: failed to verify certificate: ` + unknown: own,
		`FATAL failed to fetch Terraform Variables: failed to generate asset "Terraform Variables": Get "https://mirror.example/a.ova": x509: ` +
			`certificate signed by unknown authority`: own,
		`E1120 10:00:00.000000    1 reflector.go:140] Get "https://api-int.lab.example:6443/api/v1/nodes": ` + unknown: "ca-bundle-stale",
	} {
		if got := leadOf(readText(t, x, line+"\n")); got != want {
			t.Errorf("%s:\n%q, want %q", line, got, want)
		}
	}
}
