package roll

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/fixture"
)

var update = flag.Bool("update", false, "write the golden files")

// TestBases: on the healthy clusters every host has passed the whole path.
func TestBases(t *testing.T) {
	for _, base := range fixture.Bases() {
		t.Run(base, func(t *testing.T) {
			golden(t, base, fixture.Overlay{Path: base, Base: base})
		})
	}
}

// TestFaults: on every fixture that puts a fault into a cluster, the roll is as
// the golden file says. The files are reviewed like code.
func TestFaults(t *testing.T) {
	overlays, err := fixture.Overlays(os.DirFS(filepath.Join("..", "..", "catalog")))
	if err != nil {
		t.Fatal(err)
	}
	if len(overlays) == 0 {
		t.Fatal("there are no overlays")
	}
	for _, o := range overlays {
		if o.Outcome == string(fault.Present) && o.Variant == "" {
			t.Run(o.Fault, func(t *testing.T) { golden(t, o.Fault, o) })
		}
	}
}

func golden(t *testing.T, name string, o fixture.Overlay) {
	t.Helper()
	fsys, err := o.FS()
	if err != nil {
		t.Fatal(err)
	}
	reader, err := fixture.Reader(fsys, all.Signatures())
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
	got := render(list)
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the roll (-want +got):\n%s", diff)
	}
}

// render shows the state of each host, and each stage that is not passed.
func render(list []fault.HostState) string {
	var b strings.Builder
	for _, h := range list {
		fmt.Fprintf(&b, "%s %s %s %s: %s\n", h.Name, h.Role, h.Stage, h.State, h.Why)
		for _, s := range h.Stages {
			if s.State != fault.StagePassed {
				fmt.Fprintf(&b, "  %s %s: %s\n", s.Stage, s.State, s.Why)
			}
		}
	}
	return b.String()
}

func TestStanding(t *testing.T) {
	const p, f, w, u, n = fault.StagePassed, fault.StageFailed, fault.StageWaiting, fault.StageUnknown, fault.StageNotApplicable
	tests := []struct {
		name   string
		states map[fault.Stage]fault.StageOutcome // the others are passed
		want   fault.Stage
	}{
		{"all passed", nil, fault.ConfigDone},
		{"the first that waits", map[fault.Stage]fault.StageOutcome{fault.Ready: w, fault.ConfigDone: w}, fault.Ready},
		{"a failure goes before what waits", map[fault.Stage]fault.StageOutcome{fault.ServingCert: w, fault.ConfigDone: f}, fault.ConfigDone},
		{"what could not be seen beside the path does not hide that it waits", map[fault.Stage]fault.StageOutcome{fault.EtcdMember: u, fault.ConfigDone: w}, fault.ConfigDone},
		{"what could not be seen on the path does", map[fault.Stage]fault.StageOutcome{fault.FirstBoot: u, fault.Registered: w}, fault.FirstBoot},
		{"not applicable is passed over", map[fault.Stage]fault.StageOutcome{fault.Inspected: n}, fault.ConfigDone},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stages []fault.StageState
			for _, s := range fault.Stages() {
				state, ok := tt.states[s]
				if !ok {
					state = p
				}
				stages = append(stages, fault.StageState{Stage: s, State: state})
			}
			if got := stages[standing(stages)].Stage; got != tt.want {
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
