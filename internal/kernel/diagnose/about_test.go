package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestAbout: a subject of which a condition holds is not good, and a host that is not done never answers 0 unless it is on its way.
func TestAbout(t *testing.T) {
	co := fault.Subject{Kind: fault.Operator, Name: "authentication"}
	m0 := fault.Subject{Kind: fault.Host, Name: "m0"}
	degraded := diagnosis.Finding{
		Fault: "operator-degraded", Subject: co, Severity: fault.Error, Outcome: fault.Unknown, Unsettled: true, Since: noon,
		Title: "operator authentication: 1 of 3 instances", Reason: "the condition holds; until 2026-03-01T12:45:00Z it may be normal",
		Evidence: []evidence.Item{{Excerpt: "5 conditions"}, {Excerpt: "Degraded=True Pods: 1 of 3", Time: noon}},
	}
	blind := diagnosis.Finding{Fault: "operator-condition", Subject: co, Severity: fault.Error, Outcome: fault.Unknown, Reason: "not collected"}
	note := degraded
	note.Severity = fault.Info
	waits := diagnosis.Finding{Fault: "w", Subject: co, Severity: fault.Error, Outcome: fault.Absent, Title: "it rolls out", Until: noon.Add(time.Hour)}
	host := func(state diagnosis.StageOutcome, since time.Time, by ...fault.Key) []diagnosis.HostState {
		return []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: state, Since: since, BlockedBy: by}}
	}
	root := func(s fault.Severity) []diagnosis.Root {
		return []diagnosis.Root{{Fault: "r", Severity: s, Cases: []diagnosis.Case{{Key: fault.Key{Fault: "r"}, Title: "a disk is full", Confidence: diagnosis.Likely}}}}
	}
	type answer = diagnosis.Diagnosis
	found := func(list ...diagnosis.Finding) []diagnosis.Finding { return list }
	late := noon.Add(-3 * time.Hour)
	for name, tt := range map[string]struct {
		d     answer
		s     fault.Subject
		state diagnosis.AboutState
		says  string // a part
	}{
		"nothing":         {answer{}, co, diagnosis.AboutGood, "nothing wrong found"},
		"a check not run": {answer{Findings: found(blind)}, co, diagnosis.AboutGood, "nothing wrong found; 1 of its checks not run"},
		"a condition holds": {answer{Findings: found(degraded)}, co, diagnosis.AboutOpen,
			"Degraded=True: 1 of 3 instances; since 2026-03-01T12:00:00Z; until 2026-03-01T12:45:00Z it may be normal"},
		"beside a warning":  {answer{Findings: found(degraded), Roots: root(fault.Warning)}, co, diagnosis.AboutOpen, "likely cause: a disk is full"},
		"a note holds":      {answer{Findings: found(note)}, co, diagnosis.AboutGood, "nothing wrong found"},
		"in progress":       {answer{Findings: found(waits)}, co, diagnosis.AboutProgress, "it rolls out; normal until 2026-03-01T13:00:00Z"},
		"an error":          {answer{Roots: root(fault.Error)}, co, diagnosis.AboutBroken, "likely cause: a disk is full"},
		"a warning":         {answer{Roots: root(fault.Warning)}, co, diagnosis.AboutWarning, "likely cause: a disk is full"},
		"accepted":          {answer{Accepted: make([]diagnosis.AcceptedFinding, 2)}, co, diagnosis.AboutAccepted, "2 accepted findings concern it"},
		"a host done":       {answer{Hosts: host(diagnosis.StagePassed, late)}, m0, diagnosis.AboutGood, "nothing wrong found"},
		"a host on its way": {answer{Hosts: host(diagnosis.StageWaiting, noon.Add(-time.Minute))}, m0, diagnosis.AboutProgress, "normal until"},
		"a host waits": {answer{Hosts: host(diagnosis.StageWaiting, late)}, m0, diagnosis.AboutOpen,
			"waiting at config-done, and what was read does not prove why"},
		"a host failed": {answer{Hosts: host(diagnosis.StageFailed, late)}, m0, diagnosis.AboutOpen, "failed at config-done"},
		"a host not known": {answer{Hosts: host(diagnosis.StageUnknown, late)}, m0, diagnosis.AboutOpen,
			"not known whether it has passed config-done"},
		"blocked, no cause": {answer{Hosts: host(diagnosis.StageWaiting, late, fault.Key{Fault: "gone"})}, m0, diagnosis.AboutOpen,
			"does not prove why"},
		"blocked, a cause": {answer{Hosts: host(diagnosis.StageWaiting, late, fault.Key{Fault: "r"}), Roots: root(fault.Error)}, m0, diagnosis.AboutBroken,
			"waiting at config-done; likely cause: a disk is full"},
		"blocked, a warning": {answer{Hosts: host(diagnosis.StageWaiting, late, fault.Key{Fault: "r"}), Roots: root(fault.Warning)}, m0, diagnosis.AboutOpen,
			"waiting at config-done; likely cause: a disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.d.Now = noon
			got := About(&tt.d, tt.s)
			if got.State != tt.state || !strings.Contains(got.Says, tt.says) {
				t.Errorf("%+v; want %s, %q", got, tt.state, tt.says)
			}
		})
	}
}

// TestNoFault: "no fault is present" is said only where every check was run.
func TestNoFault(t *testing.T) {
	unknown := func(id, name string) diagnosis.Finding {
		return diagnosis.Finding{Fault: id, Subject: fault.Subject{Kind: fault.Host, Name: name}, Outcome: fault.Unknown}
	}
	d := &diagnosis.Diagnosis{Stats: diagnosis.Stats{Faults: 351}}
	if got := noFault(d); got != "and no fault of the catalog is present" {
		t.Errorf("all run: %q", got)
	}
	d.Findings = []diagnosis.Finding{unknown("a", "h0"), unknown("a", "h1"), unknown("b", "h0"), {Fault: "c", Outcome: fault.Absent}}
	if got := noFault(d); got != "and no fault was found; 2 of 351 checks not run" {
		t.Errorf("two not run: %q", got)
	}
}
