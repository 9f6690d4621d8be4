package fleet

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func options() Options {
	return Options{Program: "rollcall", Version: "v1", AtOnce: 4, Within: 50 * time.Millisecond, Clock: func() time.Time { return noon }, Clean: page.Style{}.Clean}
}

// broken is a diagnosis with one cause at some hosts, of which done have joined.
func broken(id, title string, hosts, done int) *diagnosis.Diagnosis {
	d := &diagnosis.Diagnosis{Now: noon, Verdict: diagnosis.Verdict{Class: diagnosis.RecoverableInPlace, Cause: diagnosis.CauseKnown},
		Cluster: diagnosis.ClusterInfo{Version: "4.20.4", Platform: "BareMetal"}}
	key := fault.Key{Fault: id, Subject: fault.Subject{Kind: fault.Pool, Name: "master"}}
	d.Roots = []diagnosis.Root{{Fault: id, Severity: fault.Error, Cases: []diagnosis.Case{{Key: key, Title: title, Confidence: diagnosis.Proven}}}}
	d.Findings = []diagnosis.Finding{{Fault: id, Subject: key.Subject, Outcome: fault.Present, Severity: fault.Error}}
	for i := range hosts {
		state := diagnosis.StageFailed
		if i < done {
			state = diagnosis.StagePassed
		}
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: fmt.Sprint("h", i), Expected: true, State: state})
	}
	return d
}

func quiet() *diagnosis.Diagnosis {
	d := broken("x", "", 3, 3)
	d.Roots, d.Findings, d.Verdict = nil, nil, diagnosis.Verdict{Class: diagnosis.Healthy, Cause: diagnosis.CauseNone}
	return d
}

func says(d *diagnosis.Diagnosis, err error) func(context.Context) (*diagnosis.Diagnosis, error) {
	return func(context.Context) (*diagnosis.Diagnosis, error) { return d, err }
}

