package repair

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// listens calls a function before requests are listed.
type listens struct {
	API
	before func()
}

func (l listens) List(ctx context.Context, r Ref) ([]Object, error) {
	if r.Resource == "certificatesigningrequests" {
		l.before()
	}
	return l.API.List(ctx, r)
}

// once files a stranger's request for control0 when the condition holds.
func (r *rig) once(name string, holds func() bool, then func()) {
	done := false
	r.exec.API = listens{r.exec.API, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if done || !holds() {
			return
		}
		done = true
		r.request(name, "control0", "client")
		then()
	}}
}

func (r *rig) hostAsked() bool { return r.objects[keyOf(csrRef("csr-client"))] != nil }

// stopped is Apply or Resume that must end at several keys, without an approval.
func (r *rig) stopped(t *testing.T, err error) string {
	t.Helper()
	var person *NeedPerson
	if !errors.As(err, &person) || ExitCode(err) != exitNeedPerson {
		t.Fatalf("Apply: %v", err)
	}
	for _, w := range r.writes {
		if strings.Contains(w, " approval") {
			t.Errorf("approved: %s", w)
		}
	}
	return err.Error()
}

// byHand approves a request as `rollcall csr approve NAME --key DIGEST` does.
func (r *rig) byHand(t *testing.T, name string) {
	t.Helper()
	content := r.get(csrRef(name))
	request, err := csr.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	spec, err := csr.SpecDigest(content)
	if err != nil {
		t.Fatal(err)
	}
	e := &csr.Expectation{Name: "control0", Role: "master", IPs: []string{"192.0.2.10"}, Explicit: true, Source: "--expect",
		NotBefore: request.Created, Boot: "it booted", Key: request.KeyDigest}
	if _, err := csr.Approve(t.Context(), csr.Cluster{Objects: r.world.api()}, name, request.UID, spec, e, "me", r.exec.Clock.Now, false); err != nil {
		t.Fatal(err)
	}
}

// TestRogueLast: a stranger who asks after the host gets nothing, nor does the
// host, until a person names the key; then the plan continues.
func TestRogueLast(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	r.once("zzz-rogue", r.hostAsked, func() {})
	text := r.stopped(t, failure(r.exec.Apply(t.Context(), p)))
	for _, name := range []string{"csr-client", "zzz-rogue"} {
		request, err := csr.Parse(r.get(csrRef(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, request.UID) || !strings.Contains(text, request.KeyDigest) {
			t.Errorf("the refusal does not tell %s by UID and key: %s", name, text)
		}
	}
	for _, want := range []string{"15 minutes", "--key sha256:", "rollcall fix resume " + p.ID} {
		if !strings.Contains(text, want) {
			t.Errorf("the refusal lacks %q: %s", want, text)
		}
	}
	r.stopped(t, failure(r.exec.Resume(t.Context(), p.ID)))

	r.byHand(t, "csr-client")
	if _, err := r.exec.Resume(t.Context(), p.ID); err != nil {
		t.Fatalf("Resume: %v", err)
	}
	r.repaired(t)
	if conditionOf(r.get(csrRef("zzz-rogue")), "Approved") != nil {
		t.Error("the stranger's request was approved")
	}
}

// TestRogueFirst: neither does one who asks between the first step and the host.
func TestRogueFirst(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	adopted := func() bool {
		return stringAt(r.objects[keyOf(poolRef("master"))], "status", "configuration", "name") != ""
	}
	r.once("aaa-rogue", adopted, func() { r.request("csr-client", "control0", "client") })
	r.stopped(t, failure(r.exec.Apply(t.Context(), p)))
}

// TestRogueApproved: a stranger's approved request does not count as the host's
// while the host waits.
func TestRogueApproved(t *testing.T) {
	r := newRig(t, desync(t))
	p := r.plan(t)
	r.once("zzz-rogue", r.hostAsked, func() {
		r.edit(csrRef("zzz-rogue"), "a script", func(o Object) {
			o["status"] = map[string]any{"certificate": "Y2VydA==", "conditions": []any{
				map[string]any{"type": "Approved", "status": "True", "reason": "KubectlApprove"}}}
		})
	})
	if text := r.stopped(t, failure(r.exec.Apply(t.Context(), p))); !strings.Contains(text, "zzz-rogue (issued (KubectlApprove)") {
		t.Errorf("the refusal: %s", text)
	}
}

// TestApprovalTellsItsRisk: what cannot be proven stands in the plan.
func TestApprovalTellsItsRisk(t *testing.T) {
	r := newRig(t, desync(t))
	found := false
	for _, s := range r.plan(t).Steps {
		if s.Action != ApproveCSR {
			continue
		}
		found = true
		if s.Risk != fault.RiskIdentity || !strings.Contains(s.RiskText, "cannot be distinguished") {
			t.Errorf("%s: risk %s: %s", s.ID, s.Risk, s.RiskText)
		}
	}
	if !found {
		t.Error("the plan approves nothing")
	}
}

// TestServedSinceBoot: a certificate of an earlier boot is not what the step waits for.
func TestServedSinceBoot(t *testing.T) {
	w := newWorld(t)
	e := &csr.Expectation{Name: "control0", NotBefore: w.now}
	old := csrs.Request{Name: "csr-old", NodeName: "control0", Kind: csrs.Client, State: csrs.Issued, Created: w.now.Add(-time.Hour)}
	s := Step{Args: Args{Host: "control0", Signer: "client"}}
	if why, ok := served(csr.Snapshot{Requests: []csrs.Request{old}}, s, e); ok {
		t.Errorf("served: %s", why)
	}
	old.Created = w.now
	if _, ok := served(csr.Snapshot{Requests: []csrs.Request{old}}, s, e); !ok {
		t.Error("the certificate of this boot is not seen")
	}
}
