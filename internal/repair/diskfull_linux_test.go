package repair

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// diskFull lets the disk of the journal be full at each of its records in turn: every write
// of a byte to its file then fails as on a full disk. With room again, resume ends it.
func diskFull(t *testing.T, a tried) string {
	for n, at := range a.passed(func(p Point) bool { return strings.HasPrefix(p.At, "before ") && !beforeWrite(p) }) {
		r, p := a.make(t)
		filled := false
		r.exec.At = func(now Point) {
			if now == at && !filled {
				filled = true
				fill(t, filepath.Join(r.dir, plansDir, p.ID, journalFile))
			}
		}
		_, err := r.exec.Apply(t.Context(), p)
		if !filled || err == nil || !strings.Contains(err.Error(), "no space left on device") {
			return fmt.Sprintf("record %d (%s): filled %t, error %v", n+1, at.At, filled, err)
		}
		intents := 0
		for _, s := range p.Steps {
			if j := kept(t, r, p).step(s.ID); j.intent != nil {
				intents++
			}
		}
		if writes := r.targetWrites(); len(writes) > intents {
			return fmt.Sprintf("record %d (%s): %d intents in the journal, written %v", n+1, at.At, intents, writes)
		}
		r.exec.At = nil
		if at == (Point{"", "before began"}) { // nothing was begun: it is applied again
			if o, err := r.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
				return fmt.Sprintf("apply again: %v, %+v", err, o)
			}
			continue
		}
		if wrong := r.resumes(t, p); wrong != "" {
			return fmt.Sprintf("record %d (%s): %s", n+1, at.At, wrong)
		}
	}
	return ""
}

// kept is the journal as it is on disk.
func kept(t *testing.T, r *rig, p *Plan) *journal {
	t.Helper()
	j, err := openJournal(r.dir, p.ID, r.exec.Clock.Now)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return j
}

// fill puts a device that is always full behind this process' file of that path.
func fill(t *testing.T, path string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || target != path {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Dup3(int(full.Fd()), fd, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("no file %s is open", path)
}
