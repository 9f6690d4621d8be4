package script

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// longScripts take longest; the commands in them are in other scripts or tests, too.
var longScripts = []string{
	"accept", "against", "baseline", "collect", "docs", "doors", "exit", "fleet", "foreign", "formats", "input", "knowledge", "ladder",
	"notcollected", "ownfaults", "pastenight", "pastetables", "replay", "scanphase", "schema", "secrets", "subject", "text", "update", "wronguse",
}

// TestScripts runs testdata/script. The commands in addition to those of testscript:
//
//	fixture NAME DIR       write an archive: a base of internal/fixture, or an overlay
//	                       of the catalogue by its file name without .txtar
//	exits CODE CMD ARG...  run a command and check its exit code
//	schema                 check the last stdout against the published schema
//
// The sample has all but longScripts.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("scripts: %v, %v", files, err)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		return !sample.Whole() && slices.Contains(longScripts, name)
	})
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("KUBECONFIG", "")
			e.Setenv("LC_ALL", "C.UTF-8")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"fixture": writeFixture, "exits": exits, "schema": followsSchema, "assisted": serveAssisted},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("run: %v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// followsSchema holds the output against a schema of docs/schema, that of a diagnosis
// where none is named.
func followsSchema(ts *testscript.TestScript, neg bool, args []string) {
	name := "diagnosis"
	if len(args) > 0 {
		name = args[0]
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../../docs/schema/" + name + ".v1alpha1.json")
	ts.Check(err)
	documents := []string{ts.ReadFile("stdout")}
	if name == "watch" { // a document on each line
		documents = strings.Split(strings.TrimSuffix(documents[0], "\n"), "\n")
	}
	for _, text := range documents {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		ts.Check(err)
		if err := schema.Validate(v); (err != nil) != neg {
			ts.Fatalf("schema: %v", err)
		}
	}
}

func writeFixture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: fixture NAME DIR")
	}
	files, err := clitest.Fixture(args[0])
	ts.Check(err)
	ts.Check(clitest.WriteFiles(files, ts.MkAbs(args[1])))
}

// serveAssisted answers as the service of a rendezvous host does, with the cluster in
// a file: `assisted FILE [TOKEN]` sets $RENDEZVOUS. With TOKEN it answers only those
// who send it.
func serveAssisted(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: assisted FILE [TOKEN]")
	}
	cluster := ts.ReadFile(args[0])
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case len(args) == 2 && r.Header.Get("Watcher-Authorization") != args[1]:
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/api/assisted-install/v2/clusters":
			io.WriteString(w, "["+cluster+"]")
		case strings.HasPrefix(r.URL.Path, "/api/assisted-install/v2/clusters/"):
			io.WriteString(w, cluster)
		default:
			http.NotFound(w, r)
		}
	}))
	ts.Defer(srv.Close)
	ts.Setenv("RENDEZVOUS", strings.TrimPrefix(srv.URL, "http://"))
}
