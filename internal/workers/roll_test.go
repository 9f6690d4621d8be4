package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// fleet is a hosted cluster whose Nodes are what the provider has, with one pod on each under
// a budget.
type fleet struct {
	s      *scene
	broken map[string]bool // new machines that never join
	least  int             // fewest Ready Nodes that were seen
	out    []string        // Nodes that were deleted, in order
	pods   map[string]int  // left on a Node
	held   int             // evictions that the budget refuses before each that it allows
	asked  int
}

func (f *fleet) ready() []string {
	f.s.cloud.mu.Lock()
	defer f.s.cloud.mu.Unlock()
	f.s.mu.Lock()
	defer f.s.mu.Unlock()
	var names []string
	for name := range f.s.cloud.machines {
		if f.broken[name] {
			continue
		}
		if _, known := f.s.nodes[name]; !known {
			f.s.nodes[name] = Node{UID: "uid-" + name, Created: noon.Add(time.Minute), Ready: true}
		}
		names = append(names, name)
	}
	for name := range f.s.nodes {
		if _, there := f.s.cloud.machines[name]; !there {
			delete(f.s.nodes, name)
		}
	}
	if f.least == 0 || len(names) < f.least {
		f.least = len(names)
	}
	return names
}

func (f *fleet) Pods(_ context.Context, node string) ([]map[string]any, error) {
	var list []map[string]any
	for i := range f.pods[node] {
		list = append(list, podOf(fmt.Sprint(i), "ReplicaSet"))
	}
	return list, nil
}

func (f *fleet) Evict(_ context.Context, _, _, _ string) error {
	if f.asked++; f.asked%(f.held+1) != 0 {
		return ErrBudget
	}
	for node := range f.pods {
		f.pods[node] = 0
	}
	return nil
}

func (f *fleet) Cordon(context.Context, string, string, bool) error { return nil }

func (f *fleet) DeleteNode(_ context.Context, node, _ string) error {
	f.out = append(f.out, node)
	f.ready()
	return nil
}

func (f *fleet) ReadyNodes(context.Context) ([]string, error) { return f.ready(), nil }

// newFleet has six workers of an old run, and a run that replaces them.
func newFleet(t *testing.T) (f *fleet, old, now *Runner, moves []Move) {
	var names []string
	for i := range 6 {
		names = append(names, fmt.Sprintf("old%d", i))
	}
	s := newScene(t, names...)
	f = &fleet{s: s, broken: map[string]bool{}, pods: map[string]int{}, held: 2}
	old = s.runner()
	if err := old.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.ready()
	if err := old.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.plan.Run, s.plan.Workers = "w-9876543210", nil
	for i := range 6 {
		s.plan.Workers = append(s.plan.Workers, provider.Worker{Name: fmt.Sprintf("new%d", i)})
		moves = append(moves, Move{Old: fmt.Sprintf("old%d", i), OldRun: old, New: fmt.Sprintf("new%d", i)})
		f.pods[fmt.Sprintf("old%d", i)] = 1
	}
	now = s.runner()
	read := now.Nodes
	now.Nodes = func(ctx context.Context, name string) (Node, bool, error) { f.ready(); return read(ctx, name) }
	return f, old, now, moves
}

// TestRoll replaces six workers under a budget: all are replaced, and never fewer Nodes are
// Ready than allowed.
func TestRoll(t *testing.T) {
	for _, c := range []struct{ surge, unavailable, least int }{{1, 0, 6}, {2, 0, 6}, {2, 1, 6}, {0, 1, 5}, {0, 2, 4}, {6, 0, 6}, {9, 0, 6}} {
		t.Run(fmt.Sprintf("surge %d unavailable %d", c.surge, c.unavailable), func(t *testing.T) {
			f, _, now, moves := newFleet(t)
			o := RollOptions{MaxSurge: c.surge, MaxUnavailable: c.unavailable, Drain: Drain{Every: time.Millisecond}}
			if err := now.Roll(t.Context(), f, moves, o); err != nil {
				t.Fatal(err)
			}
			names := f.ready()
			slices.Sort(names)
			if strings.Join(names, " ") != "new0 new1 new2 new3 new4 new5" || f.least < c.least || len(f.out) != 6 {
				t.Errorf("%v, at least %d were Ready, want %d; out %v", names, f.least, c.least, f.out)
			}
			if err := now.Roll(t.Context(), f, moves, o); err != nil || f.s.cloud.made != 12 || len(f.out) != 6 {
				t.Errorf("a second time: %v, made %d, out %v", err, f.s.cloud.made, f.out)
			}
		})
	}
}

