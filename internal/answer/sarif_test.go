package answer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/page"
)

func sarifOf(t *testing.T, d *diagnosis.Diagnosis, o Options) (sarifLog, []byte) {
	t.Helper()
	var out bytes.Buffer
	if err := renderSARIF(&out, d, o); err != nil {
		t.Fatal(err)
	}
	var log sarifLog
	dec := json.NewDecoder(bytes.NewReader(out.Bytes()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	return log, out.Bytes()
}

func TestSARIFGolden(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			log, raw := sarifOf(t, s.make(), options(page.Style{}))
			golden(t, "sarif-"+s.name+".sarif", raw)
			checkSARIF(t, log, s.make())
		})
		t.Run(s.name+"/hostile", func(t *testing.T) {
			for _, keep := range [][]string{nil, {"state", "outcome", "stage", "kind", "class", "severity", "strength"}} {
				d := poison(t, s.make(), keep...)
				log, raw := sarifOf(t, d, hostileOptions())
				checkSARIF(t, log, d)
				if bytes.ContainsAny(raw, "\x1b\x00") || bytes.Contains(raw, []byte("<script")) {
					t.Error("foreign text is not escaped")
				}
			}
		})
	}
}

// checkSARIF holds a log against what the schema of SARIF 2.1.0 and its text demand.
func checkSARIF(t *testing.T, log sarifLog, d *diagnosis.Diagnosis) {
	t.Helper()
	if log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("version %q, %d runs", log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	cases := 0
	for _, r := range d.Roots {
		cases += len(r.Cases)
	}
	if want := cases + len(d.Unexplained) + len(d.Accepted); len(run.Results) != want {
		t.Errorf("%d results, want %d", len(run.Results), want)
	}
	ids := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if ids[r.ID] || r.ID == "" || r.Short.Text == "" {
			t.Errorf("rule %q is there twice or says nothing", r.ID)
		}
		ids[r.ID] = true
	}
	for i, r := range run.Results {
		rules := run.Tool.Driver.Rules
		if r.RuleIndex < 0 || r.RuleIndex >= len(rules) || rules[r.RuleIndex].ID != r.RuleID {
			t.Errorf("rule %q is not rule %d", r.RuleID, r.RuleIndex)
		}
		if !slices.Contains([]string{"error", "warning", "note"}, r.Level) || r.Kind != "fail" || r.Message.Text == "" {
			t.Errorf("result %q: level %q, kind %q", r.RuleID, r.Level, r.Kind)
		}
		if accepted := i >= cases+len(d.Unexplained); r.Suppressions == nil || len(r.Suppressions) > 0 != accepted || len(r.Locations) != 1 {
			t.Errorf("result %q: suppressions %v, %d locations", r.RuleID, r.Suppressions, len(r.Locations))
		}
		for _, x := range r.Suppressions {
			if x.Kind != "external" || x.Status != "accepted" || x.Justification == "" {
				t.Errorf("result %q: suppression %+v", r.RuleID, x)
			}
		}
		locations := slices.Concat(r.Locations, r.Related)
		for _, f := range r.CodeFlows {
			if len(f.Threads) != 1 || len(f.Threads[0].Steps) < 2 {
				t.Errorf("result %q: a flow without a way", r.RuleID)
			}
			for i, step := range f.Threads[0].Steps {
				if step.Nesting != i {
					t.Errorf("step %d at level %d", i, step.Nesting)
				}
				locations = append(locations, step.Location)
			}
		}
		for _, l := range locations {
			checkLocation(t, l, run.Bases)
		}
		for n, l := range r.Related {
			if l.ID == nil || *l.ID != n || l.Message == nil {
				t.Errorf("related location %d has no id or says nothing", n)
			}
		}
	}
}

func checkLocation(t *testing.T, l sarifLocation, bases map[string]sarifBase) {
	t.Helper()
	if len(l.Logical) == 0 || l.Message != nil && l.Message.Text == "" {
		t.Errorf("location %+v names nothing", l)
	}
	if l.Physical == nil {
		return
	}
	uri, base := l.Physical.Artifact.URI, l.Physical.Artifact.Base
	u, err := url.Parse(uri)
	if err != nil || u.IsAbs() || strings.HasPrefix(uri, "/") || strings.ContainsAny(uri, " \"<>\\^`{|}\x00\x1b") {
		t.Errorf("%q is no relative URI: %v", uri, err)
	}
	if _, ok := bases[base]; !ok {
		t.Errorf("base %q is not described", base)
	}
	if l.Physical.Region != nil && l.Physical.Region.StartLine < 1 {
		t.Errorf("line %d", l.Physical.Region.StartLine)
	}
}

// TestSARIFFingerprints compares two runs: another archive of the same cluster, later.
func TestSARIFFingerprints(t *testing.T) {
	first, _ := sarifOf(t, answertest.TwoRoots(), options(page.Style{}))
	later := answertest.TwoRoots()
	later.Source.Name, later.Now = "./another", later.Now.Add(time.Hour)
	for i := range later.Roots {
		later.Roots[i].Cases[0].Since = later.Now
		later.Roots[i].Cases[0].Evidence = nil
	}
	second, _ := sarifOf(t, later, options(page.Style{}))
	seen := map[string]bool{}
	for i, r := range first.Runs[0].Results {
		if fmt.Sprint(r.Fingerprints) != fmt.Sprint(second.Runs[0].Results[i].Fingerprints) {
			t.Errorf("%s has another fingerprint in another run", r.RuleID)
		}
		if seen[fmt.Sprint(r.Fingerprints)] {
			t.Errorf("%s shares its fingerprint", r.RuleID)
		}
		seen[fmt.Sprint(r.Fingerprints)] = true
	}
	other := answertest.TwoRoots()
	other.Cluster.ID = "another"
	third, _ := sarifOf(t, other, options(page.Style{}))
	if fmt.Sprint(third.Runs[0].Results[0].Fingerprints) == fmt.Sprint(first.Runs[0].Results[0].Fingerprints) {
		t.Error("two clusters share a fingerprint")
	}
}

// TestSARIFSaysWhatWasNotRead holds that no result is not taken for no fault.
func TestSARIFSaysWhatWasNotRead(t *testing.T) {
	log, _ := sarifOf(t, answertest.Unreadable(), options(page.Style{}))
	n := log.Runs[0].Invocations[0].Notifications
	if len(log.Runs[0].Results) != 0 || len(n) != 1 || !strings.Contains(n[0].Message.Text, "connection refused") {
		t.Errorf("%d results, notifications %+v", len(log.Runs[0].Results), n)
	}
}