// TestRun: one that hangs, one that panics and one that fails are results of their own, and the others are asked.
func TestRun(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	list := []Cluster{
		{Name: "hangs", Ask: func(context.Context) (*diagnosis.Diagnosis, error) { <-hang; return nil, nil }},
		{Name: "waits", Ask: func(ctx context.Context) (*diagnosis.Diagnosis, error) { <-ctx.Done(); return nil, ctx.Err() }},
		{Name: "panics", Ask: func(context.Context) (*diagnosis.Diagnosis, error) { panic("secret value") }},
		{Name: "fails", Ask: says(nil, errors.New("no \x1b[31mway"))},
		{Name: "quiet", Ask: says(quiet(), nil)},
		{Name: "broken", Ask: says(broken("a", "title", 3, 1), nil)},
	}
	results, err := Run(t.Context(), list, options())
	if err != nil || len(results) != len(list) {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for i, want := range []struct {
		state State
		says  string
	}{{NotRead, "no answer within"}, {NotRead, "no answer within"}, {NotRead, "defect of the program"}, {NotRead, `no \x1b[31mway`}, {Quiet, ""}, {Broken, ""}} {
		r := results[i]
		if r.Name != list[i].Name || r.State != want.state || !strings.Contains(r.Error, want.says) || strings.Contains(r.Error, "secret value") {
			t.Errorf("%s: %s %q, want %s %q", r.Name, r.State, r.Error, want.state, want.says)
		}
	}
	if b := results[5]; b.Hosts != 3 || b.Done != 1 || len(b.Causes) != 1 || b.Causes[0].Confidence != diagnosis.Proven {
		t.Errorf("%+v", b)
	}
}

// TestStop: an error of who keeps the results ends the run, and so does the end of the context. What was begun then is no
// result.
func TestStop(t *testing.T) {
	var list []Cluster
	for i := range 50 {
		list = append(list, Cluster{Name: fmt.Sprint(i), Ask: says(quiet(), nil)})
	}
	o := options()
	full := errors.New("the disk is full")
	var n atomic.Int32
	o.Done = func(Result) error {
		if n.Add(1) == 3 {
			return full
		}
		return nil
	}
	if results, err := Run(t.Context(), list, o); !errors.Is(err, full) || len(results) != 3 {
		t.Errorf("%d results, %v", len(results), err)
	}
	ctx, stop := context.WithCancel(t.Context())
	o.AtOnce, o.Done = 1, func(Result) error { stop(); return nil }
	if results, err := Run(ctx, list, o); err == nil || !strings.Contains(err.Error(), "interrupted after 1 of 50") || len(results) != 1 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

// TestStates: nothing that was not read, or not decided, is quiet.
func TestStates(t *testing.T) {
	for class, want := range map[diagnosis.VerdictClass]State{
		diagnosis.Healthy: Quiet, diagnosis.Settling: InProgress, diagnosis.CannotCheck: NotRead, diagnosis.Undetermined: Undecided,
		diagnosis.ReinstallRequired: Broken, diagnosis.RecoverableQuorum: Broken, diagnosis.OnlyAccepted: Warning, "a class to come": Undecided,
	} {
		d := quiet()
		d.Verdict = diagnosis.Verdict{Class: class, Cause: diagnosis.CauseUnknown}
		if want == Broken {
			d = broken("a", "t", 1, 0)
			d.Verdict.Class = class
		}
		if r := of(d); r.State != want {
			t.Errorf("%s: %s, want %s", class, r.State, want)
		}
	}
}

func report(t *testing.T) Report {
	t.Helper()
	late := "no answer within 2m"
	long := strings.Repeat("machine config server of the bootstrap host ", 4)
	var list []Cluster
	for _, c := range []struct {
		name string
		d    *diagnosis.Diagnosis
		err  error
	}{
		{"edge-1", quiet(), nil}, {"edge-2", nil, errors.New(late)}, {"prod-a", broken("bootstrap-mc-mismatch", "pool master wants a config that is gone", 3, 2), nil},
		{"prod-b", broken("bootstrap-mc-mismatch", "pool master wants a config that is gone", 3, 0), nil}, {"prod-c", broken("etcd-member-dead", long, 5, 5), nil},
	} {
		list = append(list, Cluster{Name: c.name, Call: "--context " + c.name, Ask: says(c.d, c.err)})
	}
	results, err := Run(t.Context(), list, options())
	if err != nil {
		t.Fatal(err)
	}
	return ReportOf(results)
}

// TestReport: the worst first, and what several have in common.
func TestReport(t *testing.T) {
	r := report(t)
	var names []string
	for _, c := range r.Clusters {
		names = append(names, c.Name)
	}
	if want := []string{"prod-b", "prod-a", "prod-c", "edge-2", "edge-1"}; !slices.Equal(names, want) {
		t.Errorf("%v, want %v", names, want)
	}
	if len(r.Shared) != 1 || !slices.Equal(r.Shared[0].Clusters, []string{"prod-b", "prod-a"}) || r.Counts[Broken] != 3 || r.Counts[NotRead] != 1 {
		t.Errorf("%+v %v", r.Shared, r.Counts)
	}
	if !r.Fails("error") || !r.Fails("warning") {
		t.Error("a cause that is an error does not count")
	}
	if empty := ReportOf(nil); empty.Clusters == nil || empty.Fails("info") {
		t.Errorf("%+v", empty)
	}
}

// TestText: the table at two widths, wide, and without headings.
func TestText(t *testing.T) {
	r := report(t)
	for name, l := range map[string]Look{"text-80": {Style: page.Style{Width: 80}}, "text-140": {Style: page.Style{Width: 140}},
		"wide-140": {Style: page.Style{Width: 140}, Wide: true}, "bare": {Style: page.Style{Width: 80, ASCII: true}, NoHeaders: true}} {
		l.Program = "rollcall"
		var b bytes.Buffer
		if err := Text(&b, r, l); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", b.Bytes())
	}
	var b bytes.Buffer
	if err := Names(&b, r); err != nil || b.String() != "prod-b\nprod-a\nprod-c\nedge-2\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestHTML: what clusters wrote is text on the page, and the page runs nothing.
func TestHTML(t *testing.T) {
	r := report(t)
	r.Clusters[0].Causes[0].Title = `<script>alert("x")</script><img src=x onerror=y>`
	r.Clusters[3].Error = `</table><a href="javascript:z">`
	var b bytes.Buffer
	if err := HTML(&b, r, noon, Look{Program: "rollcall"}); err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{"<script", "<img", "</table><a", "http://", "https://"} {
		if strings.Contains(b.String(), not) {
			t.Errorf("the page has %q", not)
		}
	}
	golden(t, "page.html", b.Bytes())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not as in testdata (%v):\n%s", name, err, got)
	}
}

// TestJob: the manifest is YAML with what was asked for, and no word of a flag is more than a value.
func TestJob(t *testing.T) {
	j := Job{Name: "f", Namespace: "ns", Image: "r/n:t", Archives: "a", Results: "b", Parts: 20, Within: "10m0s"}
	var b bytes.Buffer
	if err := j.Manifest(&b); err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := yaml.UnmarshalStrict(b.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	spec := m["spec"].(map[string]any)
	if spec["completions"] != 20.0 || spec["parallelism"] != 8.0 || spec["completionMode"] != "Indexed" || m["metadata"].(map[string]any)["namespace"] != "ns" {
		t.Errorf("%v", m)
	}
	for _, wrong := range []Job{{}, {Name: "f", Image: "x", Archives: "a\n- b", Results: "b", Parts: 1}, {Name: "f", Image: "x: y", Archives: "a", Results: "b", Parts: 1},
		{Name: "f", Image: "x", Archives: "a", Results: "b"}} {
		if err := wrong.Manifest(&b); err == nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
}
