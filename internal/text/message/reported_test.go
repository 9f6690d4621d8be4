package message

import (
	"slices"
	"strings"
	"testing"
)

// What rpm-ostree, ostree and bootc say behind their last "error:" decides what failed and what can be behind it: no
// candidate is listed that another error would have named.
func TestReportedErrors(t *testing.T) {
	x := builtIn(t)
	const head = `E0301 10:00:00.000001    2041 writer.go:226] Marking Degraded due to: failed to update OS to quay.example.com/os@sha256:1a : `
	const rebase = head + `error running rpm-ostree rebase --experimental ostree-unverified-registry:quay.example.com/os@sha256:1a: `
	for name, tt := range map[string]struct {
		text       string
		says, own  string // the first failure, and the words of the program
		reason     bool
		candidates []string
		next       string
	}{
		"a repository that cannot be read": {rebase + "error: Updating rpm-md repo 'site': cannot download repodata/repomd.xml: Curl error (37)\n: exit status 1\n",
			"rpm-ostree cannot use a package repository", "Updating rpm-md repo 'site'", true, nil, "/etc/yum.repos.d"},
		"in quotes with written line ends": {strings.Replace(rebase, "to: ", `to: "`, 1) + `error: No enabled repositories\n: exit status 1"` + "\n",
			"rpm-ostree cannot use a package repository", "No enabled repositories", true, nil, "LayeredPackages"},
		"the error is on the next line, as newer daemons print it": {rebase + "exit status 1\nerror: Old and new refs are equal: ostree-unverified-registry:quay.example.com/os@sha256:1a\n",
			"rpm-ostree does not change to an OS image", "Old and new refs are equal", true, nil, "rpm-ostree status"},
		"another transaction": {rebase + "error: Transaction in progress: upgrade\n You can cancel the current transaction with `rpm-ostree cancel`\n: exit status 1\n",
			"rpm-ostree does not begin", "Transaction in progress", true, nil, "who began it"},
		"a script of a package": {rebase + "error: Running %post for foo-driver: bwrap(/bin/sh): Child process exited with code 1\n: exit status 1\n",
			"rpm-ostree cannot lay packages", "Running %post for foo-driver", false, nil, "LocalPackages"},
		"a deployment": {rebase + "error: Finalizing deployment: During /etc merge: Modified config file newly defaults to directory\n: exit status 1\n",
			"rpm-ostree cannot make or change a deployment", "Finalizing deployment", false, nil, "ostree-finalize-staged"},
		"a name that does not resolve": {rebase + "error: remote error: pinging container registry quay.example.com: Get \"https://quay.example.com/v2/\": dial tcp: lookup quay.example.com on 10.0.0.2:53: no such host\n: exit status 1\n",
			"rpm-ostree cannot read the OS image", "pinging container registry", false, []string{"image-pull-name-unresolved"}, "resolv.conf"},
		"nobody knows it": {rebase + "error: The frobnicator is askew\n: exit status 1\n",
			"rpm-ostree failed", "The frobnicator is askew", false, nil, "journalctl -u rpm-ostreed"},
		"no error is in the text": {rebase + "exit status 1\n", "rpm-ostree failed", "", false, nil, "journalctl -u rpm-ostreed"},
		"by hand": {"E0301 10:00:00.000001 2041 writer.go:1] Marking Degraded due to: failed to execute rpm-ostree [\"update\" \"--install\" \"a\"] : exit status 1\n" +
			"# rpm-ostree update --install a\nImporting packages... done\nerror: Checkout b-2.1-3.el9.x86_64: Hardlinking 1a/2b.file to b.conf: File exists\n",
			"rpm-ostree cannot lay a package", "Checkout b-2.1-3.el9.x86_64", true, nil, "rpm -qf"},
		"the journal of its service": {"Mar 01 10:00:00 w1 rpm-ostree[99]: Txn Deploy on /org/projectatomic/rpmostree1/rhcos failed: No enabled repositories\n",
			"rpm-ostree cannot use a package repository", "No enabled repositories", true, nil, "/etc/yum.repos.d"},
		"bootc": {head + "error running bootc switch quay.example.com/os@sha256:1a: error: Switching: Pulling: Creating importer: Fetching manifest: unauthorized: authentication required\n: exit status 1\n",
			"rpm-ostree cannot read the OS image", "Switching: Pulling", false, []string{"image-pull-unauthorized"}, "skopeo inspect"},
		"a repository that is not there": {head + "error running ostree refs --repo /run/mco-machine-os-content/os-content-7/srv/repo: error: opening repo: opendir(/run/mco-machine-os-content/os-content-7/srv/repo): No such file or directory\n: exit status 1\n",
			"the OS image that the machine-config-daemon unpacked", "opening repo", true, nil, "df -h /run"},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			i := slices.IndexFunc(r.Symptoms, func(m Match) bool { return strings.HasPrefix(m.Failure, tt.says) })
			if i < 0 && len(r.Matches) == 1 && slices.Contains(tt.candidates, r.Matches[0].Fault) {
				return // another message shows that cause
			}
			if i < 0 {
				t.Fatalf("not found: %+v", r.Symptoms)
			}
			m := r.Symptoms[i]
			if !strings.HasPrefix(m.Own, tt.own) || m.Reason != tt.reason || !slices.Equal(m.Candidates, tt.candidates) || !strings.Contains(m.Next, tt.next) {
				t.Errorf("own %q, reason %v, candidates %v, next %q", m.Own, m.Reason, m.Candidates, m.Next)
			}
			if len(r.Errors) > 0 {
				t.Errorf("errors that nobody knows: %+v", r.Errors)
			}
			for _, other := range r.Symptoms {
				if m.Own != "" && other.Fault == "" && len(other.Candidates) > 0 && other.Failure != m.Failure {
					t.Errorf("%q has causes that the error rules out: %v", other.Failure, other.Candidates)
				}
			}
		})
	}
}

