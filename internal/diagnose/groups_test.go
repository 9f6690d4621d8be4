package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

func TestGroup(t *testing.T) {
	host := func(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }
	key := func(id, name string) fault.Key { return fault.Key{Fault: id, Subject: host(name)} }
	soon, later := noon.Add(time.Minute), noon.Add(time.Hour)
	waits := func(id, name string, until time.Time) fault.Finding {
		return fault.Finding{Fault: id, Subject: host(name), Outcome: fault.Absent, Until: until}
	}
	waiting := func(name, why string) fault.HostState {
		return fault.HostState{Name: name, Expected: true, Stage: fault.Registered, State: fault.StageWaiting, Why: why}
	}
	inspect := evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods"}
	d := &fault.Diagnosis{
		Roots: []fault.Root{
			{Key: key("a", "h1"), Explains: []fault.Key{key("w", "h1")}}, {Key: key("a", "h2")},
			{Key: key("ring", "h1"), Deadlock: 1}, {Key: key("ring", "h2"), Deadlock: 2},
		},
		Unexplained: []fault.Unexplained{{Key: key("u", "h1")}, {Key: key("v", "h1")}, {Key: key("u", "h2")}},
		Findings:    []fault.Finding{waits("w", "h1", soon), waits("w", "h2", later), waits("w", "h3", soon)},
		Hosts: []fault.HostState{
			waiting("h1", "h1 waits since 3m"), {Name: "h2", Expected: true, State: fault.StagePassed},
			{Name: "claimed", Stage: fault.Registered, State: fault.StageWaiting}, waiting("h3", "h3 waits since 4m"), waiting("h4", "other"),
		},
		Coverage: []evidence.Coverage{
			{Need: "nodes", State: evidence.Read}, {Need: "pods", State: evidence.Partial, Reason: "cut", Supply: inspect},
			{Need: "events", State: evidence.Missing, Reason: "away"}, {Need: "leases", State: evidence.Missing, Reason: "away", Supply: inspect},
		},
	}
	Group(d)
	want := fault.Groups{
		Roots: []fault.RootGroup{
			{Group: fault.Group{Fault: "a", Subjects: []fault.Subject{host("h1"), host("h2")}}, Explains: []fault.Key{key("w", "h1"), key("a", "h2")}},
			{Group: fault.Group{Fault: "ring", Subjects: []fault.Subject{host("h1")}, First: 2}},
			{Group: fault.Group{Fault: "ring", Subjects: []fault.Subject{host("h2")}, First: 3}},
		},
		Unexplained: []fault.Group{{Fault: "u", Subjects: []fault.Subject{host("h1"), host("h2")}}, {Fault: "v", Subjects: []fault.Subject{host("h1")}, First: 1}},
		Waiting: []fault.WaitingGroup{
			{Group: fault.Group{Fault: "w", Subjects: []fault.Subject{host("h1")}}, Until: soon, Explained: true},
			{Group: fault.Group{Fault: "w", Subjects: []fault.Subject{host("h2"), host("h3")}, First: 1}, Until: soon},
		},
		Hosts: []fault.HostGroup{
			{Stage: fault.Registered, State: fault.StageWaiting, Names: []string{"h1", "h3"}},
			{Stage: fault.Registered, State: fault.StageWaiting, Names: []string{"h4"}, First: 4},
		},
		Gaps: []fault.Gap{
			{State: evidence.Missing, Reason: "away", Needs: []string{"events", "leases"}, Supply: []evidence.Supply{inspect}},
			{State: evidence.Partial, Reason: "cut", Needs: []string{"pods"}, Supply: []evidence.Supply{inspect}},
		},
	}
	if diff := cmp.Diff(want, d.Groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
