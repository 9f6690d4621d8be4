package repair

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

func actionNames(p *Plan) []ActionName {
	var out []ActionName
	for _, s := range p.Steps {
		out = append(out, s.Action)
	}
	return out
}

func TestPlanOrder(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	want := []ActionName{AdoptSpecConfig, ApproveCSR, WaitNode, ApproveCSR, WaitEtcd, RecreateRender, WaitPool, Verify}
	if diff := cmp.Diff(want, actionNames(p)); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if len(p.Open) > 0 {
		t.Errorf("open: %v", p.Open)
	}
	if diff := cmp.Diff(Before{For: []fault.Key{rootFault, emptyFault, renderFault}, Expected: []string{"control0=192.0.2.10"}}, p.Before); diff != "" {
		t.Errorf("before (-want +got):\n%s", diff)
	}
	raw, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), secret) {
		t.Error("the plan holds the pull secret")
	}
	again, err := decodePlan(raw)
	if err != nil {
		t.Fatalf("decodePlan: %v", err)
	}
	a, _ := p.Digest()
	b, _ := again.Digest()
	if a != b {
		t.Errorf("digest changes on the way through the file: %s, %s", a, b)
	}
	if len(r.writes) > 0 {
		t.Errorf("planning wrote: %v", r.writes)
	}
}

// repaired checks the end state, and that the secret went nowhere it should not.
func (r *rig) repaired(t *testing.T) {
	t.Helper()
	pool := r.get(poolRef("master"))
	if ok, text, _ := converged(pool, 3); !ok {
		t.Errorf("the pool has not converged: %s", text)
	}
	for _, w := range r.writes {
		if strings.Contains(w, "nodes/") {
			t.Errorf("a node was written: %s", w)
		}
	}
	r.noSecret(t)
}

func (r *rig) noSecret(t *testing.T) {
	t.Helper()
	for _, s := range r.said {
		if strings.Contains(s, secret) {
			t.Errorf("said the secret: %s", s)
		}
	}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), secret) && filepath.Base(filepath.Dir(path)) != "pre-images" {
			t.Errorf("%s holds the secret", path)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for k, o := range r.objects {
		if raw, _ := json.Marshal(o); strings.HasPrefix(k, "/configmaps/") && strings.Contains(string(raw), secret) {
			t.Errorf("the copy of the journal holds the secret")
		}
	}
}

func TestApplyRepairs(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	if _, err := r.exec.Apply(t.Context(), p); err != nil {
		t.Fatalf("Apply: %v\n%s", err, strings.Join(r.said, "\n"))
	}
	r.repaired(t)
	made := r.get(configRef(missing))
	for _, gone := range []string{"ownerReferences"} {
		if _, ok := fieldAt(made, "/metadata/"+gone); ok {
			t.Errorf("the re-created render carries %s", gone)
		}
	}
	if got := stringAt(made, "metadata", "annotations", openshift.GeneratedByControllerAnnotation); got != "abc123" {
		t.Errorf("generated-by is %q", got)
	}
	c := conditionOf(r.get(csrRef("csr-client")), "Approved")
	if c["reason"] != "RollcallApprove" || !strings.Contains(c["message"].(string), "Not proven") {
		t.Errorf("approval: %v", c)
	}
	if source, _ := fieldAt(r.get(poolRef("master")), statusSource); len(source.([]any)) == 0 {
		t.Error("status.configuration.source is empty")
	}
	if r.get(Ref{Resource: "configmaps", Namespace: openshift.MachineConfigNamespace, Name: "rollcall-plan-" + p.ID}) == nil {
		t.Error("the journal was not copied to the cluster")
	}
	h, err := Histories(r.dir)
	if err != nil || len(h) != 1 || h[0].Plan == nil || h[0].Outcome() == nil || h[0].Outcome().State != Repaired {
		t.Errorf("history %v, %v", h, err)
	}
	if _, err := r.exec.Apply(t.Context(), p); err == nil {
		t.Error("a finished plan was applied again")
	}
}

// points lists every place before and after a write of a whole run.
func points(t *testing.T) []Point {
	r := newRig(t, desync(t))
	var all []Point
	r.exec.At = func(p Point) { all = append(all, p) }
	if _, err := r.exec.Apply(t.Context(), r.plan(t)); err != nil {
		t.Fatalf("Apply: %v", err)
	}
	return all
}

// everyPoint is of how many points of a run the sample has one.
func everyPoint() int {
	switch {
	case testing.Short():
		return 10 // for the race detector they are alike
	case sample.Whole():
		return 1
	}
	return 12
}

type killed struct{ at Point }

// applyKilled applies a plan and ends the process at a point.
func (r *rig) applyKilled(ctx context.Context, p *Plan, n int) {
	count := 0
	r.exec.At = func(at Point) {
		if count == n {
			r.exec.At = nil
			panic(killed{at})
		}
		count++
	}
	defer func() {
		if v := recover(); v != nil {
			if _, ok := v.(killed); !ok {
				panic(v)
			}
		}
	}()
	_, _ = r.exec.Apply(ctx, p)
}

