package cmdutil

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestFocusOnBlockedHost: what holds up the pool of a host concerns it, also where it is at another host; its gaps are
// those of its own checks.
func TestFocusOnBlockedHost(t *testing.T) {
	m0, m1 := fault.Subject{Kind: fault.Host, Name: "m0"}, fault.Subject{Kind: fault.Host, Name: "m1"}
	cause := fault.Key{Fault: "image-pull", Subject: m1}
	secrets, events := evidence.Objects(evidence.Resource{Name: "secrets"}, "n"), evidence.Objects(evidence.Resource{Name: "events"}, "")
	gap := func(n evidence.Need) evidence.Coverage {
		return evidence.Coverage{Need: n.String(), State: evidence.Missing, Reason: "not collected"}
	}
	d := &diagnosis.Diagnosis{
		Now:   noon,
		Roots: []diagnosis.Root{{Fault: cause.Fault, Severity: fault.Error, Cases: []diagnosis.Case{{Key: cause}}}},
		Hosts: []diagnosis.HostState{
			{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StageWaiting, BlockedBy: []fault.Key{cause}},
			{Name: "m1", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StageFailed, BlockedBy: []fault.Key{cause}},
			{Name: "m2", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed},
		},
		Findings: []diagnosis.Finding{
			{Fault: cause.Fault, Subject: m1, Outcome: fault.Present, Severity: fault.Error},
			{Fault: "disk", Subject: m0, Outcome: fault.Unknown, Unread: []*evidence.Unavailable{{Need: secrets}}},
			{Fault: "disk", Subject: m1, Outcome: fault.Unknown, Unread: []*evidence.Unavailable{{Need: events}}},
		},
		Coverage: []evidence.Coverage{gap(secrets), gap(events)},
	}
	for name, want := range map[string]struct {
		code ExitCode
		gaps []string
	}{
		"m0": {ExitFault, []string{secrets.String()}}, "m1": {ExitFault, []string{events.String()}}, "m2": {ExitOK, nil},
	} {
		s := fault.Subject{Kind: fault.Host, Name: name}
		narrow := focus(d, s, nil)
		stands := diagnose.About(narrow, s)
		if got := CodeOf(exitOf(narrow, stands.State == diagnosis.AboutOpen, "error"), failed); got != want.code {
			t.Errorf("%s: %d (%+v), want %d", name, got, stands, want.code)
		}
		var gaps []string
		for _, g := range narrow.Groups.Gaps {
			gaps = append(gaps, g.Needs...)
		}
		if !slices.Equal(gaps, want.gaps) {
			t.Errorf("%s: gaps %q, want %q", name, gaps, want.gaps)
		}
		if len(narrow.Coverage) != len(d.Coverage) {
			t.Errorf("%s: coverage was cut", name)
		}
	}
}
