// Command catalogdocs writes the indexes of the built-in catalog, docs/catalog. A test compares
// them with the catalog. The pages of single faults and remedies are not in the repository:
// `rollcall explain ID` prints one, `rollcall docs` writes all.
//
//	go run ./internal/tools/catalogdocs [-dir docs/catalog]
//
// Invariants:
//   - The same catalog gives the same bytes.
//   - All files below the directory are generated. A page that no longer exists is removed.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer/catalogpages"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func main() {
	dir := flag.String("dir", "docs/catalog", "directory of the pages")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "catalogdocs:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		return fmt.Errorf("load the catalog: %w", err)
	}
	return write(dir, catalogpages.Indexes(c, all.All()))
}

// write makes a directory hold exactly the pages.
func write(dir string, files map[string]string) error {
	have, err := read(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		if _, ok := files[name]; ok {
			continue
		}
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("remove a stale page: %w", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if bytes.Equal(have[name], []byte(files[name])) {
			continue
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("create the directory of a page: %w", err)
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o644); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	return nil
}

// read returns the pages of a directory. A directory that does not exist has none. Files
// that are no pages are left alone.
func read(dir string) (map[string][]byte, error) {
	have := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		have[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the pages: %w", err)
	}
	return have, nil
}
