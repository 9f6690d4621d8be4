package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// TestGatherFromCluster: what a must-gather image writes of a cluster gives the answer that
// the cluster gives.
func TestGatherFromCluster(t *testing.T) {
	dir := t.TempDir()
	writeClusters(t, dir)
	tree := filepath.Join(dir, "must-gather")
	if err := os.Mkdir(tree, 0o755); err != nil { // the volume is there before
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(dir, "admin.kubeconfig")
	if _, stderr, code := call(nil, gatherName, "--kubeconfig", kubeconfig, "--to", tree); code != cmdutil.ExitOK {
		t.Fatalf("gather: exit code %d: %s", code, stderr)
	}
	type answer struct {
		Verdict  diagnosis.Verdict
		Findings []map[string]any
	}
	read := func(args ...string) (a answer) {
		t.Helper()
		out, stderr, code := call(nil, append([]string{"diagnose", "-o", "json"}, args...)...)
		if code == cmdutil.ExitFailed {
			t.Fatal(stderr)
		}
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Findings {
			delete(f, "evidence") // a locator of the archive, or of the API
		}
		return a
	}
	live, gathered := read("--kubeconfig", kubeconfig), read("--from", tree)
	if len(live.Findings) == 0 {
		t.Fatal("no findings")
	}
	if diff := cmp.Diff(live, gathered); diff != "" {
		t.Errorf("the gathered tree has another answer (-cluster +tree):\n%s", diff)
	}
}
