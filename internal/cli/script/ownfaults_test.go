package script

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestOwnFaultsPage holds that docs/writing-a-fault.md has the example which the script
// ownfaults runs: the files of our-faults and the outputs.
func TestOwnFaultsPage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/writing-a-fault.md")
	if err != nil {
		t.Fatal(err)
	}
	script, err := txtar.ParseFile("testdata/script/ownfaults.txtar")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range script.Files {
		text := string(f.Data)
		switch {
		case strings.HasPrefix(f.Name, "our-faults/"):
			if raw, err := txtar.Unquote(f.Data); strings.HasPrefix(text, ">") && err == nil {
				text = string(raw)
			}
			text = "`" + f.Name + "`:\n\n```" + map[bool]string{true: "yaml", false: "text"}[strings.HasSuffix(f.Name, ".yaml")] + "\n" + text
		case strings.HasPrefix(f.Name, "shown/"):
		default:
			continue
		}
		found++
		if !strings.Contains(string(page), text+"```\n") {
			t.Errorf("docs/writing-a-fault.md does not have %s as the script has it", f.Name)
		}
	}
	if found != 8 {
		t.Errorf("%d files of the example, want 8", found)
	}
}
