package workers

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// cloud is a provider in memory. It can lose its answer after it did its work, which is what
// a killed run looks like.
type cloud struct {
	mu       sync.Mutex
	machines map[string]string // name to run
	made     int               // calls that made something
	lose     string            // "before" or "after": the next call fails there
	failing  map[string]bool   // names that are never made
}

func newCloud() *cloud { return &cloud{machines: map[string]string{}, failing: map[string]bool{}} }

var errLost = errors.New("the answer was lost")

func (c *cloud) cut(when string) error {
	if c.lose == when {
		c.lose = ""
		return errLost
	}
	return nil
}

func (c *cloud) Create(_ context.Context, o provider.Order, userData []byte) (provider.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cut("before"); err != nil {
		return provider.Machine{}, err
	}
	if c.failing[o.Worker.Name] {
		return provider.Machine{}, errors.New("no quota")
	}
	if run, there := c.machines[o.Worker.Name]; there && run != o.Run {
		return provider.Machine{}, errors.New("somebody else's machine")
	}
	if len(userData) == 0 {
		return provider.Machine{}, errors.New("no user-data")
	}
	c.machines[o.Worker.Name] = o.Run
	c.made++
	return c.machine(o), c.cut("after")
}

func (c *cloud) machine(o provider.Order) provider.Machine {
	return provider.Machine{ID: "vm-" + o.Worker.Name, IPs: []string{"192.0.2.99"}}
}

func (c *cloud) Find(_ context.Context, o provider.Order) (provider.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.machines[o.Worker.Name] != o.Run {
		return provider.Machine{}, provider.ErrNone
	}
	return c.machine(o), nil
}

func (c *cloud) Clean(context.Context, provider.Order) error { return c.cut("before") }

func (c *cloud) Delete(_ context.Context, o provider.Order) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.cut("before"); err != nil {
		return err
	}
	if c.machines[o.Worker.Name] == o.Run {
		delete(c.machines, o.Worker.Name)
	}
	return c.cut("after")
}

// scene is a run with its surroundings.
type scene struct {
	t     *testing.T
	state string
	cloud *cloud
	nodes map[string]Node
	log   []string
	mu    sync.Mutex
	plan  Plan
}

func newScene(t *testing.T, names ...string) *scene {
	s := &scene{t: t, state: t.TempDir(), cloud: newCloud(), nodes: map[string]Node{}}
	s.plan = Plan{Run: "w-0123456789", Made: noon, Until: noon.Add(2 * time.Hour), Hosted: "clusters/guest", ControlPlane: "clusters-guest", NodePool: "guest", Provider: "test"}
	for _, n := range names {
		s.plan.Workers = append(s.plan.Workers, provider.Worker{Name: n})
	}
	return s
}

// runner opens the run again, as another process would.
func (s *scene) runner() *Runner {
	j, err := Open(s.state, s.plan.Run, clock)
	if err != nil {
		if j, err = Begin(s.state, s.plan, clock); err != nil {
			s.t.Fatal(err)
		}
	}
	s.t.Cleanup(func() { j.Close() })
	return &Runner{
		Journal: j, Provider: s.cloud, Now: clock, Every: time.Millisecond,
		UserData: func(context.Context) (UserData, error) {
			return UserData{Raw: []byte("secret"), Digest: "d", Config: "c"}, nil
		},
		Nodes: func(_ context.Context, name string) (Node, bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			n, ok := s.nodes[name]
			return n, ok, nil
		},
		Report: func(e Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.log = append(s.log, e.Worker+": "+e.Text)
		},
	}
}

// again ends a runner and opens the next one.
func (s *scene) again(r *Runner) *Runner {
	if err := r.Journal.Close(); err != nil {
		s.t.Fatal(err)
	}
	return s.runner()
}

func steps(r *Runner) map[string]Step {
	m := map[string]Step{}
	for _, s := range r.Journal.Statuses() {
		m[s.Worker.Name] = s.Step
	}
	return m
}

