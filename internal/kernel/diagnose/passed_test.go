package diagnose

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestUnconfirmed: what would stop every host at a step needs more than its own condition
// where no host is seen to be stopped there, unless it began later. A host of which
// nothing is known, or that is gone from the evidence, confirms nothing.
func TestUnconfirmed(t *testing.T) {
	const head = "title: x\nlayer: l\nseverity: error\nmeans: m\nrefs: [{repo: r}]\ngiven: {it: {fact: f}}\nwhen: it.x\n"
	catalog, err := fault.Load(fstest.MapFS{
		"l/own.yaml":    {Data: []byte("id: own\nfor: cluster\nblocks: ignition-fetched\n" + head)},
		"l/stops.yaml":  {Data: []byte("id: stops\nfor: cluster\nexplains: [{fault: fetch, on: all-hosts, strength: certain}]\n" + head)},
		"l/maybe.yaml":  {Data: []byte("id: maybe\nfor: cluster\nexplains: [{fault: fetch, on: all-hosts, strength: likely}]\n" + head)},
		"l/fetch.yaml":  {Data: []byte("id: fetch\nfor: host\nblocks: ignition-fetched\n" + head)},
		"l/inpool.yaml": {Data: []byte("id: inpool\nfor: pool\nblocks: ignition-fetched\n" + head)},
	})
	if err != nil {
		t.Fatal(err)
	}
	host := func(name string, state diagnosis.StageOutcome, expected bool) diagnosis.HostState {
		return diagnosis.HostState{Name: name, Expected: expected, State: state, Stages: []diagnosis.StageState{
			{Stage: fault.IgnitionFetched, State: state}, {Stage: fault.Registered, State: state, At: noon},
		}}
	}
	passedBoth := []diagnosis.HostState{host("a", diagnosis.StagePassed, true), host("b", diagnosis.StagePassed, true)}
	for _, c := range []struct {
		name, fault string
		hosts       []diagnosis.HostState
		since       time.Time
		want        bool
	}{
		{"its own step", "own", passedBoth, time.Time{}, true},
		{"the step of what it explains", "stops", passedBoth, time.Time{}, true},
		{"it was there before", "own", passedBoth, noon.Add(-time.Hour), true},
		{"it began later", "own", passedBoth, noon.Add(time.Hour), false},
		{"it only may stop hosts", "maybe", passedBoth, time.Time{}, false},
		{"of one pool", "inpool", passedBoth, time.Time{}, false},
		{"one host waits", "own", []diagnosis.HostState{passedBoth[0], host("b", diagnosis.StageWaiting, true)}, time.Time{}, false},
		{"a stranger waits", "own", []diagnosis.HostState{passedBoth[0], host("b", diagnosis.StageWaiting, false)}, time.Time{}, true},
		{"of the other nothing is known", "own", []diagnosis.HostState{passedBoth[0], host("b", diagnosis.StageUnknown, true)}, time.Time{}, true},
		{"no host", "own", nil, time.Time{}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := &graph{engine: &Engine{catalog: catalog}, hosts: c.hosts}
			f, _ := catalog.Fault(c.fault)
			if _, got := g.unconfirmed(f, c.since); got != c.want {
				t.Errorf("unconfirmed: %t, want %t", got, c.want)
			}
		})
	}
	g := &graph{engine: &Engine{catalog: catalog}, hosts: passedBoth}
	at := func(outcome fault.Outcome, name string) diagnosis.Finding {
		return diagnosis.Finding{Fault: "fetch", Outcome: outcome, Subject: fault.Subject{Kind: fault.Host, Name: name}}
	}
	if !g.passedAlready(at(fault.Unknown, "a")) || g.passedAlready(at(fault.Present, "a")) || g.passedAlready(at(fault.Unknown, "z")) {
		t.Error("only an unknown fault of a host that has passed its step is no suspect")
	}
}
