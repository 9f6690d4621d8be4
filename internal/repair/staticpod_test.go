package repair

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// staticRig is a cluster with an installer pod that hangs, or a member of etcd that is dead.
func staticRig(t *testing.T, remedy string) *changeRig {
	operator := fault.Subject{Kind: fault.Operator, Name: "kube-apiserver"}
	installer := podRef("openshift-kube-apiserver", "installer-8-retry-1-control1")
	c := changeCase{remedy: remedy, subject: operator, object: operandRef("kube-apiserver"), content: func() Object {
		return clone(Object{"apiVersion": "operator.openshift.io/v1", "kind": "KubeAPIServer", "status": map[string]any{"latestAvailableRevision": 8,
			"nodeStatuses": []any{map[string]any{"nodeName": "control0", "currentRevision": 8}, map[string]any{"nodeName": "control1", "currentRevision": 7,
				"targetRevision": 8}}}})
	}, broken: func(o Object) bool { return behindNewest(o) != "" }}
	if remedy == removeDeadMember {
		c.subject, c.object = fault.Subject{Kind: fault.Cluster}, etcdRef()
		c.content = func() Object { return clone(etcdObject("3 members are available")) }
	}
	r := newChangeRig(t, c)
	for i, ready := range []string{"True", "True", "False"} {
		name := fmt.Sprintf("control%d", i)
		r.put(nodeRef(name), Object{"apiVersion": "v1", "kind": "Node", "metadata": map[string]any{"labels": map[string]any{"node-role.kubernetes.io/master": ""}},
			"status": map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": ready}},
				"addresses": []any{map[string]any{"type": "InternalIP", "address": fmt.Sprintf("192.0.2.1%d", i)}}}})
		r.put(memberRef(fmt.Sprintf("a%d", i)), memberObject(name, fmt.Sprintf("192.0.2.1%d", i), map[string]string{"True": memberHealthy,
			"False": memberUnhealthy}[ready]))
	}
	if remedy == removeDeadMember {
		dead := keyOf(memberRef("a2"))
		r.c.broken = func(Object) bool { return r.objects[dead] != nil }
		return r
	}
	r.edit(nodeRef("control2"), "x", func(o Object) {
		o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Ready", "status": "True"}}
	})
	r.put(installer, Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"labels": map[string]any{"app": "installer"},
		"creationTimestamp": r.now.Add(-time.Hour).Format(time.RFC3339), "uid": "hangs"},
		"status": map[string]any{"phase": "Pending"}})
	r.exec.Clock = follower{r, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch pod := r.objects[keyOf(installer)]; {
		case r.still:
		case pod == nil:
			r.put(installer, Object{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"labels": map[string]any{"app": "installer"}},
				"status": map[string]any{"phase": "Succeeded"}})
		case stringAt(pod, "status", "phase") == "Succeeded":
			r.edit(c.object, "operator", func(o Object) {
				o["status"] = clone(map[string]any{"latestAvailableRevision": 8, "nodeStatuses": []any{map[string]any{"nodeName": "control1", "currentRevision": 8}}})
			})
		}
	}}
	return r
}

func memberObject(name, ip, state string) Object {
	return clone(Object{"apiVersion": "etcd/v3", "kind": "Member", "spec": map[string]any{"name": name, "peerURLs": []any{"https://" + ip + ":2380"},
		"learner": false},
		"status": map[string]any{"health": state, "alarms": []any{}}})
}

// snapshotFile writes what passes for a snapshot: a page with the database's magic, and its sum.
func snapshotFile(t *testing.T, name string, taken time.Time) string {
	t.Helper()
	db := make([]byte, 4096)
	copy(db[16:], boltMagic)
	sum := sha256.Sum256(db)
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, append(db, sum[:]...), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, taken, taken); err != nil {
		t.Fatal(err)
	}
	return path
}

func (r *changeRig) memberAsk(t *testing.T) Ask {
	return Ask{Member: MemberAsk{Name: "control2", Backup: snapshotFile(t, "snapshot.db", r.now.Add(-10*time.Minute))}}
}

func TestReplaceInstaller(t *testing.T) {
	r := staticRig(t, replaceInstaller)
	p, err := r.putPlan(t, Ask{})
	if err != nil || fmt.Sprint(actionNames(p)) != "[replace-pod verify]" || len(p.Open) > 0 {
		t.Fatalf("Plan: %v, %+v", err, p)
	}
	if o, err := r.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
	}
	if got := r.targetWrites(); fmt.Sprint(got) != "[delete pods/openshift-kube-apiserver/installer-8-retry-1-control1]" {
		t.Errorf("written: %v", got)
	}
}

