package repair

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// step returns the plan's step of an action.
func stepOf(t *testing.T, p *Plan, a ActionName) *Step {
	t.Helper()
	for i := range p.Steps {
		if p.Steps[i].Action == a {
			return &p.Steps[i]
		}
	}
	t.Fatalf("the plan has no %s", a)
	return nil
}

// without returns the step's guards but one.
func without(list []Guard, name GuardName) (out []Guard) {
	for _, g := range list {
		if g.Guard != name {
			out = append(out, g)
		}
	}
	return out
}

// TestEditedPlan: whatever a plan leaves out or falsifies, nothing is written.
func TestEditedPlan(t *testing.T) {
	pullSecret := Ref{Version: "v1", Resource: "secrets", Namespace: "openshift-config", Name: "pull-secret"}
	sum := digestBytes(nil)
	tests := []struct {
		name string
		edit func(*testing.T, *Plan)
		want string
	}{
		{"no guards", func(t *testing.T, p *Plan) { stepOf(t, p, AdoptSpecConfig).Preconditions = nil }, "the guard same-cluster is left out"},
		{"no quorum for an approval", func(t *testing.T, p *Plan) {
			s := stepOf(t, p, ApproveCSR)
			s.Preconditions, s.Args.Role = without(s.Preconditions, EtcdQuorum), "worker"
		}, "the guard etcd-quorum is left out"},
		{"fewer members", func(t *testing.T, p *Plan) {
			for i, g := range stepOf(t, p, RecreateRender).Preconditions {
				if g.Guard == EtcdMembers {
					stepOf(t, p, RecreateRender).Preconditions[i].Count = 1
				}
			}
		}, "the guard etcd-members is left out or weaker"},
		{"another pool is watched", func(t *testing.T, p *Plan) {
			for i, g := range stepOf(t, p, AdoptSpecConfig).Preconditions {
				if g.Guard == PoolNotPaused {
					stepOf(t, p, AdoptSpecConfig).Preconditions[i].Subject = "worker"
				}
			}
		}, "the guard pool-not-paused is left out"},
		{"whatever the fault", func(t *testing.T, p *Plan) { stepOf(t, p, AdoptSpecConfig).While = nil }, "while is empty"},
		{"no reads", func(t *testing.T, p *Plan) { stepOf(t, p, RecreateRender).Reads = nil }, "which is left out"},
		{"reads a secret", func(t *testing.T, p *Plan) {
			s := stepOf(t, p, AdoptSpecConfig)
			s.Reads = append(s.Reads, Reading{Object: pullSecret, Fields: []string{"/data/.dockerconfigjson"}, Digest: sum})
		}, "does not read these fields of secrets/"},
		{"reads a config's content", func(t *testing.T, p *Plan) {
			s := stepOf(t, p, RecreateRender)
			s.Reads = append(s.Reads, Reading{Object: configRef(target), Fields: []string{"/spec/config"}, Digest: sum})
		}, "does not read these fields of machineconfigs/"},
		{"reads more of the pool", func(t *testing.T, p *Plan) {
			s := stepOf(t, p, AdoptSpecConfig)
			s.Reads[0].Fields = append(s.Reads[0].Fields, "/metadata/annotations")
		}, "does not read these fields of machineconfigpools/"},
		{"shows another field", func(t *testing.T, p *Plan) {
			stepOf(t, p, AdoptSpecConfig).Reads[0].Seen["/spec/config"] = "x"
		}, "is not one of its fields"},
		{"a false digest", func(t *testing.T, p *Plan) { stepOf(t, p, RecreateRender).Reads[0].Digest = sum }, "none that recreate-render can go by"},
		{"a false title", func(t *testing.T, p *Plan) { stepOf(t, p, AdoptSpecConfig).Title = "look around" }, "title does not describe what the step does"},
		{"a false command", func(t *testing.T, p *Plan) { stepOf(t, p, AdoptSpecConfig).OC = "oc get nodes" }, "oc does not describe what the step does"},
		{"a false risk", func(t *testing.T, p *Plan) { stepOf(t, p, RecreateRender).Risk = fault.RiskNone }, "risk does not describe what the step does"},
		{"a false grade", func(t *testing.T, p *Plan) { stepOf(t, p, RecreateRender).Proof = ProvedInLab }, "proof does not describe what the step does"},
		{"a false inverse", func(t *testing.T, p *Plan) { stepOf(t, p, ApproveCSR).Inverse = "undo" }, "inverse does not describe what the step does"},
		{"a false subject", func(t *testing.T, p *Plan) { stepOf(t, p, ApproveCSR).Subject = "host/control9" }, "subject does not describe what the step does"},
		{"another pool's config", func(t *testing.T, p *Plan) { stepOf(t, p, RecreateRender).Args.Pool = "worker" }, "is not a rendered config of pool"},
		{"a command in a name", func(t *testing.T, p *Plan) { stepOf(t, p, WaitNode).Args.Host = "x; rm -rf /" }, "is not a name"},
		{"no wait for etcd", func(t *testing.T, p *Plan) {
			for i, s := range p.Steps {
				if s.Action == WaitEtcd {
					p.Steps = append(p.Steps[:i:i], p.Steps[i+1:]...)
					return
				}
			}
		}, "no step before it waits for 3 healthy etcd members"},
		{"wait for etcd afterwards", func(_ *testing.T, p *Plan) { p.Steps[4], p.Steps[5] = p.Steps[5], p.Steps[4] },
			"no step before it waits for 3 healthy etcd members"},
		{"approval without the step before", func(_ *testing.T, p *Plan) { p.Steps = p.Steps[1:] }, "names no step before it"},
		{"verify something else", func(t *testing.T, p *Plan) { stepOf(t, p, Verify).Expect.Absent = []fault.Key{emptyFault} }, "does not name the plan's root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, desync(t))
			r.put(pullSecret, Object{"apiVersion": "v1", "kind": "Secret", "data": map[string]any{".dockerconfigjson": secret}})
			p := r.plan(t)
			tt.edit(t, p)
			raw, err := p.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := decodePlan(raw); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("decodePlan: %v\nwant %q", err, tt.want)
			}
			if _, err := r.exec.Apply(t.Context(), p); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Apply: %v\nwant %q", err, tt.want)
			}
			if len(r.writes) > 0 {
				t.Errorf("written: %v", r.writes)
			}
			r.noSecret(t)
		})
	}
}

