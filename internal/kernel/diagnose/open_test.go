package diagnose

import (
	"fmt"
	"slices"
	"testing"
	"time"

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

// TestUnsettled: where the version operator updates nothing, nobody is told that it may be in progress.
func TestUnsettled(t *testing.T) {
	done := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for want, c := range map[string]diagnosis.ClusterInfo{
		"x (no update is in progress; whether it passes by itself is not known)": {Completed: done},
		"x (a fault, or still in progress)":                                      {Completed: done, Update: &diagnosis.Update{To: "4.20.9"}},
	} {
		d := &diagnosis.Diagnosis{Cluster: c, Findings: []diagnosis.Finding{
			{Title: "x", Unsettled: true, Severity: fault.Error}, {Title: "y", Unsettled: true, Severity: fault.Info}, {Title: "z", Severity: fault.Error},
		}}
		if got := unsettled(d); !slices.Equal(got, []string{want}) {
			t.Errorf("%q, want %q", got, want)
		}
		if got := unsettled(&diagnosis.Diagnosis{Cluster: c}); got != nil {
			t.Errorf("of nothing: %q", got)
		}
	}
	d := &diagnosis.Diagnosis{Findings: []diagnosis.Finding{{Title: "x", Unsettled: true, Severity: fault.Error}}} // no ClusterVersion was read
	if got := unsettled(d); !slices.Equal(got, []string{"x (a fault, or still in progress)"}) {
		t.Errorf("without a ClusterVersion: %q", got)
	}
}
