package diagnose

import (
	"testing"

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
