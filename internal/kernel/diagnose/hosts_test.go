package diagnose

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestBlock: what stops a host is said at the host: first what leads to it, then
// what stops its pool where it stands, last what is still normal there.
func TestBlock(t *testing.T) {
	host := func(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }
	drift := fault.Key{Fault: "config-drift", Subject: host("w0")}
	paused := fault.Key{Fault: "pool-paused", Subject: fault.Subject{Kind: fault.Pool, Name: "worker"}}
	late := fault.Key{Fault: "late", Subject: host("w2")}
	lost := fault.Key{Fault: "lost", Subject: host("w5")}
	d := &diagnosis.Diagnosis{
		Roots:       []diagnosis.Root{{Cases: []diagnosis.Case{{Key: drift}}}, {Cases: []diagnosis.Case{{Key: paused}}}},
		Unexplained: []diagnosis.Unexplained{{Key: late}, {Key: lost}},
	}
	young := fault.Key{Fault: "mcs-pool-config-empty", Subject: paused.Subject}
	for _, name := range []string{"w0", "w1", "w2", "w3", "w4", "w5"} {
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: name, Expected: true, Stage: fault.ConfigDone, State: diagnosis.StageWaiting})
	}
	d.Hosts[3].State = diagnosis.StagePassed
	stopped := map[string][]fault.Key{"w0": {paused}, "w1": {paused}, "w3": {paused}}
	for _, i := range []int{4, 5} {
		d.Hosts[i].State = diagnosis.StageFailed
		d.Hosts[i].Stages = []diagnosis.StageState{{Stage: fault.Ready, State: diagnosis.StagePassed}, {Stage: fault.ConfigDone, State: diagnosis.StageFailed}}
	}
	held := map[string][]fault.Key{"w0": {young}, "w1": {young}, "w3": {young}, "w4": {young}, "w5": {young}}
	block(d, []cause{{Key: young}}, func(string) []string { return nil }, stopped, held)
	for i, want := range [][]fault.Key{{drift}, {paused}, {late}, nil, {young}, {lost, young}} {
		if got := d.Hosts[i].BlockedBy; !slices.Equal(got, want) {
			t.Errorf("%s is stopped by %v, want %v", d.Hosts[i].Name, got, want)
		}
	} // What stops w4 is still normal, so it waits; what failed at w5 has no such reason.
	for i, want := range map[int]diagnosis.StageOutcome{4: diagnosis.StageWaiting, 5: diagnosis.StageFailed} {
		if h := d.Hosts[i]; h.State != want || h.Stages[1].State != want || h.Stages[0].State != diagnosis.StagePassed {
			t.Errorf("%s is %s (%s, %s), want %s", h.Name, h.State, h.Stages[0].State, h.Stages[1].State, want)
		}
	}
}
