package all

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Every message with an id is asked for: a fact names its id, or what it begins with.
func TestMessagesAreRead(t *testing.T) {
	c, err := fault.LoadChecks(catalog.FS)
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, dir := range []string{"..", "../../hosts"} {
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
				return err
			}
			raw, err := os.ReadFile(p)
			source.Write(raw)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, file := range c.Messages {
		for _, m := range file.Messages {
			n++
			stem, _, _ := strings.Cut(m.ID, "-")
			program, _, _ := strings.Cut(m.ID, ".")
			named := func(word string) bool { return strings.Contains(source.String(), `"`+word+`"`) }
			if !named(m.ID) && !named(stem+"-") && !named(program+".") { // the last one with World.Signatures
				t.Errorf("%s: no fact asks for %s", file.Program, m.ID)
			}
		}
	}
	if n == 0 {
		t.Error("the catalog has no message that facts read")
	}
}

// Evidence that rests on a whole list says so: evidence.Listed and evidence.Dangling do, a
// locator of a list that is written by hand does not.
func TestListsAreNamed(t *testing.T) {
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(p)
		if strings.Contains(string(raw), "Locator: evidence.Locator{Path:") {
			t.Errorf("%s: make the evidence with evidence.Listed or evidence.Dangling", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
