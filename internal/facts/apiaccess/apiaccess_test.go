package apiaccess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/sanitize"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// checks is a source of recorded answers; without answers nothing was asked.
type checkedEndpoints []probe.APIAnswer

func (checkedEndpoints) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "test"}, nil
}

func (checkedEndpoints) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected}
}

func (l checkedEndpoints) List(_ context.Context, r evidence.Resource, ns string) ([]evidence.Object, error) {
	if len(l) == 0 {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, ns), Why: evidence.NotAsked}
	}
	var list []evidence.Object
	for _, a := range l {
		o, err := a.Object()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

func compute[T any](t *testing.T, f facts.Fact, l checkedEndpoints) (T, facts.Value) {
	t.Helper()
	return computeFor[T](t, f, l, fault.Subject{Kind: fault.Cluster})
}

func computeFor[T any](t *testing.T, f facts.Fact, l checkedEndpoints, s fault.Subject) (T, facts.Value) {
	t.Helper()
	set, err := scan.Compile(nil)
	if err != nil {
		t.Fatal(err)
	}
	clean, err := sanitize.New()
	if err != nil {
		t.Fatal(err)
	}
	w := facts.NewWorld(reader.New(set, clean, nil, reader.Limits{}, l), time.Now())
	v := w.Compute(t.Context(), f, s)
	typed, _ := facts.As[T](v)
	return typed, v
}

func health(status int, failed ...string) []probe.PathAnswer {
	return []probe.PathAnswer{{Path: "/readyz", Status: status, Failed: failed}}
}

func front(change func(*probe.APIAnswer)) probe.APIAnswer {
	a := probe.APIAnswer{Target: probe.TargetAPI, Host: "api.test", Port: 6443, Vantage: "bastion", At: time.Unix(1e9, 0).UTC(),
		Stage: probe.StageAnswered, Trust: probe.TrustVerified, Paths: health(200)}
	change(&a)
	return a
}

func TestHealth(t *testing.T) {
	cases := map[string]struct {
		paths                      []probe.PathAnswer
		etcd, passing, gate, other bool
	}{
		"ready":              {paths: health(200)},
		"etcd":               {paths: health(500, "etcd", "etcd-readiness"), etcd: true},
		"starts":             {paths: health(500, "poststarthook/start-apiextensions-controllers", "informer-sync"), passing: true},
		"stops":              {paths: health(500, "shutdown"), passing: true},
		"stops, and etcd":    {paths: health(500, "shutdown", "etcd"), etcd: true},
		"balancer":           {paths: health(503), gate: true},
		"server's own 500":   {paths: health(500)},
		"a page":             {paths: health(302), other: true},
		"no such path":       {paths: health(404), other: true},
		"strangers kept off": {paths: health(401)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a, v := compute[access](t, accessFact, checkedEndpoints{front(func(a *probe.APIAnswer) { a.Paths = c.paths })})
			if v.Err != nil || a.EtcdDown.Value() != c.etcd || a.Passing.Value() != c.passing || a.Gateway.Value() != c.gate || a.Foreign.Value() != c.other {
				t.Errorf("%+v, %v", a, v.Err)
			}
		})
	}
}

// TestUnseen: what the way did not come to is unknown, and not fine.
func TestUnseen(t *testing.T) {
	a, _ := compute[access](t, accessFact, checkedEndpoints{front(func(a *probe.APIAnswer) {
		a.Stage, a.Trust, a.Paths, a.ErrorClass = probe.StageNone, "", nil, probe.ErrRefused
	})})
	for name, f := range map[string]fmt.Stringer{"trust": a.Trust, "notAfter": a.NotAfter, "ready": a.Ready, "failed": a.Failed, "passing": a.Passing} {
		if !strings.HasPrefix(f.String(), "unknown") {
			t.Errorf("%s is taken for known: %s", name, f)
		}
	}
	if !a.Error.Equal(facts.Known(string(probe.ErrRefused))) {
		t.Error("the step that failed is known")
	}
}

func TestUsable(t *testing.T) {
	bad := front(func(a *probe.APIAnswer) { a.Trust = probe.TrustUnknownCA })
	good := front(func(*probe.APIAnswer) {})
	ok := probe.APIAnswer{Target: probe.TargetClient, Host: "api.test", Port: 6443, OK: true, Credential: probe.CredentialAccepted}
	ended := probe.APIAnswer{Target: probe.TargetClient, Host: "api.test", Port: 6443, At: time.Unix(1e9, 0),
		Credential: probe.CredentialRefused, CredentialUntil: time.Unix(1e9-1, 0)}
	if a, _ := compute[access](t, accessFact, checkedEndpoints{bad}); a.Usable.Value() {
		t.Error("a server that nobody trusts is usable")
	}
	if a, _ := compute[access](t, accessFact, checkedEndpoints{good}); !a.Usable.Value() {
		t.Error("a server that answers is not usable")
	}
	if a, _ := compute[access](t, accessFact, checkedEndpoints{bad, ok}); !a.Usable.Value() {
		t.Error("what the client says counts")
	}
	if a, _ := compute[access](t, accessFact, checkedEndpoints{good, ended}); a.Usable.Value() || !a.Ended.Value() {
		t.Errorf("ended credentials: %+v", a)
	}
}

func TestMasters(t *testing.T) {
	node := func(name, host string, class probe.ErrorClass, stage probe.Stage, paths []probe.PathAnswer) probe.APIAnswer {
		return probe.APIAnswer{Target: probe.TargetNode + name, Host: host, Port: 6443, ErrorClass: class, Stage: stage, Paths: paths}
	}
	m, v := compute[masters](t, mastersFact, checkedEndpoints{
		node("a", "192.0.2.1", "", probe.StageAnswered, health(200)),
		node("a", "2001:db8::1", probe.ErrNoRoute, "", nil), // its other family cannot be reached from here
		node("b", "192.0.2.2", probe.ErrRefused, "", nil),
		node("c", "192.0.2.3", "", probe.StageAnswered, health(500, "etcd")),
		node("d", "192.0.2.4", probe.ErrClosed, probe.StageConnected, nil),
		{Target: "node/a", Host: "192.0.2.1", Port: openshift.MCSPort, ErrorClass: probe.ErrRefused},
	})
	if v.Err != nil || m.Asked.Value() != 5 || m.Answering.Value() != 2 || m.Ready.Value() != 1 || m.Refused.Value() != 1 || m.Silent.Value() != 1 || m.Closed.Value() != 1 {
		t.Errorf("%+v, %v", m, v.Err)
	}
	if !slices.Equal(m.Up.Value(), []string{"a"}) || !slices.Equal(m.Down.Value(), []string{"b", "c", "d"}) {
		t.Errorf("up %v, down %v", m.Up, m.Down)
	}
}

func TestNobodyWentThere(t *testing.T) {
	for _, f := range Facts() {
		if _, v := compute[any](t, f, nil); !errors.Is(v.Err, facts.ErrNotApplicable) {
			t.Errorf("%s: %v", f.Name, v.Err)
		}
	}
}
