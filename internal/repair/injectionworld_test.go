package repair

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What others do to the cluster while a repair is under way.

// updateBegins is a cluster that was installed and is now updated.
func (r *rig) updateBegins() {
	if ref := inHosted(hostedClusterRef("guest")); r.objects[keyOf(ref)] != nil {
		r.edit(ref, "x", func(o Object) {
			o["status"].(map[string]any)["version"] = map[string]any{"history": []any{map[string]any{"state": "Partial", "version": "4.20.9"},
				map[string]any{"state": "Completed", "version": "4.20.4"}}}
		})
		return
	}
	r.edit(clusterVersionRef(), "x", func(o Object) {
		s := o["status"].(map[string]any)
		s["history"] = []any{map[string]any{"state": "Partial", "version": "4.20.9"}, map[string]any{"state": "Completed", "version": "4.20.4"}}
		s["conditions"] = []any{map[string]any{"type": "Progressing", "status": "True"}}
	})
}

// memberFails is what the etcd operator reports of a member that does not answer.
func (r *rig) memberFails() {
	r.edit(etcdRef(), "x", func(o Object) {
		for _, c := range o["status"].(map[string]any)["conditions"].([]any) {
			if m := c.(map[string]any); m["type"] == "EtcdMembersDegraded" {
				m["status"], m["message"] = "True", "2 of 3 members are available, control2 is unhealthy"
			}
		}
	})
	r.sick = true
}

// changesRead changes what a step was planned from; false where it was planned from nothing.
func (r *rig) changesRead(s Step) bool {
	if len(s.Reads) == 0 {
		return false
	}
	rd := s.Reads[0]
	if len(rd.Fields) == 0 {
		kind := map[string]string{"nodes": "Node", "machineconfigs": "MachineConfig"}[rd.Object.Resource]
		r.put(rd.Object, Object{"apiVersion": strings.TrimPrefix(rd.Object.Group+"/"+rd.Object.Version, "/"), "kind": kind, "metadata": map[string]any{}})
		return true
	}
	r.edit(rd.Object, "x", func(o Object) { setAt(o, rd.Fields[0], "changed") })
	return true
}

func setAt(o Object, path string, v any) {
	f := splitPointer(path)
	at := o
	for _, e := range f[:len(f)-1] {
		next, ok := at[e].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[e] = next
		}
		at = next
	}
	at[f[len(f)-1]] = v
}

// turns lets something happen right before each write in turn, between the steps; the write
// must be refused for it. happens says whether the step depends on it.
func turns(t *testing.T, a tried, want string, happens func(*rig, Step) bool) string {
	applies := false
	points := a.passed(beforeWrite)
	for n, at := range points {
		r, p := a.make(t)
		s, _ := p.step(at.Step)
		did := false
		do := func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			did = happens(r, s)
		}
		if n == 0 {
			do()
		} else {
			r.exec.At = func(now Point) {
				if now == (Point{points[n-1].Step, "after result"}) {
					do()
				}
			}
		}
		_, err := r.exec.Apply(t.Context(), p)
		if !did {
			continue
		}
		applies = true
		if err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) != n {
			return fmt.Sprintf("before write %d: error %v, writes %v", n+1, err, r.targetWrites())
		}
	}
	if !applies {
		return none
	}
	return ""
}

// otherCluster: not begun, and not resumed, on a cluster that is not the plan's.
func otherCluster(t *testing.T, a tried) string {
	const want = "this is cluster other"
	other := func(r *rig) {
		for _, ref := range []Ref{clusterVersionRef(), inHosted(hostedClusterRef("guest"))} {
			if r.objects[keyOf(ref)] != nil {
				r.edit(ref, "x", func(o Object) { o["spec"].(map[string]any)["clusterID"] = "other" })
			}
		}
	}
	r, p := a.make(t)
	other(r)
	if _, err := r.exec.Apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) > 0 {
		return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
	}
	for n, at := range a.passed(beforeWrite) {
		r, p := a.make(t)
		r.exec.At = func(now Point) {
			if now == (Point{at.Step, "after write"}) {
				panic(killed{now})
			}
		}
		_, _ = interrupted(func() error { return failure(r.exec.Apply(t.Context(), p)) })
		r.exec.At = nil
		other(r)
		if _, err := r.exec.Resume(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), want) || len(r.targetWrites()) != n+1 {
			return fmt.Sprintf("resume after write %d: error %v, writes %v", n+1, err, r.targetWrites())
		}
	}
	return ""
}

// meets lets another writer change an object once, between the read of a write and the write.
func (r *rig) meets(at Point, change func(key string, o Object) bool) (met *bool) {
	met = new(bool)
	armed := false
	r.exec.At = func(now Point) { armed = armed || now == at }
	r.before = func(_, key string) {
		if !armed || *met || strings.Contains(key, "rollcall-plan-") {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		o := r.objects[key]
		if o == nil || !change(key, o) {
			return
		}
		*met = true
		r.version++
		o["metadata"].(map[string]any)["resourceVersion"] = fmt.Sprint(r.version)
	}
	return met
}

func otherFields(t *testing.T, a tried) string {
	applies := false
	for n, at := range a.passed(beforeWrite) {
		r, p := a.make(t)
		met := r.meets(at, func(_ string, o Object) bool { setAt(o, pointer("metadata", "labels", "team"), "x"); return true })
		o, err := r.exec.Apply(t.Context(), p)
		if err != nil || o.State != Repaired {
			return fmt.Sprintf("at write %d: %v, %+v", n+1, err, o)
		}
		if wrong := r.eachOnce(); wrong != "" {
			return wrong
		}
		applies = applies || *met
	}
	if !applies {
		return none
	}
	return ""
}

// sameFields: of what was read for the plan, the first field; of a request, its conditions.
func sameFields(t *testing.T, a tried) string {
	applies := false
	for n, at := range a.passed(beforeWrite) {
		r, p := a.make(t)
		s, _ := p.step(at.Step)
		met := r.meets(at, func(key string, o Object) bool {
			if s.Action == ApproveCSR {
				setAt(o, "/status/conditions", []any{map[string]any{"type": "Denied", "status": "True", "reason": "AnotherApprover"}})
				return true
			}
			i := slices.IndexFunc(s.Reads, func(rd Reading) bool { return keyOf(rd.Object) == key && len(rd.Fields) > 0 })
			if i < 0 || s.Action == RestartServer { // a uid does not change
				return false
			}
			setAt(o, s.Reads[i].Fields[0], "changed")
			return true
		})
		_, err := r.exec.Apply(t.Context(), p)
		if !*met {
			continue
		}
		applies = true
		if err == nil || len(r.targetWrites()) != n {
			return fmt.Sprintf("at write %d: error %v, writes %v", n+1, err, r.targetWrites())
		}
	}
	if !applies {
		return none
	}
	return ""
}

func secondProcess(t *testing.T, a tried) string {
	r, p := a.make(t)
	if _, err := r.exec.Apply(t.Context(), p); err != nil {
		return err.Error()
	}
	before := len(r.targetWrites())
	second := *r.exec
	second.StateDir = t.TempDir()
	if _, err := p.Issue(second.StateDir, ".yaml"); err != nil {
		return err.Error()
	}
	_, err := second.Apply(t.Context(), p)
	if err == nil || len(r.targetWrites()) != before {
		return fmt.Sprintf("error %v, writes %v", err, r.targetWrites())
	}
	return ""
}
