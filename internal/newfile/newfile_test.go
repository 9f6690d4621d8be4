package newfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestWhatIsThereStays(t *testing.T) {
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(path string) error{
		"file":           func(path string) error { return os.WriteFile(path, []byte("other"), 0o600) },
		"symbolic link":  func(path string) error { return os.Symlink(victim, path) },
		"dangling link":  func(path string) error { return os.Symlink(filepath.Join(dir, "new"), path) },
		"hard link":      func(path string) error { return os.Link(victim, path) },
		"directory":      func(path string) error { return os.Mkdir(path, 0o700) },
		"link to itself": func(path string) error { return os.Symlink(path, path) },
	} {
		path := filepath.Join(dir, name)
		if err := plant(path); err != nil {
			t.Fatal(err)
		}
		if err := Bytes(path, 0o600, []byte("mine")); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s: was removed: %v", name, err)
		}
	}
	if raw, _ := os.ReadFile(victim); string(raw) != "precious" {
		t.Errorf("written through a link: %q", raw)
	}
	if _, err := os.Lstat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made through a link: %v", err)
	}
}

func TestWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	full := errors.New("no space left")
	err := Write(path, 0o640, func(w io.Writer) error {
		_, err := w.Write([]byte("half"))
		return errors.Join(err, full)
	})
	if !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file is left: %v", err)
	}
	if err := Bytes(path, 0o640, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	if raw, _ := os.ReadFile(path); string(raw) != "whole" {
		t.Errorf("written: %q", raw)
	}
}
