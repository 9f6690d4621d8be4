package demo

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// maxArchive bounds each embedded archive: the program is to stay small.
const maxArchive = 512 << 10

// TestEmbedded opens every archive of the list, and misses none that lies there.
func TestEmbedded(t *testing.T) {
	set, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, d := range set.Demos {
		listed[d.File] = true
		if d.Name == "" || d.About == "" {
			t.Errorf("%+v: a name and a line about it are needed", d)
		}
		raw, err := set.Archive(d)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(raw) > maxArchive {
			t.Errorf("%s: %d bytes, at most %d", d.File, len(raw), maxArchive)
		}
		s, err := archive.Bytes(context.Background(), raw, d.Name)
		if err != nil {
			t.Errorf("%s: %v", d.File, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	entries, err := embedded.ReadDir("archives")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tar.gz") && !listed[e.Name()] {
			t.Errorf("%s is embedded and not in index.yaml", e.Name())
		}
	}
}

func TestFind(t *testing.T) {
	set, err := Load(fstest.MapFS{
		"index.yaml": {Data: []byte("demos:\n- {name: one, file: one.tar.gz, about: the first}\n- {name: two, file: two.tar.gz, about: the second}\n")},
		"two.tar.gz": {Data: []byte("bytes")},
	})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := set.Find(""); err != nil || d.Name != "one" {
		t.Errorf("default: %v, %v", d, err)
	}
	d, err := set.Find("two")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := set.Archive(d); err != nil || string(raw) != "bytes" {
		t.Errorf("archive: %q, %v", raw, err)
	}
	if _, err := set.Find("three"); err == nil || !strings.Contains(err.Error(), "there are: one, two") {
		t.Errorf("unknown name: %v", err)
	}
	if _, err := set.Archive(set.Demos[0]); err == nil {
		t.Error("a missing archive is no error")
	}
	if _, err := Load(fstest.MapFS{"index.yaml": {Data: []byte("demo: []")}}); err == nil {
		t.Error("an unknown field is no error")
	}
}
