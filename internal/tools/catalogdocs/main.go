// Command catalogdocs writes what is made of the built-in catalog: the pages for readers of
// the repository, docs/catalog, and catalog/entries.zst, which the program contains. Tests
// compare what is in the tree with the catalog. It reads the entries where they are written,
// and so runs in the root directory of the repository.
//
//	go run ./internal/tools/catalogdocs [-dir docs/catalog] [-packed catalog/entries.zst]
//
// Invariants:
//   - The same catalog gives the same bytes.
//   - All files below the directory are generated. A page of an entry that no longer exists
//     is removed.
//   - Every fault, remedy and refused advice has an address of its own. One small file per
//     entry keeps that address when the entry moves to another layer, and a change of one
//     entry changes few files.
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
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func main() {
	dir := flag.String("dir", "docs/catalog", "directory of the pages")
	packed := flag.String("packed", "catalog/entries.zst", "file of the packed entries")
	flag.Parse()
	if err := run(*dir, *packed); err != nil {
		fmt.Fprintln(os.Stderr, "catalogdocs:", err)
		os.Exit(1)
	}
}

func run(dir, packed string) error {
	entries := os.DirFS("catalog")
	c, err := fault.Load(entries)
	if err != nil {
		return fmt.Errorf("load the catalog: %w", err)
	}
	if err := write(dir, pages(c)); err != nil {
		return err
	}
	data, err := catalog.Pack(entries, fault.Decode)
	if err != nil {
		return err
	}
	if err := os.WriteFile(packed, data, 0o644); err != nil {
		return fmt.Errorf("write the packed catalog: %w", err)
	}
	return nil
}

// pages returns all pages, by their path below the directory.
func pages(c *fault.Catalog) map[string]string {
	b := newBook(c)
	files := map[string]string{
		"README.md":     b.readme(),
		"by-layer.md":   b.byLayer(),
		"by-symptom.md": b.bySymptom(),
		"by-message.md": b.byMessage(),
		"by-command.md": b.byCommand(),
		"join-path.md":  b.joinPath(),
		"confusable.md": b.confusable(),
		"refused.md":    b.refused(),
	}
	for _, f := range c.Faults {
		files["faults/"+f.ID+".md"] = b.fault(f)
	}
	for _, r := range c.Remedies {
		files["remedies/"+r.ID+".md"] = b.remedy(r)
	}
	return files
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
