package scale

import (
	"log/slog"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRenewed: the leases of the living are renewed when their time has come, and
// those of the dead never.
func TestRenewed(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := &Cluster{spec: Spec{Logger: slog.New(slog.DiscardHandler)}, leases: map[string]*coordinationv1.Lease{}}
	for name, w := range map[string]struct {
		fate fate
		age  time.Duration
	}{"old": {joined, renewEvery}, "young": {joined, renewEvery / 2}, "dead": {silent, time.Hour}} {
		since := metav1.NewMicroTime(at.Add(-w.age))
		c.hold(worker{name: name, fate: w.fate}, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: coordinationv1.LeaseSpec{RenewTime: &since}})
	}
	if got := c.renewed(at); len(got) != 1 || len(got[leaseKey("old")]) == 0 {
		t.Errorf("renewed %d leases", len(got))
	}
	if got := c.renewed(at.Add(renewEvery / 2)); len(got) != 1 || len(got[leaseKey("young")]) == 0 {
		t.Errorf("then %d leases", len(got))
	}
}

// TestPlan: of each trouble there are as many as said, and names are the workers' own.
func TestPlan(t *testing.T) {
	for _, n := range []int{10, 500, 2000} {
		count, names := map[fate]int{}, map[string]bool{}
		for _, w := range plan(Spec{Workers: n, Address: func(int) string { return "127.0.0.1" }}) {
			count[w.fate]++
			names[w.name] = true
		}
		k := TroubledOf(n)
		if len(names) != n || count[joined] != n-4*k || count[silent] != k || count[notInspected] != k || count[passwordWrong] != k || count[noAddresses] != k {
			t.Errorf("of %d: %v", n, count)
		}
	}
}
