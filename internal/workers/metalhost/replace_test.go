package metalhost

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// replaceWorld has a second worker, which takes what is evicted.
func replaceWorld() *world {
	w := newWorld()
	w.put("nodes", kube.Object{"metadata": map[string]any{"name": "w1", "labels": map[string]any{"node-role.kubernetes.io/worker": ""}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
	return w
}

// spare adds a host that is available.
func (w *world) spare(name string) {
	w.put("baremetalhosts", kube.Object{"metadata": map[string]any{"name": name}, "spec": map[string]any{"online": true, "bootMACAddress": "52:54:00:bb:00:09"},
		"status": map[string]any{"provisioning": map[string]any{"state": "available"}, "hardware": map[string]any{"hostname": name, "nics": []any{
			map[string]any{"ip": "192.0.2.39", "mac": "52:54:00:bb:00:09", "name": "eno1"}}}}})
}

func exchange(t *testing.T, w *world, e Exchange) (Seen, Exchange) {
	t.Helper()
	seen, err := Look(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	if e.Member, err = seen.Find(orText(e.Name, "w0")); err != nil {
		t.Fatal(err)
	}
	return seen, e
}

func beginReplace(t *testing.T, w *world, dir string, e Exchange) *Runner {
	t.Helper()
	seen, e := exchange(t, w, e)
	p := seen.ReplacePlan(e)
	p.Run, p.Made = "h-0123456789", start
	j, err := Begin(dir, p, func() time.Time { return start.Add(time.Second) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return runner(w, j)
}

// replace does all steps of a run.
func replace(ctx context.Context, r *Runner) error {
	if err := r.DeleteMachine(ctx, start); err != nil {
		return err
	}
	p := r.Journal.Plan
	if p.Replaces.Same(p) {
		if err := r.MachineGone(ctx); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{r.Taken, r.Node, r.MachineGone, r.DropHost} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// replaced says that exactly one new Machine has the host, and the old one is gone.
func (w *world) replaced(t *testing.T, host string) {
	t.Helper()
	if w.objects["machines/lark-worker-0-aaaaa"] != nil {
		t.Error("the old Machine is there")
	}
	machines := 0
	for key := range w.objects {
		if strings.HasPrefix(key, "machines/") {
			machines++
		}
	}
	h := hostOf(w.objects["baremetalhosts/"+host])
	if machines != 1 || w.objects["machines/"+h.consumer] == nil || h.state != "provisioned" {
		t.Errorf("%d Machines, host %+v", machines, h)
	}
	if n := w.objects["nodes/"+host]; n == nil || timeOf(n, "metadata", "creationTimestamp").Before(start) {
		t.Errorf("Node %s: %v", host, n)
	}
	if n := setOf(w.objects["machinesets/lark-worker-0"]).replicas; n != 1 {
		t.Errorf("%d replicas", n)
	}
}

const deletesMachine, deletesHost = "delete machines/lark-worker-0-aaaaa", "delete baremetalhosts/w0"

// TestReplace: the same host, another host, and another host while the BMC of the old one does not answer.
func TestReplace(t *testing.T) {
	for _, tt := range []struct {
		name   string
		e      Exchange
		world  func(*world)
		writes []string
		says   []string
	}{
		{"the same host", Exchange{}, func(*world) {}, []string{deletesMachine},
			[]string{"is deleted: the Machine API drains", "its Node is drained", "and its Node are gone", "has taken the host", "Node w0 is Ready"}},
		{"another host", Exchange{With: "w9"}, func(w *world) { w.spare("w9") }, []string{deletesMachine}, []string{"has taken the host", "Node w9 is Ready"}},
		{"another host, the old one goes", Exchange{With: "w9", Drop: true}, func(w *world) { w.spare("w9") }, []string{deletesMachine, deletesHost},
			[]string{"BareMetalHost w0 is gone"}},
		{"the old BMC does not answer", Exchange{With: "w9", Drop: true}, func(w *world) { w.spare("w9"); w.brokenBM = true },
			[]string{deletesMachine, deletesHost}, []string{"no route to host", "BareMetalHost w0 is gone", "and its Node are gone"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := replaceWorld()
			tt.world(w)
			r := beginReplace(t, w, t.TempDir(), tt.e)
			var lines []string
			r.Report = func(text string) { lines = append(lines, text) }
			if err := replace(within(t), r); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
			}
			if !slices.Equal(w.writes, tt.writes) {
				t.Errorf("writes: %v", w.writes)
			}
			for _, want := range tt.says {
				if !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("want %q in\n%s", want, strings.Join(lines, "\n"))
				}
			}
			w.replaced(t, orText(tt.e.With, "w0"))
			if tt.e.Drop != (w.objects["baremetalhosts/w0"] == nil) {
				t.Error("the old BareMetalHost")
			}
			if e := r.Expected(); len(e) != 1 || e[0].Name != orText(tt.e.With, "w0") {
				t.Errorf("expected: %+v", e)
			}
		})
	}
}

// TestReplaceKills: a run that is killed before or after each of its writes is resumed to the same end; a rollback
// changes nothing, and says whether it could.
func TestReplaceKills(t *testing.T) {
	for n := 1; n <= 2; n++ {
		for _, stored := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d stored %t rollback %t", n, stored, back), func(t *testing.T) {
					w, dir := replaceWorld(), t.TempDir()
					w.spare("w9")
					ctx, kill := context.WithCancel(within(t))
					w.fail = func(i int, _ string) (before, after error) {
						if i != n {
							return nil, nil
						}
						kill()
						if stored {
							return nil, errKilled
						}
						return errKilled, nil
					}
					r := beginReplace(t, w, dir, Exchange{With: "w9", Drop: true})
					if err := replace(ctx, r); err == nil {
						t.Fatal("it was not killed")
					}
					w.fail = nil
					writes := len(w.writes)
					r = reopen(t, w, dir, r)
					if !back {
						if err := replace(within(t), r); err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(w.writes, []string{deletesMachine, deletesHost}) {
							t.Errorf("writes: %v", w.writes)
						}
						w.replaced(t, "w9")
						return
					}
					err := r.Rollback(within(t))
					var gone *NoWayBackError
					if untouched := n == 1 && !stored; untouched != (err == nil) || !untouched && !errors.As(err, &gone) || len(w.writes) != writes {
						t.Errorf("%v, writes: %v", err, w.writes)
					}
				})
			}
		}
	}
}

// TestReplaceLostAnswers: each write is stored and its answer lost, or not stored and not answered, with the process alive.
func TestReplaceLostAnswers(t *testing.T) {
	for n := 1; n <= 2; n++ {
		w := replaceWorld()
		w.spare("w9")
		w.fail = func(i int, _ string) (before, after error) {
			if i == n {
				return nil, apierrors.NewTimeoutError("request timed out", 1)
			}
			return nil, nil
		}
		r := beginReplace(t, w, t.TempDir(), Exchange{With: "w9", Drop: true})
		if err := replace(within(t), r); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(w.writes, []string{deletesMachine, deletesHost}) {
			t.Errorf("writes: %v", w.writes)
		}
	}
	w := replaceWorld()
	w.fail = func(int, string) (before, after error) { return apierrors.NewTimeoutError("request timed out", 1), nil }
	r := beginReplace(t, w, t.TempDir(), Exchange{})
	if err := r.DeleteMachine(within(t), start); err == nil || !strings.Contains(err.Error(), "timed out") {
		t.Errorf("%v", err)
	}
	if r.Journal.Status().did(DeletedMachine) || evidence.String(w.objects["machines/lark-worker-0-aaaaa"], "metadata", "deletionTimestamp") != "" {
		t.Error("it says that it was deleted")
	}
	conflicts := 0
	w.fail = func(int, string) (before, after error) {
		if conflicts++; conflicts < 3 { // a controller has written its status
			w.put("machines", w.objects["machines/lark-worker-0-aaaaa"])
			return apierrors.NewConflict(schema.GroupResource{Resource: "machines"}, "x", errors.New("version")), nil
		}
		return nil, nil
	}
	if err := replace(within(t), r); err != nil || len(w.writes) != 1 {
		t.Errorf("%v, writes: %v", err, w.writes)
	}
}

// TestReplaceGuards: what has changed since the plan stops the run before its only write, and after it is said.
func TestReplaceGuards(t *testing.T) {
	machine := "machines/lark-worker-0-aaaaa"
	for _, tt := range []struct {
		name string
		then func(w *world)
		want string
	}{
		{"a spare came", func(w *world) { w.spare("w9") }, "The new Machine takes one of them at once"},
		{"the Machine is another one", func(w *world) { w.field(machine, "other", "metadata", "uid") }, "Machine lark-worker-0-aaaaa is not the one that was planned"},
		{"the host is another one", func(w *world) { w.field("baremetalhosts/w0", "other", "metadata", "uid") }, "BareMetalHost w0 is not the one"},
		{"the MachineSet is another one", func(w *world) {
			w.field("machinesets/lark-worker-0", "other", "metadata", "uid")
			w.field(machine, []any{map[string]any{"kind": "MachineSet", "name": "lark-worker-0", "controller": true, "uid": "other"}}, "metadata", "ownerReferences")
		}, "the MachineSet of Machine lark-worker-0-aaaaa is not the one"},
		{"it is being deleted", func(w *world) { w.field(machine, "2026-03-01T11:00:00Z", "metadata", "deletionTimestamp") }, "is being deleted already"},
		{"an update began", func(w *world) {
			w.field("clusterversions/version", []any{map[string]any{"type": "Progressing", "status": "True", "message": "Working towards 4.20.7"}}, "status", "conditions")
		}, "an update of the cluster is under way: Working towards 4.20.7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := replaceWorld()
			r := beginReplace(t, w, t.TempDir(), Exchange{})
			tt.then(w)
			if err := r.DeleteMachine(within(t), start); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if w.writings != 0 {
				t.Errorf("writes: %v", w.writes)
			}
		})
	}
}

// TestReplaceWaits: a drain that is held, a BMC that does not answer, and another host that the new Machine takes.
func TestReplaceWaits(t *testing.T) {
	w := replaceWorld()
	w.held = true
	r := beginReplace(t, w, t.TempDir(), Exchange{})
	ctx, end := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer end()
	var late *LateError
	if err := replace(ctx, r); !errors.As(err, &late) || !strings.Contains(err.Error(), "could not drain machine: pod db-0") {
		t.Errorf("%v", err)
	}
	w.held = false
	if err := replace(within(t), r); err != nil {
		t.Errorf("resumed: %v", err)
	}
	w.replaced(t, "w0")

	w = replaceWorld()
	w.brokenBM = true
	r = beginReplace(t, w, t.TempDir(), Exchange{})
	var stuck *StuckError
	if err := replace(within(t), r); !errors.As(err, &stuck) || !strings.Contains(err.Error(), "cannot log in at the BMC") {
		t.Errorf("%v", err)
	}

	w = replaceWorld()
	r = beginReplace(t, w, t.TempDir(), Exchange{})
	if err := r.DeleteMachine(within(t), start); err != nil {
		t.Fatal(err)
	}
	w.spare("w9") // while it is drained
	if err := replace(within(t), r); err == nil || !strings.Contains(err.Error(), "took another host (openshift-machine-api/w9)") {
		t.Errorf("%v", err)
	}
}
