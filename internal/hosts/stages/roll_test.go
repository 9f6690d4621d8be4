package stages

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/scan"
)

var update = flag.Bool("update", false, "write the golden files")

// TestRoll calls the roll of the healthy clusters and of every cluster into which
// a fixture puts a fault. The golden file shows the hosts that have not passed the
// whole path; it is reviewed like code. A fault that leaves the roll of its base as it is has
// no entry.
func TestRoll(t *testing.T) {
	if testing.Short() {
		t.Skip("calls the roll of every overlay; the fixture's whole diagnoses do so side by side")
	}
	overlays, err := fixture.Overlays(os.DirFS(filepath.Join("..", "..", "..", "catalog")))
	if err != nil {
		t.Fatal(err)
	}
	if len(overlays) == 0 {
		t.Fatal("there are no overlays")
	}
	var got strings.Builder
	healthy := map[string]string{}
	for _, base := range fixture.Bases() {
		healthy[base] = call(t, fixture.Overlay{Path: base, Base: base})
		fmt.Fprintf(&got, "== healthy %s\n%s", base, healthy[base])
	}
	for _, o := range overlays {
		if o.Outcome != string(fault.Present) || o.Variant != "" {
			continue
		}
		if roll := call(t, o); roll != healthy[o.Base] {
			fmt.Fprintf(&got, "== %s\n%s", o.Fault, roll)
		}
	}
	golden := filepath.Join("testdata", "roll.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("the roll (-want +got):\n%s", diff)
	}
}

// signatures are compiled once for all fixtures.
var signatures = sync.OnceValue(func() *scan.Set {
	set, err := fixture.Signatures()
	if err != nil {
		panic(err) // a mistake of the list
	}
	return set
})

func call(t *testing.T, o fixture.Overlay) string {
	t.Helper()
	fsys, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	source, err := fixture.Open(fsys)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := source.Reader(signatures())
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	w, err := fixture.World(ctx, reader, o.Now)
	if err != nil {
		t.Fatal(err)
	}
	list, err := Caller{}.Hosts(ctx, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	return render(list)
}

// render shows the hosts that are not done and their open stages, and counts the rest.
func render(list []diagnosis.HostState) string {
	var b strings.Builder
	done := 0
	for _, h := range list {
		if h.State == diagnosis.StagePassed {
			done++
			continue
		}
		fmt.Fprintf(&b, "%s %s stands at %s\n", h.Name, h.Role, h.Stage)
		for _, s := range h.Stages {
			if s.State != diagnosis.StagePassed && s.State != diagnosis.StageNotApplicable {
				fmt.Fprintf(&b, "  %s %s: %s\n", s.Stage, s.State, s.Why)
			}
		}
	}
	fmt.Fprintf(&b, "%d of %d done\n", done, len(list))
	return b.String()
}

func TestStanding(t *testing.T) {
	const p, f, w, u, n = diagnosis.StagePassed, diagnosis.StageFailed, diagnosis.StageWaiting, diagnosis.StageUnknown, diagnosis.StageNotApplicable
	tests := []struct {
		name   string
		states map[fault.Stage]diagnosis.StageOutcome // the others are passed
		want   fault.Stage
	}{
		{"all passed", nil, fault.ConfigDone},
		{"the first that waits", map[fault.Stage]diagnosis.StageOutcome{fault.Ready: w, fault.ConfigDone: w}, fault.Ready},
		{"a failure goes before what waits", map[fault.Stage]diagnosis.StageOutcome{fault.ServingCert: w, fault.ConfigDone: f}, fault.ConfigDone},
		{"what could not be seen beside the path does not hide that it waits", map[fault.Stage]diagnosis.StageOutcome{fault.EtcdMember: u, fault.ConfigDone: w}, fault.ConfigDone},
		{"what could not be seen on the path does", map[fault.Stage]diagnosis.StageOutcome{fault.FirstBoot: u, fault.Registered: w}, fault.FirstBoot},
		{"not applicable is passed over", map[fault.Stage]diagnosis.StageOutcome{fault.Inspected: n}, fault.ConfigDone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stages []diagnosis.StageState
			for _, s := range fault.Stages() {
				state, ok := tt.states[s]
				if !ok {
					state = p
				}
				stages = append(stages, diagnosis.StageState{Stage: s, State: state})
			}
			if got := stages[currentStage(stages)].Stage; got != tt.want {
				t.Errorf("stands at %s, want %s", got, tt.want)
			}
		})
	}
}

