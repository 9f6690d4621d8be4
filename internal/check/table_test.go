package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/session"
)

// states are the columns of the table, with the overlay of the catalog that each is on.
var states = map[string]string{
	"healthy": "", "mismatch": "machine-config/testdata/bootstrap-mc-mismatch.txtar", "member": "control-plane/testdata/etcd-member-unhealthy.txtar",
	"quorum": "control-plane/testdata/etcd-no-quorum.txtar", "pool": "", "update": "", "mcs": "", "certificate": "",
	"rogue": "csr/testdata/csr-name-claimed-by-stranger.txtar", "hosted": "", "single": "", "nothing": "",
}

// cell is one answer that was written by hand.
type cell struct {
	row, command, state string
	verdict             Verdict
	why                 string // a part of it
}

var verdicts = map[string]Verdict{"reads": Reads, "safe": Safe, "unsafe": Unsafe, "person": Person, "unknown": Unknown}

// table reads testdata/table.txt.
func table(t *testing.T) (cells []cell) {
	t.Helper()
	names := stateNames(t)
	seen := map[string]bool{}
	row, command := "", ""
	for _, line := range lines(t, "testdata/table.txt") {
		if !strings.HasPrefix(line, " ") {
			row, command, _ = strings.Cut(line, " ")
			continue
		}
		left, right, ok := strings.Cut(strings.TrimSpace(line), ": ")
		word, why, ok2 := strings.Cut(right, " |")
		if verdict, known := verdicts[word]; !ok || !ok2 || !known {
			t.Fatalf("row %s: %q", row, line)
		} else {
			for _, state := range strings.Fields(left) {
				if _, ok := states[state]; !ok || seen[row+state] {
					t.Fatalf("row %s: state %s is unknown, or there twice", row, state)
				}
				seen[row+state] = true
				cells = append(cells, cell{row, names(state).Replace(command), state, verdict, strings.TrimSpace(why)})
			}
		}
	}
	for _, c := range cells {
		for state := range states {
			if !seen[c.row+state] {
				t.Fatalf("row %s has no answer for %s", c.row, state)
			}
		}
	}
	return cells
}

// lines are those of a file, without comments and empty ones.
func lines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(raw), "\n"), func(l string) bool { return strings.TrimSpace(l) == "" || strings.HasPrefix(l, "#") })
}

// stateNames puts the names of a state in the place of those in braces.
func stateNames(t *testing.T) func(state string) *strings.Replacer {
	list := map[string][]string{}
	for _, line := range lines(t, "testdata/names.txt") {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			name, value, _ := strings.Cut(w, "=")
			list[words[0]] = append(list[words[0]], "{"+name+"}", value)
		}
	}
	return func(state string) *strings.Replacer {
		return strings.NewReplacer(append(slices.Clone(list[state]), list["*"]...)...)
	}
}

// stateFS is the archive of a state.
func stateFS(t *testing.T, state string) fstest.MapFS {
	t.Helper()
	read := func(path string) *txtar.Archive {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := read("testdata/states/" + state + ".txtar")
	var before []txtar.File
	if state != "hosted" && state != "nothing" {
		before = read("testdata/states/common.txtar").Files
	}
	if on := states[state]; on != "" {
		before = append(before, read(filepath.Join("../../catalog", on)).Files...)
	}
	a.Files = append(before, a.Files...)
	o, err := fixture.ParseOverlay(state+".txtar", txtar.Format(a))
	if err != nil {
		t.Fatal(err)
	}
	files, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	if state == "nothing" {
		for name := range files {
			if !strings.HasSuffix(name, "/timestamp") && !strings.HasSuffix(name, "/version") && !strings.HasSuffix(name,
				"namespaces/openshift-machine-config-operator/core/events.yaml") {
				delete(files, name)
			}
		}
	}
	return files
}

// question is a state that was read; the text is missing.
func question(t *testing.T, files fstest.MapFS) *Question {
	t.Helper()
	source, err := fixture.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	env := session.Env{Name: "rollcall", Getenv: func(string) string { return "" }, Clock: time.Now, Remedies: func() []string { return nil },
		Checks: func() []string { return nil }, Clean: func(s string) string { return s }, Warn: func(string, ...any) {},
		Progress: func(string, ...any) func() { return func() {} }}
	run, err := session.New(env, testCache, session.Options{}).OpenOver(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	d, err := run.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := facts.NewWorld(run.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	return &Question{World: w, Diagnosis: d, Catalog: run.Catalog, Whole: true, Name: "rollcall"}
}

var testCache = &session.Cache{}

// stateQuestions are the states that were read, each once.
var stateQuestions = map[string]*Question{}

func stateQuestion(t *testing.T, state string) *Question {
	t.Helper()
	if stateQuestions[state] == nil {
		stateQuestions[state] = question(t, stateFS(t, state))
	}
	return stateQuestions[state]
}

// TestTable: the answers that were written by hand.
func TestTable(t *testing.T) {
	right, wrong := 0, 0
	for _, c := range table(t) {
		q := *stateQuestion(t, c.state)
		q.Text = c.command
		r, err := Answer(t.Context(), &q)
		if err != nil {
			t.Errorf("%s %s: %v", c.row, c.state, err)
			wrong++
			continue
		}
		if r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) && c.verdict != Reads {
			wrong++
			t.Errorf("%s in %s: %s\n\tgot  %s: %s\n\twant %s: %s", c.row, c.state, c.command, r.Verdict, r.Why, c.verdict, c.why)
			continue
		}
		right++
	}
	t.Logf("%d of %d cells", right, right+wrong)
}
