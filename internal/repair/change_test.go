package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// changeCase is a fault that a change of fields ends, on an object as it is then.
type changeCase struct {
	remedy  string
	subject fault.Subject
	object  Ref
	content func() Object
	broken  func(o Object) bool // the fault, as the test's evaluator sees it
	follow  func(o Object)      // what the controller does after the change; nil: nothing
	actions []ActionName
}

func bareMetalHost(annotations map[string]any, spec, status map[string]any) func() Object {
	return func() Object {
		return clone(Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost",
			"metadata": map[string]any{"annotations": annotations}, "spec": spec, "status": status})
	}
}

func changeCases() []changeCase {
	onlyVerify := []ActionName{ChangeFields, Verify}
	host := fault.Subject{Kind: fault.Host, Name: "worker-1.example.com"}
	annotated := func(key string) func(Object) bool {
		return func(o Object) bool { _, there := fieldAt(o, pointer("metadata", "annotations", key)); return there }
	}
	return []changeCase{
		{
			remedy: "switch-host-on", subject: host, object: bareMetalHostRef("rack7-u12"),
			content: bareMetalHost(map[string]any{"other": "stays"}, map[string]any{"online": false, "consumerRef": map[string]any{"name": "worker-machine-1"}},
				map[string]any{"poweredOn": false, "provisioning": map[string]any{"state": "provisioned"}}),
			broken:  func(o Object) bool { return !boolAt(o, "status", "poweredOn") },
			follow:  func(o Object) { o["status"].(map[string]any)["poweredOn"] = boolAt(o, "spec", "online") },
			actions: onlyVerify,
		},
		{
			remedy: "unpause-host", subject: host, object: bareMetalHostRef("worker-1"),
			content: bareMetalHost(map[string]any{pausedKey: "maintenance", "other": "stays"}, map[string]any{"online": true}, map[string]any{"provisioning": map[string]any{"state": "available"}}),
			broken:  annotated(pausedKey),
			actions: onlyVerify,
		},
		{
			remedy: "attach-host", subject: host, object: bareMetalHostRef("worker-1"),
			content: bareMetalHost(map[string]any{detachedKey: ""}, map[string]any{"online": true}, map[string]any{"operationalStatus": "detached"}),
			broken:  func(o Object) bool { return stringAt(o, "status", "operationalStatus") == "detached" },
			follow: func(o Object) {
				if !annotated(detachedKey)(o) {
					o["status"].(map[string]any)["operationalStatus"] = "OK"
				}
			},
			actions: onlyVerify,
		},
		{
			remedy: "unpause-pool", subject: fault.Subject{Kind: fault.Pool, Name: "worker"}, object: poolRef("worker"),
			content: func() Object {
				return clone(Object{"apiVersion": mcoGroup + "/v1", "kind": "MachineConfigPool",
					"spec": map[string]any{"paused": true, "configuration": map[string]any{"name": "rendered-worker-b"}},
					"status": map[string]any{"configuration": map[string]any{"name": "rendered-worker-a"}, "machineCount": 2, "updatedMachineCount": 0,
						"readyMachineCount": 2, "unavailableMachineCount": 0, "degradedMachineCount": 0}})
			},
			broken: func(o Object) bool { return boolAt(o, "spec", "paused") },
			follow: func(o Object) {
				if !boolAt(o, "spec", "paused") {
					s := o["status"].(map[string]any)
					s["updatedMachineCount"], s["configuration"] = 2, map[string]any{"name": "rendered-worker-b"}
				}
			},
			actions: []ActionName{ChangeFields, WaitPool, Verify},
		},
		{
			remedy: "remove-etcd-override", subject: fault.Subject{Kind: fault.Cluster}, object: etcdRef(),
			content: func() Object {
				o := etcdObject("3 members are available")
				o["spec"] = map[string]any{"unsupportedConfigOverrides": map[string]any{"useUnsupportedUnsafeNonHANonProductionUnstableEtcd": true}}
				return clone(o)
			},
			broken: func(o Object) bool {
				return boolAt(o, "spec", "unsupportedConfigOverrides", "useUnsupportedUnsafeNonHANonProductionUnstableEtcd")
			},
			actions: onlyVerify,
		},
	}
}

