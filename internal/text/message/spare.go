package message

import (
	"regexp"
	"slices"
	"strings"
)

// onlyNodeTaken is what the scheduler says of a pod whose host port the only node of the cluster does not have free, and of
// nothing else (kubernetes/kubernetes:pkg/scheduler/framework/plugins/nodeports/node_ports.go ErrReason).
var onlyNodeTaken = regexp.MustCompile(`^0/1 nodes are available: 1 node\(s\) didn't have free ports for the requested pod ports(?:\.|$)`)

// afterReplicaSet is the end of the name of a pod of a ReplicaSet (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/storage/names).
var afterReplicaSet = regexp.MustCompile(`-[a-z0-9]{5}$`)

// spareReplicas marks the pods that wait forever for a second node, on a cluster with one, while another pod of the same
// ReplicaSet runs there and has the host port: nothing is missing.
func (s *shown) spareReplicas() {
	for _, e := range s.events {
		pod, ok := strings.CutPrefix(e.object, "pod/")
		if !ok || e.reason != "FailedScheduling" || !onlyNodeTaken.MatchString(e.message) || !s.siblingRuns(pod) {
			continue
		}
		spare := func(other event) bool { return other.object == e.object && other.reason == e.reason }
		s.events = slices.DeleteFunc(slices.Clone(s.events), spare)
		for i := range s.states {
			if one := &s.states[i]; one.kind == "pod" && one.name == pod {
				one.waits, one.age, one.detail = true, "", ""
				one.says = "one replica too many for a single node: another pod of it runs there and has the host port, so nothing is missing"
			}
		}
	}
}

// siblingRuns reports whether the text shows that another pod of the same ReplicaSet runs.
func (s *shown) siblingRuns(pod string) bool {
	set := afterReplicaSet.ReplaceAllString(pod, "")
	sibling := func(name string) bool {
		return name != pod && set != pod && afterReplicaSet.ReplaceAllString(name, "") == set
	}
	started := slices.ContainsFunc(s.events, func(e event) bool {
		name, ok := strings.CutPrefix(e.object, "pod/")
		return ok && !e.warning && e.reason == "Started" && sibling(name)
	})
	if started {
		return true
	}
	for _, row := range s.rows {
		inTrouble := func(one state) bool { return one.name == row.name }
		if row.kind == "pod" && sibling(row.name) && !slices.ContainsFunc(s.states, inTrouble) {
			return true
		}
	}
	return false
}
