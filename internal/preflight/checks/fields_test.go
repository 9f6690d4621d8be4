package checks

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/fields.txt")

// TestFields: the fields that are known here are those of testdata/fields.txt, which
// internal/tools/installer holds against the installer's own types.
func TestFields(t *testing.T) {
	var lines []string
	for name, root := range map[string]*keys{"install-config": installKeys, "agent-config": agentKeys} {
		root.list(name, func(path string, k *keys) {
			switch {
			case k == nil:
				lines = append(lines, path+": anything")
			case k.open:
				lines = append(lines, fmt.Sprintf("%s: %s, and more", path, k.form))
			default:
				lines = append(lines, fmt.Sprintf("%s: %s", path, k.form))
			}
		})
	}
	slices.Sort(lines)
	got, file := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", "fields.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s has other fields; run this test with -update, and then that of internal/tools/installer", file)
	}
}

// list calls f for each field.
func (k *keys) list(path string, f func(path string, k *keys)) {
	if k == nil {
		return
	}
	for name, below := range k.fields {
		f(path+"."+name, below)
		below.list(path+"."+name, f)
	}
}
