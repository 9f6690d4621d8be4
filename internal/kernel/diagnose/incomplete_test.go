package diagnose

import (
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// TestOnlyMissing: where nothing is open but what was not collected, one line says so. What
// was refused, damaged or cut, and a host that is not Ready, is an open question.
func TestOnlyMissing(t *testing.T) {
	ready := func(state diagnosis.StageOutcome) diagnosis.HostState {
		return diagnosis.HostState{Name: "m0", Expected: true, Stage: fault.EtcdMember, State: diagnosis.StageUnknown,
			Stages: []diagnosis.StageState{{Stage: fault.Ready, State: state}}}
	}
	nodes := evidence.Coverage{Need: "nodes", State: evidence.Read}
	operators := func(why evidence.Why) evidence.Coverage {
		return evidence.Coverage{Need: evidence.ClusterOperators.String(), State: evidence.Missing, Why: why, Reason: string(why) + ": because"}
	}
	const want = "1 host Ready, no known fault is in what was read; not collected: clusteroperators, what shows etcd-member of 1 host"
	for name, tt := range map[string]struct {
		kind     string
		hosts    []diagnosis.HostState
		coverage []evidence.Coverage
		want     string
	}{
		"a part of a cluster": {"tree", []diagnosis.HostState{ready(diagnosis.StagePassed)}, []evidence.Coverage{nodes, operators(evidence.NotCollected)}, want},
		"single files":        {"files", []diagnosis.HostState{ready(diagnosis.StagePassed)}, []evidence.Coverage{nodes, operators(evidence.NotCollected)}, want},
		"a text":              {"text", []diagnosis.HostState{ready(diagnosis.StagePassed)}, []evidence.Coverage{nodes, operators(evidence.NotCollected)}, "1 host Ready; it shows only a part of a cluster"},
		"a text, not Ready":   {"text", []diagnosis.HostState{ready(diagnosis.StageWaiting)}, []evidence.Coverage{nodes, operators(evidence.NotCollected)}, ""},
		"a text of no host":   {"text", nil, []evidence.Coverage{operators(evidence.NotCollected)}, "it shows no host, and only a part of a cluster"},
		"not Ready":           {"tree", []diagnosis.HostState{ready(diagnosis.StageWaiting)}, []evidence.Coverage{nodes, operators(evidence.NotCollected)}, ""},
		"refused":             {"live", []diagnosis.HostState{ready(diagnosis.StagePassed)}, []evidence.Coverage{nodes, operators(evidence.Forbidden)}, ""},
		"a part of the Nodes": {"tree", []diagnosis.HostState{ready(diagnosis.StagePassed)},
			[]evidence.Coverage{{Need: "nodes", State: evidence.Partial, Why: evidence.NotCollected, Reason: "1 of 6"}, operators(evidence.NotCollected)}, ""},
		"a file of one Node": {"files", []diagnosis.HostState{ready(diagnosis.StagePassed)},
			[]evidence.Coverage{{Need: "nodes", State: evidence.Partial, Why: evidence.NotCollected, Reason: "single objects"}, operators(evidence.NotCollected)},
			"1 host Ready, no known fault is in what was read; not collected: other nodes, clusteroperators, what shows etcd-member of 1 host"},
		"the bootstrap host is done": {"files", []diagnosis.HostState{{Name: "bootstrap", Role: "bootstrap", Stage: fault.Planned, State: diagnosis.StagePassed,
			Why: "its services have ended; it starts the installation and does not join"}}, nil,
			"on the bootstrap host its services have ended; nothing wrong in what was read; no host of the cluster was checked"},
		"the bootstrap host waits": {"files", []diagnosis.HostState{{Name: "bootstrap", Role: "bootstrap", Stage: fault.Planned, State: diagnosis.StageWaiting,
			Why: "bootkube does not get to its end; it starts the installation and does not join"}}, nil, ""},
		"no Node": {"tree", nil, []evidence.Coverage{{Need: "nodes", State: evidence.Missing, Why: evidence.NotCollected, Reason: "no file"}},
			"no known fault is in what was read; not collected: nodes"},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: tt.kind}, Hosts: tt.hosts, Coverage: tt.coverage}
			v := verdict(d)
			if v.Class != diagnosis.Undetermined || (v.Cause == diagnosis.CauseNone) != (tt.want != "") || tt.want != "" && v.Reason != tt.want {
				t.Errorf("%+v; want %q", v, tt.want)
			}
		})
	}
}