// Each of these is no pod that hangs: nothing is planned, and a plan that was made is refused.
func TestNotHanging(t *testing.T) {
	installer := podRef("openshift-kube-apiserver", "installer-8-retry-1-control1")
	for want, change := range map[string]func(r *changeRig){
		"not known to be older": func(r *changeRig) {
			r.edit(installer, "x", func(o Object) { o["metadata"].(map[string]any)["creationTimestamp"] = r.stamp() })
		},
		"being deleted": func(r *changeRig) {
			r.edit(installer, "x", func(o Object) { o["metadata"].(map[string]any)["deletionTimestamp"] = r.stamp() })
		},
		"its phase is Failed": func(r *changeRig) {
			r.edit(installer, "x", func(o Object) { o["status"] = map[string]any{"phase": "Failed"} })
		},
		"it is not an installer pod": func(r *changeRig) {
			r.edit(installer, "x", func(o Object) { o["metadata"].(map[string]any)["labels"] = map[string]any{} })
		},
		"not being moved to revision 8": func(r *changeRig) {
			r.edit(r.c.object, "x", func(o Object) {
				o["status"] = clone(map[string]any{"latestAvailableRevision": 8, "nodeStatuses": []any{map[string]any{"nodeName": "control1",
					"currentRevision": 7, "targetRevision": 0}}})
			})
		},
		"revision 9 waits": func(r *changeRig) {
			r.edit(r.c.object, "x", func(o Object) { o["status"].(map[string]any)["latestAvailableRevision"] = int64(9) })
		},
		"no status of node": func(r *changeRig) {
			r.edit(r.c.object, "x", func(o Object) { o["status"].(map[string]any)["nodeStatuses"] = []any{} })
		},
		"is not Ready": func(r *changeRig) {
			r.edit(nodeRef("control1"), "x", func(o Object) { o["status"] = map[string]any{} })
		},
	} {
		t.Run(want, func(t *testing.T) {
			r := staticRig(t, replaceInstaller)
			p, err := r.putPlan(t, Ask{})
			if err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			change(r)
			r.mu.Unlock()
			_, err = r.exec.Apply(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) > 0 {
				t.Errorf("Apply: %v, written %v", err, r.targetWrites())
			}
		})
	}
}

func TestRemoveMember(t *testing.T) {
	r := staticRig(t, removeDeadMember)
	p, err := r.putPlan(t, r.memberAsk(t))
	if err != nil || fmt.Sprint(actionNames(p)) != "[remove-member verify]" || len(p.Open) > 0 {
		t.Fatalf("Plan: %v, %+v", err, p)
	}
	if o, err := r.exec.Apply(t.Context(), p); err != nil || o.State != Repaired {
		t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
	}
	if got := r.targetWrites(); fmt.Sprint(got) != "[delete members/a2]" {
		t.Errorf("written: %v", got)
	}
	var person *NeedPerson
	if _, err := r.exec.Undo(t.Context(), p.ID); !errors.As(err, &person) {
		t.Errorf("Undo: %v", err)
	}
}

// Why a member is dead need not be proven where a person names it. Nothing else is planned for
// a cause that is not proven.
func TestRemoveMemberUnproven(t *testing.T) {
	for name, tt := range map[string]struct {
		remedy string
		named  bool
		want   string // the actions; "" where the plan is refused
	}{
		"named":               {removeDeadMember, true, "[remove-member verify]"},
		"not named":           {removeDeadMember, false, ""},
		"another one, named":  {replaceInstaller, true, ""},
		"another one unnamed": {replaceInstaller, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := staticRig(t, tt.remedy)
			d, err := r.Diagnose(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			d.Roots[0].Cases[0].Confidence = diagnosis.Likely
			ask := Ask{}
			if tt.named {
				ask = r.memberAsk(t)
			}
			ask.Diagnosis, ask.Catalog, ask.Root, ask.Context = d, r.exec.Catalog, r.key(), "admin"
			ask.Cluster = ClusterID{ID: "the-cluster", Server: "https://api:6443", CA: "ca"}
			p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Key: testKey}).Plan(t.Context(), ask)
			switch {
			case tt.want == "" && !errors.As(err, new(*UnprovenError)):
				t.Errorf("Plan: %v, want that the cause is not proven", err)
			case tt.want != "" && (err != nil || fmt.Sprint(actionNames(p)) != tt.want):
				t.Errorf("Plan: %v, %+v", err, p)
			}
		})
	}
}

