package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestWorkerNight plays the incident of docs/incidents/ignition-workers.md from the NodePool to
// Ready workers: the management cluster is no OpenShift and refuses the pods of the network, the
// first worker stays NotReady, and three more are wanted in the cloud. Nothing but the tool is
// used. The log has the commands and their times.
func TestWorkerNight(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip("three minutes; " + full)
	}
	w := up(t, "hosted-pod-security", true)
	c := startCloud(t, w)
	began, typed := time.Now(), 0
	night := func(code int, want []string, args ...string) result {
		t.Helper()
		typed++
		r := w.live(args...)
		t.Logf("%d. rollcall %s: exit %d after %s", typed, strings.Join(args, " "), r.code, r.took.Round(100*time.Millisecond))
		if r.code != code {
			t.Fatalf("want exit %d: %s", code, r)
		}
		for _, text := range want {
			if !strings.Contains(r.out, text) {
				t.Errorf("want %q: %s", text, r)
			}
		}
		return r
	}
	plan := filepath.Join(t.TempDir(), "plan.yaml")
	create := append([]string{"worker", "create"}, c.flags("--host", "guest5", "--host", "guest6", "--host", "guest7", "--window", "6m")...)
	secrets := []string{"diagnose", "--hosted", theGuest, "--read-secrets", "clusters-guest"}

	night(2, []string{"hosted-pod-security-refused", "fix plan"}, secrets...)
	night(2, []string{"(hosted-pod-security-refused)", "Nothing was made"}, append(create, "--plan")...)
	night(0, nil, "fix", "plan", "--hosted", theGuest, "--root", "hosted-pod-security-refused", "--to", plan)
	night(0, nil, "fix", "apply", plan, "--yes")
	made := night(0, []string{"3 of 3 workers are Ready"}, create...)
	night(0, []string{"Ready, kubelet"}, "worker", "list", "--hosted", theGuest)
	night(0, nil, secrets...)
	t.Logf("%d commands, %s from the first to the last", typed, time.Since(began).Round(time.Second))

	d := parse(t, w.live("diagnose", "--hosted", theGuest, "-o", "json"))
	for i := range 4 {
		name := fmt.Sprintf("guest%d", []int{0, 5, 6, 7}[i])
		if !strings.Contains(d.hosts(), name+":config-done:not-applicable") {
			t.Errorf("%s has not joined: %s", name, d.hosts())
		}
	}
	// A second run of what is done changes nothing.
	operations := c.state().Begun
	if again := w.live("worker", "resume", runID(made)); again.code != 0 || !strings.Contains(again.out, "3 of 3 workers are Ready") {
		t.Errorf("resumed when all is done: %s", again)
	}
	if now := c.state().Begun; !maps.Equal(now, operations) {
		t.Errorf("operations %v, before %v", now, operations)
	}
	if got := c.names(); strings.Contains(got, "*") {
		t.Errorf("user-data is left: %s", got)
	}
	if strings.Contains(made.out+made.err, "Bearer") {
		t.Error("a header is on the screen")
	}
}
