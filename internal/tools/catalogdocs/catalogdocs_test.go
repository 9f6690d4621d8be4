package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer/catalogpages"
	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

var update = flag.Bool("update", false, "write docs/catalog")

const (
	tree    = "../../../docs/catalog"
	rewrite = "go run ./internal/tools/catalogdocs"
)

// TestPages compares the pages in the tree with the catalog:
//
//	go test ./internal/tools/catalogdocs -update
func TestPages(t *testing.T) {
	c, err := fault.Load(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	want := catalogpages.Indexes(c, all.All())
	if *update {
		if err := write(tree, want); err != nil {
			t.Fatal(err)
		}
	}
	have, err := read(tree)
	if err != nil {
		t.Fatal(err)
	}
	var wrong []string
	for name, text := range want {
		if page, ok := have[name]; !ok {
			wrong = append(wrong, "missing: "+name)
		} else if string(page) != text {
			wrong = append(wrong, "differs: "+name)
		}
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			wrong = append(wrong, "stale: "+name)
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		t.Errorf("docs/catalog: %d pages are not what the catalog says; run `%s`:\n%s", len(wrong), rewrite, strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	}
}

// TestWrite holds that a second run changes nothing, and that a stale page is removed.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir, map[string]string{"a.md": "a", "b/c.md": "c"}); err != nil {
		t.Fatal(err)
	}
	if err := write(dir, map[string]string{"b/c.md": "d"}); err != nil {
		t.Fatal(err)
	}
	have, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(have) != 1 || string(have["b/c.md"]) != "d" {
		t.Errorf("have %q", have)
	}
}
