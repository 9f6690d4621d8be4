package repair

import (
	"errors"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"
)

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
				o["status"].(map[string]any)["history"] = []any{map[string]any{"state": "Partial", "version": "4.20.5"}, map[string]any{"state": "Completed",
					"version": "4.20.4"}}
			})
		}, "an update to 4.20.5 is under way"},
		"paused by another since": {"unpause-host", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "kubectl-annotate", func(o Object) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[metal3.PausedAnnotation] = "firmware update"
			})
		}, "was maintenance, is firmware update; last written by kubectl-annotate"},
		"paused meanwhile": {"switch-host-on", func(r *changeRig, _ *Plan) {
			r.edit(r.c.object, "x", func(o Object) {
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[metal3.PausedAnnotation] = ""
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
				o["metadata"].(map[string]any)["annotations"].(map[string]any)[metal3.PausedAnnotation] = "metal3.io/capm3"
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
					o["metadata"].(map[string]any)["annotations"].(map[string]any)[metal3.PausedAnnotation] = "assisted-service-controller"
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