func TestRun(t *testing.T) {
	s := newScene(t, "guest0", "guest1", "guest2")
	s.cloud.failing["guest1"] = true
	r := s.runner()
	if err := r.Create(t.Context()); err == nil || !strings.Contains(err.Error(), "guest1: no quota") {
		t.Fatalf("Create: %v", err)
	}
	if diff := cmp.Diff(map[string]Step{"guest0": Made, "guest1": MayBe, "guest2": Made}, steps(r)); diff != "" {
		t.Fatal(diff)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	s.nodes["guest0"] = Node{UID: "u0", Created: noon.Add(time.Minute), Ready: true}
	s.nodes["guest2"] = Node{UID: "u2", Created: noon.Add(-time.Hour), Ready: true} // another machine
	var late *NotJoinedError
	if err := r.Join(ctx); !errors.As(err, &late) || !slices.Equal(late.Names, []string{"guest2"}) {
		t.Fatalf("Join: %v", err)
	}
	if got := steps(r); got["guest0"] != In || got["guest2"] != Made {
		t.Fatalf("after Join: %v", got)
	}
	var names []string
	for _, e := range r.Expected() {
		names = append(names, e.Name)
		if e.NotAfter != s.plan.Until || !e.Explicit {
			t.Errorf("expectation without its window: %+v", e)
		}
	}
	if !slices.Equal(names, []string{"guest0", "guest1", "guest2"}) {
		t.Errorf("expected: %v", names)
	}
	// What has joined stays, what has a Node stays, the rest goes.
	kept, err := r.Rollback(t.Context())
	if !slices.Equal(kept, []string{"guest0"}) || err == nil || !strings.Contains(err.Error(), "guest2: it has a Node") {
		t.Fatalf("Rollback: %v, %v", kept, err)
	}
	if got := steps(r); got["guest1"] != Out || got["guest2"] != Made {
		t.Errorf("after Rollback: %v", got)
	}
}

// TestKilled: a run that was killed before or after any call of the provider makes each
// machine once, and takes away exactly what it made.
func TestKilled(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, then := range []string{"resume", "rollback"} {
			t.Run(when+" create, then "+then, func(t *testing.T) {
				s := newScene(t, "guest0")
				s.cloud.machines["guest1"] = "w-somebodyelse" // a neighbor with a like name
				s.cloud.lose = when
				r := s.runner()
				if err := r.Create(t.Context()); !errors.Is(err, errLost) {
					t.Fatal(err)
				}
				r = s.again(r)
				if then == "rollback" {
					for _, lost := range []string{when, ""} { // killed again while it takes away
						s.cloud.lose = lost
						if _, err := r.Rollback(t.Context()); err != nil && !errors.Is(err, errLost) {
							t.Fatal(err)
						}
						r = s.again(r)
					}
					if diff := cmp.Diff(map[string]string{"guest1": "w-somebodyelse"}, s.cloud.machines); diff != "" {
						t.Error(diff)
					}
					if got := steps(r); got["guest0"] != Out {
						t.Error(got)
					}
					return
				}
				if err := r.Create(t.Context()); err != nil {
					t.Fatal(err)
				}
				if s.cloud.made != 1 || steps(r)["guest0"] != Made {
					t.Errorf("made %d times, %v", s.cloud.made, steps(r))
				}
				if err := r.Create(t.Context()); err != nil || s.cloud.made != 1 {
					t.Errorf("a further run: %v, made %d times", err, s.cloud.made)
				}
			})
		}
	}
}

// TestLock: one process at a time works on a run.
func TestLock(t *testing.T) {
	s := newScene(t, "guest0")
	s.runner()
	if _, err := Open(s.state, s.plan.Run, clock); err == nil || !strings.Contains(err.Error(), "another rollcall") {
		t.Errorf("Open: %v", err)
	}
}

func TestPlanCheck(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers []provider.Worker
		want    string
	}{
		{"none", nil, "no worker"},
		{"twice", []provider.Worker{{Name: "a"}, {Name: "a"}}, "of the workers a and a"},
		{"shared address", []provider.Worker{{Name: "a", IPs: []string{"192.0.2.1"}}, {Name: "b", IPs: []string{"192.0.2.1"}}}, "of the workers a and b"},
		{"localhost", []provider.Worker{{Name: "localhost"}}, "every host"},
		{"capitals", []provider.Worker{{Name: "A"}}, "lower case"},
		{"long", []provider.Worker{{Name: strings.Repeat("a", 64)}}, "63 characters"},
		{"no address", []provider.Worker{{Name: "a", IPs: []string{"192.0.2.300"}}}, "not an address"},
		{"address in another form", []provider.Worker{{Name: "a", IPs: []string{"::ffff:192.0.2.1"}}}, "not an address"},
		{"path", []provider.Worker{{Name: "../a"}}, "lower case"},
	} {
		p := Plan{Run: "w-0123456789", Made: noon, Until: noon.Add(time.Hour), Workers: c.workers}
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// TestExpectedLater: each machine has the run's window from when it was begun, also the last one
// of a long replacement and one that is re-created hours later.
func TestExpectedLater(t *testing.T) {
	p := Plan{Run: "w-0123456789", Made: noon, Until: noon.Add(time.Hour), Workers: []provider.Worker{{Name: "guest0"}}}
	records := []Record{{Kind: Creating, Worker: "guest0", Time: noon.Add(2 * time.Minute)}, {Kind: Created, Worker: "guest0", Time: noon.Add(3 * time.Minute)}}
	until := func() time.Time {
		s := Statuses(p, records)[0]
		return p.expectation(s.Worker, s.Begun).NotAfter
	}
	if got, want := until(), noon.Add(62*time.Minute); !got.Equal(want) {
		t.Errorf("made at once: until %s, want %s", got, want)
	}
	for _, kind := range []Kind{Deleting, Deleted, Creating, Created} {
		records = append(records, Record{Kind: kind, Worker: "guest0", Time: noon.Add(5 * time.Hour)})
	}
	if got, want := until(), noon.Add(6*time.Hour); !got.Equal(want) {
		t.Errorf("re-created: until %s, want %s", got, want)
	}
	if got := p.expectation(p.Workers[0], time.Time{}).NotAfter; !got.Equal(p.Until) {
		t.Errorf("not begun: until %s, want %s", got, p.Until)
	}
}

func TestManual(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m := manual{Dir: dir}
	o := provider.Order{Run: "w-0123456789", Worker: provider.Worker{Name: "guest0"}, Digest: digest([]byte("one"))}
	made, err := m.Create(t.Context(), o, []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "guest0.ign"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if again, err := m.Create(t.Context(), o, []byte("one")); err != nil || again.ID != made.ID {
		t.Errorf("again: %v", err)
	}
	other := o
	other.Digest = digest([]byte("two"))
	if _, err := m.Create(t.Context(), other, []byte("two")); err == nil {
		t.Error("somebody else's file was taken for ours")
	}
	if err := m.Delete(t.Context(), other); err == nil {
		t.Error("somebody else's file was removed")
	}
	if _, err := m.Find(t.Context(), other); !errors.Is(err, provider.ErrNone) {
		t.Errorf("Find: %v", err)
	}
	for range 2 {
		if err := m.Delete(t.Context(), o); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "guest0.ign")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}
