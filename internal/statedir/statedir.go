// Package statedir reads and writes the files that a run leaves for later runs: journals,
// plans, what was replaced.
//
// Invariants:
//   - Nothing in the directory is trusted, because later runs, perhaps with other rights,
//     act on it: directories are ours and closed to others, files are regular, ours, closed
//     to others and have one name.
//   - Symbolic links are not followed below the directory that the user named.
//   - A file is replaced as a whole and durably, or not at all.
package statedir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Path returns where journals and pre-images lie: the override if it is set, else
// $XDG_STATE_HOME/rollcall, else ~/.local/state/rollcall.
func Path(override string, env func(string) string) (string, error) {
	if override != "" {
		return override, nil
	}
	if d := env("XDG_STATE_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "rollcall"), nil
	}
	home := env("HOME")
	if home == "" {
		return "", errors.New("find state directory: neither XDG_STATE_HOME nor HOME is set; name one with --state-dir")
	}
	return filepath.Join(home, ".local", "state", "rollcall"), nil
}

// UnsafeError says that something in the state directory may be somebody else's.
type UnsafeError struct {
	Problem string
	WayOut  string // what can be done; "" where nothing is known
}

// Error implements error.
func (e *UnsafeError) Error() string {
	if e.WayOut == "" {
		return e.Problem
	}
	return e.Problem + "; " + e.WayOut
}

func refuse(format string, args ...any) *UnsafeError {
	return &UnsafeError{Problem: fmt.Sprintf(format, args...)}
}

func (e *UnsafeError) instead(format string, args ...any) *UnsafeError {
	e.WayOut = fmt.Sprintf(format, args...)
	return e
}

// Open opens a directory below the state directory, and makes what is not
// there. Without making, a missing one is fs.ErrNotExist.
func Open(stateDir string, makeIt bool, path ...string) (*os.Root, error) {
	if makeIt {
		if err := os.MkdirAll(stateDir, 0o700); err != nil {
			return nil, err
		}
	}
	at, err := os.OpenRoot(stateDir)
	if err != nil {
		return nil, err
	}
	// The named directory may be readable by others; who may write there could
	// put another instead of ours.
	if err := checkDir(at, 0o022); err != nil {
		return nil, errors.Join(err, at.Close())
	}
	for _, name := range path {
		next, err := Descend(at, makeIt, name)
		if err := errors.Join(err, at.Close()); err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

// Descend opens a directory of an open one, and makes it where makeIt is set.
func Descend(at *os.Root, makeIt bool, name string) (*os.Root, error) {
	if makeIt {
		if err := at.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	info, err := at.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, refuse("%s in %s is not a directory (%s)", name, at.Name(), info.Mode().Type())
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := checkDir(next, 0o077); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

func checkDir(at *os.Root, closed fs.FileMode) error {
	info, err := at.Stat(".")
	if err != nil {
		return err
	}
	return checkOurs(at.Name(), info, closed, "0700")
}

func checkOurs(name string, info fs.FileInfo, closed fs.FileMode, want string) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return fmt.Errorf("%s: the system does not show its owner", name)
	case int(st.Uid) != os.Geteuid():
		return refuse("%s belongs to user %d, not to the one who runs this (%d)", name, st.Uid, os.Geteuid()).
			instead("name a directory of your own with --state-dir")
	case info.Mode().Perm()&closed != 0:
		return refuse("%s has mode %04o and is open to others", name, info.Mode().Perm()).
			instead("find out who may have written there, then chmod %s %s", want, name)
	}
	return nil
}

// file opens a regular file of ours; a symbolic link is not one.
func file(at *os.Root, name string, flag int) (*os.File, error) {
	path := at.Name() + "/" + name
	before, err := at.Lstat(name)
	switch {
	case err == nil && !before.Mode().IsRegular():
		return nil, refuse("%s is not a regular file (%s)", path, before.Mode().Type())
	case err == nil && flag&os.O_CREATE != 0:
		flag &^= os.O_CREATE
	case errors.Is(err, fs.ErrNotExist) && flag&os.O_CREATE != 0:
		flag |= os.O_EXCL
	case err != nil:
		return nil, err
	}
	f, err := at.OpenFile(name, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	if err := checkFile(f, path, before); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func checkFile(f *os.File, path string, before fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.Mode().IsRegular() || before != nil && !os.SameFile(before, info) || ok && st.Nlink != 1 {
		return refuse("%s is not one regular file of one name", path)
	}
	return checkOurs(path, info, 0o077, "0600")
}

// Read reads a file of the state directory within a bound.
func Read(at *os.Root, name string, most int64) ([]byte, error) {
	f, err := file(at, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, fmt.Errorf("%s/%s has more than %d bytes", at.Name(), name, most)
	}
	return raw, nil
}

// Replace puts a file durably instead of the one of that name: what was
// there, a link too, is replaced and never written through.
func Replace(at *os.Root, name string, content []byte) error {
	fresh := ".new-" + name
	if err := at.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := at.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = at.Rename(fresh, name)
	}
	if err == nil {
		err = sync(at)
	}
	return err
}

// sync makes new and renamed entries of a directory durable.
func sync(at *os.Root) error {
	d, err := at.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
