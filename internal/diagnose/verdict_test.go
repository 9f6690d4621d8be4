package diagnose

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// TestPremises: a cluster is healthy only where the kinds that hosts are known by were read
// whole, or where the API does not serve them.
func TestPremises(t *testing.T) {
	healthy := func() *fault.Diagnosis {
		return &fault.Diagnosis{Hosts: []fault.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: fault.StagePassed}}}
	}
	machines := evidence.Objects(evidence.Machines, "openshift-machine-api").String()
	bmh := evidence.Objects(evidence.BareMetalHosts, "openshift-machine-api").String()
	for _, c := range []struct {
		need     string
		state    evidence.State
		why      evidence.Why
		topology string
		want     fault.VerdictClass
	}{
		{"nodes", evidence.Read, "", "", fault.Healthy},
		{"nodes", evidence.Partial, evidence.Damaged, "", fault.Undetermined},
		{"nodes", evidence.Partial, evidence.NotCollected, "", fault.Undetermined},
		{machines, evidence.Partial, evidence.Damaged, "", fault.Undetermined},
		{machines, evidence.Missing, evidence.Forbidden, "", fault.Undetermined},
		{machines, evidence.Missing, evidence.Unreachable, "", fault.Undetermined},
		{machines, evidence.Missing, evidence.NotServed, "", fault.Healthy},
		{machines, evidence.Missing, evidence.NotCollected, "", fault.Healthy}, // there may be none
		{machines, evidence.Missing, evidence.Forbidden, "External", fault.Healthy},
		{evidence.MachineSets.String(), evidence.Missing, evidence.Forbidden, "", fault.Undetermined},
		{bmh, evidence.Missing, evidence.Forbidden, "", fault.Undetermined},
		{bmh, evidence.Missing, evidence.Unreachable, "", fault.Undetermined},
		{evidence.ClusterOperators.String(), evidence.Missing, evidence.NotCollected, "", fault.Undetermined},
		{evidence.MachineConfigPools.String(), evidence.Missing, evidence.NotCollected, "", fault.Undetermined},
		{evidence.MachineConfigPools.String(), evidence.Missing, evidence.NotCollected, "External", fault.Healthy},
		{evidence.CSRs.String(), evidence.Partial, evidence.Unreachable, "", fault.Undetermined},
		{evidence.CSRs.String(), evidence.Missing, evidence.Forbidden, "", fault.Undetermined},
		{evidence.CSRs.String(), evidence.Partial, evidence.NotCollected, "", fault.Healthy},
		{evidence.Objects(evidence.Pods, "openshift-dns").String(), evidence.Missing, evidence.Forbidden, "", fault.Healthy},
	} {
		d := healthy()
		d.Cluster.Topology = c.topology
		d.Coverage = []evidence.Coverage{{Need: c.need, State: c.state, Why: c.why, Reason: string(c.why) + ": because"}}
		if got := judge(d); got.Class != c.want {
			t.Errorf("%s %s (%s): %+v, want %s", c.need, c.state, c.why, got, c.want)
		}
	}
	d := healthy()
	for _, need := range []string{"certificatesigningrequests.certificates.k8s.io", "machines.machine.openshift.io -n a", "machines.machine.openshift.io -n b"} {
		d.Coverage = append(d.Coverage, evidence.Coverage{Need: need, State: evidence.Partial, Why: evidence.Damaged, Reason: "damaged: cut off"})
	}
	if got, want := judge(d).Reason, "not all certificatesigningrequests, machines were read: damaged: cut off"; got != want {
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

// TestInProgress: a host that waits is on its way for a while, and where it is not known
// since when, for as long after the installation began.
func TestInProgress(t *testing.T) {
	began := noon.Add(-10 * time.Minute)
	for _, tt := range []struct {
		name       string
		installing bool
		now        time.Time
		host       fault.HostState
		want       time.Time
	}{
		{"restarts", false, noon, fault.HostState{Stage: fault.IgnitionFetched, State: fault.StageUnknown, Since: began}, began.Add(20 * time.Minute)},
		{"no BareMetalHost yet", true, noon, fault.HostState{Stage: fault.Powered, State: fault.StageUnknown}, began.Add(20 * time.Minute)},
		{"no BareMetalHost for long", true, noon.Add(time.Hour), fault.HostState{Stage: fault.Powered, State: fault.StageUnknown}, time.Time{}},
		{"installed, since an unknown time", false, noon, fault.HostState{Stage: fault.Powered, State: fault.StageUnknown}, time.Time{}},
		{"has failed", true, noon, fault.HostState{Stage: fault.Powered, State: fault.StageFailed}, time.Time{}},
		{"nothing is known of a later step", true, noon, fault.HostState{Stage: fault.Ready, State: fault.StageUnknown}, time.Time{}},
	} {
		d := &fault.Diagnosis{Now: tt.now, Cluster: fault.ClusterInfo{Installing: tt.installing, Began: began}}
		if got := inProgress(d, tt.host); !got.Equal(tt.want) {
			t.Errorf("%s: until %s, want %s", tt.name, got, tt.want)
		}
	}
}