// TestOtherSystem: logs of a machine that is no host of a cluster are no open question about one. With a host
// next to it they decide nothing.
func TestOtherSystem(t *testing.T) {
	d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: "files"},
		Cluster: diagnosis.ClusterInfo{Others: []diagnosis.OtherSystem{{Host: "s1", System: "Ubuntu, Linux 5.11.0-16-generic", Locator: "a.log:2"}}}}
	const want = "s1 runs Ubuntu, Linux 5.11.0-16-generic (a.log:2); no line in it is of a kubelet, CRI-O, Ignition or rpm-ostree"
	if v := verdict(d); v.Class != diagnosis.Undetermined || v.Cause != diagnosis.CauseNone || v.Reason != want {
		t.Errorf("%+v, want %q", v, want)
	}
	d.Hosts = []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.Registered, State: diagnosis.StageUnknown, Why: "x"}}
	if v := verdict(d); v.Cause == diagnosis.CauseNone {
		t.Errorf("with a host of a cluster: %+v", v)
	}
}

// TestCompletedByService: that the assisted service has completed the installation is said.
func TestCompletedByService(t *testing.T) {
	d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: "text"}, Hosts: []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.ServingCert,
		State: diagnosis.StageUnknown, Stages: []diagnosis.StageState{{Stage: fault.Ready, State: diagnosis.StagePassed}}}}}
	d.Cluster.Completed, d.Cluster.CompletedBy = time.Date(2023, 6, 22, 15, 6, 25, 0, time.UTC), diagnosis.ByAssisted
	const want = "the assisted service reports the installation of 1 host as completed at 2023-06-22T15:06:25Z; no Node was read"
	if v := verdict(d); v.Cause != diagnosis.CauseNone || v.Reason != want {
		t.Errorf("%+v, want %q", v, want)
	}
}

// TestOnlyFiles: single files without a host are too little, and no open question, unless one shows what is not well.
func TestOnlyFiles(t *testing.T) {
	const nothing = "no host was checked, and nothing is wrong in what the checks read"
	for name, tt := range map[string]struct {
		kind    string
		read    []string
		bad     bool   // what was read is not well
		holds   string // a kind of object
		wrong   bool
		damaged bool
		want    string
	}{
		"nothing":                {kind: looseFiles, want: nothing},
		"a version":              {kind: looseFiles, read: []string{"ClusterVersion: Available True"}, want: "ClusterVersion: Available True; " + nothing},
		"pools":                  {kind: looseFiles, read: []string{"2 MachineConfigPools, all Updated"}, want: "2 MachineConfigPools, all Updated; " + nothing},
		"one that is not":        {kind: looseFiles, read: []string{"ClusterVersion: Available True, Failing"}, bad: true},
		"a kind without a check": {kind: looseFiles, holds: "widgets", want: nothing + "; not read by any check: widgets"},
		"a kind that was read":   {kind: looseFiles, holds: "nodes", want: nothing},
		"a symptom":              {kind: looseFiles, wrong: true},
		"a damaged file":         {kind: looseFiles, damaged: true},
		"a whole collector":      {kind: "must-gather"},
	} {
		d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: tt.kind}, Cluster: diagnosis.ClusterInfo{Read: tt.read, ReadWrong: tt.bad},
			Coverage: []evidence.Coverage{{Need: "nodes", State: evidence.Partial, Why: evidence.NotCollected, Count: 1}}}
		if tt.holds != "" {
			d.Source.Holds = []evidence.Resource{{Name: tt.holds}}
		}
		if tt.wrong {
			d.Unexplained = []diagnosis.Unexplained{{Key: fault.Key{Fault: "x"}, Severity: fault.Error}}
		}
		if tt.damaged {
			d.Coverage = []evidence.Coverage{{Need: "nodes", State: evidence.Missing, Damaged: true}}
		}
		if v := verdict(d); v.Class != diagnosis.Undetermined || (v.Cause == diagnosis.CauseNone) != (tt.want != "") || tt.want != "" && v.Reason != tt.want {
			t.Errorf("%s: %+v; want %q", name, v, tt.want)
		}
	}
}

