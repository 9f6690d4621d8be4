package installer

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/fixture"
)

const run = `time="2026-03-01T07:00:00Z" level=debug msg="OpenShift Installer v4.12.3"` + "\n"

func at(clock, level, text string) string {
	return `time="2026-03-01T` + clock + `Z" level=` + level + ` msg="` + text + "\"\n"
}

func readLogs(t *testing.T, files map[string]string) (Install, error) {
	t.Helper()
	tree := fstest.MapFS{"timestamp": {Data: []byte("2026-03-02 00:00:00 +0000 UTC\n")}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := fixture.Reader(tree, Signatures())
	if err != nil {
		t.Fatal(err)
	}
	w := facts.NewWorld(r, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
	in, _, err := read(t.Context(), w, fault.Subject{Kind: fault.Cluster})
	return in, err
}

func TestRuns(t *testing.T) {
	wait := at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.a.example.com:6443...")
	boot := at("07:20:00", "info", "Waiting up to 30m0s for bootstrapping to complete...")
	for name, c := range map[string]struct {
		log  string
		want Install
	}{
		"of 4.3, the API never came": {run + wait +
			at("07:29:00", "debug", "Still waiting for the Kubernetes API: the server could not find the requested resource") +
			at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded"),
			Install{Ended: "failed", Step: "api", WaitsFor: "the Kubernetes API", API: "api.a.example.com:6443", Version: "v4.12.3",
				Reason: "the server could not find the requested resource", Error: "waiting for Kubernetes API: context deadline exceeded"}},
		"a second run succeeds": {run + wait + at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded") +
			run + boot + at("07:40:00", "info", "It is now safe to remove the bootstrap resources"),
			Install{Ended: "complete", Step: "bootstrapped", WaitsFor: "nothing", Version: "v4.12.3"}},
		"gathering afterwards does not count": {run + boot + at("07:50:00", "error", "Bootstrap failed to complete: timed out waiting for the condition") +
			run + at("07:55:00", "fatal", "failed to gather VM console and bootstrap logs"),
			Install{Ended: "failed", Step: "bootstrap", WaitsFor: "bootstrapping to complete", Version: "v4.12.3",
				Error: "Bootstrap failed to complete: timed out waiting for the condition"}},
		"of an agent install": {run + at("07:50:00", "info", "cluster bootstrap is complete") + at("08:50:00", "info", "Cluster is installed"),
			Install{Ended: "complete", Step: "bootstrapped", WaitsFor: "nothing", Version: "v4.12.3"}},
		"an agent install timed out": {run + at("07:01:00", "info", "Waiting for cluster install to initialize. Sleeping for 30 seconds") + boot +
			at("08:50:00", "error", "Bootstrap failed to complete: : bootstrap process timed out: context deadline exceeded"),
			Install{Ended: "failed", Step: "bootstrap", WaitsFor: "bootstrapping to complete", Version: "v4.12.3",
				Error: "Bootstrap failed to complete: : bootstrap process timed out: context deadline exceeded"}},
		"operators": {run + at("08:00:00", "info", "Waiting up to 40m0s (until 8:40AM CET) for the cluster at https://api.a.example.com:6443 to initialize...") +
			at("08:40:00", "error", "Cluster operator ingress Available is False with IngressUnavailable: x") +
			at("08:40:00", "info", "Cluster operator insights Disabled is False with AsExpected: ") +
			at("08:40:00", "error", "Cluster operator ingress Degraded is True with IngressDegraded: x") +
			at("08:40:00", "fatal", "failed to initialize the cluster: Cluster operator ingress is not available"),
			Install{Ended: "failed", Step: "initialize", WaitsFor: "the cluster to initialize", API: "api.a.example.com:6443", Version: "v4.12.3",
				Operators: []string{"ingress"}, Error: "failed to initialize the cluster: Cluster operator ingress is not available"}},
		"killed": {run + wait, Install{Ended: "running", Step: "api", WaitsFor: "the Kubernetes API", API: "api.a.example.com:6443", Version: "v4.12.3"}},
		"interrupted": {run + at("07:01:00", "fatal", `failed to fetch Install Config: failed UserInput: interrupt`),
			Install{Ended: "failed", Step: "assets", WaitsFor: "its assets", Version: "v4.12.3", Interrupted: true,
				Error: "failed to fetch Install Config: failed UserInput: interrupt"}},
		"an asset, at level error": {run + at("07:01:00", "error", `failed to fetch Master Machines: failed to load asset \"Install Config\": platform: Required value`),
			Install{Ended: "failed", Step: "assets", WaitsFor: "its assets", Version: "v4.12.3",
				Error: `failed to fetch Master Machines: failed to load asset "Install Config": platform: Required value`}},
	} {
		got, err := readLogs(t, map[string]string{"dir/.openshift_install.log": c.log})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Install{}, "Since")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestWhatIsNoInstallation(t *testing.T) {
	if _, err := readLogs(t, map[string]string{".openshift_install.log": run + at("07:01:00", "info", "Ignition-Configs created in: . and auth")}); !errors.Is(err, facts.ErrNotApplicable) {
		t.Errorf("a run that only made files: %v", err)
	}
	two := map[string]string{
		"a/.openshift_install.log": run + at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.a.example.com:6443..."),
		"b/.openshift_install.log": run + at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.b.example.com:6443..."),
	}
	_, err := readLogs(t, two)
	if u, ok := evidence.AsUnavailable(err); !ok || !strings.Contains(u.Detail, "several clusters: api.a.example.com:6443, api.b.example.com:6443") || u.Supply == "" {
		t.Errorf("the logs of two clusters: %v", err)
	}
	if _, err := readLogs(t, map[string]string{"cluster-scoped-resources/core/nodes/n.yaml": "metadata: {name: n}"}); !unavailable(err) {
		t.Errorf("without a log: %v", err)
	}
}

func unavailable(err error) bool {
	_, ok := evidence.AsUnavailable(err)
	return ok
}
