package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how long a line of Go without tests may be; a tab counts as four.
const maxColumns = 160

// TestLineLength: no line of Go is longer than a screen is wide.
func TestLineLength(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var long []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".git") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSuffix(line, "\n")
			if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > maxColumns {
				long = append(long, path+": "+strings.TrimSpace(line))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(long) > 0 {
		t.Errorf("%d lines have more than %d columns: wrap them:\n%s", len(long), maxColumns, strings.Join(long, "\n"))
	}
}
