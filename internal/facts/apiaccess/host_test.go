package apiaccess

import (
	"errors"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// TestFromHost: what a node was told to ask is said of that node alone, and a port of
// the machine config server that refuses a node says nothing of the API.
func TestFromHost(t *testing.T) {
	checkedEndpoint := func(target, vantage string, port, status int) probe.APIAnswer {
		a := probe.APIAnswer{Target: target, Host: target + ".test", Port: port, Vantage: vantage}
		if status > 0 {
			a.Stage, a.Paths = probe.StageAnswered, health(status)
		} else {
			a.ErrorClass, a.Error = probe.ErrRefused, "connect: connection refused"
		}
		return a
	}
	cases := map[string]struct {
		checkedEndpoints checkedEndpoints
		host             string
		na               bool
		answers          bool
		others           []string
	}{
		"answers":        {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 200)}, host: "w0", answers: true},
		"forbidden":      {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 403)}, host: "w0", answers: true},
		"balancer":       {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 503)}, host: "w0"},
		"refused":        {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 0), checkedEndpoint("vip", "node/w0", 6443, 200)}, host: "w0", others: []string{"vip.test:6443"}},
		"MCS refuses":    {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 200), checkedEndpoint("api-int", "node/w0", 22623, 0)}, host: "w0", answers: true},
		"another host":   {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "node/w0", 6443, 0)}, host: "w1", na: true},
		"from a bastion": {checkedEndpoints: checkedEndpoints{checkedEndpoint("api-int", "w0", 6443, 0)}, host: "w0", na: true},
		"front only":     {checkedEndpoints: checkedEndpoints{checkedEndpoint("api", "node/w0", 6443, 0)}, host: "w0", na: true},
		"nobody asked":   {host: "w0", na: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, v := computeFor[fromHost](t, hostFact, c.checkedEndpoints, fault.Subject{Kind: fault.Host, Name: c.host})
			if na := errors.Is(v.Err, facts.ErrNotApplicable); na != c.na || !c.na && (got.Answers.Value() != c.answers || !slices.Equal(got.Others.Value(), c.others)) {
				t.Errorf("%+v, %+v", got, v)
			}
		})
	}
}

// TestMCSNotAsked: where port 22623 was not asked, such as from a node, it is not known
// whether it answers; and what one machine is refused is not held against what
// another was answered.
func TestMCSNotAsked(t *testing.T) {
	vip := func(vantage string, port int, change func(*probe.APIAnswer)) probe.APIAnswer {
		a := probe.APIAnswer{Target: probe.TargetVIP, Host: "192.0.2.5", Port: port, Vantage: vantage, Stage: probe.StageAnswered, Paths: health(200)}
		change(&a)
		return a
	}
	same := func(*probe.APIAnswer) {}
	_, v := compute[mcs](t, mcsFact, checkedEndpoints{front(same), vip("node/w0", openshift.APIPort, same)})
	if u, ok := evidence.AsUnavailable(v.Err); !ok || u.Why != evidence.NotAsked {
		t.Errorf("err = %v", v.Err)
	}
	refused := func(a *probe.APIAnswer) { a.Stage, a.Paths, a.ErrorClass = "", nil, probe.ErrRefused }
	for vantage, want := range map[string]bool{"bastion": true, "node/w0": false} {
		m, _ := compute[mcs](t, mcsFact, checkedEndpoints{vip(vantage, openshift.APIPort, same), vip("bastion", openshift.MCSPort, refused)})
		if m.FrontRefused.Value() != 1 || m.APIThere.Value() != want {
			t.Errorf("%s: %+v", vantage, m)
		}
	}
	twice := vip("bastion", openshift.MCSPort, refused)
	twice.Target = probe.TargetAPIInt
	m, _ := compute[mcs](t, mcsFact, checkedEndpoints{vip("bastion", openshift.MCSPort, refused), twice})
	if m.FrontRefused.Value() != 2 || len(m.Refusing.Value()) != 1 {
		t.Errorf("one address, asked as api-int and as VIP: %+v", m)
	}
}
