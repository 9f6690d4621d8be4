package message

import (
	"strings"
	"testing"
)

// TestOutlast: the end of bootkube.sh does not show that the API answers, and a container shows that
// its image was pulled.
func TestOutlast(t *testing.T) {
	x := builtIn(t)
	const (
		refused = "Mar 12 10:11:01 sn1 bootkube.sh[77]: The connection to the server api-int.c7.example.org:6443 was refused - did you specify the right host or port?\n"
		check   = "Mar 12 10:11:12 sn1 bootkube.sh[901]: Unable to validate. https://api-int.c7.example.org:6443/version is currently unreachable.\n"
		reached = "Mar 12 10:11:13 sn1 bootkube.sh[901]: Success while trying to reach API_INT_URL's https endpoint at https://api-int.c7.example.org:6443/version\n"
		done    = "Mar 12 10:11:13 sn1 bootkube.sh[901]: bootkube.service complete\nMar 12 10:11:13 sn1 systemd[1]: bootkube.service: Deactivated successfully.\n"
		digest  = "@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		other   = "@sha256:1123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
		pull    = "Jul 01 09:00:00 localhost release-image-download.sh[8]: Error: Error initializing source docker://reg.example.org/rel" + digest +
			": pinging registry reg.example.org: Get \"https://reg.example.org/v2/\": dial tcp: lookup reg.example.org on [::1]:53: read udp [::1]:4->[::1]:53: read: connection refused\n"
		create = "Jul 02 09:00:00 bs9 podman[21]: 2024-07-02 09:00:00.5 +0000 UTC m=+0.1 container create 0123456789ab (image=reg.example.org/rel" + digest + ", name=odd_one)\n"
		fatal  = "Jul 02 09:00:01 bs9 bootkube.sh[30]: F0702 09:00:01.000001 1 image.go:32] error: error: Unknown name requested, could not find ovn-x in UpdatePayload\n"
		watch  = "E0808 19:35:04.619494   64639 reflector.go:138] k8s.io/client-go/tools/watch/informerwatcher.go:146: Failed to watch *v1.ClusterVersion: failed to list " +
			"*v1.ClusterVersion: Get \"https://api.c7.example.org:6443/apis/config.openshift.io/v1/clusterversions?limit=500\": EOF\n"
		installed = "INFO Waiting up to 10m0s (until 8:00PM) for the openshift-console route to be created...\nINFO Install complete!\n"
	)
	for name, c := range map[string]struct {
		text, want string
		over       int
	}{
		"the installer's own watch":          {watch, "closes the connection", 0},
		"and the installation is done":       {watch + installed, "", 0},
		"a refusal before the unit is done":  {refused + done, "", 1},
		"and its own check":                  {refused + check + done, "the bootstrap's own check does not reach the API", 0},
		"the check succeeds later":           {refused + check + reached + done, "", 2},
		"a pull that failed":                 {pull, "dns-resolver-wrong", 0},
		"then a container of that image":     {pull + create, "", 2},
		"a container of another image":       {pull + strings.ReplaceAll(create, digest, other), "dns-resolver-wrong", 0},
		"before the failure":                 {create + pull, "dns-resolver-wrong", 0},
		"and the release has no such image":  {pull + create + fatal, "the release image has no image of the name", 2},
		"on another host, whose name it has": {strings.ReplaceAll(pull, " localhost ", " bs8 ") + create, "dns-resolver-wrong", 0},
	} {
		r, got := readText(t, x, c.text), ""
		for _, m := range append(r.Matches, r.Symptoms...) {
			got += m.Fault + m.Failure + "\n"
		}
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") || c.over > 0 && len(r.Over) == 0 {
			t.Errorf("%s: %q, want %q; over: %+v", name, got, c.want, r.Over)
		}
	}
}

// TestInstallerWaits: timeouts of a wait in which the API also refuses are normal, unless it fails.
func TestInstallerWaits(t *testing.T) {
	x := builtIn(t)
	const (
		wait    = "DEBUG Still waiting for the Kubernetes API: Get \"https://api.c7.example.org:6443/version\": dial tcp 192.0.2.44:6443: "
		refused = wait + "connect: connection refused\n"
		timeout = wait + "i/o timeout\n"
		failed  = "ERROR Failed waiting for Kubernetes API. This error usually happens when there is a problem on the bootstrap host\n"
	)
	for name, c := range map[string]struct {
		text string
		want Result
	}{
		"refused and timeouts": {refused + timeout + refused + timeout, Absent},
		"timeouts first":       {timeout + refused, Absent},
		"timeouts alone":       {timeout + timeout, Unknown},
		"it failed":            {refused + timeout + failed, Unknown},
		"of a name":            {refused + strings.ReplaceAll(timeout, "dial tcp 192.0.2.44:6443:", "dial tcp: lookup api.c7.example.org on 192.0.2.1:53: read udp 192.0.2.9:5->192.0.2.1:53:"), Unknown},
	} {
		if r := readText(t, x, c.text); r.Result != c.want {
			t.Errorf("%s: %s, want %s: %+v %+v", name, r.Result, c.want, r.Symptoms, r.Errors)
		}
	}
}

// TestIgnitionWithoutNameServer: an Ignition that asks ::1 has no name server, until its config comes.
func TestIgnitionWithoutNameServer(t *testing.T) {
	x := builtIn(t)
	const line = "[   12.5] ignition[650]: GET error: Get \"https://api-int.c7.example.org:22623/config/worker\": dial tcp: lookup api-int.c7.example.org on [::1]:53: " +
		"read udp [::1]:4001->[::1]:53: read: connection refused\n"
	if r := readText(t, x, line); len(r.Matches) == 0 || r.Matches[0].Fault != "dns-resolver-wrong" {
		t.Errorf("%+v", r)
	}
	if r := readText(t, x, line+"[   15.1] ignition[650]: GET result: OK\n"); r.Result != Absent {
		t.Errorf("%+v %+v", r.Matches, r.Symptoms)
	}
}
