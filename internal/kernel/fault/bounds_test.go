package fault

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

// TestLoadIsBounded loads directories that a person was talked into naming.
func TestLoadIsBounded(t *testing.T) {
	place := func(t *testing.T, p string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	write := func(t *testing.T, p string, size int) {
		t.Helper()
		text := sound + "#" + strings.Repeat("x", size)
		if err := os.WriteFile(place(t, p), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		want string // of the error, "" for none
	}{
		"a file": {func(t *testing.T, dir string) { write(t, dir+"/x/pool-empty.yaml", 0) }, ""},
		"a link to a file": {func(t *testing.T, dir string) {
			write(t, dir+"/x/data", 0)
			if err := os.Symlink("data", dir+"/x/pool-empty.yaml"); err != nil {
				t.Fatal(err)
			}
		}, ""},
		"a link to a device without end": {func(t *testing.T, dir string) {
			if err := os.Symlink("/dev/zero", dir+"/z.yaml"); err != nil {
				t.Fatal(err)
			}
		}, "z.yaml: not a regular file"},
		"a FIFO that no one writes": {func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(dir+"/z.yaml", 0o644); err != nil {
				t.Fatal(err)
			}
		}, "z.yaml: not a regular file"},
		"a link to nothing": {func(t *testing.T, dir string) {
			if err := os.Symlink("nothing", dir+"/z.yaml"); err != nil {
				t.Fatal(err)
			}
		}, "no such file"},
		"a huge file": {func(t *testing.T, dir string) { write(t, dir+"/x/pool-empty.yaml", maxEntry) }, "longer than 262144 bytes"},
		"directories without end": {func(t *testing.T, dir string) {
			write(t, dir+strings.Repeat("/d", maxDepth+1)+"/pool-empty.yaml", 0)
		}, "more than 8 directories deep"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			got, err := Load(os.DirFS(dir))
			if c.want == "" && (err != nil || len(got.Faults) != 1) {
				t.Errorf("loaded %d faults, error %v", len(got.Faults), err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestLoadCountsEntries(t *testing.T) {
	many := fstest.MapFS{}
	for i := range maxEntries + 1 {
		many[fmt.Sprintf("x/f%d.yaml", i)] = &fstest.MapFile{Data: []byte("{}")}
	}
	if _, err := Load(many); err == nil || !strings.Contains(err.Error(), "more than 4096 entries") {
		t.Errorf("error %.200v", err)
	}
	other := fstest.MapFS{}
	for i := range maxWalked + 1 {
		other[fmt.Sprintf("f%d", i)] = &fstest.MapFile{}
	}
	if _, err := Load(other); err == nil || !strings.Contains(err.Error(), "more than 65536 files and directories") {
		t.Errorf("error %.200v", err)
	}
}
