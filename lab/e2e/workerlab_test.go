package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// labWorkers are the arguments that make workers of the lab, guestFROM on.
func (w *world) labWorkers(from, n int, more ...string) []string {
	args := []string{"worker", "create", "--hosted", "clusters/guest", "--provider", "lab", "--option", "dir=" + w.dir, "--parallel", "10", "--yes"}
	for i := range n {
		args = append(args, "--host", fmt.Sprintf("guest%d", from+i))
	}
	return append(args, more...)
}

// TestWorkerMany makes 20 workers at once through a provider's program, and then one with each
// of the known troubles in addition to two that have none: the engine names the cause of each, and the
// good ones are not blocked.
func TestWorkerMany(t *testing.T) {
	w := up(t, "hosted", true)
	began := time.Now()
	r := w.live(w.labWorkers(5, 20, "--window", "8m")...)
	if r.code != 0 || !strings.Contains(r.out, "20 of 20 workers are Ready") {
		t.Fatal(r)
	}
	t.Logf("20 workers in %s", time.Since(began).Round(time.Second))
	if left, err := filepath.Glob(filepath.Join(w.dir, "boot", "*.ign")); err != nil || len(left) > 0 {
		t.Errorf("user-data is left: %v, %v", left, err)
	}

	troubles := []struct{ trouble, cause string }{
		{"token-foreign", "user-data-copy-outdated"},
		{"token-encoded-twice", "user-data-copy-outdated"},
		{"other-name", "ignition-tls-name"},
		{"other-ca", "ignition-tls-untrusted"},
		{"port-closed", "mcs-refused"},
		{"token-not-sent", "ignition-unauthorized"},
		{"old-path", "ignition-not-found"},
		{"packets-dropped", "mcs-timeout"},
	}
	var args []string
	for i, c := range troubles {
		args = append(args, "--option", fmt.Sprintf("guest%d=%s", 30+i, c.trouble))
	}
	r = w.live(w.labWorkers(30, len(troubles)+2, append(args, "--window", "10m", "--delete-failed")...)...)
	if r.code != 3 || !strings.Contains(r.out, fmt.Sprintf("2 of %d workers are Ready", len(troubles)+2)) {
		t.Fatal(r)
	}
	for i, c := range troubles {
		name := fmt.Sprintf("guest%d", 30+i)
		_, part, ok := strings.Cut(r.out, "\n"+name+": ")
		part, _, _ = strings.Cut(part, "\n\n")
		if !ok || !strings.Contains(part, "cause (proven): "+name) || !strings.Contains(part, "("+c.cause+")") {
			t.Errorf("%s: want the proven cause %s: %s", c.trouble, c.cause, part)
		}
	}
	for i := range 2 {
		good := fmt.Sprintf("guest%d", 30+len(troubles)+i)
		if !strings.Contains(r.out, good+": Node is Ready") {
			t.Errorf("%s was held up", good)
		}
	}
	if strings.Contains(r.out+r.err, "Bearer") {
		t.Error("a header is on the screen")
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, "boot", "guest3[0-7].*")); err != nil || len(left) > 0 {
		t.Errorf("left of what was taken away: %v, %v", left, err)
	}
	if t.Failed() {
		t.Log(r)
	}
}

