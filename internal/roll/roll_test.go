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

// TestRoll calls the roll of the healthy clusters and of every cluster into which
// a fixture puts a fault. The golden file shows the hosts that have not passed the
// whole path; it is reviewed like code.
func TestRoll(t *testing.T) {
	overlays, err := fixture.Overlays(os.DirFS(filepath.Join("..", "..", "catalog")))
	if err != nil {
		t.Fatal(err)
	}
	if len(overlays) == 0 {
		t.Fatal("there are no overlays")
	}
	var got strings.Builder
	for _, base := range fixture.Bases() {
		fmt.Fprintf(&got, "== healthy %s\n%s", base, call(t, fixture.Overlay{Path: base, Base: base}))
	}
	for _, o := range overlays {
		if o.Outcome == string(fault.Present) && o.Variant == "" {
			fmt.Fprintf(&got, "== %s\n%s", o.Fault, call(t, o))
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

func call(t *testing.T, o fixture.Overlay) string {
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
	return render(list)
}

// render shows the hosts that are not done and their open stages, and counts the rest.
func render(list []fault.HostState) string {
	var b strings.Builder
	done := 0
	for _, h := range list {
		if h.State == fault.StagePassed {
			done++
			continue
		}
		fmt.Fprintf(&b, "%s %s stands at %s\n", h.Name, h.Role, h.Stage)
		for _, s := range h.Stages {
			if s.State != fault.StagePassed && s.State != fault.StageNotApplicable {
				fmt.Fprintf(&b, "  %s %s: %s\n", s.Stage, s.State, s.Why)
			}
		}
	}
	fmt.Fprintf(&b, "%d of %d done\n", done, len(list))
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
