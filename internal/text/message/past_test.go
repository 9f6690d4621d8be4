package message

import (
	"slices"
	"strings"
	"testing"
)

// What failed and then got done is history; what comes again, or is another's, is not.
func TestPast(t *testing.T) {
	x := builtIn(t)
	const (
		crio    = "May 01 07:45:35 w1 crio[1444]: time=\"2026-05-01 07:45:35Z\" level=fatal msg=\"config validation: invalid runtime_path for runtime 'crun'\"\n"
		exited  = "May 01 07:45:35 w1 systemd[1]: crio.service: Main process exited, code=exited, status=1/FAILURE\n"
		failed  = "May 01 07:45:35 w1 systemd[1]: Failed to start Open Container Initiative Daemon.\n"
		reboot  = "-- Reboot --\n"
		started = "May 01 07:47:56 w1 systemd[1]: Started Open Container Initiative Daemon.\n"
		unknown = "May 01 07:45:35 w1 mystery[4]: Error: the flux is low\n"
		joined  = "May 01 07:48:20 w1 kubenswrapper[1301]: I0501 07:48:20.001122    1301 kubelet_node_status.go:75] \"Successfully registered node\" node=\"w1\"\n"
		refused = "time=\"2026-05-01T08:00:00Z\" level=fatal msg=\"failed to fetch Agent Installer ISO: failed to load asset \\\"Install Config\\\": " +
			"invalid install-config configuration: additionalTrustBundlePolicy: Invalid value\"\n"
		iso   = "time=\"2026-05-01T08:20:00Z\" level=info msg=\"Generated ISO at agent.x86_64.iso.\"\n"
		quiet = "May 01 07:49:00 w1 mystery[4]: all is well\n"
	)
	on := func(host, lines string) string { return strings.ReplaceAll(lines, " w1 ", " "+host+" ") }
	for name, tt := range map[string]struct {
		text string
		want Result
	}{
		"it fails":                                {crio + exited + failed, Present},
		"its unit is started later":               {crio + exited + failed + reboot + started, Absent},
		"without a reboot":                        {crio + exited + failed + started, Absent},
		"and fails again":                         {crio + exited + failed + started + crio, Present},
		"the unit of another host is started":     {crio + exited + failed + on("w2", started), Present},
		"the node registers":                      {crio + exited + failed + reboot + joined, Absent},
		"another node registers":                  {crio + on("w2", joined), Present},
		"before the host has its name":            {on("localhost", crio+exited+failed) + started, Absent},
		"an error that nobody knows":              {unknown, Unknown},
		"before a boot that goes on":              {unknown + reboot + strings.Repeat(quiet, settledLines), Absent},
		"before a boot of which little is known":  {unknown + reboot + quiet, Unknown},
		"before a boot in which the node is back": {unknown + reboot + joined, Absent},
		"an old one in a long log":                {unknown + strings.Repeat(quiet, quietLines+1), Absent},
		"a new ISO after a refused configuration": {refused + iso, Absent},
		"a refused configuration after an ISO":    {iso + refused, Present},
		"manifests after a refused configuration": {refused + "time=\"2026-05-01T08:30:00Z\" level=info msg=\"Manifests created in: ocp/manifests and ocp/openshift\"\n", Absent},
		"a row of a table far above":              {"w1   NotReady   worker   5d   v1.30.4\n" + strings.Repeat("w2   Ready   worker   5d   v1.30.4\n", quietLines+1), Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if r := readText(t, x, tt.text); r.Result != tt.want {
				t.Errorf("%s, want %s: %+v", r.Result, tt.want, r)
			}
		})
	}
}

// TestRequestsOneByOne: a request is over when the API server has answered that it was approved, and only that one.
func TestRequestsOneByOne(t *testing.T) {
	x := builtIn(t)
	row := func(name string) string {
		return name + "   5h11m   kubernetes.io/kube-apiserver-client-kubelet   system:serviceaccount:openshift-machine-config-operator:node-bootstrapper   <none>   Pending\n"
	}
	const typed, answer = "$ oc adm certificate approve csr-4kd2p csr-9aaaa\n", "certificatesigningrequest.certificates.k8s.io/"
	const forbidden = `Error from server (Forbidden): certificatesigningrequests.certificates.k8s.io "csr-4kd2p" is forbidden: User "u" cannot update resource` + "\n"
	both := row("csr-4kd2p") + row("csr-9aaaa")
	for name, tt := range map[string]struct {
		text string
		want Result
		left string // a request that is in the cause, and
		gone string // one that is not
	}{
		"only typed":          {both + typed, Present, "csr-4kd2p", ""},
		"refused":             {both + typed + forbidden, Present, "csr-9aaaa", ""},
		"the first approved":  {both + typed + answer + "csr-4kd2p approved\n", Present, "csr-9aaaa", "csr-4kd2p"},
		"the second approved": {both + typed + answer + "csr-9aaaa approved\n", Present, "csr-4kd2p", "csr-9aaaa"},
		"both approved":       {both + typed + answer + "csr-4kd2p approved\n" + answer + "csr-9aaaa approved\n", Absent, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			if r.Result != tt.want {
				t.Fatalf("%s, want %s: %+v", r.Result, tt.want, r)
			}
			var lines strings.Builder
			for _, m := range slices.Concat(r.Matches, r.Symptoms) {
				for _, l := range m.Lines {
					lines.WriteString(l.Text + "\n")
				}
			}
			if !strings.Contains(lines.String(), tt.left) || tt.gone != "" && strings.Contains(lines.String(), tt.gone) {
				t.Errorf("the cause has\n%s", lines.String())
			}
		})
	}
}

