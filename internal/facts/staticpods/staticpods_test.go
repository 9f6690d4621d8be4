package staticpods_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
	"github.com/rollcall-project/rollcall/internal/facts/staticpods"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

const kas = "-- patch:cluster-scoped-resources/operator.openshift.io/kubeapiservers/cluster.yaml --\n"

func TestPods(t *testing.T) {
	tests := []struct {
		name, status string
		check        func(staticpods.Pods) bool
	}{
		{"as it should be", "", func(p staticpods.Pods) bool {
			return p.Nodes.Value() == 3 && len(p.Behind.Value())+len(p.Failed.Value())+len(p.Missing.Value()) == 0 && p.Blocked.Value() == "" && p.Lost.Value() == ""
		}},
		{"a failure of a revision that has come through since", "{latestAvailableRevision: 7, nodeStatuses: [{nodeName: m0, currentRevision: 7, lastFailedRevision: 5, lastFailedCount: 1}]}", func(p staticpods.Pods) bool {
			return len(p.Behind.Value())+len(p.Failed.Value()) == 0
		}},
		{"a rollout", "{latestAvailableRevision: 8, nodeStatuses: [{nodeName: m0, currentRevision: 8}, {nodeName: m1, currentRevision: 7, targetRevision: 8}]}", func(p staticpods.Pods) bool {
			return slices.Equal(p.Behind.Value(), []string{"m1"}) && len(p.Failed.Value()) == 0
		}},
		{"a node without any revision", "{latestAvailableRevision: 3, nodeStatuses: [{nodeName: m0}]}", func(p staticpods.Pods) bool {
			return slices.Equal(p.Behind.Value(), []string{"m0"})
		}},
		{"a failed one", "{latestAvailableRevision: 8, nodeStatuses: [{nodeName: m0, currentRevision: 7, lastFailedRevision: 8, lastFailedCount: 3, lastFailedReason: InstallerFailed, lastFailedTime: \"2026-03-01T09:00:00Z\", lastFailedRevisionErrors: [\"no space\\nleft\"]}]}", func(p staticpods.Pods) bool {
			return slices.Equal(p.Failed.Value(), []string{"m0"}) && p.FailedReason.Value() == "InstallerFailed" && p.FailedSince.Value().Hour() == 9
		}},
		{"an operand that is missing on two nodes", "{conditions: [{type: GuardControllerDegraded, status: \"True\", lastTransitionTime: \"2026-03-01T09:00:00Z\", message: \"[Missing operand on node m0, Missing operand on node m1]\"}]}", func(p staticpods.Pods) bool {
			return slices.Equal(p.Missing.Value(), []string{"m0", "m1"})
		}},
		{"an operand that is gone on one of them", "{conditions: [{type: EtcdMembersDegraded, status: \"True\", message: \"2 of 3 members are available, m1 is unhealthy\"}, {type: GuardControllerDegraded, status: \"True\", message: \"[Missing operand on node m0, Missing operand on node m1]\"}]}", func(p staticpods.Pods) bool {
			return slices.Equal(p.Missing.Value(), []string{"m0", "m1"}) && slices.Equal(p.Gone.Value(), []string{"m1"})
		}},
		{"an operand that was missing", "{conditions: [{type: GuardControllerDegraded, status: \"False\", message: \"Missing operand on node m0\"}]}", func(p staticpods.Pods) bool {
			return len(p.Missing.Value()) == 0
		}},
		{"an installer without a network", "{conditions: [{type: InstallerPodNetworkingDegraded, status: \"True\", lastTransitionTime: \"2026-03-01T09:00:00Z\", message: \"failed to create pod network\"}]}", func(p staticpods.Pods) bool {
			return p.NoNetwork.Value() && p.Blocked.Value() != "" && p.BlockedSince.Value().Hour() == 9
		}},
		{"a pod that never showed up", "{conditions: [{type: MissingStaticPodControllerDegraded, status: \"True\", message: \"static pod lifecycle failure - static pod: \\\"kube-apiserver\\\" in namespace: \\\"openshift-kube-apiserver\\\" for revision: 8 on node: \\\"m0\\\" didn't show up, waited: 4m30s\"}]}", func(p staticpods.Pods) bool {
			return p.Lost.Value() == "kube-apiserver"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			changes := ""
			if tt.status != "" {
				changes = kas + "status: " + tt.status + "\n"
			}
			p := factstest.Fields[staticpods.Pods](t, factstest.World(t, factstest.Metal, changes), staticpods.Fact(), factstest.Operator("kube-apiserver"))
			if !tt.check(p) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestPodsUnknown(t *testing.T) {
	p := factstest.Fields[staticpods.Pods](t, factstest.World(t, factstest.Metal, kas+"status: {nodeStatuses: []}\n"), staticpods.Fact(), factstest.Operator("kube-apiserver"))
	for name, f := range map[string]facts.Field[[]string]{"behind": p.Behind, "failed": p.Failed} {
		if _, err := f.Get(); err == nil {
			t.Errorf("without nodeStatuses %s is known: %v", name, f)
		}
	}
	w := factstest.World(t, factstest.Metal, "", evidence.Objects(evidence.APIServerOperators, ""))
	if _, ok := evidence.AsUnavailable(factstest.Err(t, w, staticpods.Fact(), factstest.Operator("kube-apiserver"))); !ok {
		t.Error("what could not be read is no Unavailable")
	}
	if err := factstest.Err(t, w, staticpods.Fact(), factstest.Operator("console")); !errors.Is(err, facts.ErrNotApplicable) {
		t.Error(err)
	}
}