// TestRulesFollowThePath: one rule for each stage, in the order of the path.
func TestRulesFollowThePath(t *testing.T) {
	var got []fault.Stage
	for _, r := range rules() {
		got = append(got, r.stage)
	}
	if !slices.Equal(got, fault.Stages()) {
		t.Errorf("rules %v, stages %v", got, fault.Stages())
	}
}

// TestKinds calls the roll of one cluster of each kind of install, with every host
// that is on it. The archives are written by hand and small: what a kind does not
// have is not there.
func TestKinds(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "kinds", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fsys := fstest.MapFS{}
			for _, f := range a.Files {
				fsys["must-gather.local.1/image/"+f.Name] = &fstest.MapFile{Data: f.Data}
			}
			reader, err := fixture.Reader(fsys)
			if err != nil {
				t.Fatal(err)
			}
			w, err := fixture.World(t.Context(), reader, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
			if err != nil {
				t.Fatal(err)
			}
			list, err := Caller{}.Hosts(t.Context(), w, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := string(a.Comment) + "\n" + whole(list)
			golden := strings.TrimSuffix(file, ".txtar") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the roll (-want +got):\n%s", diff)
			}
		})
	}
}

// whole shows every host with every stage that has a meaning for it.
func whole(list []diagnosis.HostState) string {
	var b strings.Builder
	for _, h := range list {
		claimed := ""
		if !h.Expected {
			claimed = " (claimed, not expected)"
		}
		fmt.Fprintf(&b, "%s %s%s: %s at %s", h.Name, h.Role, claimed, h.State, h.Stage)
		if !h.Since.IsZero() {
			fmt.Fprintf(&b, " since %s", h.Since.UTC().Format(time.RFC3339))
		}
		b.WriteString("\n")
		for _, s := range h.Stages {
			fmt.Fprintf(&b, "  %-17s%-15s", s.Stage, s.State)
			if !s.At.IsZero() {
				fmt.Fprintf(&b, "%s ", s.At.UTC().Format(time.RFC3339))
			}
			b.WriteString(s.Why + "\n")
		}
	}
	return regexp.MustCompile(` +\n`).ReplaceAllString(b.String(), "\n")
}

// What a MachineSet lacks has been lacking since it was created, as long as it is young; of an
// older one it is not known since when.
func TestGapSince(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for age, known := range map[time.Duration]bool{0: true, 5 * time.Minute: true, time.Hour: false, -time.Minute: false} {
		created := now.Add(-age)
		list := missing(inventory.Gap{Role: "worker", Of: "set", Since: created, Wanted: 2, Named: 1}, now)
		if len(list) != 1 || list[0].State != diagnosis.StageWaiting {
			t.Fatalf("%v: %+v", age, list)
		}
		if got := !list[0].Since.IsZero(); got != known {
			t.Errorf("%v old: since %v", age, list[0].Since)
		}
	}
	if list := missing(inventory.Gap{Role: "worker", Wanted: 1}, now); !list[0].Since.IsZero() {
		t.Errorf("without a MachineSet since %v", list[0].Since)
	}
}

// TestLoggedLines: a line of a host's journal shows that it is powered, and one of its kubelet that its
// first boot is over. Before that nothing is claimed.
func TestLoggedLines(t *testing.T) {
	const (
		crio    = "Nov 12 03:01:00 w1 crio[9]: time=\"x\" level=info msg=\"y\"\n"
		kubelet = "Nov 12 03:04:05 w1 kubenswrapper[123]: I1112 03:04:05.100000 123 x.go:1] y\n"
	)
	for name, c := range map[string]struct {
		text string
		want fault.Stage // at which the host is
	}{
		"some program":   {crio, fault.Imaged},
		"the kubelet":    {crio + kubelet, fault.ClientCert},
		"of another one": {strings.ReplaceAll(kubelet, " w1 ", " localhost "), ""},
	} {
		reader, err := fixture.Reader(fstest.MapFS{"host.log": {Data: []byte(c.text)}})
		if err != nil {
			t.Fatal(err)
		}
		list, err := Caller{}.Hosts(t.Context(), facts.NewWorld(reader, time.Date(2026, 11, 12, 4, 0, 0, 0, time.UTC)), nil)
		if err != nil {
			t.Fatal(err)
		}
		var at fault.Stage
		for _, h := range list {
			at = h.Stage
		}
		if at != c.want {
			t.Errorf("%s: at %q, want %q: %s", name, at, c.want, render(list))
		}
	}
}
