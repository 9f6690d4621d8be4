package collect

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/rollcall-project/rollcall/internal/source/archive/collection"
)

// first are the files that tell a reader what the others are.
var first = []string{collection.SealName, collection.ManifestName}

// pack writes the files below root as a gzipped tar: the header, then the others sorted
// by name. The tar appears under its name only when it is whole.
func pack(root *os.Root, out string, now time.Time) (err error) {
	f, err := os.CreateTemp(filepath.Dir(out), ".rollcall-collect-*.tar.gz") // 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for _, name := range first {
		err = errors.Join(err, packFile(w, root, name, now))
	}
	walked := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains(first, name) {
			return err
		}
		return packFile(w, root, name, now)
	})
	if err = errors.Join(err, walked, w.Close(), z.Close(), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return os.Rename(f.Name(), out)
}

func packFile(w *tar.Writer, root *os.Root, name string, now time.Time) (err error) {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: info.Size(), Mode: 0o600, ModTime: now, Format: tar.FormatPAX}
	if err := w.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
