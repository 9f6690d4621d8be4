package repair

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// TestHeldRefused: what is not the missing render is not restored.
func TestHeldRefused(t *testing.T) {
	meta := func(o Object) map[string]any { return o["metadata"].(map[string]any) }
	tests := []struct {
		name   string
		change func(Object)
		want   string
	}{
		{"another name", func(o Object) { meta(o)["name"] = target }, "the missing one is " + missing},
		{"another kind", func(o Object) { o["kind"] = "Secret" }, "not a MachineConfig"},
		{"another pool", func(o Object) {
			meta(o)["ownerReferences"] = []any{map[string]any{"kind": "MachineConfigPool", "name": "worker"}}
		}, "not to pool master"},
		{"a role label", func(o Object) { meta(o)["labels"] = map[string]any{openshift.ConfigRoleLabel: "master"} }, "an input of the next render"},
		{"another controller", func(o Object) {
			meta(o)["annotations"].(map[string]any)[openshift.GeneratedByControllerAnnotation] = "zzz"
		}, "from another release"},
		{"no controller", func(o Object) {
			delete(meta(o)["annotations"].(map[string]any), openshift.GeneratedByControllerAnnotation)
		}, "from another release"},
		{"another release", func(o Object) { meta(o)["annotations"].(map[string]any)[openshift.ReleaseVersionAnnotation] = "4.19.0" }, "of release 4.19.0"},
		{"no Ignition", func(o Object) { delete(o["spec"].(map[string]any), "config") }, "no Ignition config"},
		{"bad Ignition", func(o Object) {
			o["spec"].(map[string]any)["config"] = map[string]any{"ignition": map[string]any{"version": "9.9.9"}}
		}, "not valid"},
		{"too big", func(o Object) {
			o["spec"].(map[string]any)["kernelArguments"] = []any{strings.Repeat("x", maxConfigSize)}
		}, "the API takes at most"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, desync(t))
			o := renderObject(missing, "server-a")
			tt.change(o)
			_, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Held: r.held(t, o)}).Plan(t.Context(), r.ask(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Plan: %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells the secret: %v", err)
			}
			if kept, _ := os.ReadDir(filepath.Join(r.dir, "pre-images")); len(kept) > 0 {
				t.Error("a refused config was kept")
			}
		})
	}
}

// TestWithoutHeld: the rest is planned, and what is missing is said.
func TestWithoutHeld(t *testing.T) {
	r := newRig(t, desync(t))
	ask := r.ask(t)
	ask.Expect = nil
	p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Held: HeldAny{}}).Plan(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	open := strings.Join(p.Open, "\n")
	if !strings.Contains(open, "--held") || !strings.Contains(open, "--expect control0=IP") {
		t.Errorf("open: %s", open)
	}
	for _, s := range p.Steps {
		if s.Action == Verify || s.Action == ApproveCSR {
			t.Errorf("a plan with something open has step %s", s.ID)
		}
	}
}

// TestAlign: annotations only with an empty difference, one node at a time.
func TestAlign(t *testing.T) {
	plan := func(r *rig, chrony string) *Plan {
		ask := r.ask(t)
		ask.Align = true
		p, err := (&Planner{API: r.exec.API, Store: r.exec.Store, Clock: r.exec.Clock, Held: r.held(t, renderObject(missing, chrony))}).Plan(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	count := func(p *Plan, a ActionName) (n int) {
		for _, s := range p.Steps {
			if s.Action == a {
				n++
			}
		}
		return n
	}
	r := newRig(t, desync(t))
	if p := plan(r, "server-a"); count(p, AlignAnnotations) != 0 || count(p, RecreateRender) != 1 {
		t.Errorf("with a difference: %v", actionNames(p))
	}
	p := plan(r, "server-b")
	if count(p, AlignAnnotations) != 2 || count(p, RecreateRender) != 0 {
		t.Fatalf("without a difference: %v", actionNames(p))
	}
	r.reviewed(t, p)
	if _, err := r.exec.Apply(t.Context(), p); err != nil {
		t.Fatalf("Apply: %v\n%s", err, strings.Join(r.said, "\n"))
	}
	for _, w := range r.writes {
		if strings.HasPrefix(w, "create machineconfigs") {
			t.Errorf("a render was created: %s", w)
		}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "state=Done") {
		t.Error("the plan writes state: Done")
	}

	// An edited plan that claims an empty difference is refused.
	r = newRig(t, desync(t))
	p = plan(r, "server-b")
	content, err := configOf(renderObject(missing, "server-a"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := content.content()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := r.exec.Store.Put(other)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Steps {
		if p.Steps[i].Action == AlignAnnotations {
			p.Steps[i].Args.Content = digest
		}
	}
	r.reviewed(t, p)
	if _, err := r.exec.Apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), "differ in what is applied: file /etc/chrony.conf") {
		t.Errorf("Apply of an edited plan: %v", err)
	}
}
