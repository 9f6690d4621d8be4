package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

func condition(o Object, kind string) map[string]any { return conditionOf(o, kind) }

// TestRefusedBeforeAnything: a plan that no longer fits the cluster
// writes nothing and says why.
func TestRefusedBeforeAnything(t *testing.T) {
	history := func(w *world, entries ...any) {
		w.edit(clusterVersionRef(), "cvo", func(o Object) { o["status"].(map[string]any)["history"] = entries })
	}
	entry := func(state, version string) any { return map[string]any{"state": state, "version": version} }
	tests := []struct {
		name   string
		change func(*rig)
		want   string
	}{
		{"another cluster", func(r *rig) {
			r.edit(clusterVersionRef(), "x", func(o Object) { o["spec"].(map[string]any)["clusterID"] = "other" })
		}, "this is cluster other, the plan is for the-cluster"},
		{"another CA", func(r *rig) { r.exec.CA = "sha256:other" }, "verified with another CA"},
		{"an upgrade", func(r *rig) { history(r.world, entry("Partial", "4.20.1"), entry("Completed", "4.20.0")) }, "an update to 4.20.1 is under way"},
		{"no word on upgrades", func(r *rig) { history(r.world) }, "does not show whether an update is under way"},
		{"a paused pool", func(r *rig) {
			r.edit(poolRef("master"), "x", func(o Object) { o["spec"].(map[string]any)["paused"] = true })
		}, "pool master is paused"},
		{"etcd without quorum", func(r *rig) { condition(r.objects[keyOf(etcdRef())], "EtcdMembersAvailable")["status"] = "False" }, "etcd has no quorum"},
		{"an unhealthy member", func(r *rig) { condition(r.objects[keyOf(etcdRef())], "EtcdMembersDegraded")["status"] = "True" }, "a member that is not healthy"},
		{"an operator that cannot see", func(r *rig) {
			r.put(etcdRef(), etcdObject("2 members are available"))
			c := r.objects[keyOf(etcdRef())]["status"].(map[string]any)
			c["conditions"] = append(c["conditions"].([]any), map[string]any{"type": "EtcdMembersControllerDegraded", "status": "True",
				"message": "etcdserver: request timed out"})
		}, "cannot see its members"},
		{"an etcd that says nothing", func(r *rig) {
			r.put(etcdRef(), Object{"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "status": map[string]any{}})
		}, "the health of etcd is not known"},
		{"no number of members", func(r *rig) { r.put(etcdRef(), etcdObject("members are fine")) }, "the number of healthy members cannot be read"},
		{"no etcd object", func(r *rig) { delete(r.objects, keyOf(etcdRef())) }, "could not be read, so it is not known"},
		{"no right to look", func(r *rig) {
			r.deny = func(verb, key string) int {
				if verb == "GET" && key == keyOf(etcdRef()) {
					return 403
				}
				return 0
			}
		}, "could not be read, so it is not known"},
		{"a render that went away", func(r *rig) { delete(r.objects, keyOf(configRef(target))) }, "machineconfigs/" + target},
		{"another render since", func(r *rig) {
			r.put(configRef("rendered-master-new"), Object{})
			r.edit(poolRef("master"), "machine-config-controller", func(o Object) {
				o["spec"].(map[string]any)["configuration"].(map[string]any)["name"] = "rendered-master-new"
			})
		}, "was " + target + ", is rendered-master-new"},
		{"a status filled by someone", func(r *rig) {
			r.edit(poolRef("master"), "kubectl-edit", func(o Object) {
				o["status"].(map[string]any)["configuration"] = map[string]any{"name": "x"}
			})
		}, "was (empty), is x; last written by kubectl-edit"},
		{"no right to write", func(r *rig) {
			r.deny = func(verb, _ string) int {
				if verb == "PATCH" {
					return 403
				}
				return 0
			}
		}, "lacks the right"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, desync(t))
			r.exec.Mirror = nil
			p := r.plan(t)
			tt.change(r)
			_, err := r.exec.Apply(t.Context(), p)
			var refused *Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Apply: %v\nwant a refusal with %q", err, tt.want)
			}
			if ExitCode(err) != exitNeedPerson {
				t.Errorf("exit code %d", ExitCode(err))
			}
			if len(r.writes) > 0 {
				t.Errorf("written: %v", r.writes)
			}
		})
	}
}

