package cli

import (
	"bytes"
	"io/fs"
	"log"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

const (
	// gridRequest is --request-timeout of the grid; a command may wait for three of it.
	gridRequest = time.Second
	gridMost    = 3 * gridRequest
	// gridWork is what a command may take in addition to that: the time that an answer itself takes. Where the
	// machine is busy that is longer, see inTime.
	gridWork = 2 * time.Second
	// gridEnd is when a cell counts as one that does not end.
	gridEnd = 20 * gridMost
)

// gridHostRun is a run of host add that was begun.
const gridHostRun = "h-0123456789"

// asking are the commands that talk to an API server, each in the ways in which it does. Words in braces are
// filled in by the cell: {k} the kubeconfig, {d} a directory with the files of the grid.
var asking = map[string][]string{
	"rollcall": {"--kubeconfig {k}", "--kubeconfig {k} --all -o json", "--kubeconfig {k} --hosted guests/edge.one"},
	"rollcall diagnose": {"--kubeconfig {k}", "--kubeconfig {k} -o json --probe --journals", "--kubeconfig {k} host/control0",
		"--kubeconfig {k} --hosted guests/edge.one"},
	"rollcall watch": {"--kubeconfig {k} --timeout 3s --interval 1s", "--kubeconfig {k} --timeout 3s --interval 1s -o json",
		"--kubeconfig {k} --timeout 1ms", "--kubeconfig {k} --timeout 3s --until joined --smoke-pod node/control0"},
	"rollcall collect":          {"--kubeconfig {k} --to {d}/c.tar.gz", "--kubeconfig {k} --to {d}/c --minimal"},
	"rollcall gather":           {"--kubeconfig {k} --to {d}/g"},
	"rollcall status":           {"--kubeconfig {k}"},
	"rollcall fleet":            {"--kubeconfig {k} --contexts all", "--kubeconfig {k} --contexts all -o json"},
	"rollcall hosts":            {"--kubeconfig {k} --ssh 127.0.0.1:9 --binary {d}/elf --to {d}/hosts"},
	"rollcall check":            {"--kubeconfig {k} reboot", "--kubeconfig {k} -o json oc adm drain control0", "--kubeconfig {k} oc delete node control1"},
	"rollcall explain":          {"--kubeconfig {k} oc delete node control1"},
	"rollcall can-i":            {"--kubeconfig {k}", "--kubeconfig {k} -o json"},
	"rollcall preflight":        {"--kubeconfig {k} --against x", "--kubeconfig {k} --against x --probe -o json", "--kubeconfig {k} --update --to 4.21 -o json"},
	"rollcall baseline save":    {"--kubeconfig {k} {d}/new.json"},
	"rollcall baseline compare": {"--kubeconfig {k} {d}/good.json", "--kubeconfig {k} {d}/good.json -o json"},

	"rollcall fix plan": {"--kubeconfig {k} --state-dir {d}/state --to {d}/p.yaml"},
	"rollcall fix apply": {"--kubeconfig {k} --state-dir {d}/state --wait 0s --until plan {d}/plan.yaml",
		"--kubeconfig {k} --state-dir {d}/state --wait 2s {d}/plan.yaml"},
	"rollcall fix resume":         {"--kubeconfig {k} --state-dir {d}/begun --wait 0s --until plan {d}/plan.yaml"},
	"rollcall fix undo":           {"--kubeconfig {k} --state-dir {d}/done --wait 0s {d}/plan.yaml"},
	"rollcall fix kubelet-script": {"--kubeconfig {k} control1 --to {d}/s.sh"},
	"rollcall fix time-sources":   {"--kubeconfig {k} worker --server ntp.example.com --to {d}/t.yaml"},

	"rollcall csr list":    {"--kubeconfig {k}", "--kubeconfig {k} --all -o json", "--kubeconfig {k} --hosted guests/edge.one"},
	"rollcall csr explain": {"--kubeconfig {k} csr-x"},
	"rollcall csr approve": {"--kubeconfig {k} csr-x --yes", "--kubeconfig {k} --expired-nodes --yes --cluster x", "--kubeconfig {k} csr-x --key sha256:00 --yes"},
	"rollcall csr serve": {"--kubeconfig {k} --inventory cluster --listen=", "--kubeconfig {k} --inventory configmap:a/b --listen= --lease a/b",
		"--kubeconfig {k} --inventory file:{d}/hosts.yaml --listen="},

	"rollcall worker create": {"--kubeconfig {k} --hosted guests/edge.one --host vm-8=192.0.2.8 --plan",
		"--kubeconfig {k} --hosted guests/edge.one --host vm-8=192.0.2.8 --yes --window 1s --dir {d}/out --state-dir {d}/none"},
	"rollcall worker list":     {"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs"},
	"rollcall worker resume":   {"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs --window 1s {run}"},
	"rollcall worker rollback": {"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs {run}"},
	"rollcall worker replace": {"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs --yes --outdated --host vm-9=192.0.2.9",
		"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs --yes vm-7 --host vm-9=192.0.2.9 --window 1s"},
	"rollcall worker delete": {"--kubeconfig {k} --hosted guests/edge.one --state-dir {d}/runs --yes --drain-timeout 1s vm-8"},

	"rollcall worker user-data": {"--kubeconfig {k} --hosted guests/edge.one --to {d}/u.ign"},

	"rollcall nodepool create": {"--kubeconfig {k} np-c --hosted guests/edge.one --replicas 1 --dry-run=server",
		"--kubeconfig {k} np-c --hosted guests/edge.one --host vm-8=192.0.2.8 --yes --timeout 1s --window 1s --dir {d}/out --state-dir {d}/none"},
	"rollcall nodepool wait":  {"--kubeconfig {k} np-a --hosted guests/edge.one --timeout 1s"},
	"rollcall nodepool scale": {"--kubeconfig {k} np-a --hosted guests/edge.one --replicas 2 --yes --state-dir {d}/none"},
	"rollcall nodepool delete": {"--kubeconfig {k} np-a --hosted guests/edge.one --yes --timeout 1s --state-dir {d}/none",
		"--kubeconfig {k} np-a --hosted guests/edge.one --yes --timeout 1s --nodes-stay --state-dir {d}/none"},

	"rollcall host add": {"--kubeconfig {k} w9 --bmc redfish-virtualmedia://192.0.2.9/redfish/v1/Systems/1 --boot-mac 52:54:00:0a:0b:0c --bmc-secret x --dry-run=server",
		"--kubeconfig {k} w9 --bmc ipmi://192.0.2.9 --boot-mac 52:54:00:0a:0b:0c --bmc-secret x --yes --timeout 1s --state-dir {d}/none"},
	"rollcall host replace": {"--kubeconfig {k} w9 --dry-run=server", "--kubeconfig {k} w9 --yes --timeout 1s --state-dir {d}/none",
		"--kubeconfig {k} control1"},
	"rollcall host resume":   {"--kubeconfig {k} --state-dir {d}/hosts-runs --timeout 1s " + gridHostRun},
	"rollcall host rollback": {"--kubeconfig {k} --state-dir {d}/hosts-runs --timeout 1s " + gridHostRun},

	"rollcall serve incidents": {"--kubeconfig {k}", "--kubeconfig {k} rollcall-1 -o json"},

	// What TAB asks.
	"rollcall __complete": {"diagnose --kubeconfig {k} --request-timeout 1s node/"},
}

// local are the commands that ask no API server, with the reason.
var local = map[string]string{
	"rollcall scan":        "reads text",
	"rollcall demo":        "reads embedded examples",
	"rollcall get":         "reads archives",
	"rollcall logs":        "reads archives",
	"rollcall fix":         "help",
	"rollcall fix history": "reads journals of this machine",
	"rollcall csr":         "help",
	"rollcall worker":      "help",
	"rollcall nodepool":    "help",
	"rollcall host":        "help",
	"rollcall host list":   "reads journals of this machine",
	"rollcall baseline":    "help",
	"rollcall list":        "reads the catalog",
	"rollcall docs":        "reads the catalog",
	"rollcall lint":        "reads faults and repositories of this machine",
	"rollcall test":        "reads faults of this machine",
	"rollcall version":     "reads the program",
	"rollcall help":        "help",
	"rollcall options":     "help",
	"rollcall fleet job":   "writes a manifest",

	"rollcall serve manifests": "writes manifests",
	"rollcall serve dashboard": "writes a manifest",
	"rollcall serve hub":       "writes manifests",
	"rollcall serve chart":     "writes a chart",
	"rollcall serve":           "runs until it is stopped, whatever the server does: serve_test.go",
	"rollcall mcp":             "asks only when a client calls a tool, which is a diagnosis: agents_test.go",
}

// TestEveryCommandIsInTheGrid: a command that is new is in the grid, or the reason is given here.
func TestEveryCommandIsInTheGrid(t *testing.T) {
	known := map[string]bool{"rollcall __complete": true} // cobra's own, made when it is called
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		path := c.CommandPath()
		known[path] = true
		_, asks := asking[path]
		_, isLocal := local[path]
		switch {
		case strings.HasPrefix(path, "rollcall lab") || strings.HasPrefix(path, "rollcall completion") || strings.HasPrefix(path, "rollcall list "):
		case asks == isLocal:
			t.Errorf("%s: name how it talks to an API server in asking, or why it does not in local", path)
		case isLocal && c.Flags().Lookup("kubeconfig") != nil && c.Flags().Lookup("kubeconfig").Value.Type() == "string" &&
			path != "rollcall fix history" && path != "rollcall mcp" && path != "rollcall serve":
			t.Errorf("%s has --kubeconfig, and is said to ask no API server", path)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Command("rollcall"))
	for path := range asking {
		if !known[path] {
			t.Errorf("there is no command %s", path)
		}
	}
	for path := range local {
		if !known[path] && path != "rollcall help" {
			t.Errorf("there is no command %s", path)
		}
	}
}

// gridFiles are what cells have in common: files that commands read, and the whole APIs behind broken servers.
type gridFiles struct {
	dir    string
	id     string           // of a run of workers
	broken *clitest.Cluster // something in it is to be repaired
	guests *pair            // a management cluster and its hosted cluster
	kinds  []clitest.Broken
}

// cell is a command in one of its ways with a kind of server.
type cell struct {
	command, words string
	kind           clitest.Broken
	hosted         bool // the hosted cluster's API is broken and not that of the kubeconfig
}

func (c cell) name() string {
	name := strings.TrimPrefix(c.command+" "+c.words, "rollcall ") + " | " + c.kind.Name
	if c.hosted {
		name += " at the hosted API"
	}
	return name
}

// result is how a cell ended.
type result struct {
	cell
	out, errs string
	code      cmdutil.ExitCode
	took      time.Duration
	hung      bool
	wrong     []string
}

// TestBrokenServers runs every command that talks to an API server against every kind of broken server. Each ends in time with
// a code of the table, a sentence or an answer, without a trace of a panic and without the secret that the server
// writes. `go test ./...` has about one of 96 cells, with ROLLCALL_WHOLE=1 one of six, with ROLLCALL_FULL=1 all of them.
func TestBrokenServers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	g := newGrid(t)
	only := os.Getenv("ROLLCALL_GRID") // a part of a name
	few := uint64(96)                  // one of so many cells
	if sample.Whole() {
		few = 6
	}
	var cells []cell
	for _, command := range slices.Sorted(maps.Keys(asking)) {
		for way, words := range asking[command] {
			for _, kind := range g.kinds {
				c := cell{command: command, words: words, kind: kind}
				if way > 0 && only == "" && !sample.One(6, c.name()) {
					continue // what differs between the ways is mostly not the reading
				}
				cells = append(cells, c)
				if strings.Contains(words, "--hosted ") && kind.Plugin == "" { // ForeignConfig refuses one with a plugin
					c.hosted = true
					cells = append(cells, c)
				}
			}
		}
	}
	cells = slices.DeleteFunc(cells, func(c cell) bool {
		return !strings.Contains(c.name(), only) || only == "" && !sample.Full() && !sample.One(few, c.name())
	})
	results := make([]result, len(cells))
	var work errgroup.Group
	work.SetLimit(4) // most cells wait
	for i, c := range cells {
		work.Go(func() error {
			results[i] = g.run(t, c)
			if results[i].judge(); len(results[i].wrong) > 0 {
				t.Logf("%s: %v after %v", c.name(), results[i].wrong, results[i].took)
			}
			return nil
		})
	}
	_ = work.Wait()
	failed := map[string]int{}
	for _, r := range results {
		if r.took > gridMost+gridWork && !r.hung { // it was not alone
			r = g.inTime(t, r.cell)
		}
		for _, wrong := range r.wrong {
			failed[wrong]++
		}
		if len(r.wrong) > 0 {
			t.Errorf("%s: %s\nexit code %d after %v\n%.1500s%.1500s", r.name(), strings.Join(r.wrong, "; "), r.code, r.took, r.out, r.errs)
		}
	}
	t.Logf("%d cells, wrong: %v", len(cells), failed)
}

