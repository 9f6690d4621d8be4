package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNothingStopsTheNextRun: a lab whose supervisor was killed, one whose `up`
// was interrupted and one that runs do not stop the next `up`, and none leaves a
// process behind.
func TestNothingStopsTheNextRun(t *testing.T) {
	if testing.Short() {
		t.Skip("brings labs up")
	}
	t.Parallel()
	s := labs.take(t, false)
	w := &world{t: t, dir: s.dir, state: t.TempDir()}
	t.Cleanup(func() { w.lab("down") })
	up := []string{"--dir", s.dir, "--source", source(t), "up", "config-drift", "--from", s.cluster(w)}

	killed := start(t, up...)
	state := w.awaitProcesses(t, 3, 0)
	if err := syscall.Kill(state.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := killed.Wait(); err == nil {
		t.Error("up ended well although its supervisor was killed")
	}
	w.awaitEnd(t, state)

	interrupted := start(t, up...)
	state = w.awaitProcesses(t, 3, state.PID)
	if err := interrupted.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := interrupted.Wait(); err == nil {
		t.Error("up ended well although it was interrupted")
	}
	w.awaitEnd(t, state)
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("the interrupted up left %s: %v", s.dir, err)
	}

	for range 2 { // the second one replaces the first
		if r := w.start(labBin, nil, up...); r.code != 0 {
			t.Fatal(r)
		}
	}
	state = w.labState(t)
	if r := w.lab("down"); r.code != 0 {
		t.Fatal(r)
	}
	w.awaitEnd(t, state)
}

// labState is what the test looks at of lab.json.
type labState struct {
	PID       int
	Processes []struct {
		Name    string
		PID     int
		Running bool
	}
}

func (w *world) labState(t *testing.T) labState {
	t.Helper()
	var s labState
	data, err := os.ReadFile(filepath.Join(w.dir, "lab.json"))
	if err != nil {
		return s
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func start(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(labBin, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// awaitProcesses waits until a lab that is coming up has n servers. What the
// supervisor old, who is dead, has written does not count.
func (w *world) awaitProcesses(t *testing.T, n, old int) labState {
	t.Helper()
	var s labState
	eventually(t, 2*time.Minute, func() string {
		s = w.labState(t)
		if s.PID == old || len(s.Processes) < n {
			return "the lab has not begun"
		}
		return ""
	})
	return s
}

// awaitEnd waits until no process of a lab is left.
func (w *world) awaitEnd(t *testing.T, s labState) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		for _, p := range s.Processes {
			line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID), "cmdline"))
			if err == nil && strings.Contains(string(line), w.dir) {
				return p.Name + " is still there"
			}
		}
		return ""
	})
}
