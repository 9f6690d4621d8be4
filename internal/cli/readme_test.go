package cli

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// demoBlock is the first block of the README: what the demo prints.
var demoBlock = regexp.MustCompile("(?s)```\n\\$ go run ./cmd/rollcall demo\n(.*?)```\n")

// TestReadmeShowsTheDemo: the screen in the README is what the program prints, up to the
// proof.
func TestReadmeShowsTheDemo(t *testing.T) {
	const name = "../../README.md"
	readme, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	at := demoBlock.FindSubmatchIndex(readme)
	if at == nil {
		t.Fatal("the README has no block of the demo")
	}
	out, _, code := call(nil, "demo")
	if code != cmdutil.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	first, _, ok := strings.Cut(out, "\nWhy\n")
	if !ok {
		t.Fatalf("no proof in\n%s", out)
	}
	want := first + "\n[... below: the proof, the deadlock, the effects, the other causes that are ruled out]\n"
	if *update {
		whole := string(readme[:at[2]]) + want + string(readme[at[3]:])
		if err := os.WriteFile(name, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(readme[at[2]:at[3]])); diff != "" {
		t.Errorf("the README is behind (go test ./internal/cli -run Readme -update):\n%s", diff)
	}
}
