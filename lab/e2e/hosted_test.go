package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostedRows are the troubles of a hosted cluster. Its workers have no Machines:
// before a host is a Node, only its screen tells of it. No machine-config-daemon
// runs on them, so that the last step is none of theirs.
var hostedRows = []scenario{
	{name: "hosted", hosted: true, verdict: "healthy", hosts: []string{joinedGuest}},
	// All noise, and one thing to do: nobody makes the first worker.
	{
		name: "hosted-first-worker", hosted: true, verdict: "recoverable-in-place", roots: []string{"hosted-workers-to-create cluster/"},
		hosts: []string{"(1 of 1 of NodePool guest, not named by any object):planned:waiting"},
		plain: &answer{verdict: "undetermined", because: "that there is no Node yet leaves no file"},
	},
	{
		name: "hosted-stale-token+hosted-name-not-in-certificate", hosted: true, consoles: []string{"guest1", "guest3"},
		roots: []string{"user-data-copy-outdated host/guest1", "ignition-tls-name host/guest3"},
		hosts: []string{joinedGuest, "guest1:ignition-fetched:failed", "guest3:ignition-fetched:failed"},
		plain: &answer{
			roots: []string{"ignition-tls-name host/guest3"}, because: noSecrets,
			hosts: []string{agedGuest, "guest1:ignition-fetched:failed", "guest3:ignition-fetched:failed"},
		},
	},
	{
		name: "hosted-user-data-outdated", hosted: true, consoles: []string{"guest2"},
		roots: []string{"user-data-outdated nodepool/guest"},
		hosts: []string{joinedGuest, "guest2:ignition-fetched:failed"},
		plain: &answer{
			because: noSecrets,
			hosts:   []string{agedGuest, "guest2:ignition-fetched:failed"},
		},
	},
	{
		name: "hosted-payload-failing", hosted: true, consoles: []string{"guest4"},
		roots: []string{"ignition-payload-failed nodepool/guest"},
		hosts: []string{joinedGuest, "guest4:ignition-fetched:failed"},
	},
	{
		name: "hosted-release-missing", hosted: true, onlyIf: full,
		roots: []string{"nodepool-release-invalid nodepool/guest"}, hosts: []string{joinedGuest},
	},
	{
		name: "hosted-cold-cache", hosted: true, consoles: []string{"guest10"}, onlyIf: full, verdict: "settling",
		hosts: []string{joinedGuest, "guest10:ignition-fetched:waiting"},
		plain: &answer{hosts: []string{joinedGuest, "guest10:ignition-fetched:failed"}, because: noSecrets},
	},
	{
		name: "hosted-payload-building", hosted: true, consoles: []string{"guest11"}, onlyIf: full, verdict: "settling",
		hosts: []string{joinedGuest, "guest11:ignition-fetched:waiting"},
	},
	{
		name: "hosted-config-replaced", hosted: true, consoles: []string{"guest12"}, onlyIf: full,
		roots: []string{"user-data-copy-outdated host/guest12"},
		hosts: []string{joinedGuest, "guest12:ignition-fetched:failed"},
		plain: &answer{
			because: noSecrets,
			hosts:   []string{agedGuest, "guest12:ignition-fetched:failed"},
		},
	},
	{
		name: "hosted-pod-security", hosted: true,
		roots: []string{"hosted-pod-security-refused cluster/"}, hosts: []string{"guest0:network-ready:waiting"},
	},
}

const (
	joinedGuest = "guest0:config-done:not-applicable"
	// The first worker where half a day has passed: its requests are forgotten.
	agedGuest = "guest0:serving-cert:unknown"
	noSecrets = "a dump holds no Secrets to compare tokens with, and an empty list of requests leaves no file"
)

// hostedFlags name the hosted cluster, and let its control plane's Secrets be read.
func (s scenario) hostedFlags() []string {
	if !s.hosted {
		return nil
	}
	return []string{"--hosted", "clusters/guest", "--read-secrets", "clusters-guest"}
}

// plainDump writes what of a collection a dump of HyperShift holds: the tree of the
// management cluster with that of the hosted one in it, both in the layout of a
// must-gather, and no Secrets (openshift/hypershift:cmd/cluster/core/dump.go
// DumpCluster).
func plainDump(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if rel == "management" {
			return nil
		}
		if e.IsDir() && slices.Contains([]string{"reads", "consoles", "rollcall.dev", "secrets"}, e.Name()) {
			return filepath.SkipDir
		}
		target, management := strings.CutPrefix(rel, "management"+string(filepath.Separator))
		if !management {
			target = filepath.Join("hostedcluster-guest", rel)
		}
		target = filepath.Join(to, target)
		if e.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if rel == "rollcall.yaml" || rel == "rollcall.sha256" {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
}

// dumped asks a dump of the hosted cluster.
func (s scenario) dumped(t *testing.T, w *world, bundle string, screens []string) result {
	t.Helper()
	dump := filepath.Join(t.TempDir(), "dump")
	if err := plainDump(bundle, dump); err != nil {
		t.Fatal(err)
	}
	return w.rollcall(slices.Concat([]string{"diagnose", "--from", dump, "--hosted", "clusters/guest", "-o", "json"}, screens)...)
}
