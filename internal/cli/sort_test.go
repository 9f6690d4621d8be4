package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSorts: package sortby sorts, as its documentation explains. The sanitizer sorts
// numbers in texts, where each comparison counts.
func TestSorts(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "tools" || d.Name() == "sanitize"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, not := range []string{"slices.SortFunc(", "slices.SortStableFunc("} {
			if strings.Contains(string(text), not) {
				t.Errorf("%s has %s): it makes the program 20 KB larger; sortby does the same", path, not)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
