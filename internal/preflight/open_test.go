package preflight

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestNotChecked: a plan in which nothing wrong was found and of which a check could not be run
// is not healthy, and its verdict shows what was not checked, the reason of most checks first.
func TestNotChecked(t *testing.T) {
	unknown := func(id, detail string, severity fault.Severity) diagnosis.Finding {
		return diagnosis.Finding{Fault: id, Outcome: fault.Unknown, Severity: severity, Unread: []*evidence.Unavailable{{Detail: detail}}}
	}
	ipmi, rights := "m0: its BMC is not asked", "m1: rights of its BMC account (HTTP 403)"
	d := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{
		unknown("redfish-rights-missing", rights, fault.Error), unknown("redfish-unreachable", ipmi, fault.Error), unknown("redfish-system-missing", ipmi, fault.Error),
		unknown("bmc-clock-off", "m2: no clock", fault.Warning),
	}}
	v := verdict(d)
	if want := "not checked: " + ipmi + "; " + rights; v.Class != diagnosis.Undetermined || v.Cause != diagnosis.CauseNone || v.Reason != want {
		t.Errorf("%+v, want cause none and %q", v, want)
	}
	if !Undecided(d) {
		t.Error("what was not checked does not count for the exit code")
	}
	d.Roots = []diagnosis.Root{{Fault: "plan-x", Severity: fault.Info, Cases: []diagnosis.Case{{}}}}
	if v := verdict(d); v.Cause == diagnosis.CauseNone {
		t.Errorf("with a note: %+v", v)
	}
}
