package cli

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// TestForNewHostsOpen: a host that does not join for an unknown reason leaves it open whether
// new ones will, and the verdict names it.
func TestForNewHostsOpen(t *testing.T) {
	const why = "host guest1: ignition-fetched is failed"
	d := &diagnosis.Diagnosis{
		Verdict: diagnosis.Verdict{Class: diagnosis.Undetermined, Reason: why},
		Hosts:   []diagnosis.HostState{{Name: "guest1", Expected: true, Stage: fault.IgnitionFetched, State: diagnosis.StageFailed}},
	}
	got := forNewHosts(d, &fault.Catalog{}).Verdict
	if got.Class != diagnosis.Undetermined || !strings.HasSuffix(got.Reason, why) {
		t.Errorf("%+v, want undetermined and %q", got, why)
	}
	d.Hosts = []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed}}
	d.Verdict = diagnosis.Verdict{Class: diagnosis.Healthy}
	if got := forNewHosts(d, &fault.Catalog{}).Verdict; got.Class != diagnosis.Healthy {
		t.Errorf("%+v, want healthy", got)
	}
}