// TestPlanMayAdd: what is stricter than demanded is applied.
func TestPlanMayAdd(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	s := stepOf(t, p, AdoptSpecConfig)
	s.Preconditions = append(s.Preconditions, Guard{Guard: EtcdMembers, Count: 5})
	r.reviewed(t, p)
	_, err := r.exec.Apply(t.Context(), p)
	var refused *Refused
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), "5 are needed") {
		t.Errorf("Apply: %v, want the added guard to refuse", err)
	}
}

// TestWhileOfAnotherRemedy: a fault that the step does not remedy is no condition.
func TestWhileOfAnotherRemedy(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	stepOf(t, p, AdoptSpecConfig).While = []fault.Key{renderFault}
	_, err := r.exec.Apply(t.Context(), p)
	if err == nil || !strings.Contains(err.Error(), "adopt-spec-config is not a remedy") || len(r.writes) > 0 {
		t.Errorf("Apply: %v, written %v", err, r.writes)
	}
}

// TestChangedShowsNothingSecret: a difference is told only of shown fields of
// objects that hold no secret.
func TestChangedShowsNothingSecret(t *testing.T) {
	content := Object{"data": map[string]any{"a": secret}, "spec": map[string]any{"config": secret}}
	for _, rd := range []Reading{
		{Object: Ref{Version: "v1", Resource: "secrets", Name: "x"}, Fields: []string{"/data/a"}, Seen: map[string]string{"/data/a": "was"}},
		{Object: configRef("x"), Fields: []string{"/spec/config"}, Seen: map[string]string{"/spec/config": "was"}},
		{Object: nodeRef("x"), Fields: []string{"/data/a"}},
	} {
		if got := changed(rd, content); strings.Contains(got, secret) {
			t.Errorf("%s: %s", rd.Object, got)
		}
	}
}

