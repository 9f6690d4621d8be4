package clitest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/fixture"
)

// Root is the directory of the module that the tests run in.
var Root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		} else if dir == filepath.Dir(dir) {
			return "", errors.New("find the module: no directory above has a go.mod")
		}
	}
})

// Overlays are those of the catalog, read once.
var Overlays = sync.OnceValues(func() ([]fixture.Overlay, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	return fixture.Overlays(os.DirFS(filepath.Join(root, "catalog")))
})

// Fixture returns a base of the fixtures, or an overlay of the catalog by the name of its file without .txtar.
func Fixture(name string) (fstest.MapFS, error) {
	files, err := fixture.Base(name)
	if err == nil {
		return files, nil
	}
	overlays, err := Overlays()
	if err != nil {
		return nil, err
	}
	for _, o := range overlays {
		if strings.TrimSuffix(filepath.Base(o.Path), ".txtar") == name {
			return o.FS()
		}
	}
	return nil, fmt.Errorf("fixture %s: %w", name, fs.ErrNotExist)
}

// WriteFiles writes a fixture into a directory.
func WriteFiles(files fstest.MapFS, dir string) error {
	for name, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write the fixture: %w", err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return fmt.Errorf("write the fixture: %w", err)
		}
	}
	return nil
}
