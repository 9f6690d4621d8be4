package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// maxBytes is how large the program may be, as it is released: 48 MB. docs/dependencies.md has what each MB is for, and
// why it is more than the 42 of before. The length of the checkout's path is in it: two machines differ by some kilobytes.
const maxBytes = 48_000_000

// TestImports: none of the packages that link every API group of Kubernetes, or kustomize.
func TestImports(t *testing.T) {
	list, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "../../cmd/rollcall").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(list)) {
		for _, not := range []string{
			"k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "k8s.io/cli-runtime", "sigs.k8s.io/kustomize",
			"github.com/openshift/api", "html/template", "k8s.io/api", "k8s.io/client-go/tools/remotecommand", "github.com/metal3-io",
			"github.com/google/cel-go/ext", "golang.org/x/text/message",
		} {
			if pkg == not || strings.HasPrefix(pkg, not+"/") {
				t.Errorf("it imports %s", pkg)
			}
		}
	}
}

// TestSize builds the program as it is released, but for paths.
func TestSize(t *testing.T) {
	if !sample.Whole() {
		t.Skip("it links the program once more; in .ci/run")
	}
	out := filepath.Join(t.TempDir(), "rollcall")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", out, "../../cmd/rollcall")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	info, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxBytes {
		t.Errorf("it has %d bytes, at most %d are wanted: what has become reachable? text/template and html/template, where they are "+
			"called, keep every method of every type", info.Size(), maxBytes)
	}
}
