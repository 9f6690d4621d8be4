package script

import (
	"bytes"
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli"
	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
)

// The commands of the scripts about fix:
//
//	cluster [FILE]         start a healthy cluster with the changes of FILE
//	then write|finished FILE   what happens after the first write, or once the steps are done
//	change FILE            what happens now
//	fix CODE ARG...        run `rollcall fix ARG...` at the cluster's time; files are those of the script
//	edit FILE OLD NEW      replace the first OLD in a file
//	writes [TEXT]          the writes so far are TEXT; without one, none but the copy of the journal
func fixCommands(clusters *sync.Map) map[string]func(*testscript.TestScript, bool, []string) {
	of := func(ts *testscript.TestScript) *clitest.Cluster {
		c, ok := clusters.Load(ts)
		if !ok {
			ts.Fatalf("there is no cluster")
		}
		return c.(*clitest.Cluster)
	}
	changes := func(ts *testscript.TestScript, file string) []clitest.Change {
		var list []clitest.Change
		ts.Check(yaml.UnmarshalStrict([]byte(ts.ReadFile(file)), &list))
		return list
	}
	return map[string]func(*testscript.TestScript, bool, []string){
		"cluster": func(ts *testscript.TestScript, _ bool, args []string) {
			c := startFixCluster(ts)
			for _, file := range args {
				ts.Check(c.Happen(changes(ts, file)))
			}
			clusters.Store(ts, c)
		},
		"then": func(ts *testscript.TestScript, _ bool, args []string) {
			c := of(ts)
			c.Mu.Lock()
			defer c.Mu.Unlock()
			c.After[args[0]] = changes(ts, args[1])
		},
		"change": func(ts *testscript.TestScript, _ bool, args []string) {
			c := of(ts)
			c.Mu.Lock()
			defer c.Mu.Unlock()
			ts.Check(c.Happen(changes(ts, args[0])))
		},
		"fix": runFix,
		"edit": func(ts *testscript.TestScript, _ bool, args []string) {
			was := ts.ReadFile(args[0])
			is := strings.Replace(was, args[1], args[2], 1)
			if is == was {
				ts.Fatalf("%s does not hold %q", args[0], args[1])
			}
			ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(is), 0o600))
		},
		"writes": func(ts *testscript.TestScript, _ bool, args []string) {
			c := of(ts)
			c.Mu.Lock()
			defer c.Mu.Unlock()
			have := slices.DeleteFunc(slices.Clone(c.Written), func(s string) bool { return strings.Contains(s, " configmaps/") })
			if want := strings.Join(args, " "); strings.Join(have, ", ") != want {
				ts.Fatalf("written: %v, want %q", have, want)
			}
		},
	}
}

// shared is the compiled catalog of all runs inside of the test: to load it takes longer than most answers.
var shared = &session.Cache{}

// startFixCluster starts a cluster with its kubeconfig; what was there of another goes.
func startFixCluster(ts *testscript.TestScript) *clitest.Cluster {
	c, err := clitest.NewCluster()
	ts.Check(err)
	srv := httptest.NewServer(c)
	ts.Defer(srv.Close)
	ts.Check(clitest.WriteKubeconfig(ts.MkAbs("kubeconfig"), srv.URL))
	for _, old := range []string{"state", "plan.yaml", "plan.json"} {
		ts.Check(os.RemoveAll(ts.MkAbs(old)))
	}
	return c
}

// runFix runs the program inside of the test, at the time of the cluster.
func runFix(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: fix CODE ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	words := []string{"rollcall", "fix", args[1], "--state-dir", ts.MkAbs("state")}
	if args[1] != "history" {
		words = append(words, "--kubeconfig", ts.MkAbs("kubeconfig"), "--request-timeout", "2m") // no script has a server that hangs: a busy machine is none
	}
	if slices.Contains([]string{"apply", "resume", "undo"}, args[1]) {
		words = append(words, "--wait", "0s")
	}
	if slices.Contains([]string{"apply", "resume"}, args[1]) {
		words = append(words, "--until", "plan") // a script may name the other one
	}
	for _, a := range args[2:] {
		if ext := filepath.Ext(a); ext == ".yaml" || ext == ".json" || strings.HasSuffix(a, "/") {
			a = ts.MkAbs(a)
		}
		words = append(words, a)
	}
	var out, errs bytes.Buffer
	env := map[string]string{"HOME": ts.MkAbs("home"), "LC_ALL": "C.UTF-8"}
	code := cli.Main(context.Background(), words, cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs,
		Getenv: func(name string) string { return env[name] }, Clock: func() time.Time { return clitest.Now }})
	_, err = ts.Stdout().Write(out.Bytes())
	ts.Check(err)
	_, err = ts.Stderr().Write(errs.Bytes())
	ts.Check(err)
	if int(code) != want {
		ts.Fatalf("exit code %d, want %d\n%s%s", code, want, out.String(), errs.String())
	}
}

// TestFixScripts runs testdata/fix: repairs from the command line.
func TestFixScripts(t *testing.T) {
	var clusters sync.Map
	testscript.Run(t, testscript.Params{Dir: "testdata/fix", Cmds: fixCommands(&clusters)})
}
