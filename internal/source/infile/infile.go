// Package infile opens the files that a user names, and waits for none of them without limit: to
// open a named pipe is to wait for who writes to it, and no signal ends that.
package infile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Regular opens a regular file. Everything else is an error.
func Regular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: kind(mode)}
	}
	return os.Open(path)
}

// Check refuses what is there and is not a file, for readers that open it themselves. That it is
// missing is theirs to say.
func Check(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: kind(info.Mode())}
}

func kind(mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return errors.New("it is a directory; name a file")
	case mode&fs.ModeNamedPipe != 0:
		return errors.New("it is a pipe; write it to a file first")
	}
	return errors.New("it is not a file")
}

// firstByteTimeout is how long whoever writes to a pipe may take.
const firstByteTimeout = 30 * time.Second

// Piped opens a file, or a pipe such as that of a shell's <(...), with which a secret is handed
// over that is in no file. A pipe without a writer is empty, and reading ends after a while.
func Piped(path string) (*os.File, error) {
	f, err := Stream(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = kind(info.Mode())
	}
	if err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		err = f.SetReadDeadline(time.Now().Add(firstByteTimeout))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Stream opens a text that can be one without an end. A pipe without a writer is empty.
func Stream(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