// changeRig is a small cluster with the object of one case.
type changeRig struct {
	*rig
	c     changeCase
	still bool // the controller does nothing
}

func newChangeRig(t *testing.T, c changeCase) *changeRig {
	w := newWorld(t)
	w.frozen = true
	w.put(clusterVersionRef(), Object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterVersion", "spec": map[string]any{"clusterID": "the-cluster"},
		"status": map[string]any{"history": []any{map[string]any{"state": "Completed", "version": "4.20.4"}},
			"conditions": []any{map[string]any{"type": "Progressing", "status": "False"}}}})
	w.put(etcdRef(), etcdObject("3 members are available"))
	w.put(machineRef("worker-machine-1"), Object{"apiVersion": "machine.openshift.io/v1beta1", "kind": "Machine",
		"status": map[string]any{"nodeRef": map[string]any{"name": "worker-1.example.com"}}})
	w.put(bareMetalHostRef("somebody-else"), Object{"apiVersion": "metal3.io/v1alpha1", "kind": "BareMetalHost", "spec": map[string]any{"consumerRef": map[string]any{"name": "worker-machine-2"}}})
	w.put(c.object, c.content())
	r := &changeRig{rig: newRig(t, w), c: c}
	r.exec.Clock, r.exec.Eval, r.exec.Catalog = r, r, r.catalog(t)
	return r
}

func (r *changeRig) key() fault.Key { return fault.Key{Fault: "the-fault", Subject: r.c.subject} }

func (r *changeRig) catalog(t *testing.T) *fault.Catalog {
	files := fstest.MapFS{"the-fault.yaml": &fstest.MapFile{Data: []byte(fmt.Sprintf(
		"id: the-fault\ntitle: t\nlayer: l\nfor: %s\nseverity: error\ngiven: {}\nwhen: 'true'\nmeans: m\nremedies: [%s]\nrefs: [{repo: a/b}]\n", r.c.subject.Kind, r.c.remedy))}}
	name := "remedies/" + r.c.remedy + ".yaml"
	data, err := catalog.FS.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data = []byte(strings.ReplaceAll(string(data), "{bmh.name}", "{host}")) // a fact of the real fault
	files[name] = &fstest.MapFile{Data: data}
	c, err := fault.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Now and Sleep implement Clock: while somebody waits, the controller works.
func (r *changeRig) Now() time.Time { return clock{r.world}.Now() }

func (r *changeRig) Sleep(ctx context.Context, d time.Duration) error {
	err := clock{r.world}.Sleep(ctx, d)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c.follow != nil && !r.still {
		r.edit(r.c.object, "controller", r.c.follow)
	}
	return err
}

func (r *changeRig) Evaluate(_ context.Context, k fault.Key) (diagnosis.Finding, error) {
	f := diagnosis.Finding{Fault: k.Fault, Subject: k.Subject, Outcome: fault.Absent, Severity: fault.Error}
	if r.c.broken(r.get(r.c.object)) {
		f.Outcome = fault.Present
	}
	return f, nil
}

func (r *changeRig) Diagnose(ctx context.Context) (*diagnosis.Diagnosis, error) {
	d := &diagnosis.Diagnosis{Cluster: diagnosis.ClusterInfo{ID: "the-cluster"}, Verdict: diagnosis.Verdict{Class: diagnosis.Healthy}}
	f, err := r.Evaluate(ctx, r.key())
	if f.Outcome == fault.Present {
		d.Roots, d.Verdict.Class = []diagnosis.Root{{Key: r.key(), Title: "t", Confidence: diagnosis.Proven}}, diagnosis.RecoverableInPlace
	}
	d.Findings = []diagnosis.Finding{f}
	return d, err
}

func (r *changeRig) planned(t *testing.T) (*Plan, error) {
	t.Helper()
	d, err := r.Diagnose(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock}).Plan(t.Context(), Ask{Diagnosis: d, Catalog: r.exec.Catalog, Root: r.key(),
		Cluster: ClusterID{ID: "the-cluster", Server: "https://api:6443", CA: "ca"}, Context: "admin"})
	if err != nil {
		return nil, err
	}
	_, err = p.Issue(r.dir, ".yaml")
	return p, err
}

