package main

import (
	"os"
	"path/filepath"
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
