package diagnose

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// TestNotWhole: hosts of a list that is not whole are not all hosts.
func TestNotWhole(t *testing.T) {
	d := &fault.Diagnosis{Hosts: []fault.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: fault.StagePassed}}}
	for state, want := range map[evidence.State]fault.VerdictClass{evidence.Read: fault.Healthy, evidence.Partial: fault.Undetermined} {
		d.Coverage = []evidence.Coverage{{Need: "nodes", State: state, Reason: "damaged: the archive is cut off"}}
		if got := judge(d); got.Class != want {
			t.Errorf("%s: %+v, want %s", state, got, want)
		}
	}
}

func TestCounted(t *testing.T) {
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""},
		{[]string{"a"}, "a"},
		{[]string{"b", "a"}, "b, a"},
		{[]string{"b", "a", "b", "b"}, "b (3 times), a"},
	} {
		if got := counted(c.names); got != c.want {
			t.Errorf("counted(%v) = %q, want %q", c.names, got, c.want)
		}
	}
}