func (r *changeRig) mustPlan(t *testing.T) *Plan {
	t.Helper()
	p, err := r.planned(t)
	if err != nil {
		t.Fatalf("Plan: %v", err)
	}
	return p
}

// patched is how often the object was written.
func (r *changeRig) patched() int {
	n := 0
	for _, w := range r.writes {
		if strings.HasPrefix(w, "patch "+r.c.object.String()) {
			n++
		}
	}
	return n
}

func TestChange(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range changeCases() {
		tried[c.remedy] = true
		t.Run(c.remedy, func(t *testing.T) {
			r := newChangeRig(t, c)
			p := r.mustPlan(t)
			if got := actions(p); fmt.Sprint(got) != fmt.Sprint(c.actions) || len(p.Open) > 0 {
				t.Fatalf("steps %v, open %v", got, p.Open)
			}
			if r.patched() > 0 {
				t.Errorf("planning wrote %v", r.writes)
			}
			o, err := r.exec.Apply(t.Context(), p)
			if err != nil || o.State != Repaired {
				t.Fatalf("Apply: %v, %+v\n%s", err, o, strings.Join(r.said, "\n"))
			}
			if r.patched() != 1 || c.broken(r.get(c.object)) {
				t.Errorf("written %d times, broken %t", r.patched(), c.broken(r.get(c.object)))
			}
			if _, there := fieldAt(c.content(), pointer("metadata", "annotations", "other")); there && stringAt(r.get(c.object), "metadata", "annotations", "other") != "stays" {
				t.Error("an annotation of somebody else is gone")
			}
		})
	}
	for _, c := range changes() {
		if !tried[c.remedy] {
			t.Errorf("%s is not tried", c.remedy)
		}
	}
}

// Killed at each point, a plan goes on to its end with one write.
func TestChangeKilledThenResumed(t *testing.T) {
	for _, c := range changeCases() {
		var all []Point
		r := newChangeRig(t, c)
		r.exec.At = func(p Point) { all = append(all, p) }
		if _, err := r.exec.Apply(t.Context(), r.mustPlan(t)); err != nil {
			t.Fatal(err)
		}
		for n, at := range all {
			t.Run(c.remedy+"/"+at.Step+"/"+at.At, func(t *testing.T) {
				r := newChangeRig(t, c)
				p := r.mustPlan(t)
				r.applyKilled(t.Context(), p, n)
				var refused *Refused
				_, err := r.exec.Resume(t.Context(), p.ID)
				if at == (Point{"", "before began"}) {
					if !errors.As(err, &refused) {
						t.Fatalf("Resume of a plan that was not begun: %v", err)
					}
					_, err = r.exec.Apply(t.Context(), p)
				}
				if err != nil || r.patched() != 1 || c.broken(r.get(c.object)) {
					t.Errorf("Resume: %v, written %d times", err, r.patched())
				}
			})
		}
	}
}

