package diagnose

import (
	"fmt"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Hosts that stopped at the same stage for the same reason are one question; another
// reason is another one.
func TestHostsOpen(t *testing.T) {
	d := &diagnosis.Diagnosis{}
	stop := func(name string, stage fault.Stage, why string) {
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: name, Expected: true, Stage: stage, State: diagnosis.StageUnknown, Why: why})
	}
	for i := range 5 {
		stop(fmt.Sprintf("w%d", i), fault.ClientCert, "requests were not collected")
	}
	stop("m0", fault.EtcdMember, "pods were not collected")
	stop("m1", fault.EtcdMember, "pods were not collected")
	stop("x0", fault.EtcdMember, "")
	want := []string{
		"hosts w0, w1, w2 and 2 more: client-cert is unknown (requests were not collected)",
		"hosts m0, m1: etcd-member is unknown (pods were not collected)",
		"host x0: etcd-member is unknown",
	}
	if got := hostsOpen(d); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The reason of a verdict is a sentence, however much is open, and nothing of it is lost.
func TestUndeterminedReason(t *testing.T) {
	var open []diagnosis.Question
	for i := range 5 {
		open = append(open, diagnosis.Question{Says: fmt.Sprint("q", i)})
	}
	for n, want := range map[int]string{1: "q0", 3: "q0; q1; q2", 5: "q0; q1; q2; and 2 more"} {
		v := undetermined(open[:n])
		if v.Reason != want || len(v.Open) != n || v.Class != diagnosis.Undetermined {
			t.Errorf("%d: %+v, want the reason %q", n, v, want)
		}
	}
}
