package collect

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"
)

// pack writes the files below root as a gzipped tar, sorted by name. It appears
// under its name only when it is whole.
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
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return packFile(w, root, name, now)
	})
	if err = errors.Join(err, w.Close(), z.Close(), f.Sync(), f.Close()); err != nil {
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