// TestOnlyLogged: a log of openshift-install that ended well says so first. One that failed, or a
// symptom next to it, is an open question.
func TestOnlyLogged(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		in    diagnosis.Installer
		wrong bool
		want  string
	}{
		"completed": {diagnosis.Installer{Version: "4.18.2", Ended: "complete", Step: "complete", WaitsFor: "nothing", At: at}, false,
			"openshift-install 4.18.2 completed at 2026-03-01T08:00:00Z: nothing wrong in what was read; no host was checked"},
		"bootstrapped": {diagnosis.Installer{Ended: "complete", Step: "bootstrapped", At: at}, false,
			"openshift-install saw the bootstrap complete at 2026-03-01T08:00:00Z: nothing wrong in what was read; no host was checked"},
		"files": {diagnosis.Installer{Ended: "made", Step: "assets", At: at}, false,
			"openshift-install wrote its files at 2026-03-01T08:00:00Z, and no later run works on a cluster: nothing wrong in what was read; no host was checked"},
		"failed":           {diagnosis.Installer{Ended: "failed", Step: "initialize", At: at}, false, ""},
		"with a symptom":   {diagnosis.Installer{Ended: "complete", Step: "complete", WaitsFor: "nothing", At: at}, true, ""},
		"still it is read": {diagnosis.Installer{Ended: "running", Step: "api", At: at}, false, ""},
	} {
		d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: "install"}, Cluster: diagnosis.ClusterInfo{Installer: &tt.in}}
		if tt.wrong {
			d.Unexplained = []diagnosis.Unexplained{{Key: fault.Key{Fault: "x"}, Severity: fault.Error}}
		}
		if v := verdict(d); v.Class != diagnosis.Undetermined || (v.Cause == diagnosis.CauseNone) != (tt.want != "") || tt.want != "" && v.Reason != tt.want {
			t.Errorf("%s: %+v; want %q", name, v, tt.want)
		}
	}
}

// TestOtherProduct: a cluster of another distribution lacks no part of OpenShift; what is wrong in it is still an open question.
func TestOtherProduct(t *testing.T) {
	const says = "1 Node, v1.33.5+rke2r1: this is RKE2 and not OpenShift, so no part of OpenShift was looked for"
	host := func(state diagnosis.StageOutcome) []diagnosis.HostState {
		return []diagnosis.HostState{{Name: "m0", Expected: true, Stage: fault.Ready, State: state}}
	}
	for name, tt := range map[string]struct {
		hosts   []diagnosis.HostState
		read    []string
		trouble bool
		want    string // "" where a question is open
	}{
		"ready":       {host(diagnosis.StagePassed), nil, false, "1 host Ready; " + says},
		"with pods":   {host(diagnosis.StagePassed), []string{"3 pods, all completed or Ready"}, false, "1 host Ready; " + says + "; 3 pods, all completed or Ready"},
		"not Ready":   {host(diagnosis.StageUnknown), nil, false, ""},
		"pods wait":   {host(diagnosis.StagePassed), []string{"3 pods, a Pending"}, false, ""},
		"a symptom":   {host(diagnosis.StagePassed), nil, true, ""},
		"no Product":  {nil, nil, false, ""},
		"hosts alone": {host(diagnosis.StagePassed), nil, false, "1 host Ready; " + says},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diagnosis.Diagnosis{Source: diagnosis.Source{Kind: looseFiles}, Hosts: tt.hosts, Cluster: diagnosis.ClusterInfo{Read: tt.read},
				Coverage: []evidence.Coverage{{Need: evidence.ClusterOperators.String(), State: evidence.Missing, Why: evidence.NotCollected, Reason: "r"}}}
			if tt.hosts != nil {
				d.Cluster.Product = &diagnosis.Product{Name: "RKE2", Says: "1 Node, v1.33.5+rke2r1"}
				d.Cluster.ReadWrong = strings.Contains(strings.Join(tt.read, ""), "Pending")
			}
			if tt.trouble {
				d.Unexplained = []diagnosis.Unexplained{{Key: fault.Key{Fault: "x"}, Severity: fault.Error}}
			}
			v := verdict(d)
			if d.Cluster.Product == nil {
				if strings.Contains(v.Reason, "RKE2") {
					t.Errorf("%+v", v)
				}
				return
			}
			if v.Class != diagnosis.Undetermined || (v.Cause == diagnosis.CauseNone) != (tt.want != "") || tt.want != "" && v.Reason != tt.want || !Undecided(d) {
				t.Errorf("%+v; want %q", v, tt.want)
			}
		})
	}
}

// TestExcludedByProduct: of the faults of OpenShift's parts none applies to another distribution.
func TestExcludedByProduct(t *testing.T) {
	for _, tt := range []struct {
		product, layer string
		excluded       bool
	}{
		{"RKE2", "machine-config", true}, {"RKE2", "control-plane", true}, {"RKE2", "kubelet", false}, {"RKE2", "workloads", false},
		{"RKE2", "baremetal", false}, {"", "machine-config", false},
	} {
		e := &Engine{product: tt.product}
		if why := e.excludedByProduct(&fault.Fault{Layer: tt.layer}); (why != "") != tt.excluded {
			t.Errorf("%+v: %q", tt, why)
		}
	}
}