// TestConflictingWriter: someone writes between our look and our write.
func TestConflictingWriter(t *testing.T) {
	once := func(r *rig, change func(Object)) {
		done := false
		r.before = func(verb, key string) {
			if verb == "PATCH" && key == keyOf(poolRef("master")) && !done {
				done = true
				r.mu.Lock()
				defer r.mu.Unlock()
				r.edit(poolRef("master"), "other-tool", change)
			}
		}
	}
	t.Run("on the same field", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		once(r, func(o Object) {
			o["status"].(map[string]any)["configuration"] = map[string]any{"name": "theirs"}
		})
		_, err := r.exec.Apply(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), "other-tool") || !strings.Contains(err.Error(), "theirs") {
			t.Errorf("Apply: %v, want a refusal that names the writer and the value", err)
		}
		if got := stringAt(r.get(poolRef("master")), "status", "configuration", "name"); got != "theirs" {
			t.Errorf("status names %q: their write was lost", got)
		}
	})
	t.Run("on another field", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		once(r, func(o Object) { o["metadata"].(map[string]any)["annotations"] = map[string]any{"theirs": "yes"} })
		if _, err := r.exec.Apply(t.Context(), p); err != nil {
			t.Fatalf("Apply: %v", err)
		}
		r.repaired(t)
		if got := stringAt(r.get(poolRef("master")), "metadata", "annotations", "theirs"); got != "yes" {
			t.Error("their annotation was lost")
		}
	})
	t.Run("after the act, before the undo", func(t *testing.T) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.frozen = true
		if _, err := r.exec.Apply(t.Context(), p); err == nil {
			t.Fatal("nothing joined, and Apply is content")
		}
		r.edit(poolRef("master"), "other-tool", func(o Object) {
			o["status"].(map[string]any)["configuration"].(map[string]any)["name"] = "theirs"
		})
		_, err := r.exec.Undo(t.Context(), p.ID)
		var person *NeedPerson
		if !errors.As(err, &person) || !strings.Contains(err.Error(), "changed since by other-tool") {
			t.Errorf("Undo: %v", err)
		}
	})
}

// TestRolledBack: an act that does not come to its effect is undone.
func TestRolledBack(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	p.Steps = p.Steps[:1]
	p.Steps[0].Expect.Absent = []fault.Key{renderFault} // which adopting does not end
	r.frozen = true
	r.reviewed(t, p)
	_, err := r.exec.Apply(t.Context(), p)
	var back *RolledBack
	if !errors.As(err, &back) || ExitCode(err) != exitRolledBack {
		t.Fatalf("Apply: %v", err)
	}
	if name := stringAt(r.get(poolRef("master")), "status", "configuration", "name"); name != "" {
		t.Errorf("status names %q", name)
	}
	if _, err := r.exec.Resume(t.Context(), p.ID); err == nil {
		t.Error("a plan that was rolled back was resumed")
	}
}

// TestTooLate: a wait that ends without its effect leaves all as it is.
func TestTooLate(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	r.frozen = true
	_, err := r.exec.Apply(t.Context(), p)
	var person *NeedPerson
	if !errors.As(err, &person) || ExitCode(err) != exitNeedPerson || !strings.Contains(err.Error(), "control0 has not asked") {
		t.Fatalf("Apply: %v", err)
	}
	r.frozen = false
	if _, err := r.exec.Resume(t.Context(), p.ID); err != nil {
		t.Fatalf("Resume: %v", err)
	}
	r.repaired(t)
}

