package imagepull

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/pools"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const (
	daemonLog = "-- append:namespaces/openshift-machine-config-operator/pods/machine-config-daemon-fdw0k/machine-config-daemon/machine-config-daemon/logs/current.log --\n"
	retry     = "W0301 11:00:00.000001    2101 update.go:2546] Failed to update OS to quay.example.com/os@sha256:1 (will retry): error running rpm-ostree rebase: reading manifest sha256:1 in quay.example.com/os: manifest unknown\n"
	refused   = `failed to update OS to quay.example.com/os@sha256:1: error running rpm-ostree rebase: Get "https://quay.example.com/v2/": dial tcp 192.0.2.9:443: connect: connection refused`
	gone      = `-- delete:cluster-scoped-resources/core/nodes/w1.yaml --
-- delete:namespaces/openshift-machine-config-operator/pods/machine-config-daemon-edw1k --
-- console:w1 --
[   11.000001] ignition[751]: Ignition finished successfully
`
	failed = "[   60.000001] podman[1]: Error: initializing source docker://quay.example.com/mco@sha256:1: reading manifest sha256:1 in quay.example.com/mco: unauthorized: authentication required\n"
)

func node(state, reason string) string {
	return "-- patch:cluster-scoped-resources/core/nodes/w0.yaml --\nmetadata:\n  annotations:\n    machineconfiguration.openshift.io/state: " + state +
		"\n    machineconfiguration.openshift.io/reason: '" + reason + "'\n"
}

func TestPull(t *testing.T) {
	tests := []struct {
		name, host, changes string
		cause, registry     string
		firstBoot           bool
	}{
		{"healthy", "w0", "", "", "its registry", false},
		{"degraded", "w0", node("Degraded", refused), "refused", "quay.example.com", false},
		{"degraded for something else", "w0", node("Degraded", "error enabling units"), "", "its registry", false},
		{"over", "w0", node("Done", refused), "", "its registry", false},
		{"tries again", "w0", node("Working", "") + daemonLog + strings.Repeat(retry, 4), "not-found", "quay.example.com", false},
		{"tries again, not often", "w0", node("Working", "") + daemonLog + strings.Repeat(retry, 2), "", "its registry", false},
		{"went on", "w0", node("Working", "") + daemonLog + strings.Repeat(retry, 4) + "I0301 11:10:00.000001    2101 update.go:1] Update completed for config rendered-worker-x\n", "", "its registry", false},
		{"first boot", "w1", gone + strings.Repeat(failed, 4), "unauthorized", "quay.example.com", true},
		{"first boot, not often", "w1", gone + failed, "", "its registry", false},
		{"first boot went on", "w1", gone + strings.Repeat(failed, 4) + "[  OK  ] Finished Machine Config Daemon Pull.\n", "", "its registry", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := factstest.Fields[pull](t, factstest.World(t, factstest.Metal, tt.changes), fact, factstest.Host(tt.host))
			for _, f := range []struct{ name, want, got string }{
				{"cause", facts.Known(tt.cause).String(), p.Cause.String()}, {"registry", tt.registry, p.Registry.String()},
				{"firstBoot", facts.Known(tt.firstBoot).String(), p.FirstBoot.String()},
			} {
				if f.got != f.want {
					t.Errorf("%s is %q, want %q", f.name, f.got, f.want)
				}
			}
		})
	}
}

// TestPullUnread: a daemon that works and whose log was not read says nothing.
func TestPullUnread(t *testing.T) {
	for _, without := range []evidence.Need{evidence.Texts(pools.DaemonLogs), evidence.Objects(evidence.Nodes, "")} {
		w := factstest.World(t, factstest.Metal, node("Working", "")+daemonLog+retry, without)
		v := w.Compute(t.Context(), fact, factstest.Host("w0"))
		if v.Why("cause") == nil {
			t.Errorf("without %s the cause is known", without)
		}
	}
}

// TestLookup: how the name server failed, where its text proves it, and whether hosts have a CoreDNS.
func TestLookup(t *testing.T) {
	const (
		begin   = `failed to run command nice (6 tries): [timed out waiting for the condition, running nice -- ionice -c 3 podman pull -q quay.example.com/os@sha256:56bab0cd6a692bb7021640889ca69a11d6fc6df1af210c4e24d4feef81c6d7b0 failed: time="2026-03-01T10:13:54Z" level=warning msg="Failed, retrying in 1s ... (1/3). Error: initializing source docker://quay.example.com/os@sha256:56bab0cd6a692bb7021640889ca69a11d6fc6df1af210c4e24d4feef81c6d7b0: pinging container registry quay.example.com: Get "https://quay.example.com/v2/": dial tcp: `
		timeout = begin + `lookup quay.example.com on 192.0.2.53:53: read udp 192.0.2.6:40349->192.0.2.53:53: i/o timeout" and so on`
		none    = begin + `lookup quay.example.com on 192.0.2.53:53: no such host" and so on`
		inCloud = "spec:\n  providerID: azure:///subscriptions/1\n"
	)
	infra := evidence.Objects(evidence.Infrastructures, "")
	tests := []struct {
		name, changes  string
		without        []evidence.Need
		silent         bool
		lookup, ends   string
		premises, know bool
	}{
		{"no answer", node("Degraded", timeout), nil, true, "name server 192.0.2.53 does not answer (i/o timeout)", `i/o timeout…`, true, true},
		{"no record", node("Degraded", none), nil, false, "name server 192.0.2.53 has no such host", `no such host…`, true, true},
		{"platform not read", node("Degraded", none), []evidence.Need{infra}, false, "name server 192.0.2.53 has no such host", `no such host…`, false, false},
		{"in a cloud", node("Degraded", none) + inCloud, []evidence.Need{infra}, false, "name server 192.0.2.53 has no such host", `no such host…`, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := factstest.Fields[pull](t, factstest.World(t, factstest.Metal, tt.changes, tt.without...), fact, factstest.Host("w0"))
			if p.Lookup.Value() != tt.lookup || p.Silent.Value() != tt.silent || p.Server.Value() != "192.0.2.53" {
				t.Errorf("%s, silent %t at %s", p.Lookup, p.Silent.Value(), p.Server)
			}
			said := p.Cause.Proof()[0].Excerpt
			if !strings.HasPrefix(said, "failed to run command nice") || !strings.HasSuffix(said, tt.ends) || len([]rune(said)) > 300 {
				t.Errorf("%d characters are quoted: %s", len([]rune(said)), said)
			}
			if v, err := p.OnPremises.Get(); v != tt.premises || (err == nil) != tt.know {
				t.Errorf("on premises: %t, %v", v, err)
			}
		})
	}
}
