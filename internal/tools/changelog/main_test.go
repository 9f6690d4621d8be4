package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var released = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// tree writes a changelog and changes, by name.
func tree(t *testing.T, changes map[string]string) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("CHANGELOG.md", "# Changelog\n\nIntro.\n\n## 0.1.0\n\n### Added\n- First.\n")
	write("changes/README.md", "how to")
	for name, text := range changes {
		write("changes/"+name, text)
	}
	return root
}

func read(t *testing.T, root, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestAssemble: each change is under its section, and its file is gone.
func TestAssemble(t *testing.T) {
	root := tree(t, map[string]string{"b.fixed.md": "Second fix.\n", "a.fixed.md": "First fix,\nin two lines.\n", "c.added.md": "New."})
	if err := assemble(root, "v0.2.0", released); err != nil {
		t.Fatal(err)
	}
	want := "# Changelog\n\nIntro.\n\n## 0.2.0 (2026-03-01)\n\n### Added\n- New.\n\n### Fixed\n- First fix,\n  in two lines.\n- Second fix.\n\n" +
		"## 0.1.0\n\n### Added\n- First.\n"
	if got := read(t, root, "CHANGELOG.md"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	left, err := os.ReadDir(filepath.Join(root, "changes"))
	if err != nil || len(left) != 1 || left[0].Name() != "README.md" {
		t.Errorf("left in changes: %v, %v", left, err)
	}
}

// TestRefused: nothing is written for a change that cannot be placed.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		changes map[string]string
		want    string
	}{
		"no change":       {nil, "nothing to release"},
		"unknown section": {map[string]string{"a.news.md": "x"}, "with a section of"},
		"no section":      {map[string]string{"fixed.md": "x"}, "with a section of"},
		"no text":         {map[string]string{"a.fixed.md": " \n", "b.added.md": "x"}, "has no text"},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, c.changes)
			before := read(t, root, "CHANGELOG.md")
			if err := assemble(root, "0.2.0", released); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if read(t, root, "CHANGELOG.md") != before {
				t.Error("the changelog was written")
			}
		})
	}
}

// TestChanges: the changes of this project can be released.
func TestChanges(t *testing.T) {
	files, err := filepath.Glob("../../../changes/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("changes: %v, %v", files, err)
	}
	for _, file := range files {
		if filepath.Base(file) == "README.md" {
			continue
		}
		if _, _, err := readChange(file); err != nil {
			t.Error(err)
		}
	}
}
