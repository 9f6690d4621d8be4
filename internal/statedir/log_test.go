package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type line struct{ N int }

func inOrder(i int, r line) error {
	if r.N != i {
		return errors.New("out of order")
	}
	return nil
}

func openTest(t *testing.T, state string) (*os.Root, *Log[line], error) {
	t.Helper()
	dir, err := Open(state, true, "runs", "one")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	l, err := OpenLog(dir, "log", inOrder)
	return dir, l, err
}

// TestLog: records survive the process, a cut last line is dropped, and one process at a time
// writes.
func TestLog(t *testing.T) {
	state := t.TempDir()
	_, l, err := openTest(t, state)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if err := l.Append(line{n}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := openTest(t, state); err == nil || !strings.Contains(err.Error(), "another rollcall") {
		t.Errorf("opened twice: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "runs", "one", "log")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"N":`); err != nil { // killed while it wrote
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	_, l, err = openTest(t, state)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Records(); !slices.Equal(got, []line{{0}, {1}, {2}}) || l.Len() != 3 {
		t.Errorf("records: %v", got)
	}
	if err := errors.Join(l.Append(line{3}), l.Close()); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || strings.Count(string(raw), "\n") != 4 {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestLogRefused: what is no log, or has lost lines, is neither read nor changed.
func TestLogRefused(t *testing.T) {
	for name, c := range map[string]struct{ content, want string }{
		"no log":      {"a file without a line", "no whole record"},
		"lost lines":  {"{\"N\":0}\n{\"N\":2}\n", "out of order"},
		"not JSON":    {"{\"N\":0}\nhello\n", "record 2"},
		"a long line": {strings.Repeat("x", MaxLine+1), "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			dir, err := Open(state, true, "runs", "one")
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(Replace(dir, "log", []byte(c.content)), dir.Close()); err != nil {
				t.Fatal(err)
			}
			if _, _, err := openTest(t, state); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if raw, err := os.ReadFile(filepath.Join(state, "runs", "one", "log")); err != nil || string(raw) != c.content {
				t.Errorf("it was changed: %d bytes, %v", len(raw), err)
			}
		})
	}
}

// TestUnsafe: a directory that others can write to is refused, with the way out.
func TestUnsafe(t *testing.T) {
	state := t.TempDir()
	if err := os.Chmod(state, 0o777); err != nil {
		t.Fatal(err)
	}
	var unsafe *UnsafeError
	if _, err := Open(state, true, "runs"); !errors.As(err, &unsafe) || unsafe.WayOut == "" {
		t.Errorf("%v", err)
	}
}
