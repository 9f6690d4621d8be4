package repair

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// planted makes a state directory with the plan p1 and something instead of
// one of its files.
func planted(t *testing.T, plant func(t *testing.T, state, victim string)) (state, victim string) {
	t.Helper()
	dir := t.TempDir()
	state, victim = filepath.Join(dir, "state"), filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious, without an end of line"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(state, plansDir, "p1"), 0o700); err != nil {
		t.Fatal(err)
	}
	plant(t, state, victim)
	return state, victim
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestPlantedState: what others put into the state directory is neither followed
// nor changed.
func TestPlantedState(t *testing.T) {
	journal := filepath.Join(plansDir, "p1", journalFile)
	tests := []struct {
		name  string
		plant func(t *testing.T, state, victim string)
		want  string
	}{
		{"journal is a link", func(t *testing.T, state, victim string) { ok(t, os.Symlink(victim, filepath.Join(state, journal))) }, "not a regular file"},
		{"journal is a link to nothing", func(t *testing.T, state, _ string) {
			ok(t, os.Symlink(filepath.Join(state, "new"), filepath.Join(state, journal)))
		}, "not a regular file"},
		{"journal has two names", func(t *testing.T, state, victim string) { ok(t, os.Link(victim, filepath.Join(state, journal))) }, "one regular file of one name"},
		{"journal is a directory", func(t *testing.T, state, _ string) { ok(t, os.Mkdir(filepath.Join(state, journal), 0o700)) }, "not a regular file"},
		{"journal is open to others", func(t *testing.T, state, _ string) {
			ok(t, os.WriteFile(filepath.Join(state, journal), nil, 0o600))
			ok(t, os.Chmod(filepath.Join(state, journal), 0o666))
		}, "open to others"},
		{"journal is none", func(t *testing.T, state, _ string) {
			ok(t, os.WriteFile(filepath.Join(state, journal), []byte("a file without a line"), 0o600))
		}, "no whole record"},
		{"plan is a link", func(t *testing.T, state, _ string) {
			ok(t, os.Rename(filepath.Join(state, plansDir, "p1"), filepath.Join(state, "elsewhere")))
			ok(t, os.Symlink(filepath.Join(state, "elsewhere"), filepath.Join(state, plansDir, "p1")))
		}, "is not a directory"},
		{"plans are open to others", func(t *testing.T, state, _ string) { ok(t, os.Chmod(filepath.Join(state, plansDir), 0o777)) }, "open to others"},
		{"state may be written by others", func(t *testing.T, state, _ string) { ok(t, os.Chmod(state, 0o777)) }, "open to others"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			state, victim := planted(t, tt.plant)
			before, _ := os.ReadFile(filepath.Join(state, journal))
			j, err := openJournal(state, "p1", time.Now)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("openJournal: %v, want %q", err, tt.want)
			}
			if j != nil {
				ok(t, j.Close())
			}
			if raw, err := os.ReadFile(victim); err != nil || string(raw) != "precious, without an end of line" {
				t.Errorf("the other file: %q, %v", raw, err)
			}
			if after, _ := os.ReadFile(filepath.Join(state, journal)); string(after) != string(before) {
				t.Errorf("the journal was changed: %q", after)
			}
			if _, err := os.Stat(filepath.Join(state, "new")); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file was made through the link: %v", err)
			}
		})
	}
}

// TestKeptPlanReplacesLink: the copy of the plan takes a link's place.
func TestKeptPlanReplacesLink(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	victim := filepath.Join(t.TempDir(), "victim")
	ok(t, os.WriteFile(victim, []byte("precious"), 0o600))
	dir := filepath.Join(r.dir, plansDir, p.ID)
	ok(t, os.MkdirAll(dir, 0o700))
	ok(t, os.Symlink(victim, filepath.Join(dir, planFile)))
	if _, err := r.exec.Apply(t.Context(), p); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if raw, err := os.ReadFile(victim); err != nil || string(raw) != "precious" {
		t.Errorf("the other file: %q, %v", raw, err)
	}
}

// TestStoreOpenToOthers: secrets are not put where others can read.
func TestStoreOpenToOthers(t *testing.T) {
	dir := t.TempDir()
	store := NewStore(dir)
	sum, err := store.Put([]byte(secret))
	ok(t, err)
	ok(t, os.Chmod(filepath.Join(dir, storeDir), 0o755))
	var refused *statedir.UnsafeError
	if _, err := store.Put([]byte("more")); !errors.As(err, &refused) {
		t.Errorf("Put: %v", err)
	}
	if _, err := store.Get(sum); !errors.As(err, &refused) {
		t.Errorf("Get: %v", err)
	}
	ok(t, os.Chmod(filepath.Join(dir, storeDir), 0o700))
	ok(t, os.Chmod(filepath.Join(store.state, store.dir, strings.TrimPrefix(sum, "sha256:")), 0o644))
	if _, err := store.Get(sum); !errors.As(err, &refused) {
		t.Errorf("Get of a file that others can read: %v", err)
	}
}

// TestHistoryOfBroken: one broken plan hides no other.
func TestHistoryOfBroken(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	ok(t, failure(r.exec.Apply(t.Context(), p)))
	ok(t, os.Mkdir(filepath.Join(r.dir, plansDir, "empty"), 0o700))
	ok(t, os.Mkdir(filepath.Join(r.dir, plansDir, "garbage"), 0o700))
	ok(t, os.WriteFile(filepath.Join(r.dir, plansDir, "garbage", journalFile), []byte("no json\n"), 0o600))
	ok(t, os.WriteFile(filepath.Join(r.dir, plansDir, "file"), nil, 0o600))
	list, err := Histories(r.dir)
	ok(t, err)
	broken := map[string]bool{}
	for _, h := range list {
		broken[h.ID] = h.Broken != nil
		if h.Broken != nil && !strings.Contains(h.Broken.Error(), h.ID) {
			t.Errorf("it is not said which: %v", h.Broken)
		}
	}
	want := map[string]bool{p.ID: false, "empty": true, "garbage": true, "file": true}
	for id, b := range want {
		if have, there := broken[id]; !there || have != b {
			t.Errorf("%s: there %t, broken %t, want %t", id, there, have, b)
		}
	}
}

// TestJournalWithoutEnd: a journal is read up to its bounds.
func TestJournalWithoutEnd(t *testing.T) {
	if _, _, err := statedir.ParseLog([]byte(strings.Repeat("x", statedir.MaxLine+1)), inOrder); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("ParseLog of an endless line: %v", err)
	}
	state, _ := planted(t, func(t *testing.T, state, _ string) {
		path := filepath.Join(state, plansDir, "p1", journalFile)
		ok(t, os.WriteFile(path, nil, 0o600))
		ok(t, os.Truncate(path, statedir.MaxLog+1))
	})
	if _, err := openJournal(state, "p1", time.Now); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("openJournal: %v", err)
	}
}
