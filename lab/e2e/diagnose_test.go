package e2e

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDesyncIsNamed: the third master's real Ignition loops on the real 500, and
// the desync is named as the dead-locked root, proven, with the lines; the same
// live, from the collection, without the console, and from a must-gather.
func TestDesyncIsNamed(t *testing.T) {
	w := up(t, "bootstrap-desync", true, anHour...)
	screen := w.lab("console", "control0").out
	for _, line := range []string{"/config/master: attempt #", "GET result: Internal Server Error"} {
		if !strings.Contains(screen, line) {
			t.Fatalf("control0's console lacks %q:\n%s", line, screen)
		}
	}
	d := desync(t, w.live("diagnose", "-o", "json", "--console", "control0="+w.consoleFile("control0")))
	sameFromCollection(t, w, d, "--console", "control0="+w.consoleFile("control0"))
	desync(t, w.live("diagnose", "-o", "json"))

	bundle, gathered := filepath.Join(t.TempDir(), "bundle"), filepath.Join(t.TempDir(), "must-gather")
	if r := w.live("collect", "--to", bundle); r.code != 0 && r.code != 2 {
		t.Fatalf("collect: %s", r)
	}
	if err := plainMustGather(bundle, gathered); err != nil {
		t.Fatal(err)
	}
	desync(t, w.rollcall("diagnose", "--from", gathered, "-o", "json"))
	endsAtCause(t, w)
	continuesThroughRepair(t, w)
}

// anHour lets a trouble have stood for longer than it would be normal.
var anHour = []string{"--stand", "65m"}

// desync asserts the answer to the incident.
func desync(t *testing.T, r result) diagnosis {
	t.Helper()
	d := parse(t, r)
	if r.code != 2 {
		t.Errorf("exit %d, want 2", r.code)
	}
	if got, want := d.roots(), "bootstrap-mc-mismatch pool/master proven"; got != want {
		t.Fatalf("roots %q, want %q; present %q; unexplained %v", got, want, d.present(), d.Unexplained)
	}
	if d.Roots[0].Deadlock == 0 || len(d.Deadlocks) != 1 {
		t.Errorf("the root is not said to be a deadlock: %+v", d.Deadlocks)
	}
	if len(d.Unexplained) > 0 {
		t.Errorf("unexplained: %v", d.Unexplained)
	}
	if d.Verdict.Class != "recoverable-in-place" {
		t.Errorf("verdict %s: %s", d.Verdict.Class, d.Verdict.Reason)
	}
	if got, want := d.hosts(), "control0:ignition-fetched:failed control1:config-done:failed control2:config-done:failed"; got != want {
		t.Errorf("hosts %s, want %s", got, want)
	}
	return d
}

// sameFromCollection collects and diagnoses again from the directory and the
// archive: roots, verdict and hosts are the same.
func sameFromCollection(t *testing.T, w *world, want diagnosis, args ...string) {
	t.Helper()
	for _, to := range []string{filepath.Join(t.TempDir(), "bundle"), filepath.Join(t.TempDir(), "bundle.tar.gz")} {
		if r := w.live(append([]string{"collect", "--to", to}, args...)...); r.code != 0 && r.code != 2 {
			t.Fatalf("collect: %s", r)
		}
		got := parse(t, w.rollcall("diagnose", "--from", to, "-o", "json"))
		if got.roots() != want.roots() || got.Verdict.Class != want.Verdict.Class || got.hosts() != want.hosts() {
			t.Errorf("from %s: roots %q verdict %s hosts %s; live: roots %q verdict %s hosts %s", filepath.Base(to),
				got.roots(), got.Verdict.Class, got.hosts(), want.roots(), want.Verdict.Class, want.hosts())
		}
	}
}

func (w *world) consoleFile(host string) string {
	return filepath.Join(w.dir, "hosts", host, "console.log")
}
