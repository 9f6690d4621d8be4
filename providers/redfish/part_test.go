package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/lab/bmc"
)

// TestPartOfImageIsRemoved: a clean-up after a killed run leaves nothing with user-data.
func TestPartOfImageIsRemoved(t *testing.T) {
	r := newRack(t, bmc.Dell)
	if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(r.path("www/*.iso"))
	if err != nil || len(images) != 1 {
		t.Fatal(images, err)
	}
	if err := os.Rename(images[0], images[0]+partSuffix); err != nil {
		t.Fatal(err)
	}
	if err := (&servers{}).Clean(t.Context(), r.order); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(r.path("www/*" + partSuffix)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestCreateNewFollowsNoLink: neither a link nor a file under the name of a new file is written through.
func TestCreateNewFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	victim, name := filepath.Join(dir, "victim"), filepath.Join(dir, "record.part")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for what, plant := range map[string]func(string, string) error{"symbolic link": os.Symlink, "hard link": os.Link} {
		if err := plant(victim, name); err != nil {
			t.Fatal(err)
		}
		f, err := createNew(name, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("new"); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if raw, _ := os.ReadFile(victim); string(raw) != "precious" {
			t.Errorf("%s: followed: %q", what, raw)
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLockFollowsNoLink: whoever may write to the directory cannot have the program make or open a file elsewhere.
func TestLockFollowsNoLink(t *testing.T) {
	r := newRack(t, bmc.Dell)
	j, err := begin(r.order)
	if err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.Symlink(victim, j.recordFile()+".lock"); err != nil {
		t.Fatal(err)
	}
	if _, err := j.lock(t.Context()); err == nil {
		t.Error("the lock is taken through a link")
	}
	if _, err := os.Lstat(victim); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file behind the link was made: %v", err)
	}
}

// TestRecordThatFails: a record that cannot be put under its name leaves none under the other.
func TestRecordThatFails(t *testing.T) {
	r := newRack(t, bmc.Dell)
	j, err := begin(r.order)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(j.recordFile(), "full"), 0o700); err != nil { // no file replaces it
		t.Fatal(err)
	}
	if err := j.start(override{}); err == nil {
		t.Fatal("a directory was replaced")
	}
	if left, _ := filepath.Glob(j.recordFile() + partSuffix); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestImageThatFails: an image that cannot be put under its name leaves no user-data under the other.
func TestImageThatFails(t *testing.T) {
	r := newRack(t, bmc.Dell)
	j, err := begin(r.order)
	if err != nil {
		t.Fatal(err)
	}
	to := r.path("www/guest.iso")
	if err := os.MkdirAll(filepath.Join(to, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := build(j.iso, to, []byte(data), "/dev/sda"); err == nil {
		t.Fatal("a directory was replaced")
	}
	if left, _ := filepath.Glob(to + partSuffix); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// TestRecordNamesNoOtherFile: what others write into the record makes the program remove no file of theirs.
func TestRecordNamesNoOtherFile(t *testing.T) {
	for _, image := range []string{"", ".", "..", "../victim", "/etc/passwd", "index.html", "a/b.iso", "guest0.iso"} {
		r := newRack(t, bmc.Dell)
		if _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); err != nil {
			t.Fatal(err)
		}
		j, err := begin(r.order)
		if err != nil {
			t.Fatal(err)
		}
		j.record.Image = image
		if err := j.write(); err != nil {
			t.Fatal(err)
		}
		r.file("victim", []byte("precious"))
		for what, do := range map[string]func() error{
			"clean":  func() error { return (&servers{}).Clean(t.Context(), r.order) },
			"delete": func() error { return (&servers{}).Delete(t.Context(), r.order) },
		} {
			if err := do(); err == nil || !strings.Contains(err.Error(), "is not the name of an image") {
				t.Errorf("%s of %q: %v", what, image, err)
			}
		}
		if _, err := os.Stat(r.path("victim")); err != nil {
			t.Error(err)
		}
	}
}
