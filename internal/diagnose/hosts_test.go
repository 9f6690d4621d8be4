package diagnose

import (
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/fault"
)

// TestBlock: what stops a host is said at the host: first what leads to it, then
// what stops its pool where it stands.
func TestBlock(t *testing.T) {
	host := func(name string) fault.Subject { return fault.Subject{Kind: fault.Host, Name: name} }
	drift := fault.Key{Fault: "config-drift", Subject: host("w0")}
	paused := fault.Key{Fault: "pool-paused", Subject: fault.Subject{Kind: fault.Pool, Name: "worker"}}
	late := fault.Key{Fault: "late", Subject: host("w2")}
	d := &fault.Diagnosis{
		Roots:       []fault.Root{{Key: drift}, {Key: paused}},
		Unexplained: []fault.Unexplained{{Key: late}},
	}
	for _, name := range []string{"w0", "w1", "w2", "w3"} {
		d.Hosts = append(d.Hosts, fault.HostState{Name: name, Expected: true, Stage: fault.ConfigDone, State: fault.StageWaiting})
	}
	d.Hosts[3].State = fault.StagePassed
	stopped := map[string][]fault.Key{"w0": {paused}, "w1": {paused}, "w3": {paused}}
	block(d, nil, func(string) []string { return nil }, stopped, nil)
	for i, want := range [][]fault.Key{{drift}, {paused}, {late}, nil} {
		if got := d.Hosts[i].BlockedBy; !slices.Equal(got, want) {
			t.Errorf("%s is stopped by %v, want %v", d.Hosts[i].Name, got, want)
		}
	}
}
