package installer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rollcall-project/rollcall/internal/facts/installer"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const run = `time="2026-03-01T07:00:00Z" level=debug msg="OpenShift Installer v4.12.3"` + "\n"

func at(clock, level, text string) string {
	return `time="2026-03-01T` + clock + `Z" level=` + level + ` msg="` + text + "\"\n"
}

func world(t *testing.T, files map[string]string) *facts.World {
	t.Helper()
	tree := fstest.MapFS{"timestamp": {Data: []byte("2026-03-02 00:00:00 +0000 UTC\n")}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	r, err := fixture.Reader(tree)
	if err != nil {
		t.Fatal(err)
	}
	return facts.NewWorld(r, time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC))
}

func readLogs(t *testing.T, files map[string]string) (installer.Install, error) {
	t.Helper()
	in, err := compute[installer.Install](t, world(t, files), "install-log")
	return in, err
}

func compute[T any](t *testing.T, w *facts.World, name string) (T, error) {
	t.Helper()
	list := installer.Facts()
	i := slices.IndexFunc(list, func(f facts.Fact) bool { return f.Name == name })
	v := w.Compute(t.Context(), list[i], fault.Subject{Kind: fault.Cluster})
	got, _ := facts.As[T](v)
	return got, v.Err
}

func TestRuns(t *testing.T) {
	wait := at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.a.example.com:6443...")
	boot := at("07:20:00", "info", "Waiting up to 30m0s for bootstrapping to complete...")
	for name, c := range map[string]struct {
		log  string
		want installer.Install
	}{
		"of 4.3, the API never came": {run + wait +
			at("07:29:00", "debug", "Still waiting for the Kubernetes API: the server could not find the requested resource") +
			at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("api"), WaitsFor: facts.Known("the Kubernetes API"), API: facts.Known("api.a.example.com:6443"), Version: facts.Known("v4.12.3"),
				Reason: facts.Known("the server could not find the requested resource"), Error: facts.Known("waiting for Kubernetes API: context deadline exceeded")}},
		"a second run succeeds": {run + wait + at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded") +
			run + boot + at("07:40:00", "info", "It is now safe to remove the bootstrap resources"),
			installer.Install{Ended: facts.Known("complete"), Step: facts.Known("bootstrapped"), WaitsFor: facts.Known("nothing"), Version: facts.Known("v4.12.3")}},
		"gathering afterwards does not count": {run + boot + at("07:50:00", "error", "Bootstrap failed to complete: timed out waiting for the condition") +
			run + at("07:55:00", "fatal", "failed to gather VM console and bootstrap logs"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("bootstrap"), WaitsFor: facts.Known("bootstrapping to complete"), Version: facts.Known("v4.12.3"),
				Error: facts.Known("Bootstrap failed to complete: timed out waiting for the condition")}},
		"gathering without SSH": {run + boot + at("07:50:00", "error", "Attempted to gather debug logs after installation failure: failed to create SSH client: ssh: handshake failed") +
			at("07:50:01", "fatal", "Bootstrap failed to complete"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("bootstrap"), WaitsFor: facts.Known("bootstrapping to complete"), Version: facts.Known("v4.12.3"),
				GatherError: facts.Known("Attempted to gather debug logs after installation failure: failed to create SSH client: ssh: handshake failed"),
				Error:       facts.Known("Bootstrap failed to complete")}},
		"of an agent install": {run + at("07:50:00", "info", "cluster bootstrap is complete") + at("08:50:00", "info", "Cluster is installed"),
			installer.Install{Ended: facts.Known("complete"), Step: facts.Known("complete"), WaitsFor: facts.Known("nothing"), Version: facts.Known("v4.12.3")}},
		"an agent install timed out": {run + at("07:01:00", "info", "Waiting for cluster install to initialize. Sleeping for 30 seconds") + boot +
			at("08:50:00", "error", "Bootstrap failed to complete: : bootstrap process timed out: context deadline exceeded"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("bootstrap"), WaitsFor: facts.Known("bootstrapping to complete"), Version: facts.Known("v4.12.3"),
				Error: facts.Known("Bootstrap failed to complete: : bootstrap process timed out: context deadline exceeded")}},
		"operators": {run + at("08:00:00", "info", "Waiting up to 40m0s (until 8:40AM CET) for the cluster at https://api.a.example.com:6443 to initialize...") +
			at("08:40:00", "error", "Cluster operator ingress Available is False with IngressUnavailable: x") +
			at("08:40:00", "info", "Cluster operator insights Disabled is False with AsExpected: ") +
			at("08:40:00", "error", "Cluster operator ingress Degraded is True with IngressDegraded: x") +
			at("08:40:00", "fatal", "failed to initialize the cluster: Cluster operator ingress is not available"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("initialize"), WaitsFor: facts.Known("the cluster to initialize"), API: facts.Known("api.a.example.com:6443"), Version: facts.Known("v4.12.3"),
				Operators: facts.Known([]string{"ingress"}), Error: facts.Known("failed to initialize the cluster: Cluster operator ingress is not available")}},
		"a later run counts, whatever stood before": {run + wait + at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded") +
			run + boot + at("07:50:00", "debug", "Still waiting for bootstrapping"),
			installer.Install{Ended: facts.Known("running"), Step: facts.Known("bootstrap"), WaitsFor: facts.Known("bootstrapping to complete"), Version: facts.Known("v4.12.3")}},
		"without a kubeconfig": {run + at("07:01:00", "fatal", "loading kubeconfig: stat auth/kubeconfig: no such file or directory"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("assets"), WaitsFor: facts.Known("its assets"), Version: facts.Known("v4.12.3"),
				Error: facts.Known("loading kubeconfig: stat auth/kubeconfig: no such file or directory"), Cause: facts.Known("no-kubeconfig"),
				CauseText: facts.Known("loading kubeconfig: stat auth/kubeconfig: no such file or directory")}},
		"a name does not resolve": {run + wait +
			at("07:29:00", "debug", "Still waiting for the Kubernetes API: Get https://api.a.example.com:6443/version: dial tcp: lookup api.a.example.com on 192.0.2.53:53: no such host") +
			at("07:30:00", "fatal", "waiting for Kubernetes API: context deadline exceeded"),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("api"), WaitsFor: facts.Known("the Kubernetes API"), API: facts.Known("api.a.example.com:6443"), Version: facts.Known("v4.12.3"),
				Reason: facts.Known("Get https://api.a.example.com:6443/version: dial tcp: lookup api.a.example.com on 192.0.2.53:53: no such host"),
				Error:  facts.Known("waiting for Kubernetes API: context deadline exceeded"), Cause: facts.Known("name-not-resolved"),
				CauseText: facts.Known("Still waiting for the Kubernetes API: Get https://api.a.example.com:6443/version: dial tcp: lookup api.a.example.com on 192.0.2.53:53: no such host")}},
		"killed when the API was up": {run + wait + `time="2026-03-01T07:20:00Z" level=info msg="API v1.33.5 up"` + "\n",
			installer.Install{Ended: facts.Known("running"), Step: facts.Known("bootstrap"), WaitsFor: facts.Known("bootstrapping to complete"), API: facts.Known("api.a.example.com:6443"), Version: facts.Known("v4.12.3")}},
		"killed": {run + wait, installer.Install{Ended: facts.Known("running"), Step: facts.Known("api"), WaitsFor: facts.Known("the Kubernetes API"), API: facts.Known("api.a.example.com:6443"), Version: facts.Known("v4.12.3")}},
		"interrupted": {run + at("07:01:00", "fatal", `failed to fetch Install Config: failed UserInput: interrupt`),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("assets"), WaitsFor: facts.Known("its assets"), Version: facts.Known("v4.12.3"), Interrupted: facts.Known(true),
				Error: facts.Known("failed to fetch Install Config: failed UserInput: interrupt")}},
		"the infrastructure, in a log without its beginning": {at("07:01:00", "error", "Error: no such image") +
			at("07:02:00", "fatal", `failed to fetch Cluster: failed to generate asset \"Cluster\": failed to create cluster: failed to apply Terraform`),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("infrastructure"), WaitsFor: facts.Known("the infrastructure"),
				Error: facts.Known(`failed to fetch Cluster: failed to generate asset "Cluster": failed to create cluster: failed to apply Terraform`)}},
		"the infrastructure, before 4.1": {at("07:00:00", "info", "Using Terraform to create cluster...") + at("07:01:00", "error", `Error: Error applying plan:\n\n1 error(s) occurred: no memory`),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("infrastructure"), WaitsFor: facts.Known("the infrastructure"),
				Error: facts.Known("Error: Error applying plan:\n\n1 error(s) occurred: no memory")}},
		"an asset, at level error": {run + at("07:01:00", "error", `failed to fetch Master Machines: failed to load asset \"Install Config\": platform: Required value`),
			installer.Install{Ended: facts.Known("failed"), Step: facts.Known("assets"), WaitsFor: facts.Known("its assets"), Version: facts.Known("v4.12.3"),
				Error: facts.Known(`failed to fetch Master Machines: failed to load asset "Install Config": platform: Required value`)}},
	} {
		got, err := readLogs(t, map[string]string{"dir/.openshift_install.log": c.log})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		facts.Complete(&c.want)
		if diff := cmp.Diff(c.want, got, cmpopts.IgnoreFields(installer.Install{}, "Since")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSay: while the cluster cannot be asked, the log has to say how far it came.
func TestSay(t *testing.T) {
	boot := at("07:20:00", "info", "Waiting up to 30m0s for bootstrapping to complete...")
	for name, c := range map[string]struct{ log, want string }{
		"done": {run + at("08:00:00", "info", "Waiting up to 10m0s for the openshift-console route to be created...") + at("08:01:00", "info", "Install complete!"),
			"openshift-install v4.12.3 completed at 2026-03-01T08:01:00Z"},
		"done, of an agent install": {run + at("07:50:00", "info", "cluster bootstrap is complete") + at("08:50:00", "info", "Cluster is installed"),
			"openshift-install v4.12.3 completed at 2026-03-01T08:50:00Z"},
		"bootstrapped": {run + boot + at("07:40:00", "info", "It is now safe to remove the bootstrap resources"),
			"openshift-install v4.12.3 saw the bootstrap complete at 2026-03-01T07:40:00Z"},
		"killed": {run + boot, "the log of openshift-install v4.12.3 ends at 2026-03-01T07:20:00Z, where it waited for bootstrapping to complete"},
		"interrupted": {run + at("07:01:00", "fatal", `failed to fetch Install Config: failed UserInput: interrupt`),
			"openshift-install v4.12.3 was interrupted at 2026-03-01T07:01:00Z, where it waited for its assets"},
		"done after all": {run + at("07:30:00", "error", "Bootstrap failed to complete: signal: terminated") + at("08:01:00", "info", "Install complete!"),
			"openshift-install v4.12.3 completed at 2026-03-01T08:01:00Z"},
		"one line of a run that failed": {at("09:12:00", "error", "Failed waiting for Kubernetes API: Get https://api.b.example.com:6443/version: EOF"),
			"openshift-install failed at 2026-03-01T09:12:00Z, where it waited for the Kubernetes API"},
		"one line of a run whose operators failed": {at("09:13:00", "error", "Cluster initialization failed because one or more operators are not functioning properly."),
			"openshift-install failed at 2026-03-01T09:13:00Z, where it waited for the cluster to initialize"},
		"failed": {run + boot + at("07:50:00", "error", "Bootstrap failed to complete: timed out waiting for the condition"),
			"openshift-install v4.12.3 failed at 2026-03-01T07:50:00Z, where it waited for bootstrapping to complete"},
		"its last line": {run + boot + at("07:25:00", "debug", "Time elapsed: 5m"), "the log of openshift-install v4.12.3 ends at 2026-03-01T07:25:00Z, where it waited for bootstrapping to complete"},
		"only files, after a run that failed": {run + boot + at("07:50:00", "error", "Bootstrap failed to complete: timed out waiting for the condition") +
			run + at("08:01:00", "info", "Ignition-Configs created in: . and auth"), "openshift-install v4.12.3 wrote its files at 2026-03-01T08:01:00Z, and no later run works on a cluster"},
		"only files, of a release that does not list them": {run + boot + run + at("08:01:00", "debug", "Generating Metadata..."), "openshift-install v4.12.3 wrote its files at 2026-03-01T08:01:00Z, and no later run works on a cluster"},
		"only files": {run + at("07:01:00", "info", "Ignition-Configs created in: . and auth"), "openshift-install v4.12.3 wrote its files at 2026-03-01T07:01:00Z, and no later run works on a cluster"},
		"gathers logs": {run + at("07:01:00", "info", "Pulling debug logs from the bootstrap machine"),
			"openshift-install v4.12.3 began to gather logs at 2026-03-01T07:01:00Z, and the log does not show whether it could"},
		"gathered logs": {run + at("07:01:00", "info", "Pulling debug logs from the bootstrap machine") + at("07:03:00", "info", `Bootstrap gather logs captured here \"log-bundle-1.tar.gz\"`),
			"openshift-install v4.12.3 gathered logs at 2026-03-01T07:03:00Z and wrote log-bundle-1.tar.gz: give that, too"},
		"cannot gather, after a run that somebody ended": {run + at("07:01:00", "fatal", `failed to fetch Install Config: failed UserInput: interrupt`) +
			run + at("09:01:00", "info", "Pulling debug logs from the bootstrap machine") + at("09:01:10", "fatal", "failed to create SSH client: dial tcp 192.0.2.9:22: connect: connection refused"),
			"openshift-install v4.12.3 could not gather logs at 2026-03-01T09:01:10Z: failed to create SSH client: dial tcp 192.0.2.9:22: connect: connection refused"},
		"cannot gather, after an installation": {run + boot + at("07:50:00", "error", "Bootstrap failed to complete: timed out waiting for the condition") +
			run + at("09:01:00", "info", "Pulling debug logs from the bootstrap machine") + at("09:01:10", "fatal", "failed to create SSH client: dial tcp 192.0.2.9:22: connect: connection refused"),
			"openshift-install v4.12.3 failed at 2026-03-01T07:50:00Z, where it waited for bootstrapping to complete"},
		"waits for the agents": {run + at("07:01:00", "debug", "Agent Rest API never initialized. Bootstrap Kube API never initialized") + at("07:01:00", "info", "Waiting for cluster install to initialize. Sleeping for 30 seconds") +
			at("07:09:00", "warning", "Received interrupt signal"), "openshift-install v4.12.3 was interrupted at 2026-03-01T07:09:00Z, where it waited for the agent service on the rendezvous host"},
		"interrupted while hosts are installed": {run + agents + at("07:05:00", "info", "Cluster installation in progress") + at("07:09:00", "warning", "Received interrupt signal"),
			"openshift-install v4.12.3 was interrupted at 2026-03-01T07:09:00Z, where it waited for the hosts to be installed"},
		"the service answers": {run + agents + at("07:09:00", "warning", "Received interrupt signal"),
			"openshift-install v4.12.3 was interrupted at 2026-03-01T07:09:00Z, where it waited for the hosts to be ready for the installation"},
		"the API of the cluster answers": {run + agents + at("07:05:00", "info", "Cluster Kube API Initialized") + at("07:06:00", "info", "Finalizing cluster installation") +
			at("07:09:00", "warning", "Received interrupt signal"), "openshift-install v4.12.3 was interrupted at 2026-03-01T07:09:00Z, where it waited for bootstrapping to complete"},
		"a log that begins with the state of the service": {at("07:05:00", "info", "Preparing cluster for installation") + at("07:09:00", "warning", "Received interrupt signal"),
			"openshift-install was interrupted at 2026-03-01T07:09:00Z, where it waited for the hosts to prepare for the installation"},
	} {
		said, err := installer.Say(t.Context(), world(t, map[string]string{".openshift_install.log": c.log}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := fmt.Sprint(said); said == nil && c.want != "" || said != nil && got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// agents are the first lines of `agent wait-for` until the service answers.
var agents = at("07:01:00", "debug", "Agent Rest API never initialized. Bootstrap Kube API never initialized") +
	at("07:02:00", "info", "Waiting for cluster install to initialize. Sleeping for 30 seconds") + at("07:03:00", "debug", "Agent Rest API Initialized")

func TestWhatIsNoInstallation(t *testing.T) {
	if _, err := readLogs(t, map[string]string{".openshift_install.log": run + at("07:01:00", "info", "Ignition-Configs created in: . and auth")}); !errors.Is(err, facts.ErrNotApplicable) {
		t.Errorf("a run that only made files: %v", err)
	}
	two := map[string]string{
		"a/.openshift_install.log": run + at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.a.example.com:6443..."),
		"b/.openshift_install.log": run + at("07:10:00", "info", "Waiting up to 20m0s for the Kubernetes API at https://api.b.example.com:6443..."),
	}
	_, err := readLogs(t, two)
	if u, ok := evidence.AsUnavailable(err); !ok || !strings.Contains(u.Detail, "several clusters: api.a.example.com:6443, api.b.example.com:6443") || u.Supply.IsZero() {
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