// A line that has what several nodes report names each node with its own reason, and nothing that the reasons rule out.
func TestReportsOfNodes(t *testing.T) {
	x := builtIn(t)
	const line = `    Message: pool infra is degraded because nodes fail with "3 nodes are reporting degraded status on sync": "Node i1.example.com is reporting: ` +
		`\"failed to execute rpm-ostree [\\\"update\\\" \\\"--install\\\" \\\"usbguard\\\"] : error: No enabled repositories\\n: exit status 1\", ` +
		`Node i2.example.com is reporting: \"unexpected on-disk state validating against rendered-infra-1a: content mismatch for file \\\"/etc/hosts\\\"\", ` +
		`Node i3.example.com is reporting: \"failed to execute rpm-ostree [\\\"update\\\"] : error: No enabled repositories\\n: exit status 1\"", retrying` + "\n"
	r := readText(t, x, line)
	all := map[string]Match{}
	for _, m := range append(slices.Clone(r.Matches), r.Symptoms...) {
		all[m.Fault+m.Failure] = m
		if slices.Contains(m.Candidates, "drain-blocked") || slices.Contains(m.Candidates, "bootstrap-mc-mismatch") {
			t.Errorf("%s: %v", m.Fault+m.Failure, m.Candidates)
		}
	}
	const repositories = "node i1.example.com and 1 more: rpm-ostree cannot use a package repository, and the packages that are laid on top of the OS image need one"
	if m, ok := all[repositories]; !ok || m.Own != "No enabled repositories" {
		t.Errorf("the nodes without a repository: %+v", r.Symptoms)
	}
	if m := all["config-drift"]; m.Names["host"] != "i2.example.com" || m.Others != 0 {
		t.Errorf("the node with another file: %+v", m)
	}
	for _, tt := range []struct{ line, node, text string }{
		{`Node a is reporting: "x \"y\" z", Node b.c is reporting: "v"`, "a", `Node a is reporting: "x \"y\" z"`},
		{`\"Node a is reporting: \\\"x\\\"\"`, "a", `Node a is reporting: \\\"x\\\"`},
		{`Node a is reporting: 'cut off`, "a", `Node a is reporting: 'cut off`},
	} {
		if got := nodeReports([]byte(tt.line)); len(got) == 0 || got[0].node != tt.node || string(got[0].text) != tt.text {
			t.Errorf("%s: %q", tt.line, got)
		}
	}
	if got := nodeReports([]byte("the node a is reporting: well")); got != nil {
		t.Errorf("no report: %v", got)
	}
}

// The object of a sentence is the one that fails: in the row of an operator the pool that its message names, in an event the
// host that it is about, and the kind of the row never stands for another kind.
func TestObjectsThatFail(t *testing.T) {
	x := builtIn(t)
	const co = "NAME             VERSION   AVAILABLE   PROGRESSING   DEGRADED   SINCE   MESSAGE\n"
	row := func(message string) string {
		return "$ oc get co\n" + co + "machine-config   4.19.1    True        False         True       20d     " + message + "\n"
	}
	for name, tt := range map[string]struct {
		text, has string
		not       []string
	}{
		"a pool, as newer releases write it": {row("Failed to resync 4.19.1 because: error during syncRequiredMachineConfigPools: [context deadline exceeded, error MachineConfigPool infra is not ready, retrying. Status: (pool degraded: true total: 2, ready 0, updated: 0, unavailable: 2)]"),
			"oc describe mcp infra", []string{"mcp machine-config", "MachineConfigPool machine-config"}},
		"a pool, as older ones do": {row("Failed to resync 4.9.1 because: error during syncRequiredMachineConfigPools: [timed out waiting for the condition, error pool edge is not ready, retrying. Status: (pool degraded: true total: 1, ready 0, updated: 0, unavailable: 0)]"),
			"pool edge is not ready", []string{"mcp machine-config", "MachineConfigPool machine-config"}},
		"no pool is named": {row("Failed to resync 4.19.1 because: error during syncRequiredMachineConfigPools: context deadline exceeded"),
			"a MachineConfigPool", []string{"mcp machine-config", "MachineConfigPool machine-config"}},
		"an event": {"2024-10-16T13:36:44.250Z Host node-b: updated status from \"installing-in-progress\" to \"installing-pending-user-action\" (Expected the host to boot from disk, but it booted the installation image - please reboot and fix boot order to boot from disk /dev/sda)\n",
			"node-b", []string{"host Host", "Host\""}},
		"openshift-install": {"level=warning msg=Host node-c Expected the host to boot from disk, but it booted the installation image - please reboot and fix boot order to boot from disk sda\n",
			"node-c", nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := readText(t, x, tt.text)
			said := ""
			for _, m := range append(slices.Clone(r.Matches), r.Symptoms...) {
				said += m.Failure + "\n" + m.Next + "\n" + m.Names["host"] + "\n"
			}
			if !strings.Contains(said, tt.has) {
				t.Errorf("%q is missing in %s", tt.has, said)
			}
			for _, not := range tt.not {
				if strings.Contains(said, not) {
					t.Errorf("%q is in %s", not, said)
				}
			}
		})
	}
}