func TestKilledAnywhereThenResumed(t *testing.T) {
	for n, at := range points(t) {
		if n%everyPoint() != 0 {
			continue
		}
		t.Run(at.Step+"/"+at.At, func(t *testing.T) {
			r := newRig(t, desync(t))
			p := r.plan(t)
			r.applyKilled(t.Context(), p, n)
			_, err := r.exec.Resume(t.Context(), p.ID)
			var refused *Refused
			if at == (Point{"", "before began"}) { // nothing was begun: the plan is applied again
				if !errors.As(err, &refused) {
					t.Fatalf("Resume of a plan that was not begun: %v", err)
				}
				_, err = r.exec.Apply(t.Context(), p)
			}
			if err != nil {
				t.Fatalf("Resume: %v\n%s", err, strings.Join(r.said, "\n"))
			}
			r.repaired(t)
			for _, once := range []string{"create machineconfigs/" + missing, "patch machineconfigpools/master status",
				"patch certificatesigningrequests/csr-client approval", "patch certificatesigningrequests/csr-serving approval"} {
				if c := countOf(r.writes, once); c != 1 {
					t.Errorf("%s was done %d times", once, c)
				}
			}
		})
	}
}

func countOf(list []string, s string) int {
	n := 0
	for _, e := range list {
		if e == s {
			n++
		}
	}
	return n
}

// TestKilledAnywhereThenUndone: whatever can be undone is, and for the rest
// the reason is told.
func TestKilledAnywhereThenUndone(t *testing.T) {
	for n, at := range points(t) {
		if at.At == "before began" || n%everyPoint() != 0 {
			continue
		}
		t.Run(at.Step+"/"+at.At, func(t *testing.T) {
			r := newRig(t, desync(t))
			p := r.plan(t)
			r.frozen = at.Step == "1-adopt-spec-config"
			r.applyKilled(t.Context(), p, n)
			_, err := r.exec.Undo(t.Context(), p.ID)
			adopted := stringAt(r.get(poolRef("master")), "status", "configuration", "name")
			fetched := r.get(csrRef("csr-client")) != nil
			var person *NeedPerson
			switch {
			case !fetched:
				if err != nil || adopted != "" {
					t.Errorf("Undo: %v; status names %q", err, adopted)
				}
			case !errors.As(err, &person) || adopted != target:
				t.Errorf("Undo after the host fetched its config: %v; status names %q", err, adopted)
			case !strings.Contains(err.Error(), "1-adopt-spec-config"):
				t.Errorf("it is not told why step 1 stays: %v", err)
			}
			if made := r.get(configRef(missing)); made != nil && stuckNode(r) {
				t.Error("the re-created render stays though no daemon works with it")
			}
			if err == nil {
				if _, err := r.exec.Resume(t.Context(), p.ID); err == nil {
					t.Error("a plan that was taken back was resumed")
				}
			}
			r.noSecret(t)
		})
	}
}

func stuckNode(r *rig) bool {
	return stringAt(r.get(nodeRef("control1")), "metadata", "annotations", openshift.ConfigStateAnnotation) == "Degraded" &&
		stringAt(r.get(nodeRef("control2")), "metadata", "annotations", openshift.ConfigStateAnnotation) == "Degraded"
}

// TestKilledInUndo kills the undo itself at each of its points.
func TestKilledInUndo(t *testing.T) {
	all := points(t)
	for n := range 8 {
		r := newRig(t, desync(t))
		p := r.plan(t)
		r.frozen = true
		r.applyKilled(t.Context(), p, slices.Index(all, Point{"1-adopt-spec-config", "after result"}))
		func() {
			defer func() { _ = recover() }()
			count := 0
			r.exec.At = func(at Point) {
				if count == n {
					r.exec.At = nil
					panic(killed{at})
				}
				count++
			}
			_, _ = r.exec.Undo(t.Context(), p.ID)
		}()
		r.exec.At = nil
		if _, err := r.exec.Undo(t.Context(), p.ID); err != nil {
			t.Errorf("point %d: Undo again: %v", n, err)
		}
		if name := stringAt(r.get(poolRef("master")), "status", "configuration", "name"); name != "" {
			t.Errorf("point %d: status names %q", n, name)
		}
	}
}

func TestInterruptedThenResumed(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	ctx, cancel := context.WithCancel(t.Context())
	r.exec.At = func(at Point) {
		if at == (Point{"1-adopt-spec-config", "after write"}) {
			cancel()
		}
	}
	_, err := r.exec.Apply(ctx, p)
	if err == nil || !strings.Contains(err.Error(), "resume") {
		t.Fatalf("Apply: %v", err)
	}
	if _, err := r.exec.Resume(t.Context(), p.ID); err != nil {
		t.Fatalf("Resume: %v", err)
	}
	r.repaired(t)
}
