package diagnose

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestPremises: a cluster is healthy only where the kinds that hosts are known by were read
// whole, or where the API does not serve them.
func TestPremises(t *testing.T) {
	healthy := func() *diagnosis.Diagnosis {
		return &diagnosis.Diagnosis{Hosts: []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.ConfigDone, State: diagnosis.StagePassed}}}
	}
	machines := evidence.Objects(evidence.Machines, "openshift-machine-api").String()
	bmh := evidence.Objects(evidence.BareMetalHosts, "openshift-machine-api").String()
	for _, c := range []struct {
		need     string
		state    evidence.State
		why      evidence.Why
		topology string
		want     diagnosis.VerdictClass
	}{
		{"nodes", evidence.Read, "", "", diagnosis.Healthy},
		{"nodes", evidence.Partial, evidence.Damaged, "", diagnosis.Undetermined},
		{"nodes", evidence.Partial, evidence.NotCollected, "", diagnosis.Undetermined},
		{machines, evidence.Partial, evidence.Damaged, "", diagnosis.Undetermined},
		{machines, evidence.Missing, evidence.Forbidden, "", diagnosis.Undetermined},
		{machines, evidence.Missing, evidence.Unreachable, "", diagnosis.Undetermined},
		{machines, evidence.Missing, evidence.NotServed, "", diagnosis.Healthy},
		{machines, evidence.Missing, evidence.NotCollected, "", diagnosis.Healthy}, // there may be none
		{machines, evidence.Missing, evidence.Forbidden, "External", diagnosis.Healthy},
		{evidence.MachineSets.String(), evidence.Missing, evidence.Forbidden, "", diagnosis.Undetermined},
		{bmh, evidence.Missing, evidence.Forbidden, "", diagnosis.Undetermined},
		{bmh, evidence.Missing, evidence.Unreachable, "", diagnosis.Undetermined},
		{evidence.ClusterOperators.String(), evidence.Missing, evidence.NotCollected, "", diagnosis.Undetermined},
		{evidence.MachineConfigPools.String(), evidence.Missing, evidence.NotCollected, "", diagnosis.Undetermined},
		{evidence.MachineConfigPools.String(), evidence.Missing, evidence.NotCollected, "External", diagnosis.Healthy},
		{evidence.CSRs.String(), evidence.Partial, evidence.Unreachable, "", diagnosis.Undetermined},
		{evidence.CSRs.String(), evidence.Missing, evidence.Forbidden, "", diagnosis.Undetermined},
		{evidence.CSRs.String(), evidence.Partial, evidence.NotCollected, "", diagnosis.Healthy},
		{evidence.Objects(evidence.Pods, "openshift-dns").String(), evidence.Missing, evidence.Forbidden, "", diagnosis.Healthy},
	} {
		d := healthy()
		d.Cluster.Topology = c.topology
		d.Coverage = []evidence.Coverage{{Need: c.need, State: c.state, Why: c.why, Reason: string(c.why) + ": because"}}
		if got := verdict(d); got.Class != c.want {
			t.Errorf("%s %s (%s): %+v, want %s", c.need, c.state, c.why, got, c.want)
		}
	}
	d := healthy()
	for _, need := range []string{"certificatesigningrequests.certificates.k8s.io", "machines.machine.openshift.io -n a", "machines.machine.openshift.io -n b"} {
		d.Coverage = append(d.Coverage, evidence.Coverage{Need: need, State: evidence.Partial, Why: evidence.Damaged, Reason: "damaged: cut off"})
	}
	if got, want := verdict(d).Reason, "not all certificatesigningrequests, machines were read: damaged: cut off"; got != want {
		t.Errorf("what was lost for one reason is said as %q, want %q", got, want)
	}
	d = healthy()
	d.Coverage = []evidence.Coverage{{Need: evidence.MachineConfigPools.String(), State: evidence.Missing, Why: evidence.Forbidden, Reason: "forbidden"}}
	if got, want := verdict(d).Reason, "machineconfigpools were not read: forbidden"; got != want {
		t.Errorf("what was not read at all is said as %q, want %q", got, want)
	}
}

