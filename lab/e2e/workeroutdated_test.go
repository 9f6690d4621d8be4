package e2e

import (
	"os"
	"strings"
	"testing"
	"time"
)

// TestWorkerOutdated replaces the workers whose machine is dead, unless they are most, and then
// all with an old config, several at once. The Ready Nodes are never fewer than allowed.
func TestWorkerOutdated(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	if r := w.live(w.labWorkers(5, 3, "--window", "6m")...); r.code != 0 {
		t.Fatal(r)
	}
	s := newShop(t, w, 3)
	s.open(t)
	s.close() // its pods stay, and no one makes another
	become := func(want string, names ...string) {
		t.Helper()
		for _, name := range names {
			eventually(t, 3*time.Minute, func() string {
				if state := nodeState(t, s.kube, name); state != want {
					return name + " is " + state + ", want " + want
				}
				return ""
			})
		}
	}
	w.atHost(t, "guest6", "off")
	become("not ready", "guest6")
	r := w.live(w.replacing("--unhealthy", "--host", "guest9")...)
	if r.code != 0 || !strings.Contains(r.out, "1 of 1 workers are replaced") || nodeState(t, s.kube, "guest6") != "gone" {
		t.Fatalf("unhealthy: %s", r)
	}
	become("ready", "guest5", "guest7", "guest9")
	t.Logf("a dead worker with a pod is replaced in %s", r.took.Round(time.Second))

	w.atHost(t, "guest5", "off")
	w.atHost(t, "guest7", "off")
	become("not ready", "guest5", "guest7")
	r = w.live(w.replacing("--unhealthy", "--host", "guest10", "--host", "guest11")...)
	if r.code != 1 || !strings.Contains(r.err, "2 of 3 workers are not Ready") {
		t.Errorf("most are not Ready: %s", r)
	}
	w.atHost(t, "guest5", "on")
	w.atHost(t, "guest7", "on")
	become("ready", "guest5", "guest7")

	if r := w.lab("outside", "nodepool-config"); r.code != 0 {
		t.Fatal(r)
	}
	if list := w.live("worker", "list", "--hosted", theGuest); strings.Count(list.out, "outdated, now") != 3 {
		t.Errorf("outdated: %s", list)
	}
	s.open(t)
	r = w.live(w.replacing("--outdated", "--max-surge", "2", "--max-unavailable", "1", "--host", "guest12", "--host", "guest13", "--host", "guest14")...)
	if r.code != 0 || !strings.Contains(r.out, "3 of 3 workers are replaced") {
		t.Fatal(r)
	}
	t.Logf("3 workers with an old config are replaced in %s", r.took.Round(time.Second))
	seen := s.close()
	if seen.nodes < 3 { // guest0 and three, less one
		t.Errorf("only %d Nodes were Ready; last error %v", seen.nodes, seen.err)
	}
	for name, want := range map[string]string{"guest5": "gone", "guest7": "gone", "guest9": "gone", "guest12": "ready", "guest13": "ready", "guest14": "ready"} {
		if state := nodeState(t, s.kube, name); state != want {
			t.Errorf("%s is %s, want %s", name, state, want)
		}
	}
	if list := w.live("worker", "list", "--hosted", theGuest); strings.Contains(list.out, "outdated, now") {
		t.Errorf("outdated afterwards: %s", list)
	}
	if none := w.live(w.replacing("--outdated", "--host", "guest15")...); none.code != 0 || !strings.Contains(none.out, "No worker needs to be replaced") {
		t.Errorf("a second time: %s", none)
	}
}