// toRepair is what is wrong in the cluster of the grid: a fault that has a repair.
const toRepair = `
- at: machineconfigpools/master
  patch: {status: {configuration: {source: null}, updatedMachineCount: 2, readyMachineCount: 2}}
- at: clusteroperators/machine-config
  patch:
    status:
      conditions:
      - {type: Available, status: "True", lastTransitionTime: "2026-03-01T08:38:00Z"}
      - {type: Progressing, status: "False", lastTransitionTime: "2026-03-01T08:38:00Z"}
      - {type: Degraded, status: "True", reason: RequiredPoolsFailed, lastTransitionTime: "2026-03-01T11:00:00Z", message: "Unable to apply 4.20.6"}
`

func newGrid(t *testing.T) *gridFiles {
	t.Helper()
	g := &gridFiles{dir: t.TempDir(), guests: newGuests(t, nil), kinds: clitest.BrokenServers()}
	at := func(name string) string { return filepath.Join(g.dir, name) }
	cluster := func() *clitest.Cluster {
		c, err := clitest.NewCluster()
		if err != nil {
			t.Fatal(err)
		}
		var list []clitest.Change
		if err := yaml.UnmarshalStrict([]byte(toRepair), &list); err != nil {
			t.Fatal(err)
		}
		if err := c.Happen(list); err != nil {
			t.Fatal(err)
		}
		return c
	}
	g.broken = cluster()
	run := func(want cmdutil.ExitCode, kubeconfig string, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		words := append([]string{"rollcall"}, append(args, "--kubeconfig", kubeconfig)...)
		code := Main(t.Context(), words, cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs,
			Getenv: func(name string) string { return map[string]string{"HOME": g.dir}[name] }, Clock: func() time.Time { return clitest.Now }})
		if code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &out, &errs)
		}
		return out.String() + errs.String()
	}
	repaired := cluster()
	server := httptest.NewServer(repaired)
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clitest.WriteKubeconfig(kubeconfig, server.URL); err != nil {
		t.Fatal(err)
	}
	elf := append([]byte("\x7fELF\x02\x01"), make([]byte, 58)...) // the head of a program for Linux on amd64
	elf[18] = 62
	if err := os.WriteFile(at("elf"), elf, 0o600); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(at("hosts.yaml"), []byte("hosts:\n- name: w0\n  ips: [192.0.2.9]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(cmdutil.ExitOK, kubeconfig, "baseline", "save", at("good.json"))
	run(cmdutil.ExitOK, kubeconfig, "fix", "plan", "--state-dir", at("state"), "--to", at("plan.yaml"))
	pause := func(paused bool) {
		if err := repaired.Happen([]clitest.Change{{At: "machineconfigpools/master", Patch: map[string]any{"spec": map[string]any{"paused": paused}}}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"begun", "done"} {
		if err := copyTree(at(name), at("state")); err != nil {
			t.Fatal(err)
		}
	}
	pause(true)
	run(cmdutil.ExitNeedsHuman, kubeconfig, "fix", "apply", "--state-dir", at("begun"), "--wait", "0s", "--until", "plan", at("plan.yaml"))
	pause(false)
	run(cmdutil.ExitPartlyDone, kubeconfig, "fix", "apply", "--state-dir", at("done"), "--wait", "0s", "--until", "plan", at("plan.yaml"))
	g.begin(t, at)
	j, err := metalhost.Begin(at("hosts-runs"), metalhost.Plan{Run: gridHostRun, Made: clitest.Now, Cluster: "x", Set: "x", SetUID: "x", Host: metalhost.Want{
		Name: "w9", BMC: "ipmi://192.0.2.9", MAC: "52:54:00:0a:0b:0c", Secret: "x", HaveSecret: true}}, func() time.Time { return clitest.Now })
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return g
}

// begin begins a run of workers that ends before they have joined.
func (g *gridFiles) begin(t *testing.T, at func(string) string) {
	t.Helper()
	out, errs, code := g.guests.run(t, "worker", "create", "--hosted", "guests/edge.one", "--host", "vm-8=192.0.2.8", "--yes", "--window", "1s",
		"--dir", at("out"), "--state-dir", at("runs"))
	if code != cmdutil.ExitUndecided {
		t.Fatalf("worker create: exit code %d\n%s%s", code, out, errs)
	}
	entries, err := filepath.Glob(at("runs/*/w-*"))
	if err != nil || len(entries) != 1 {
		t.Fatalf("runs: %v, %v", entries, err)
	}
	g.id = filepath.Base(entries[0])
}

// copyTree copies a directory with the modes of what is in it: that of others is not read by a repair.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), raw, 0o600)
	})
}
