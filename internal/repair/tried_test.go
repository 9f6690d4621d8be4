package repair

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/catalog"
)

// TestTried: what Rollcall carries out is carried out, interrupted and undone by TestInjections,
// and of nothing else it is said that it was tried in a simulation.
func TestTried(t *testing.T) {
	action := map[string]string{"approve-expected-csrs": "approve-csr", "recreate-missing-render": "recreate-render"} // of the remedies with an action of another name
	for _, id := range RemedyIDs() {
		name := id
		if a := action[id]; a != "" {
			name = a
		}
		if !slices.ContainsFunc(targets(), func(a tried) bool { return strings.Contains(a.name, name) }) {
			t.Errorf("%s is not tried", id)
		}
	}
	files, err := fs.Glob(catalog.FS, "remedies/*.yaml")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d remedies: %v", len(files), err)
	}
	for _, file := range files {
		raw, err := catalog.FS.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		id := strings.TrimSuffix(strings.TrimPrefix(file, "remedies/"), ".yaml")
		if strings.Contains(string(raw), "\ntried: simulation\n") && !slices.Contains(RemedyIDs(), id) {
			t.Errorf("%s is not carried out by Rollcall", id)
		}
	}
}
