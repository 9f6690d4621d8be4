// Package newfile writes files that are not there yet.
//
// Invariants:
//   - What is there stays as it is: no file is taken over, no link is followed.
//   - A file is there whole or not at all: what could not be written whole is removed.
package newfile

import (
	"errors"
	"io"
	"os"
)

// Write makes a file and writes what it holds. The error is fs.ErrExist where something is there already.
func Write(path string, mode os.FileMode, content func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) //nolint:gosec // the path is what the user named
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	err = content(f)
	return errors.Join(err, f.Sync(), f.Close())
}

// Bytes makes a file of bytes.
func Bytes(path string, mode os.FileMode, content []byte) error {
	return Write(path, mode, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
