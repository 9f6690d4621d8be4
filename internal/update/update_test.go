package update_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/update"
)

// state is an archive: a base with what a healthy cluster has besides, and changes.
func state(t *testing.T, overlay string) fstest.MapFS {
	t.Helper()
	changes, ok := strings.CutPrefix(overlay, "catalog:")
	on := ""
	if ok {
		on, changes, _ = strings.Cut(changes, "\n")
	}
	a := txtar.Parse([]byte(changes))
	common, err := txtar.ParseFile("testdata/common.txtar")
	if err != nil {
		t.Fatal(err)
	}
	before := common.Files
	if on != "" {
		of, err := txtar.ParseFile(filepath.Join("../../catalog", on))
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, of.Files...)
	}
	if len(a.Comment) == 0 {
		a.Comment = []byte("base: ocp-4.20-baremetal\nsubject: cluster\n")
	}
	a.Files = append(before, a.Files...)
	o, err := fixture.ParseOverlay("update.txtar", txtar.Format(a))
	if err != nil {
		t.Fatal(err)
	}
	files, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

var (
	cache = &session.Cache{}
	renew = flag.Bool("update", false, "write the golden files anew")
)

// check answers for an archive; whole says that its lists are those of the whole cluster.
func check(t *testing.T, files fstest.MapFS, to string, whole bool) *update.Report {
	t.Helper()
	source, err := fixture.Open(files)
	if err != nil {
		t.Fatal(err)
	}
	env := session.Env{Name: "rollcall", Getenv: func(string) string { return "" }, Clock: time.Now, Remedies: func() []string { return nil },
		Checks: func() []string { return nil }, Clean: func(s string) string { return s }, Warn: func(string, ...any) {},
		Progress: func(string, ...any) func() { return func() {} }}
	run, err := session.New(env, cache, session.Options{}).OpenOver(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	d, err := run.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := facts.NewWorld(run.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	q := update.Question{World: w, Diagnosis: d, Window: 24 * time.Hour, Whole: whole, Name: "rollcall",
		HowToGet: func(s evidence.Supply) string { return s.String() }}
	if to != "" {
		if q.Target, err = update.ParseVersion(to); err != nil {
			t.Fatal(err)
		}
	}
	r, err := update.Answer(t.Context(), &q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func result(t *testing.T, r *update.Report, id string) *update.Result {
	t.Helper()
	i := slices.IndexFunc(r.Checks, func(c *update.Result) bool { return c.ID == id })
	if i < 0 {
		t.Fatalf("there is no check %s", id)
	}
	return r.Checks[i]
}

func dump(r *update.Report) string {
	raw, _ := json.MarshalIndent(r, "", " ")
	return string(raw)
}

// TestHealthy: a healthy cluster is ready, with all of its own budgets and health checks; an archive of it
// does not have every namespace.
func TestHealthy(t *testing.T) {
	r := check(t, state(t, ""), "4.21.1", true)
	if r.Verdict != update.Ready || r.Holds > 0 {
		t.Errorf("%s", dump(r))
	}
	for _, c := range r.Checks {
		if c.Outcome == fault.Present && c.ID != "cluster-version" || c.Outcome == fault.Unknown && c.ID != "remediation" {
			t.Errorf("%s is %s: %+v %+v", c.ID, c.Outcome, c.Findings, c.Missing)
		}
	}
	if r := check(t, state(t, ""), "", false); r.Verdict != update.Undecided || result(t, r, "drains").Outcome != fault.Unknown {
		t.Errorf("an archive: %s", r.Verdict)
	}
}

// TestPresent: each check finds what it is for, says which hosts, what to do and how to see that it worked.
func TestPresent(t *testing.T) {
	for _, c := range cases(t) {
		t.Run(c.name, func(t *testing.T) {
			r := check(t, state(t, c.overlay), c.to, true)
			res := result(t, r, c.check)
			if res.Outcome != c.outcome || r.Verdict != c.verdict {
				t.Fatalf("%s is %s, want %s; the verdict is %s, want %s\n%s", c.check, res.Outcome, c.outcome, r.Verdict, c.verdict, dump(r))
			}
			text := dump(&update.Report{Checks: []*update.Result{res}})
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not in %s", part, text)
				}
			}
			for _, f := range res.Findings {
				if len(f.Do) == 0 || f.See == "" || f.Says == "" {
					t.Errorf("no way out: %+v", f)
				}
			}
		})
	}
}

// evidenceOf is what each check decides by, as parts of the names of files; what a bar parts is one thing.
var evidenceOf = map[string][]string{
	"cluster-version": {"/clusterversions/"}, "operators": {"/clusteroperators"}, "kubelet-skew": {"/nodes/", "/clusterversions/"},
	"pools": {"/machineconfigpools/"}, "host-config": {"/machineconfigpools/", "/nodes/"}, "nodes": {"/nodes/"},
	"drains": {"/poddisruptionbudgets/", "namespaces/shop/pods/"}, "etcd": {"/etcds/|/clusteroperators|etcd_info", "/infrastructures/"},
	"certificates": {"/csr-signer"}, "bmc": {"/baremetalhosts/"},
}

// TestTakenAway: without the objects by which a check decides the answer is never better than with them.
func TestTakenAway(t *testing.T) {
	for _, c := range cases(t) {
		if c.verdict != update.NotReady || c.outcome != fault.Present {
			continue
		}
		if len(evidenceOf[c.check]) == 0 {
			t.Errorf("%s: it is not known what shows it", c.check)
		}
		for _, kind := range evidenceOf[c.check] {
			files := state(t, c.overlay)
			for name := range files {
				for part := range strings.SplitSeq(kind, "|") {
					if strings.Contains(name, part) {
						delete(files, name)
					}
				}
			}
			if r := check(t, files, c.to, true); r.Verdict == update.Ready {
				t.Errorf("%s without %s: %s", c.name, kind, r.Why)
			}
		}
	}
}

// TestChecks: each has an id of its own, a source, and only faults that the catalog has.
func TestChecks(t *testing.T) {
	seen, faults := map[string]bool{}, map[string]string{}
	catalog, err := os.ReadDir("../../catalog")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, dir := range catalog {
		list, _ := filepath.Glob("../../catalog/" + dir.Name() + "/*.yaml")
		for _, f := range list {
			known[strings.TrimSuffix(filepath.Base(f), ".yaml")] = true
		}
	}
	for _, c := range update.Checks() {
		if c.ID == "" || seen[c.ID] || c.Title == "" || len(c.Sources) == 0 || c.Look == nil && len(c.Faults) == 0 {
			t.Errorf("check %q is not whole, or there twice", c.ID)
		}
		seen[c.ID] = true
		for _, id := range c.Faults {
			if !known[id] || faults[id] != "" {
				t.Errorf("check %s: the catalog has no fault %s, or check %q has it, too", c.ID, id, faults[id])
			}
			faults[id] = c.ID
		}
		for _, id := range append(slices.Clone(c.Hold), c.NewHosts...) {
			if !slices.Contains(c.Faults, id) {
				t.Errorf("check %s: %s is not among its faults", c.ID, id)
			}
		}
	}
}

// TestPrinted: the text of an answer, as a person reads it.
func TestPrinted(t *testing.T) {
	for _, c := range cases(t) {
		if c.name != "a budget that never allows one" {
			continue
		}
		var b strings.Builder
		if err := check(t, state(t, c.overlay), c.to, true).Write(&b, page.Style{Width: 120}); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("testdata/printed.txt")
		if err != nil || b.String() != string(want) {
			if *renew {
				if err := os.WriteFile("testdata/printed.txt", []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("got:\n%s\nwant:\n%s(%v)", &b, want, err)
		}
	}
}

// TestVersions: which release is older, and how far a kubelet may be behind.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		a, b   string
		before bool
	}{{"4.18.3", "4.18.10", true}, {"4.18", "4.18.10", false}, {"4.9.1", "4.10.0", true}, {"4.20.1", "4.19.9", false}} {
		a, err := update.ParseVersion(c.a)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := update.ParseVersion(c.b)
		if a.Before(b) != c.before {
			t.Errorf("%s before %s: %t", c.a, c.b, !c.before)
		}
	}
	for _, text := range []string{"", "4", "5.1", "4.18.x", "v4.18", "4.18.3; rm"} {
		if v, err := update.ParseVersion(text); err == nil {
			t.Errorf("%q is %+v", text, v)
		}
	}
}
