package lab

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func poolWith(machines, ready, updated, degraded int64, spec, status string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"configuration": map[string]any{"name": spec}},
		"status": map[string]any{
			"machineCount": machines, "readyMachineCount": ready, "updatedMachineCount": updated,
			"degradedMachineCount": degraded, "unavailableMachineCount": machines - ready,
			"configuration": map[string]any{"name": status},
			"conditions": []any{
				map[string]any{"type": "NodeDegraded", "status": map[bool]string{true: "True", false: "False"}[degraded > 0], "reason": "2 nodes are reporting degraded status on sync"},
				map[string]any{"type": "Updated", "status": map[bool]string{true: "True", false: "False"}[updated == machines]},
			},
		},
	}}
}

func messageOf(cs []condition, kind string) string {
	for _, c := range cs {
		if c.kind == kind {
			return c.message
		}
	}
	return ""
}

// The numbers in the operators' words must be those of the cluster.
func TestOperatorsFollowTheCluster(t *testing.T) {
	desync := situation{wanted: 3, apis: 2, members: []string{"control1", "control2"}, pool: poolWith(2, 0, 0, 2, "b", "")}
	if got := messageOf(desync.authentication(), "Available"); !strings.Contains(got, "need at least 3 kube-apiservers, got 2") {
		t.Errorf("authentication says %q", got)
	}
	mco := desync.machineConfig(false)
	if statusOf(mco, "Degraded") != "True" || !strings.Contains(messageOf(mco, "Degraded"), "(pool degraded: true total: 2, ready 0, updated: 0, unavailable: 2)") {
		t.Errorf("machine-config = %+v", mco)
	}
	if got := desync.poolExtension()["master"]; !strings.HasPrefix(got.(string), "pool is degraded because nodes fail with") {
		t.Errorf("extension = %q", got)
	}
	if desync.poolSettled() {
		t.Error("a pool without a converged configuration counts as settled")
	}

	healthy := situation{wanted: 3, apis: 3, members: []string{"control0", "control1", "control2"}, pool: poolWith(3, 3, 3, 0, "a", "a")}
	for name, cs := range map[string][]condition{
		"authentication": healthy.authentication(), "etcd": healthy.etcdOperator(), "machine-config": healthy.machineConfig(true), "kube-apiserver": healthy.kubeAPIServer(),
	} {
		if why := blocks(cs, true); why != "" {
			t.Errorf("%s is %s in a healthy cluster: %+v", name, why, cs)
		}
	}
	if blocks(healthy.etcdOperator(), false) != "still updating" {
		t.Error("an operator without a version does not hold the install up")
	}
}

func TestUnhealthyMemberIsNamed(t *testing.T) {
	s := situation{wanted: 3, members: []string{"control0", "control1", "control2"}, sick: true, pool: poolWith(3, 3, 3, 0, "a", "a")}
	if got, want := messageOf(s.etcdCR(), "EtcdMembersDegraded"), "2 of 3 members are available, control2 is unhealthy"; got != want {
		t.Errorf("EtcdMembersDegraded says %q, want %q", got, want)
	}
	if statusOf(s.etcdOperator(), "Degraded") != "True" {
		t.Error("the etcd operator is not degraded")
	}
	if statusOf(s.etcdCR(), "EtcdMembersAvailable") != "True" {
		t.Error("two of three members are no quorum")
	}
	s.members = s.members[:2]
	if statusOf(s.etcdCR(), "EtcdMembersAvailable") != "False" {
		t.Error("one of two members is a quorum")
	}
	s.sick, s.members, s.silent = false, []string{"control0", "control1", "control2"}, []string{"control1"}
	if got, want := messageOf(s.etcdCR(), "EtcdMembersDegraded"), "2 of 3 members are available, control1 is unhealthy"; got != want {
		t.Errorf("EtcdMembersDegraded says %q, want %q", got, want)
	}
	s.members, s.silent = nil, nil
	if statusOf(s.etcdCR(), "EtcdMembersAvailable") != "False" {
		t.Error("no member, and etcd is available")
	}
}
