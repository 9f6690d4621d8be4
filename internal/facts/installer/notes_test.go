package installer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/installer"
)

// TestNotes: the log's own reason is quoted, also that of earlier runs.
func TestNotes(t *testing.T) {
	const api = "https://api.a.example.com:6443"
	wait := at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at "+api+"...")
	still := func(clock, answer string) string {
		return at(clock, "debug", "Still waiting for the Kubernetes API: "+answer)
	}
	notFound := still("07:29:00", "the server could not find the requested resource")
	eof := still("07:12:00", `Get \"`+api+`/version\": EOF`)
	gaveUp := at("07:30:00", "error", "Attempted to gather ClusterOperator status after wait failure: x") + at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded")
	made := at("07:01:00", "info", "Ignition-Configs created in: . and auth")
	ssh := at("07:01:10", "info", "Failed to gather bootstrap logs: failed to create SSH client: failed to use pre-existing agent, make sure the appropriate keys exist in the agent "+
		"for authentication: ssh: handshake failed: ssh: unable to authenticate, attempted methods [none publickey], no supported methods remain")
	pulls := at("07:01:00", "info", "Skipping VM console logs gather: open metadata.json: no such file or directory") + at("07:01:00", "info", "Pulling debug logs from the bootstrap machine")
	lost := at("07:01:11", "fatal", "failed to gather VM console and bootstrap logs")
	expired := at("07:00:30", "warning", "Bootstrap Ignition-Config: 13 certificates expired. Installation attempts with the created Ignition-Configs will possibly fail.")
	for name, c := range map[string]struct {
		log           string
		blocked, form string
		stale         bool
		notes         []string // parts, in order
	}{
		"the keys are refused, in another directory": {log: run + pulls + ssh + lost + run + pulls + ssh + lost, blocked: "ssh-key",
			notes: []string{"accepts none of the SSH keys of the machine with openshift-install (2 runs failed)", "has no metadata.json"}},
		"no route to the bootstrap host": {log: run + at("07:01:00", "info", "Pulling debug logs from the bootstrap machine") +
			at("07:01:10", "fatal", "failed to create SSH client: dial tcp 192.0.2.9:22: connect: no route to host"), notes: []string{"this is why the last run got no logs"}},
		"404 over two waits": {log: run + wait + eof + notFound + gaveUp + run + wait + notFound, blocked: "api",
			notes: []string{"2 runs waited for the API at api.a.example.com:6443, and none saw it ready; 1 reached their time limit",
				"the last answer was 404, logged 2 times: a server answers there and accepts TLS", "EOF, logged once: something takes the connection"}},
		"a first wait that is minutes old":  {log: run + wait + eof},
		"a wait after one that saw the API": {log: run + wait + eof + gaveUp + run + wait + at("07:31:00", "info", "API v1.27.6 up") + run + wait + eof},
		"a wait after a whole installation": {log: run + wait + eof + gaveUp + run + at("07:31:00", "info", "Install complete!") + run + wait + eof},
		"interrupted at a question":         {log: run + at("07:01:00", "fatal", `failed to fetch Metadata: failed to generate asset \"Base Domain\": failed UserInput: interrupt`), blocked: "prompt", notes: []string{"asks for Base Domain only where its directory has no install-config.yaml"}},
		"its question met no terminal": {log: run + at("07:01:00", "fatal", `failed to fetch Metadata: failed to generate asset \"SSH Key\": failed UserInput for SSH public key: EOF`),
			blocked: "prompt", notes: []string{"asks for SSH Key only where its directory has no install-config.yaml"}},
		"only install-config.yaml":             {log: run + at("07:01:00", "info", "Install-Config created in: a"), form: "install-config"},
		"manifests":                            {log: run + at("07:01:00", "info", "Install-Config created in: a") + at("07:02:00", "info", "Manifests created in: a/manifests and a/openshift"), form: "manifests"},
		"an image with the agent":              {log: run + at("07:01:00", "debug", "Generating Agent Installer ISO..."), form: "agent"},
		"files of a single node":               {log: run + at("07:01:00", "info", "Single-Node-Ignition-Config created in: . and auth"), form: "single-node", notes: []string{"one node, which installs itself (bootstrap in place): boot it before 2026-03-02T07:01:00Z"}},
		"files":                                {log: run + made, form: "user-provisioned", notes: []string{"boot the hosts before 2026-03-02T07:01:00Z"}},
		"bootstrapped, of hosts of the user":   {log: run + made + run + wait + at("07:40:00", "info", "It is now safe to remove the bootstrap resources"), form: "user-provisioned"},
		"bootstrapped, of the installer's":     {log: run + made + at("07:05:00", "info", "Creating infrastructure resources...") + at("07:40:00", "info", "It is now safe to remove the bootstrap resources")},
		"expired files, then no kubeconfig":    {log: run + expired + made + run + wait + eof + at("07:15:00", "warning", "Received interrupt signal") + run + strings.Replace(at("07:01:00", "fatal", "loading kubeconfig: stat auth/kubeconfig: no such file or directory"), "03-01", "03-05", 1), form: "user-provisioned", stale: true, notes: []string{"13 certificates of the Ignition config", "1 run waited for the API at", "the last answer was EOF", "no run saw the API since"}},
		"expired files of a cluster that runs": {log: run + expired + made + run + wait + at("07:40:00", "info", "It is now safe to remove the bootstrap resources"), form: "user-provisioned"},
	} {
		said, err := installer.Say(t.Context(), world(t, map[string]string{".openshift_install.log": c.log}))
		if err != nil || said == nil {
			t.Errorf("%s: %v, %v", name, said, err)
			continue
		}
		if said.Blocked != c.blocked || said.Form != c.form || said.Stale != c.stale {
			t.Errorf("%s: blocked %q, form %q, stale %v", name, said.Blocked, said.Form, said.Stale)
		}
		var got []string
		for _, n := range said.Notes {
			got = append(got, n.Says)
			if n.Line == "" || !strings.Contains(n.Locator, ".openshift_install.log:") {
				t.Errorf("%s: a note without its line: %+v", name, n)
			}
		}
		if !slices.EqualFunc(got, c.notes, strings.Contains) {
			t.Errorf("%s: %q, want %q", name, got, c.notes)
		}
	}
}