// TestWorkerWaits: while the ignition server builds a payload, for the first time or again after
// a start, every machine is answered with HTTP 511. That is named before one is made, and is no
// fault of a worker: it continues by itself.
func TestWorkerWaits(t *testing.T) {
	for scenario, want := range map[string]string{
		"hosted-cold-cache":       "may still build the payloads",
		"hosted-payload-building": "(ignition-payload-failed): in progress, normal until",
	} {
		t.Run(scenario, func(t *testing.T) {
			if os.Getenv(full) == "" {
				t.Skip(full)
			}
			w := up(t, scenario, true)
			plan := w.live(w.labWorkers(20, 1, "--plan")...)
			if plan.code != 0 || !strings.Contains(plan.out, "warning") || !strings.Contains(plan.out, want) {
				t.Errorf("want a warning %q: %s", want, plan)
			}
			done := make(chan result, 1)
			go func() { done <- w.live(w.labWorkers(20, 1, "--window", "8m")...) }()
			eventually(t, 2*time.Minute, func() string {
				screen, err := os.ReadFile(filepath.Join(w.dir, "hosts", "guest20", "console.log"))
				if err != nil || strings.Count(string(screen), "Network Authentication Required") < 3 {
					return fmt.Sprintf("guest20 is not answered with 511 yet: %v", err)
				}
				return ""
			})
			time.Sleep(40 * time.Second) // the run looks at its hosts meanwhile
			if r := w.lab("outside", "registry"); r.code != 0 {
				t.Fatal(r)
			}
			r := <-done
			if r.code != 0 || !strings.Contains(r.out, "1 of 1 workers are Ready") || strings.Contains(r.out, "cause (") || strings.Contains(r.out, "user-data-copy-outdated") {
				t.Error(r)
			}
		})
	}
}

// TestWorkerSlow: a machine whose boot takes longer than its token lives is named so, and is
// re-created with fresh user-data; one whose address the infrastructure reports wrongly is
// Ready, and is not called done; nor is one whose network does not start.
func TestWorkerSlow(t *testing.T) {
	if os.Getenv(full) == "" {
		t.Skip(full)
	}
	w := up(t, "hosted", true)
	r := w.live(w.labWorkers(5, 2, "--option", "guest5=address-unknown", "--option", "guest6=network-waits", "--window", "1m")...)
	if r.code != 3 || !strings.Contains(r.out, "1 of 2 workers are Ready") || !strings.Contains(r.out, "is not declared") || !strings.Contains(r.out, "guest6: network-ready waiting") {
		t.Error(r)
	}
	if !strings.Contains(r.out, "does not hold: ") || !strings.Contains(r.out, "guest5") {
		t.Errorf("guest5 has no serving certificate, and passes: %s", r)
	}

	done := make(chan result, 1)
	go func() { done <- w.live(w.labWorkers(8, 1, "--option", "guest8=boots-later", "--window", "10m")...) }()
	eventually(t, time.Minute, func() string {
		_, err := os.Stat(filepath.Join(w.dir, "boot", "guest8.run"))
		if err != nil {
			return err.Error()
		}
		return ""
	})
	for range 2 {
		if r := w.lab("outside", "token"); r.code != 0 {
			t.Fatal(r)
		}
	}
	if r := w.lab("outside", "boot-guest", "guest8"); r.code != 0 {
		t.Fatal(r)
	}
	r = <-done
	if r.code != 3 || !strings.Contains(r.out, "cause (proven): guest8") || !strings.Contains(r.out, "(user-data-copy-outdated)") {
		t.Fatal(r)
	}
	_, run, _ := strings.Cut(r.out, "Run ")
	run, _, _ = strings.Cut(run, ".")
	if r := w.live("worker", "resume", run, "--recreate", "--window", "5m"); !strings.Contains(r.out, "1 of 1 workers are Ready") {
		t.Errorf("made again: %s", r)
	}
}

// TestWorkerRefused: what would block every machine is named before the first is made.
func TestWorkerRefused(t *testing.T) {
	for scenario, cause := range map[string]string{
		"hosted-payload-failing":    "ignition-payload-failed",
		"hosted-user-data-outdated": "user-data-outdated",
		"hosted-pod-security":       "hosted-pod-security-refused",
	} {
		t.Run(scenario, func(t *testing.T) {
			if os.Getenv(full) == "" {
				t.Skip(full)
			}
			w := up(t, scenario, true)
			r := w.live(w.labWorkers(9, 1)...)
			if r.code != 2 || !strings.Contains(r.out, "("+cause+")") || !strings.Contains(r.out, "Nothing was made") {
				t.Error(r)
			}
			if _, err := os.Stat(filepath.Join(w.dir, "boot", "guest9.ign")); err == nil {
				t.Error("something was made")
			}
		})
	}
}
