package metalhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

var allWrites = []string{"create secrets/w3-bmc-secret", "create baremetalhosts/w3", "patch machinesets/lark-worker-0"}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(end)
	return ctx
}

// TestAdd: from nothing to a Ready Node, with one write of each kind.
func TestAdd(t *testing.T) {
	w := newWorld()
	r := begin(t, w, t.TempDir(), wanted())
	var lines []string
	r.Report = func(text string) { lines = append(lines, text) }
	if err := add(within(t), r); err != nil {
		t.Fatalf("%v\n%s", err, strings.Join(lines, "\n"))
	}
	if !slices.Equal(w.writes, allWrites) {
		t.Errorf("writes: %v", w.writes)
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{"registering: metal3 logs in", "inspecting: the host boots a ramdisk", "available: ", "scaled from 1 to 2", "has taken the host", "Node w3 is Ready"} {
		if !strings.Contains(all, want) {
			t.Errorf("want %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, creds.Password) {
		t.Error("the password is reported")
	}
	if e := r.Expected(); len(e) != 1 || e[0].Name != "w3" || !slices.Equal(e[0].IPs, []string{"192.0.2.33"}) || e[0].NotAfter.IsZero() {
		t.Errorf("expected: %+v", e)
	}
}

// killed is the end of a process.
var errKilled = errors.New("killed")

// TestKills: a run that is killed before or after each of its writes is resumed to the same end, and rolled back to
// what was there before.
func TestKills(t *testing.T) {
	for n := 1; n <= len(allWrites); n++ {
		for _, stored := range []bool{false, true} {
			for _, back := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d stored %t rollback %t", n, stored, back), func(t *testing.T) {
					w, dir := newWorld(), t.TempDir()
					ctx, kill := context.WithCancel(within(t))
					w.fail = func(i int, _ string) (before, after error) {
						if i != n {
							return nil, nil
						}
						kill() // nothing is sent any more: what was stored is not seen
						if stored {
							return nil, errKilled
						}
						return errKilled, nil
					}
					r := begin(t, w, dir, wanted())
					if err := add(ctx, r); err == nil {
						t.Fatal("it was not killed")
					}
					w.fail = nil
					r = reopen(t, w, dir, r)
					if !back {
						if err := add(within(t), r); err != nil {
							t.Fatal(err)
						}
						if !slices.Equal(w.writes, allWrites) {
							t.Errorf("writes: %v", w.writes)
						}
						return
					}
					if err := r.Rollback(within(t)); err != nil {
						t.Fatal(err)
					}
					w.untouched(t)
				})
			}
		}
	}
}

func reopen(t *testing.T, w *world, dir string, r *Runner) *Runner {
	t.Helper()
	if err := r.Journal.Close(); err != nil {
		t.Fatal(err)
	}
	j, err := Open(dir, r.Journal.Plan.Run, func() time.Time { return start.Add(time.Minute) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return runner(w, j)
}

// untouched says that nothing of the run is left, and nothing of others is gone.
func (w *world) untouched(t *testing.T) {
	t.Helper()
	for _, key := range []string{"secrets/w3-bmc-secret", "baremetalhosts/w3"} {
		if w.objects[key] != nil {
			t.Errorf("%s is left", key)
		}
	}
	if n := setOf(w.objects["machinesets/lark-worker-0"]).replicas; n != 1 {
		t.Errorf("%d replicas", n)
	}
	machines := 0
	for key := range w.objects {
		if strings.HasPrefix(key, "machines/") {
			machines++
		}
	}
	if m := w.objects["machines/lark-worker-0-aaaaa"]; machines != 1 || m == nil || evidence.String(m, "metadata", "deletionTimestamp") != "" {
		t.Errorf("%d Machines", machines)
	}
}

// TestLostAnswers: each write is stored and its answer lost, with the process alive.
func TestLostAnswers(t *testing.T) {
	for n := 1; n <= len(allWrites); n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w := newWorld()
			w.fail = func(i int, _ string) (before, after error) {
				if i == n {
					return nil, apierrors.NewTimeoutError("request timed out", 1)
				}
				return nil, nil
			}
			r := begin(t, w, t.TempDir(), wanted())
			if err := add(within(t), r); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(w.writes, allWrites) {
				t.Errorf("writes: %v", w.writes)
			}
		})
	}
}

