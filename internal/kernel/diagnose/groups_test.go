package diagnose

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestGroup(t *testing.T) {
	host := func(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }
	key := func(id, name string) fault.Key { return fault.Key{Fault: id, Subject: host(name)} }
	soon, later := noon.Add(time.Minute), noon.Add(time.Hour)
	waits := func(id, name string, until time.Time) diagnosis.Finding {
		return diagnosis.Finding{Fault: id, Subject: host(name), Outcome: fault.Absent, Until: until}
	}
	waiting := func(name, why string) diagnosis.HostState {
		return diagnosis.HostState{Name: name, Expected: true, Stage: fault.Registered, State: diagnosis.StageWaiting, Why: why}
	}
	inspect := evidence.Supply{Kind: evidence.SupplyInspect, Resource: "pods"}
	d := &diagnosis.Diagnosis{
		Roots:       []diagnosis.Root{{Fault: "a", Cases: []diagnosis.Case{{Key: key("a", "h1")}, {Key: key("a", "h2"), Explains: []fault.Key{key("w", "h1")}}}}},
		Unexplained: []diagnosis.Unexplained{{Key: key("u", "h1")}, {Key: key("v", "h1")}, {Key: key("u", "h2")}},
		Findings:    []diagnosis.Finding{waits("w", "h1", soon), waits("w", "h2", later), waits("w", "h3", soon)},
		Hosts: []diagnosis.HostState{
			waiting("h1", "h1 waits since 3m"), {Name: "h2", Expected: true, State: diagnosis.StagePassed},
			{Name: "claimed", Stage: fault.Registered, State: diagnosis.StageWaiting}, waiting("h3", "h3 waits since 4m"), waiting("h4", "other"),
		},
		Coverage: []evidence.Coverage{
			{Need: "nodes", State: evidence.Read}, {Need: "pods", State: evidence.Partial, Reason: "cut", Supply: inspect},
			{Need: "events", State: evidence.Missing, Reason: "away"}, {Need: "leases", State: evidence.Missing, Reason: "away", Supply: inspect},
		},
	}
	Group(d)
	want := diagnosis.Groups{
		Unexplained: []diagnosis.Group{{Fault: "u", Subjects: []fault.Subject{host("h1"), host("h2")}}, {Fault: "v", Subjects: []fault.Subject{host("h1")}, First: 1}},
		Waiting: []diagnosis.WaitingGroup{
			{Group: diagnosis.Group{Fault: "w", Subjects: []fault.Subject{host("h1")}}, Until: soon, Explained: true},
			{Group: diagnosis.Group{Fault: "w", Subjects: []fault.Subject{host("h2"), host("h3")}, First: 1}, Until: soon},
		},
		Hosts: []diagnosis.HostGroup{
			{Stage: fault.Registered, State: diagnosis.StageWaiting, Names: []string{"h1", "h3"}},
			{Stage: fault.Registered, State: diagnosis.StageWaiting, Names: []string{"h4"}, First: 4},
		},
		Gaps: []diagnosis.Gap{
			{State: evidence.Missing, Reason: "away", Needs: []string{"events", "leases"}, Supply: []evidence.Supply{inspect}},
			{State: evidence.Partial, Reason: "cut", Needs: []string{"pods"}, Supply: []evidence.Supply{inspect}},
		},
	}
	if diff := cmp.Diff(want, d.Groups); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTogether: one fault is one root with all its subjects, where the case is that
// explains most. A root of a deadlock stays alone.
func TestTogether(t *testing.T) {
	key := func(id, name string) fault.Key {
		return fault.Key{Fault: id, Subject: fault.Subject{Kind: fault.Host, Name: name}}
	}
	alone := func(id, name string, deadlock, explains int) diagnosis.Root {
		c := diagnosis.Case{Key: key(id, name)}
		for range explains {
			c.Explains = append(c.Explains, key("w", name))
		}
		return diagnosis.Root{Fault: id, Severity: fault.Error, Deadlock: deadlock, Cases: []diagnosis.Case{c}}
	}
	var got []string
	for _, r := range groupByFault([]diagnosis.Root{
		alone("a", "h2", 0, 0), alone("ring", "h1", 1, 1), alone("b", "h1", 0, 2), alone("a", "h1", 0, 0), alone("ring", "h2", 2, 1),
		alone("ring", "h3", 0, 0), alone("a", "h3", 0, 3),
	}) {
		text := r.Fault
		for _, c := range r.Cases {
			text += " " + c.Subject.Name
		}
		got = append(got, text)
	}
	if diff := cmp.Diff([]string{"a h3 h1 h2", "b h1", "ring h1", "ring h2", "ring h3"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLeastSure: a root is as sure as its weakest case.
func TestLeastSure(t *testing.T) {
	for want, of := range map[diagnosis.Confidence][]diagnosis.Confidence{
		diagnosis.Proven:   {diagnosis.Proven, diagnosis.Proven},
		diagnosis.Likely:   {diagnosis.Proven, diagnosis.Likely},
		diagnosis.Possible: {diagnosis.Possible, diagnosis.Proven, diagnosis.Likely},
	} {
		var r diagnosis.Root
		for _, c := range of {
			r.Cases = append(r.Cases, diagnosis.Case{Confidence: c, Lowered: string(c)})
		}
		if got := r.LeastSure(); got.Confidence != want || got.Lowered != string(want) {
			t.Errorf("%v: %s (%s), want %s", of, got.Confidence, got.Lowered, want)
		}
	}
}

// TestAddSuspect: one fault is one suspect wherever it could be, as long as the same would
// decide.
func TestAddSuspect(t *testing.T) {
	at := func(id, name, next string) diagnosis.Suspect {
		return diagnosis.Suspect{Key: fault.Key{Fault: id, Subject: fault.Subject{Kind: fault.Host, Name: name}}, Next: next}
	}
	var list []diagnosis.Suspect
	for _, s := range []diagnosis.Suspect{at("a", "h1", "x"), at("b", "h1", "x"), at("a", "h2", "x"), at("a", "h3", "y")} {
		list = addSuspect(list, s)
	}
	first := at("a", "h1", "x")
	first.Others = []fault.Subject{{Kind: fault.Host, Name: "h2"}}
	want := []diagnosis.Suspect{first, at("b", "h1", "x"), at("a", "h3", "y")}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Errorf("suspects (-want +got):\n%s", diff)
	}
}