// Without a name, a backup, or a member of that name nothing is planned.
func TestRemoveMemberAsk(t *testing.T) {
	r := staticRig(t, removeDeadMember)
	whole := r.memberAsk(t)
	other := filepath.Join(t.TempDir(), "other.db")
	if err := os.WriteFile(other, []byte("not a snapshot"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, ask := range map[string]MemberAsk{
		"--remove-member":             {},
		"--etcd-backup FILE":          {Name: "control2"},
		"no member control9":          {Name: "control9", Backup: whole.Member.Backup},
		"(control1) is healthy":       {Name: "control1", Backup: whole.Member.Backup},
		"no such file":                {Name: "control2", Backup: "/nowhere/snapshot.db"},
		"it is not a file":            {Name: "control2", Backup: os.DevNull},
		"not a snapshot with its sum": {Name: "control2", Backup: other},
	} {
		if _, err := r.putPlan(t, Ask{Member: ask}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// What turns red between plan and act refuses the removal.
func TestMemberNotDead(t *testing.T) {
	set := func(r *changeRig, id string, path string, v any) {
		r.edit(memberRef(id), "x", func(o Object) { setAt(o, path, v) })
	}
	for want, change := range map[string]func(r *changeRig){
		"(control1) is unhealthy":   func(r *changeRig) { set(r, "a1", "/status/health", memberUnhealthy) },
		"(control1) is not asked":   func(r *changeRig) { set(r, "a1", "/status/health", memberNotAsked) },
		"and a learner":             func(r *changeRig) { set(r, "a1", "/spec/learner", true) },
		"(control2) is healthy":     func(r *changeRig) { set(r, "a2", "/status/health", memberHealthy) },
		"is a learner":              func(r *changeRig) { set(r, "a2", "/spec/learner", true) },
		"raised an alarm":           func(r *changeRig) { set(r, "a0", "/status/alarms", []any{"1 of a0"}) },
		"etcd has 2 voting members": func(r *changeRig) { delete(r.objects, keyOf(memberRef("a1"))) },
		"is not as it was":          func(r *changeRig) { set(r, "a2", "/spec/peerURLs", []any{"https://192.0.2.12:9999"}) },
		"is another host, not":      func(r *changeRig) { set(r, "a2", "/spec/name", "another host") },
		"is not one of Node control2": func(r *changeRig) {
			r.edit(nodeRef("control2"), "x", func(o Object) { setAt(o, "/status/addresses", []any{}) })
		},
		"Node control2 is Ready": func(r *changeRig) {
			r.edit(nodeRef("control2"), "x", func(o Object) {
				setAt(o, "/status/conditions", []any{map[string]any{"type": "Ready", "status": "True"}})
			})
		},
		"control-plane node control1 is cordoned": func(r *changeRig) {
			r.edit(nodeRef("control1"), "x", func(o Object) { setAt(o, "/spec/unschedulable", true) })
		},
		"is being installed on control0": func(r *changeRig) {
			r.edit(etcdRef(), "x", func(o Object) {
				setAt(o, "/status/nodeStatuses", []any{map[string]any{"nodeName": "control0", "currentRevision": int64(3), "targetRevision": int64(4)}})
			})
		},
		"not known to be off": func(r *changeRig) {
			r.put(bareMetalHostRef("control2"), Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
				"spec":   map[string]any{"bmc": map[string]any{"address": "redfish://192.0.2.9/1"}},
				"status": map[string]any{"poweredOn": true, "provisioning": map[string]any{"state": "provisioned"}}})
		},
		"not within the last 2h0m0s": func(r *changeRig) { r.now = r.now.Add(3 * time.Hour) },
	} {
		t.Run(want, func(t *testing.T) {
			r := staticRig(t, removeDeadMember)
			p, err := r.putPlan(t, r.memberAsk(t))
			if err != nil {
				t.Fatal(err)
			}
			r.mu.Lock()
			change(r)
			r.mu.Unlock()
			_, err = r.exec.Apply(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) > 0 {
				t.Errorf("Apply: %v, written %v", err, r.targetWrites())
			}
		})
	}
}

// TestHostIsOn: a power state that is not read is not taken for off.
func TestHostIsOn(t *testing.T) {
	for _, tt := range []struct {
		name, address, state string
		detached, on         bool
		says                 string // "": refused
	}{
		{name: "off", address: "redfish://192.0.2.9/1", state: "provisioned", says: "its BareMetalHost is off"},
		{name: "on", address: "redfish://192.0.2.9/1", state: "provisioned", on: true},
		{name: "no BMC", state: "unmanaged", says: "the word of a person"},
		{name: "not registered yet", address: "redfish://192.0.2.9/1", says: "the word of a person"},
		{name: "detached", address: "redfish://192.0.2.9/1", state: "externally provisioned", detached: true, says: "the word of a person"},
	} {
		r := staticRig(t, removeDeadMember)
		status := map[string]any{"poweredOn": tt.on, "provisioning": map[string]any{"state": tt.state}}
		if tt.detached {
			status["operationalStatus"] = "detached"
		}
		r.mu.Lock()
		r.put(bareMetalHostRef("control2"), Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
			"spec": map[string]any{"bmc": map[string]any{"address": tt.address}}, "status": status})
		r.mu.Unlock()
		got, err := (&run{Executor: r.exec}).env().hostIsOn(t.Context(), "control2")
		if (err != nil) != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
	}
}

func TestSnapshot(t *testing.T) {
	now := time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC)
	s, err := readSnapshot(snapshotFile(t, "snapshot_2026-05-01_013000.db", now))
	if err != nil || !s.taken.Equal(time.Date(2026, 5, 1, 1, 30, 0, 0, time.UTC)) {
		t.Errorf("taken at %v: %v", s.taken, err)
	}
	for want, change := range map[string]func(b []byte) []byte{
		"it is damaged":  func(b []byte) []byte { b[100] ^= 1; return b },
		"is cut":         func(b []byte) []byte { return b[:len(b)-1] },
		"not a snapshot": func([]byte) []byte { return nil },
		"not a database": func(b []byte) []byte { b[16] = 0; return b },
	} {
		path := snapshotFile(t, "s.db", now)
		b, _ := os.ReadFile(path)
		if err := os.WriteFile(path, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readSnapshot(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