// TestRollback: a host that was taken and has no Node yet goes with all that the run made, also when the rollback is
// killed after each of its writes.
func TestRollback(t *testing.T) {
	for n := 0; n <= 4; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			w, dir := newWorld(), t.TempDir()
			w.noNode = true
			r := begin(t, w, dir, wanted())
			for _, step := range []func(context.Context) error{r.Make, r.Available, r.Scale, r.Taken} {
				if err := step(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			if n > 0 {
				ctx, kill := context.WithCancel(within(t))
				begun := w.writings
				w.fail = func(i int, _ string) (before, after error) {
					if i == begun+n {
						kill()
						return nil, errKilled
					}
					return nil, nil
				}
				if err := r.Rollback(ctx); err == nil {
					t.Fatal("it was not killed")
				}
				w.fail = nil
				r = reopen(t, w, dir, r)
			}
			if err := r.Rollback(within(t)); err != nil {
				t.Fatal(err)
			}
			w.untouched(t)
			if err := r.Rollback(within(t)); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// TestRollbackRefused: what is not the run's stays.
func TestRollbackRefused(t *testing.T) {
	joined := func(t *testing.T, w *world, r *Runner) {
		if err := add(within(t), r); err != nil {
			t.Fatal(err)
		}
	}
	taken := func(t *testing.T, w *world, r *Runner) {
		w.noNode = true
		for _, step := range []func(context.Context) error{r.Make, r.Available, r.Scale, r.Taken} {
			if err := step(within(t)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name  string
		until func(t *testing.T, w *world, r *Runner)
		then  func(w *world)
		want  string
	}{
		{"a host with a Node", joined, func(*world) {}, "joined as Node w3 and stays"},
		{"another Machine would go first", taken, func(w *world) {
			w.objects["machines/lark-worker-0-aaaaa"]["status"].(map[string]any)["errorReason"] = "InsufficientResources"
		}, "scaling down could take it"},
		{"the MachineSet is another one", taken, func(w *world) {
			w.objects["machinesets/lark-worker-0"]["metadata"].(map[string]any)["uid"] = "other"
		}, "is not the one that this run has scaled"},
		{"the Secret is used by another host", func(t *testing.T, w *world, r *Runner) {
			if err := r.Make(within(t)); err != nil {
				t.Fatal(err)
			}
		}, func(w *world) {
			w.objects["baremetalhosts/w0"]["spec"].(map[string]any)["bmc"].(map[string]any)["credentialsName"] = "w3-bmc-secret"
		}, "is used by BareMetalHost w0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			r := begin(t, w, t.TempDir(), wanted())
			tt.until(t, w, r)
			tt.then(w)
			err := r.Rollback(within(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if w.objects["machines/lark-worker-0-aaaaa"] == nil || w.objects["secrets/w3-bmc-secret"] == nil {
				t.Error("something of others is gone")
			}
		})
	}
}

// TestRollbackSecrets: a Secret that was there before is not deleted with its host, unless that is allowed.
func TestRollbackSecrets(t *testing.T) {
	w, want := newWorld(), wanted()
	want.Secret, want.HaveSecret, want.NetworkData = "mine", true, "net"
	w.put("secrets", kube.Object{"metadata": map[string]any{"name": "mine"}})
	w.put("secrets", kube.Object{"metadata": map[string]any{"name": "net"}})
	r := begin(t, w, t.TempDir(), want)
	if err := r.Make(within(t)); err != nil {
		t.Fatal(err)
	}
	owner := map[string]any{"uid": evidence.String(w.objects["baremetalhosts/w3"], "metadata", "uid")}
	w.field("secrets/mine", []any{owner, map[string]any{"uid": "another host"}}, "metadata", "ownerReferences")
	w.field("secrets/net", []any{owner}, "metadata", "ownerReferences")
	err := r.Rollback(within(t))
	if err == nil || !strings.Contains(err.Error(), "only owner of Secret net,") || w.objects["baremetalhosts/w3"] == nil {
		t.Errorf("%v", err)
	}
	r.SecretsGo = true
	if err := r.Rollback(within(t)); err != nil || w.objects["baremetalhosts/w3"] != nil || w.objects["secrets/mine"] == nil {
		t.Errorf("%v", err)
	}
}

// TestExpected: nothing is approved before a Machine of the run has the host, and for a host without a name of its own.
func TestExpected(t *testing.T) {
	r := begin(t, newWorld(), t.TempDir(), wanted())
	good := host{name: "w3", hostname: "W3.example.com.", state: "provisioned", consumer: "m", ips: []string{"192.0.2.33"}}
	r.seen = good
	if e := r.Expected(); e != nil {
		t.Errorf("before it was taken: %v", e)
	}
	if err := r.Journal.add(Record{Kind: Consumed, Name: "m", UID: "u"}); err != nil {
		t.Fatal(err)
	}
	if e := r.Expected(); len(e) != 1 || e[0].Name != "w3.example.com" || e[0].Role != "worker" || e[0].Explicit {
		t.Errorf("%+v", e)
	}
	for name, change := range map[string]func(*host){
		"of another Machine": func(h *host) { h.consumer = "other" },
		"not written yet":    func(h *host) { h.state = "available" },
		"localhost":          func(h *host) { h.hostname = "localhost.localdomain" },
		"without a name":     func(h *host) { h.hostname = "" },
	} {
		r.seen = good
		change(&r.seen)
		if e := r.Expected(); e != nil {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// TestForeign: an object of the same name that somebody else makes meanwhile is neither taken nor changed.
func TestForeign(t *testing.T) {
	for _, resource := range []string{"secrets", "baremetalhosts"} {
		t.Run(resource, func(t *testing.T) {
			w := newWorld()
			r := begin(t, w, t.TempDir(), wanted())
			name := map[string]string{"secrets": "w3-bmc-secret", "baremetalhosts": "w3"}[resource]
			w.put(resource, kube.Object{"metadata": map[string]any{"name": name}})
			if err := r.Make(within(t)); err == nil || !strings.Contains(err.Error(), "already exists") {
				t.Errorf("%v", err)
			}
			if err := r.Rollback(within(t)); resource == "baremetalhosts" && (err == nil || !strings.Contains(err.Error(), "was not made by this run")) ||
				w.objects[resource+"/"+name] == nil {
				t.Errorf("rollback: %v", err)
			}
		})
	}
}

// TestConflicts: a MachineSet whose status changes all the time is scaled, and one that somebody else scales is not.
func TestConflicts(t *testing.T) {
	for _, scaled := range []bool{false, true} {
		w := newWorld()
		r := begin(t, w, t.TempDir(), wanted())
		for _, step := range []func(context.Context) error{r.Make, r.Available} {
			if err := step(within(t)); err != nil {
				t.Fatal(err)
			}
		}
		tries := 0
		w.fail = func(_ int, write string) (before, after error) {
			if !strings.HasPrefix(write, "patch machinesets") || tries > 1 {
				return nil, nil
			}
			tries++
			o := w.objects["machinesets/lark-worker-0"]
			if scaled {
				o["spec"].(map[string]any)["replicas"] = 5
				o["metadata"].(map[string]any)["generation"] = 5
			}
			w.put("machinesets", o)
			return apierrors.NewConflict(schema.GroupResource{Resource: "machinesets"}, "x", errors.New("version")), nil
		}
		err := r.Scale(within(t))
		if scaled != (err != nil && strings.Contains(err.Error(), "changed by somebody else")) {
			t.Errorf("scaled %t: %v", scaled, err)
		}
	}
}

// TestGuards: what has changed between the plan and the scaling stops it.
func TestGuards(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(w *world)
		want string
	}{
		{"another host became available", func(w *world) {
			w.put("baremetalhosts", kube.Object{"metadata": map[string]any{"name": "spare"}, "spec": map[string]any{"online": true},
				"status": map[string]any{"provisioning": map[string]any{"state": "available"}}})
			w.metal3 = func(o kube.Object) bool { return true }
		}, "other hosts are available"},
		{"an autoscaler came", func(w *world) {
			w.put("machineautoscalers", kube.Object{"metadata": map[string]any{"name": "as"}, "spec": map[string]any{"scaleTargetRef": map[string]any{
				"kind": "MachineSet", "name": "lark-worker-0"}}})
		}, "MachineAutoscaler as writes the replicas"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			r := begin(t, w, t.TempDir(), wanted())
			for _, step := range []func(context.Context) error{r.Make, r.Available} {
				if err := step(within(t)); err != nil {
					t.Fatal(err)
				}
			}
			tt.then(w)
			var refused *RefusedError
			if err := r.Scale(within(t)); !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v", err)
			}
			if w.writings != 2 {
				t.Errorf("writes: %v", w.writes)
			}
		})
	}
}

// TestStuck: an error of metal3 that stands ends the wait, and one that passes does not.
func TestStuck(t *testing.T) {
	w := newWorld()
	r := begin(t, w, t.TempDir(), wanted())
	w.metal3 = func(o kube.Object) bool {
		o["status"] = map[string]any{"errorType": "registration error", "errorMessage": "401", "errorCount": 3, "provisioning": map[string]any{"state": "registering"}}
		return true
	}
	if err := r.Make(within(t)); err != nil {
		t.Fatal(err)
	}
	var stuck *StuckError
	if err := r.Available(within(t)); !errors.As(err, &stuck) || !strings.Contains(err.Error(), "cannot log in at the BMC") {
		t.Errorf("%v", err)
	}
	delete(w.objects["baremetalhosts/w3"], "status")
	w.metal3, w.stay = nil, "inspecting"
	ctx, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	var late *LateError
	if err := r.Available(ctx); !errors.As(err, &late) {
		t.Errorf("%v", err)
	}
}

// TestSecrets: a password is in no file of the run, and in no error of a server that repeats it.
func TestSecrets(t *testing.T) {
	w, dir := newWorld(), t.TempDir()
	w.refuse["create secrets"] = apierrors.NewBadRequest("admission webhook denied: data.password " + creds.Password)
	r := begin(t, w, dir, wanted())
	err := r.Make(within(t))
	if err == nil || strings.Contains(err.Error(), creds.Password) {
		t.Errorf("%v", err)
	}
	if _, _, err := Try(t.Context(), w, Seen{}, wanted(), Place{}, creds); err != nil && strings.Contains(err.Error(), creds.Password) {
		t.Errorf("%v", err)
	}
	delete(w.refuse, "create secrets")
	if err := add(within(t), r); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if strings.Contains(string(raw), creds.Password) || strings.Contains(string(raw), "UExBTlRFR") {
			t.Errorf("%s has the password", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, text := range []string{fmt.Sprintf("%v", creds), fmt.Sprintf("%+v", creds), fmt.Sprintf("%#v", creds)} {
		if strings.Contains(text, "hunter") {
			t.Error(text)
		}
	}
}