// TestRecap: the recap of a playbook ends what its tasks printed about a host, unless one of them has failed there.
func TestRecap(t *testing.T) {
	x := builtIn(t)
	const (
		fatal = "TASK [Compare] ****\nfatal: [m0]: FAILED! => {\"changed\": false, \"msg\": \"non-zero return code\", \"stderr\": \"the flux is low\"}\n"
		retry = "FAILED - RETRYING: [m0]: Poll for the end (9 retries left).\n"
		old   = "FAILED - RETRYING: Poll for the end (9 retries left).\n"
	)
	recap := func(host, unreachable, failed string) string {
		return "PLAY RECAP ****\n" + host + "   : ok=99   changed=48   unreachable=" + unreachable + "    failed=" + failed + "    skipped=1   rescued=1    ignored=0\n"
	}
	for name, tt := range map[string]struct {
		text string
		want Result
	}{
		"a task fails":                  {fatal, Unknown},
		"it was rescued":                {fatal + recap("m0", "0", "0"), Absent},
		"it failed":                     {fatal + recap("m0", "0", "1"), Unknown},
		"the host was lost":             {fatal + recap("m0", "1", "0"), Unknown},
		"the recap of another host":     {fatal + recap("m1", "0", "0"), Unknown},
		"it fails in the next run":      {recap("m0", "0", "0") + fatal, Unknown},
		"it was tried again":            {retry + recap("m0", "0", "0"), Absent},
		"so far":                        {retry, Unknown},
		"on another host":               {retry + recap("m1", "0", "0"), Unknown},
		"as older releases print it":    {old + recap("m0", "0", "0"), Absent},
		"a table row next to the recap": {"m1   NotReady   worker   5d   v1.30.4\n" + recap("m0", "0", "0"), Unknown},
	} {
		if r := readText(t, x, tt.text); r.Result != tt.want {
			t.Errorf("%s: %s, want %s: %+v", name, r.Result, tt.want, r)
		}
	}
}

// The grammar of an error says with which server it is, in wordings that no message has.
func TestGrammar(t *testing.T) {
	x := builtIn(t)
	for text, want := range map[string]string{
		`Error: cannot get it: Get "http://192.0.2.10:6180/images/ipa.kernel": dial tcp 192.0.2.10:6180: i/o timeout`:                                               "the image server of metal3 at 192.0.2.10:6180: no answer comes (timeout)",
		`Mar 01 11:30:40 b0 odd.sh[2]: /usr/local/bin/odd.sh: line 81: oc: command not found`:                                                                       "odd.sh: the command oc does not exist",
		`ERROR odd thing: HTTPSConnectionPool(host='192.0.2.7', port=443): Max retries exceeded with url: /redfish/v1/ (Caused by E: [Errno 113] No route to host)`: "the BMC at 192.0.2.7:443: no route leads there",
		`E0301 11:30:40.000001 9 a.go:1] sync "x" failed: open /etc/odd/file: permission denied`:                                                                    "no permission for /etc/odd/file",
		`read udp 198.51.100.7: i/o timeout`:                                                                  "a program does not reach a server that the line does not name: no answer comes (timeout)",
		`curl: Connection timed out after 10001 milliseconds`:                                                 "a program does not reach a server that the line does not name: no answer comes (timeout)",
		`tls: failed to verify certificate: x509: certificate is valid for 198.51.100.4, not ign.example.net`: "a program does not reach a server that the line does not name: the certificate is for other names",
	} {
		r := readText(t, x, text)
		if r.Result != Unknown || len(r.Symptoms) != 1 || r.Symptoms[0].Failure != want || r.Symptoms[0].Next == "" || len(r.Errors) > 0 {
			t.Errorf("%s:\n%+v", text, r)
		}
	}
	r := readText(t, x, `level=error msg="pull odd: Get \"https://registry.example.com:5000/v2/\": tls: failed to verify certificate: x509: certificate signed by unknown authority"`)
	if len(r.Matches) != 1 || r.Matches[0].Fault != "image-pull-tls" {
		t.Errorf("%+v", r)
	}
}
