package diagnose

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// TestNotWhole: hosts of a list that is not whole are not all hosts, and what holds one
// up may be in the part of another kind that could not be read.
func TestNotWhole(t *testing.T) {
	d := &fault.Diagnosis{Hosts: []fault.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: fault.StagePassed}}}
	for _, c := range []struct {
		need   string
		state  evidence.State
		reason string
		want   fault.VerdictClass
	}{
		{"nodes", evidence.Read, "", fault.Healthy},
		{"nodes", evidence.Partial, "damaged: the archive is cut off", fault.Undetermined},
		{"nodes", evidence.Partial, "not collected: single objects", fault.Undetermined},
		{evidence.Objects(evidence.Machines, "openshift-machine-api").String(), evidence.Partial, "damaged: m.yaml", fault.Undetermined},
		{evidence.CSRs.String(), evidence.Partial, "unreachable: page 2", fault.Undetermined},
		{evidence.CSRs.String(), evidence.Partial, "not collected: single objects", fault.Healthy},
		{evidence.Objects(evidence.Pods, "openshift-dns").String(), evidence.Partial, "damaged: p.yaml", fault.Healthy},
	} {
		d.Coverage = []evidence.Coverage{{Need: c.need, State: c.state, Reason: c.reason}}
		if got := judge(d); got.Class != c.want {
			t.Errorf("%s %s: %+v, want %s", c.need, c.state, got, c.want)
		}
	}
	d.Coverage = nil
	for _, need := range []string{"certificatesigningrequests.certificates.k8s.io", "machines.machine.openshift.io -n a", "machines.machine.openshift.io -n b"} {
		d.Coverage = append(d.Coverage, evidence.Coverage{Need: need, State: evidence.Partial, Reason: "damaged: cut off"})
	}
	if got, want := judge(d).Reason, "certificatesigningrequests, machines could be read only in part: damaged: cut off"; got != want {
		t.Errorf("what was lost for one reason is said as %q, want %q", got, want)
	}
}

// TestFirstHost: an installation whose Nodes were read and are none has just begun. That
// none were read, or that none came for long, is a question.
func TestFirstHost(t *testing.T) {
	for _, c := range []struct {
		name       string
		installing bool
		nodes      evidence.State
		age        time.Duration
		want       fault.VerdictClass
	}{
		{"just begun", true, evidence.Empty, time.Minute, fault.Settling},
		{"not read", true, evidence.Missing, time.Minute, fault.Undetermined},
		{"for long", true, evidence.Empty, 2 * time.Hour, fault.Undetermined},
		{"installed once", false, evidence.Empty, time.Minute, fault.Undetermined},
	} {
		d := &fault.Diagnosis{Now: noon, Cluster: fault.ClusterInfo{Installing: c.installing, Began: noon.Add(-c.age)},
			Coverage: []evidence.Coverage{{Need: "nodes", State: c.nodes}}}
		if got := judge(d); got.Class != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
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
