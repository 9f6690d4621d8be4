package workers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// guest is a hosted cluster in memory.
type guest struct {
	pods     []map[string]any
	held     int // evictions that a budget does not allow
	cordoned bool
	deleted  string
	ready    []string
	silent   bool // no kubelet stops its pods
}

func podOf(name, owner string, more ...string) map[string]any {
	o := map[string]any{"metadata": map[string]any{"namespace": "app", "name": name, "uid": "uid-" + name}, "spec": map[string]any{}, "status": map[string]any{"phase": "Running"}}
	if owner != "" {
		o["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"controller": true, "kind": owner}}
	}
	if slices.Contains(more, "emptyDir") {
		o["spec"].(map[string]any)["volumes"] = []any{map[string]any{"name": "x", "emptyDir": map[string]any{}}}
	}
	if slices.Contains(more, "mirror") {
		o["metadata"].(map[string]any)["annotations"] = map[string]any{"kubernetes.io/config.mirror": "x"}
	}
	if slices.Contains(more, "done") {
		o["status"].(map[string]any)["phase"] = "Succeeded"
	}
	return o
}

func (g *guest) Pods(context.Context, string) ([]map[string]any, error) { return g.pods, nil }

func (g *guest) Evict(_ context.Context, _, name, uid string) error {
	if g.held > 0 {
		g.held--
		return ErrBudget
	}
	g.pods = slices.DeleteFunc(g.pods, func(o map[string]any) bool {
		m := o["metadata"].(map[string]any)
		if m["name"] != name || m["uid"] != uid {
			return false
		}
		m["deletionTimestamp"] = "2026-03-01T12:00:00Z"
		return !g.silent
	})
	return nil
}

func (g *guest) Cordon(_ context.Context, _, uid string, on bool) error {
	if uid != "u0" {
		return errors.New("another Node")
	}
	g.cordoned = on
	return nil
}

func (g *guest) DeleteNode(_ context.Context, node, uid string) error {
	g.deleted = node + " " + uid
	return nil
}

func (g *guest) ReadyNodes(context.Context) ([]string, error) { return slices.Clone(g.ready), nil }

// joinedScene has guest0 joined.
func joinedScene(t *testing.T) (*scene, *Runner) {
	s := newScene(t, "guest0")
	r := s.runner()
	if err := r.Create(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.nodes["guest0"] = Node{UID: "u0", Created: noon.Add(time.Minute), Ready: true}
	if err := r.Join(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, r
}

func TestRemove(t *testing.T) {
	s, r := joinedScene(t)
	s.cloud.machines["guest00"] = "w-somebodyelse"
	g := &guest{ready: []string{"guest0", "guest1"}, held: 2, pods: []map[string]any{
		podOf("web", "ReplicaSet"), podOf("ovnkube-node", "DaemonSet", "emptyDir"), podOf("proxy", "", "mirror"), podOf("job", "", "done"),
	}}
	if err := r.Remove(t.Context(), g, "guest0", Drain{Every: time.Millisecond, KeepAtLeast: 1}); err != nil {
		t.Fatal(err)
	}
	if g.deleted != "guest0 u0" || len(g.pods) != 3 || len(s.cloud.machines) != 1 || steps(r)["guest0"] != Out {
		t.Errorf("deleted %q, %d pods, machines %v, %v", g.deleted, len(g.pods), s.cloud.machines, steps(r))
	}
	if !slices.ContainsFunc(s.log, func(l string) bool { return strings.Contains(l, "PodDisruptionBudget holds app/web") }) {
		t.Errorf("the budget is not named: %q", s.log)
	}
}

// TestRemoveRefused: what would do harm is refused before anything is changed, and what
// fails on the way is undone.
func TestRemoveRefused(t *testing.T) {
	two := []string{"guest0", "guest1"}
	for _, c := range []struct {
		name string
		g    *guest
		d    Drain
		uid  string
		want string
	}{
		{"the last one", &guest{ready: []string{"guest0"}}, Drain{KeepAtLeast: 1}, "u0", "only 0 Nodes are Ready"},
		{"a pod of nobody", &guest{ready: two, pods: []map[string]any{podOf("bare", "")}}, Drain{}, "u0", "--force"},
		{"data", &guest{ready: two, pods: []map[string]any{podOf("db", "StatefulSet", "emptyDir")}}, Drain{}, "u0", "--delete-emptydir-data"},
		{"another machine", &guest{ready: two}, Drain{}, "u9", "it is another machine"},
		{"a budget that never gives way", &guest{ready: two, held: 1 << 20, pods: []map[string]any{podOf("web", "ReplicaSet")}}, Drain{Timeout: 20 * time.Millisecond, Every: time.Millisecond}, "u0", "1 pods of guest0 are not evicted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, r := joinedScene(t)
			s.nodes["guest0"] = Node{UID: c.uid, Created: noon.Add(time.Minute), Ready: true}
			if err := r.Remove(t.Context(), c.g, "guest0", c.d); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if c.g.cordoned || c.g.deleted != "" || steps(r)["guest0"] != In || len(s.cloud.machines) != 1 {
				t.Errorf("cordoned %v, deleted %q, %v, machines %v", c.g.cordoned, c.g.deleted, steps(r), s.cloud.machines)
			}
		})
	}
}

// TestRemoveDead: the pods of a machine that is dead are evicted, and stay while its Node does.
// They are waited for where nothing switches the machine off.
func TestRemoveDead(t *testing.T) {
	for provider, want := range map[string]string{"test": "", ManualName: "1 pods of guest0 are not evicted"} {
		s, r := joinedScene(t)
		r.Journal.Plan.Provider = provider
		s.nodes["guest0"] = Node{UID: "u0", Created: noon.Add(time.Minute), Silent: true}
		g := &guest{ready: []string{"guest1"}, silent: true, pods: []map[string]any{podOf("web", "ReplicaSet")}}
		err := r.Remove(t.Context(), g, "guest0", Drain{Timeout: patience, Every: time.Millisecond, KeepAtLeast: 1})
		if want == "" && (err != nil || g.deleted != "guest0 u0") || want != "" && (err == nil || !strings.Contains(err.Error(), want) || g.deleted != "") {
			t.Errorf("%s: %v, deleted %q, want %q", provider, err, g.deleted, want)
		}
	}
}

// TestCordonOfOthers: a Node that somebody else has cordoned stays so when it is not drained; one
// that a killed run has cordoned is schedulable again when the run is given up.
func TestCordonOfOthers(t *testing.T) {
	forever := Drain{Timeout: 20 * time.Millisecond, Every: time.Millisecond}
	held := func() *guest {
		return &guest{ready: []string{"guest1"}, held: 1 << 20, pods: []map[string]any{podOf("web", "ReplicaSet")}}
	}
	s, r := joinedScene(t)
	s.nodes["guest0"] = Node{UID: "u0", Created: noon.Add(time.Minute), Ready: true, Cordoned: true}
	g := held()
	g.cordoned = true
	if err := r.Remove(t.Context(), g, "guest0", forever); err == nil || !g.cordoned {
		t.Errorf("somebody else's: %v, cordoned %v", err, g.cordoned)
	}
	if done, err := r.Uncordon(t.Context(), g); err != nil || len(done) > 0 || !g.cordoned {
		t.Errorf("given up: %v, %v, cordoned %v", done, err, g.cordoned)
	}

	s, r = joinedScene(t)
	g = held()
	if err := r.Journal.add(Record{Kind: Cordoning, Worker: "guest0"}); err != nil { // and killed after it
		t.Fatal(err)
	}
	g.cordoned = true
	r = s.again(r)
	if done, err := r.Uncordon(t.Context(), g); err != nil || len(done) != 1 || g.cordoned {
		t.Errorf("a killed run's: %v, %v, cordoned %v", done, err, g.cordoned)
	}
	if done, err := r.Uncordon(t.Context(), g); err != nil || len(done) > 0 {
		t.Errorf("a second time: %v, %v", done, err)
	}
}

// TestRemoveKilled: killed while the machine is deleted, the next run ends it.
func TestRemoveKilled(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		s, r := joinedScene(t)
		g := &guest{ready: []string{"guest0", "guest1"}}
		s.cloud.lose = when
		if err := r.Remove(t.Context(), g, "guest0", Drain{}); !errors.Is(err, errLost) {
			t.Fatal(err)
		}
		r = s.again(r)
		if err := r.Remove(t.Context(), g, "guest0", Drain{}); err != nil || g.deleted != "guest0 u0" || len(s.cloud.machines) != 0 || steps(r)["guest0"] != Out {
			t.Errorf("%s: %v, %q, %v", when, err, g.deleted, steps(r))
		}
	}
}

// TestDrained: who resumes a replacement need not allow again what was allowed when it began,
// can allow more, and cannot lower its floor.
func TestDrained(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan Plan
		now  Drain
		want Drain
	}{
		{"allowed at the beginning", Plan{Unmanaged: true, EmptyDir: true, KeepAtLeast: 3}, Drain{KeepAtLeast: 1}, Drain{Unmanaged: true, EmptyDir: true, KeepAtLeast: 3}},
		{"allowed now", Plan{}, Drain{EmptyDir: true, KeepAtLeast: 2}, Drain{EmptyDir: true, KeepAtLeast: 2}},
		{"never allowed", Plan{KeepAtLeast: 1}, Drain{Timeout: time.Minute}, Drain{Timeout: time.Minute, KeepAtLeast: 1}},
	} {
		if got := tt.plan.Drained(tt.now); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}