// TestStrangeRequest: an address that was not declared is not certified.
func TestStrangeRequest(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	for i := range p.Steps {
		if p.Steps[i].Args.Signer != "" {
			p.Steps[i].Args.IPs = []string{"192.0.2.99"}
		}
	}
	r.reviewed(t, p)
	_, err := r.exec.Apply(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "192.0.2.10 is not declared") {
		t.Errorf("Apply: %v", err)
	}
	if countOf(r.writes, "patch certificatesigningrequests/csr-serving approval") > 0 {
		t.Error("the serving request was approved")
	}
}

func TestJournalCutAndTampered(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	r.frozen = true
	if _, err := r.exec.Apply(t.Context(), p); err == nil {
		t.Fatal("Apply is content")
	}
	r.frozen = false
	dir := filepath.Join(r.dir, "plans", p.ID)
	path := filepath.Join(dir, "journal.jsonl")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(raw, []byte(`{"seq":99,"kin`)...), 0o600); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, "plan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(kept), "master", "worker", 1)
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.exec.Resume(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), "was changed after it was begun") {
		t.Errorf("Resume of an edited plan: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), kept, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.exec.Resume(t.Context(), p.ID); err != nil {
		t.Errorf("Resume over a cut line: %v", err)
	}
	r.repaired(t)
}

func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	j, err := openJournal(dir, "p", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openJournal(dir, "p", time.Now); err == nil || !strings.Contains(err.Error(), "another rollcall") {
		t.Errorf("openJournal: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// servedAt is what the logs of the machine config servers say.
type servedAt struct {
	at  time.Time
	err error
}

func (s servedAt) LastServed(context.Context, string) (time.Time, string, error) {
	return s.at, "Pool \"master\" requested", s.err
}

// TestFetchedStays: a host that was given the config keeps it, though no object
// tells of that host yet; logs that cannot be read are no proof that none was.
func TestFetchedStays(t *testing.T) {
	tests := []struct {
		name   string
		served servedAt
		want   string
	}{
		{"served afterwards", servedAt{at: time.Date(2026, 5, 1, 3, 0, 5, 0, time.UTC)}, "a host has fetched the config"},
		{"not readable", servedAt{err: errors.New("logs are forbidden")}, "it is unknown whether"},
		{"served long before", servedAt{at: time.Date(2026, 5, 1, 2, 0, 0, 0, time.UTC)}, ""},
		{"never served", servedAt{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, desync(t))
			p := r.plan(t)
			r.frozen, r.exec.Served = true, tt.served
			if _, err := r.exec.Apply(t.Context(), p); err == nil {
				t.Fatal("nothing joined, and Apply is content")
			}
			_, err := r.exec.Undo(t.Context(), p.ID)
			stays := stringAt(r.get(poolRef("master")), "status", "configuration", "name") == target
			if stays != (tt.want != "") || (err != nil) != stays || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Undo: %v, stays %t; want %q", err, stays, tt.want)
			}
		})
	}
}

// TestTold: a node that is only told to run the config does not keep it: the controller takes that from the pool's
// spec. A node that runs it does.
func TestTold(t *testing.T) {
	for _, tt := range []struct{ annotation, want string }{
		{openshift.DesiredConfigAnnotation, ""},
		{openshift.CurrentConfigAnnotation, "node control2 runs " + target},
	} {
		t.Run(tt.annotation, func(t *testing.T) {
			r := newRig(t, desync(t))
			p := r.plan(t)
			r.frozen = true
			if _, err := r.exec.Apply(t.Context(), p); err == nil {
				t.Fatal("nothing joined, and Apply is content")
			}
			node := r.get(nodeRef("control2"))
			node["metadata"].(map[string]any)["annotations"].(map[string]any)[tt.annotation] = target
			r.put(nodeRef("control2"), node)
			_, err := r.exec.Undo(t.Context(), p.ID)
			stays := stringAt(r.get(poolRef("master")), "status", "configuration", "name") == target
			if stays != (tt.want != "") || (err != nil) != stays || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Undo: %v, stays %t; want %q", err, stays, tt.want)
			}
		})
	}
}