// TestNothingWaits: a render that no node runs is not restored.
func TestNothingWaits(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	for _, n := range []string{"control1", "control2"} {
		r.edit(nodeRef(n), "x", func(o Object) {
			o["metadata"].(map[string]any)["annotations"].(map[string]any)[openshift.CurrentConfigAnnotation] = target
		})
	}
	e := (&run{Executor: r.exec, plan: p}).env()
	if _, _, err := prepareRender(t.Context(), e, *stepOf(t, p, RecreateRender)); err == nil || !strings.Contains(err.Error(), "nothing waits for it") {
		t.Errorf("prepareRender: %v", err)
	}
}

// TestAlignAnotherPoolsNode: annotations are not aligned on a node that does not
// run what was compared.
func TestAlignAnotherPoolsNode(t *testing.T) {
	r := newRig(t, desync(t))
	raw, err := json.Marshal(renderObject(missing, "server-b"))
	if err != nil {
		t.Fatal(err)
	}
	content, err := r.exec.Store.Put(raw)
	if err != nil {
		t.Fatal(err)
	}
	r.edit(nodeRef("control1"), "x", func(o Object) {
		o["metadata"].(map[string]any)["annotations"].(map[string]any)[openshift.CurrentConfigAnnotation] = "rendered-worker-00000000000000000000000000000000"
	})
	e := (&run{Executor: r.exec, plan: &Plan{}}).env()
	s := Step{Action: AlignAnnotations, Args: Args{Host: "control1", Pool: "master", Config: target, Content: content}}
	if _, _, err := alignAnnotations().prepare(t.Context(), e, s); err == nil || !strings.Contains(err.Error(), "the config that was compared is") {
		t.Errorf("prepare: %v", err)
	}
}

// TestReviewedDigest: only the content that was reviewed is the plan's.
func TestReviewedDigest(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	path := filepath.Join(t.TempDir(), "plan.yaml")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := digestBytes(raw)
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Is(sum); err != nil {
		t.Errorf("Is, with the digest of the file: %v", err)
	}
	p.Steps = p.Steps[:1]
	shorter, err := p.Encode()
	ok(t, err)
	again, err = decodePlan(shorter)
	ok(t, err)
	var refused *Refused
	if err := again.Is(sum); !errors.As(err, &refused) {
		t.Errorf("Is, after a step was cut: %v", err)
	}
}

// TestBegunByAnotherVersion: other words than this version's keep no one from
// continuing with a plan or undoing it; what protects the cluster must be in it.
func TestBegunByAnotherVersion(t *testing.T) {
	begun := func(t *testing.T, edit func(*Plan)) (*rig, *Plan) {
		r := newRig(t, desync(t))
		p := r.plan(t)
		edit(p)
		j, err := openJournal(r.dir, p.ID, r.exec.Clock.Now)
		ok(t, err)
		w := &run{Executor: r.exec, plan: p, journal: j}
		ok(t, w.storePlan())
		sum, err := p.Digest()
		ok(t, err)
		ok(t, j.Append(Record{Kind: Began, Plan: sum}))
		ok(t, j.Close())
		return r, p
	}
	r, p := begun(t, func(p *Plan) { p.Steps[0].Title = "as an older version said it" })
	if _, err := r.exec.Resume(t.Context(), p.ID); err != nil {
		t.Errorf("Resume: %v", err)
	}
	r, p = begun(t, func(p *Plan) { p.Steps[0].Preconditions = nil })
	if _, err := r.exec.Resume(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), "the guard same-cluster is left out") || len(r.writes) > 0 {
		t.Errorf("Resume without guards: %v, written %v", err, r.writes)
	}
	if _, err := r.exec.Undo(t.Context(), p.ID); err != nil {
		t.Errorf("Undo: %v", err)
	}
}

// TestShownValues: what a plan shows of what it was made from is read again, also where
// a person names the digest of the edited file.
func TestShownValues(t *testing.T) {
	for _, edit := range []func(map[string]string){
		func(seen map[string]string) { seen[specName] = "rendered-master-00000000000000000000000000000000" },
		func(seen map[string]string) { delete(seen, statusName) },
	} {
		r := newRig(t, desync(t))
		p := r.plan(t)
		edit(stepOf(t, p, AdoptSpecConfig).Reads[0].Seen)
		r.reviewed(t, p)
		_, err := r.exec.Apply(t.Context(), p)
		if err == nil || !strings.Contains(err.Error(), "shows other values") {
			t.Errorf("Apply: %v", err)
		}
	}
}