// Killed at each point before the controller follows, a plan is undone: the fields are as they were.
func TestChangeKilledThenUndone(t *testing.T) {
	for _, c := range changeCases() {
		var all []Point
		r := newChangeRig(t, c)
		r.exec.At = func(p Point) { all = append(all, p) }
		if _, err := r.exec.Apply(t.Context(), r.mustPlan(t)); err != nil {
			t.Fatal(err)
		}
		for n, at := range all {
			if at.At == "before began" {
				continue
			}
			t.Run(c.remedy+"/"+at.Step+"/"+at.At, func(t *testing.T) {
				r := newChangeRig(t, c)
				p := r.mustPlan(t)
				r.still = true
				r.applyKilled(t.Context(), p, n)
				r.exec.At = nil // it may have ended before this point, since nothing follows
				if _, err := r.exec.Undo(t.Context(), p.ID); err != nil {
					t.Fatalf("Undo: %v", err)
				}
				ch, _ := changeOf(c.remedy)
				set, err := ch.set(c.content())
				if err != nil {
					t.Fatal(err)
				}
				fields := slices.Sorted(maps.Keys(set))
				want, _ := digestFields(c.content(), fields)
				if have, _ := digestFields(r.get(c.object), fields); have != want {
					t.Errorf("the fields are not as they were: %v", shown(r.get(c.object), fields))
				}
			})
		}
	}
}

// What changed since the plan was made, or is not safe, refuses; nothing is written.
func TestChangeRefused(t *testing.T) {
	byRemedy := map[string]changeCase{}
	for _, c := range changeCases() {
		byRemedy[c.remedy] = c
	}
	for name, tt := range map[string]struct {
		remedy string
		change func(*changeRig, *Plan)
		want   string
	}{
		"another cluster": {"unpause-pool", func(r *changeRig, _ *Plan) {
			r.edit(clusterVersionRef(), "x", func(o Object) { o["spec"].(map[string]any)["clusterID"] = "other" })
		}, "this is cluster other"},
		"an update": {"switch-host-on", func(r *changeRig, _ *Plan) {
			r.edit(clusterVersionRef(), "x", func(o Object) {
				o["status"].(map[string]any)["history"] = []any{map[string]any{"state": "Partial", "version": "4.20.5"}, map[string]any{"state": "Completed", "version": "4.20.4"}}
			})
		}, "an update to 4.20.5 is under way"},
		"paused by another since": {"unpause-host", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "kubectl-annotate", func(o Object) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[pausedKey] = "firmware update"
			})
		}, "was maintenance, is firmware update; last written by kubectl-annotate"},
		"paused meanwhile": {"switch-host-on", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "x", func(o Object) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[pausedKey] = ""
			})
		}, ""},
		"etcd has lost a member": {"remove-etcd-override", func(r *changeRig, _ *Plan) {
			r.edit(etcdRef(), "etcd-operator", func(o Object) {
				conditionOf(o, "EtcdMembersAvailable")["message"] = "2 of 3 members are available, control-2 is unhealthy"
			})
		}, "members"},
		"the fault is gone": {"attach-host", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "x", func(o Object) { o["status"].(map[string]any)["operationalStatus"] = "OK" })
		}, "is no longer present"},
		"the object is gone": {"unpause-host", func(r *changeRig, _ *Plan) { delete(r.objects, keyOf(r.c.object)) }, "it is gone"},
		"an edited object": {"unpause-host", func(r *changeRig, p *Plan) {
			p.Steps[0].Args.Object = "somebody-else"
			r.reviewed(t, p)
		}, "reads"},
		"an edited remedy": {"unpause-host", func(r *changeRig, p *Plan) {
			p.Steps[0].Args.Remedy = "switch-host-on"
			r.reviewed(t, p)
		}, "does not describe what the step does"},
		"another object, with its words and reads": {"unpause-host", func(r *changeRig, p *Plan) {
			o := r.c.content()
			r.put(bareMetalHostRef("worker-2"), o)
			s := p.Steps[0]
			s.Args.Object = "worker-2"
			s = described(s, p.Root)
			rd, err := reading(bareMetalHostRef("worker-2"), o, hostReads()...)
			if err != nil {
				t.Fatal(err)
			}
			s.Reads = []Reading{rd}
			p.Steps[0] = s
			r.reviewed(t, p)
		}, "is not the object of host/worker-1"},
		"deleted meanwhile": {"unpause-host", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "x", func(o Object) { o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-05-01T03:00:00Z" })
		}, "is not as it was"},
		"another etcd": {"remove-etcd-override", func(r *changeRig, p *Plan) {
			s := p.Steps[0]
			s.Args.Object = "foo"
			p.Steps[0] = described(s, p.Root)
			r.reviewed(t, p)
		}, "is not the object that remove-etcd-override changes"},
		"a name that is a path": {"unpause-host", func(r *changeRig, p *Plan) {
			p.Steps[0].Args.Object = "../../secrets/x"
			r.reviewed(t, p)
		}, "is not a name"},
		"no guard": {"remove-etcd-override", func(r *changeRig, p *Plan) {
			p.Steps[0].Preconditions = p.Steps[0].Preconditions[:2]
			r.reviewed(t, p)
		}, "the guard etcd-members is left out"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newChangeRig(t, byRemedy[tt.remedy])
			p := r.mustPlan(t)
			tt.change(r, p)
			_, err := r.exec.Apply(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Apply: %v, want %q", err, tt.want)
			}
			if r.patched() > 0 {
				t.Errorf("it was written all the same")
			}
		})
	}
}

