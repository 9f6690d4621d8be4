package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// TestReplaceFile: a page is replaced whole, no link is followed, and nothing else is left.
func TestReplaceFile(t *testing.T) {
	dir, other := t.TempDir(), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("<title>Rollcall documentation</title>"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "index.html")
	if err := os.Symlink(other, name); err != nil {
		t.Fatal(err)
	}
	if err := mayReplace(name); err == nil {
		t.Error("a link may be replaced")
	}
	if err := replaceFile(name, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(other); err != nil || string(raw) == "new" {
		t.Errorf("written through a link: %q, %v", raw, err)
	}
	entries, err := os.ReadDir(dir)
	if info, statErr := os.Lstat(name); err != nil || statErr != nil || len(entries) != 1 || !info.Mode().IsRegular() || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v: %v, %v", entries, info, err, statErr)
	}
	if err := mayReplace(filepath.Join(dir, "none.html")); err != nil {
		t.Error(err)
	}
}