// TestFirstHost: an installation whose Nodes were read and are none, or of which the
// scheduler found none, has just begun. That none were read, or that none came for long, is
// a question.
func TestFirstHost(t *testing.T) {
	for _, c := range []struct {
		name       string
		installing bool
		nodes      evidence.State
		why        evidence.Why
		noNode     bool
		age        time.Duration
		want       diagnosis.VerdictClass
	}{
		{"just begun", true, evidence.Empty, "", false, time.Minute, diagnosis.Settling},
		{"not read", true, evidence.Missing, evidence.NotCollected, false, time.Minute, diagnosis.Undetermined},
		{"not read, and the scheduler found none", true, evidence.Missing, evidence.NotCollected, true, time.Minute, diagnosis.Settling},
		{"refused, and the scheduler found none", true, evidence.Missing, evidence.Forbidden, true, time.Minute, diagnosis.Undetermined},
		{"damaged, and the scheduler found none", true, evidence.Partial, evidence.Damaged, true, time.Minute, diagnosis.Undetermined},
		{"for long", true, evidence.Empty, "", true, 2 * time.Hour, diagnosis.Undetermined},
		{"not read for long", true, evidence.Missing, evidence.NotCollected, true, 2 * time.Hour, diagnosis.Undetermined},
		{"installed once", false, evidence.Empty, "", false, time.Minute, diagnosis.Undetermined},
	} {
		d := &diagnosis.Diagnosis{Now: noon, Cluster: diagnosis.ClusterInfo{Installing: c.installing, Began: noon.Add(-c.age), NoNode: c.noNode},
			Coverage: []evidence.Coverage{{Need: "nodes", State: c.nodes, Why: c.why, Reason: string(c.why)}}}
		if got := verdict(d); got.Class != c.want {
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
		if got := countNames(c.names); got != c.want {
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
		host       diagnosis.HostState
		want       time.Time
	}{
		{"restarts", false, noon, diagnosis.HostState{Stage: fault.IgnitionFetched, State: diagnosis.StageUnknown, Since: began}, began.Add(20 * time.Minute)},
		{"no BareMetalHost yet", true, noon, diagnosis.HostState{Stage: fault.Powered, State: diagnosis.StageUnknown}, began.Add(20 * time.Minute)},
		{"no BareMetalHost for long", true, noon.Add(time.Hour), diagnosis.HostState{Stage: fault.Powered, State: diagnosis.StageUnknown}, time.Time{}},
		{"installed, since an unknown time", false, noon, diagnosis.HostState{Stage: fault.Powered, State: diagnosis.StageUnknown}, time.Time{}},
		{"has its certificate, and no Node yet", false, noon, diagnosis.HostState{Stage: fault.Registered, State: diagnosis.StageWaiting, Since: noon.Add(-time.Minute)}, noon.Add(4 * time.Minute)},
		{"has its certificate for long, and no Node", false, noon, diagnosis.HostState{Stage: fault.Registered, State: diagnosis.StageWaiting, Since: began}, time.Time{}},
		{"has failed", true, noon, diagnosis.HostState{Stage: fault.Powered, State: diagnosis.StageFailed}, time.Time{}},
		{"nothing is known of a later step", true, noon, diagnosis.HostState{Stage: fault.Ready, State: diagnosis.StageUnknown}, time.Time{}},
	} {
		d := &diagnosis.Diagnosis{Now: tt.now, Cluster: diagnosis.ClusterInfo{Installing: tt.installing, Began: began}}
		if got := inProgress(d, tt.host); !got.Equal(tt.want) {
			t.Errorf("%s: until %s, want %s", tt.name, got, tt.want)
		}
	}
}

// A warning without a remedy makes neither the class nor the reason of the errors worse; alone it
// decides.
func TestWarningBesideErrors(t *testing.T) {
	root := func(id string, s fault.Severity, remedies ...fault.Advice) diagnosis.Root {
		return diagnosis.Root{Fault: id, Severity: s, Cases: []diagnosis.Case{{Key: fault.Key{Fault: id}, Remedies: remedies}}}
	}
	byHand := fault.Advice{Applies: fault.Unknown}
	for _, c := range []struct {
		name   string
		roots  []diagnosis.Root
		class  diagnosis.VerdictClass
		reason string
	}{
		{"errors with remedies and a warning without", []diagnosis.Root{root("signer-gone", fault.Error, byHand), root("host-replaced", fault.Warning)},
			diagnosis.RecoverableInPlace, "2 causes found; 1 warning without a remedy"},
		{"an error without", []diagnosis.Root{root("signer-gone", fault.Error), root("host-replaced", fault.Warning)},
			diagnosis.Undetermined, "the catalog has no remedy for signer-gone"},
		{"the warning alone", []diagnosis.Root{root("host-replaced", fault.Warning)},
			diagnosis.Undetermined, "the catalog has no remedy for host-replaced"},
	} {
		d := &diagnosis.Diagnosis{Roots: c.roots, Hosts: []diagnosis.HostState{{Name: "m0"}}}
		if v, serious := ofRoots(d); !serious || v.Class != c.class || v.Reason != c.reason {
			t.Errorf("%s: %s, %q, want %s, %q", c.name, v.Class, v.Reason, c.class, c.reason)
		}
	}
}

// TestEveryListEmpty: a cluster without any object is not one that has just begun.
func TestEveryListEmpty(t *testing.T) {
	list := func(version evidence.State) *diagnosis.Diagnosis {
		return &diagnosis.Diagnosis{Now: noon, Cluster: diagnosis.ClusterInfo{Installing: true, Began: noon.Add(-time.Minute)}, Coverage: []evidence.Coverage{
			{Need: "nodes", State: evidence.Empty}, {Need: "pods", State: evidence.Empty}, {Need: "machines", State: evidence.Empty},
			{Need: "clusterversions", State: version}}}
	}
	if got := verdict(list(evidence.Empty)); got.Class != diagnosis.Undetermined {
		t.Errorf("every list is empty: %+v", got)
	}
	if got := verdict(list(evidence.Read)); got.Class != diagnosis.Settling {
		t.Errorf("there is a ClusterVersion: %+v", got)
	}
}