// What must not be changed is not planned.
func TestChangeNotPlanned(t *testing.T) {
	for _, c := range changeCases() {
		var set func(o Object)
		want := ""
		switch c.remedy {
		case "unpause-host":
			set, want = func(o Object) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[pausedKey] = "metal3.io/capm3"
			}, "the controller of that name"
		case "unpause-pool":
			set, want = func(o Object) {
				o["status"].(map[string]any)["conditions"] = []any{map[string]any{"type": "Degraded", "status": "True", "message": "node x"}}
			}, "the pool is degraded (node x)"
		case "switch-host-on":
			set, want = func(o Object) { o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-05-01T03:00:00Z" }, "is being deleted"
		default:
			continue
		}
		if c.remedy == "unpause-host" {
			for want, set := range map[string]func(Object){
				"is being deleted": func(o Object) { o["metadata"].(map[string]any)["deletionTimestamp"] = "2026-05-01T03:00:00Z" },
				"is being deleted: without": func(o Object) {
					o["status"].(map[string]any)["provisioning"] = map[string]any{"state": "deprovisioning"}
				},
				"its power is not known": func(o Object) { o["spec"].(map[string]any)["online"] = false },
				"would switch it off": func(o Object) {
					o["spec"].(map[string]any)["online"] = false
					o["status"].(map[string]any)["poweredOn"] = true
				},
				"assisted-service-controller": func(o Object) {
					o["metadata"].(map[string]any)["annotations"].(map[string]any)[pausedKey] = "assisted-service-controller"
				},
			} {
				r := newChangeRig(t, c)
				r.edit(c.object, "x", set)
				if _, err := r.planned(t); !errors.Is(err, ErrNothingToDo) || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", c.remedy, err, want)
				}
			}
		}
		r := newChangeRig(t, c)
		r.edit(c.object, "x", set)
		if _, err := r.planned(t); !errors.Is(err, ErrNothingToDo) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", c.remedy, err, want)
		}
	}
	var host changeCase
	for _, c := range changeCases() {
		if c.remedy == "switch-host-on" {
			host = c
		}
	}
	r := newChangeRig(t, host)
	r.put(bareMetalHostRef("worker-1"), host.content())
	if _, err := r.planned(t); err == nil || !strings.Contains(err.Error(), "may be one of the BareMetalHosts") {
		t.Errorf("two hosts that fit: %v", err)
	}
}

// A host that runs is not switched off by an undo.
func TestSwitchedOnStays(t *testing.T) {
	r := newChangeRig(t, changeCases()[0])
	p := r.mustPlan(t)
	if _, err := r.exec.Apply(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err := r.exec.Undo(t.Context(), p.ID)
	var person *NeedPerson
	if !errors.As(err, &person) || !strings.Contains(err.Error(), "drain its node") || !boolAt(r.get(r.c.object), "spec", "online") {
		t.Errorf("Undo: %v", err)
	}
}