// patience is long enough for what comes, on a busy machine too, and short enough to wait for
// what does not come.
const patience = 2 * time.Second

// TestRollStops: one that fails ends it with the reason; the rest stays, and so does the floor.
// When it is fixed the next call continues where it was.
func TestRollStops(t *testing.T) {
	for _, c := range []struct {
		name   string
		breaks func(f *fleet, o *RollOptions)
		mend   func(f *fleet, o *RollOptions)
		want   string
		out    int
	}{
		{"a new one does not join", func(f *fleet, o *RollOptions) { f.broken["new3"], o.JoinTimeout = true, patience }, func(f *fleet, _ *RollOptions) { f.broken["new3"] = false }, "new3", 3},
		{"a new one is not made", func(f *fleet, _ *RollOptions) { f.s.cloud.failing["new2"] = true }, func(f *fleet, _ *RollOptions) { f.s.cloud.failing["new2"] = false }, "no quota", 2},
		{"a budget that never gives way", func(f *fleet, o *RollOptions) { f.held, o.Drain.Timeout = 1<<30, patience }, func(f *fleet, _ *RollOptions) { f.held = 0 }, "old0", 0},
		{"the control plane is not well", func(f *fleet, o *RollOptions) {
			o.Healthy = func(context.Context) error {
				if len(f.out) == 4 {
					return errors.New("etcd is not available")
				}
				return nil
			}
		}, func(_ *fleet, o *RollOptions) { o.Healthy = nil }, "etcd is not available", 4},
		{"the floor", func(_ *fleet, o *RollOptions) { o.Drain.KeepAtLeast = 9 }, func(_ *fleet, o *RollOptions) { o.Drain.KeepAtLeast = 1 }, "at least 9 must be left", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, _, now, moves := newFleet(t)
			o := RollOptions{MaxSurge: 1, JoinTimeout: time.Minute, Drain: Drain{Every: time.Millisecond, Timeout: time.Minute}}
			c.breaks(f, &o)
			err := now.Roll(t.Context(), f, moves, o)
			var stopped *stoppedError
			if !errors.As(err, &stopped) || !strings.Contains(err.Error(), c.want) || stopped.Done != c.out || len(f.out) != c.out {
				t.Fatalf("%v, want %q after %d; out %v", err, c.want, c.out, f.out)
			}
			if f.least < 6 {
				t.Errorf("only %d were Ready", f.least)
			}
			c.mend(f, &o)
			if err := now.Roll(t.Context(), f, moves, o); err != nil || len(f.out) != 6 || f.least < 6 || f.s.cloud.made > 12 {
				t.Errorf("mended: %v, out %v, at least %d, made %d", err, f.out, f.least, f.s.cloud.made)
			}
		})
	}
	f, _, now, moves := newFleet(t)
	if err := now.Roll(t.Context(), f, moves, RollOptions{}); err == nil {
		t.Error("neither surge nor unavailable, and it began")
	}
}

// TestRollRecreated: a new worker that does not join is re-created with user-data that is read
// then; those that have joined, and those whose turn has not come, are left alone.
func TestRollRecreated(t *testing.T) {
	f, _, now, moves := newFleet(t)
	f.broken["new3"] = true
	o := RollOptions{MaxSurge: 1, JoinTimeout: patience, Drain: Drain{Every: time.Millisecond}}
	if err := now.Roll(t.Context(), f, moves, o); err == nil {
		t.Fatal("new3 does not join, and all are replaced")
	}
	made, read := f.s.cloud.made, 0
	userData := now.UserData
	now.UserData = func(ctx context.Context) (UserData, error) { read++; return userData(ctx) }
	if err := now.Recreate(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := map[string]Step{"new0": In, "new1": In, "new2": In, "new3": Made, "new4": Planned, "new5": Planned}
	if diff := cmp.Diff(want, steps(now)); diff != "" || f.s.cloud.made != made+1 || read != 1 || len(f.out) != 3 {
		t.Errorf("made %d, want %d; user-data read %d times; out %v\n%s", f.s.cloud.made, made+1, read, f.out, diff)
	}
	f.broken["new3"] = false
	if err := now.Roll(t.Context(), f, moves, o); err != nil || len(f.out) != 6 || f.least < 6 {
		t.Errorf("%v, out %v, at least %d were Ready", err, f.out, f.least)
	}
}
