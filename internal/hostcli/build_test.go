package hostcli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxBytes is how large the program may be, as it is released: it is copied to hosts
// over slow lines and consoles. HTTP, for the registries of a plan, is 1.2 MB of it; the catalog,
// which lies in it as YAML, 1.1 MB.
const maxBytes = 22_000_000

// TestImports: no Kubernetes client, no command framework, no page templates that are
// reached, and nothing that needs cgo.
func TestImports(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/rollcall-host")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	list, err := cmd.Output()
	if err != nil {
		t.Fatal(explained(err))
	}
	for pkg := range strings.FieldsSeq(string(list)) {
		for _, not := range []string{
			"k8s.io", "sigs.k8s.io/kustomize", "github.com/spf13/cobra",
			"github.com/rollcall-project/rollcall/internal/cli", "github.com/rollcall-project/rollcall/internal/source/live",
			"github.com/rollcall-project/rollcall/internal/repair", "runtime/cgo",
		} {
			if pkg == not || strings.HasPrefix(pkg, not+"/") {
				t.Errorf("it imports %s", pkg)
			}
		}
	}
}

// TestSize builds the program as it is released, but for cgo and paths: these would
// compile all that it is made of once more, and make a hundredth of its size.
func TestSize(t *testing.T) {
	out := filepath.Join(t.TempDir(), "rollcall-host")
	if err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", out, "../../cmd/rollcall-host").Run(); err != nil {
		t.Fatal(explained(err))
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxBytes {
		t.Errorf("it has %d bytes, at most %d are wanted: what has become reachable? html/template makes it a third larger", info.Size(), maxBytes)
	}
}

func explained(err error) string {
	if exit, ok := err.(*exec.ExitError); ok {
		return err.Error() + "\n" + string(exit.Stderr)
	}
	return err.Error()
}
