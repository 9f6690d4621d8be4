package repair

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
)

// The guards of etcd, by the conditions of its operator.
const (
	EtcdQuorum  GuardName = "etcd-quorum"  // quorum, and no member is unhealthy
	EtcdMembers GuardName = "etcd-members" // at least Count members, all healthy, no etcd controller degraded
)

// members reads "3 members are available" and "2 of 3 members are available, …"
// (openshift/cluster-etcd-operator:pkg/etcdcli/health.go memberHealth.Status).
var members = regexp.MustCompile(`^(\d+)(?: of (\d+))? members are available`)

// etcdState reads the etcd operator's own conditions: the ClusterOperator lags
// behind them by minutes (inertia of *Degraded in
// openshift/cluster-etcd-operator:pkg/operator/starter.go).
func etcdState(etcd Object) (healthy, all int, err error) {
	available, degraded := conditionOf(etcd, "EtcdMembersAvailable"), conditionOf(etcd, "EtcdMembersDegraded")
	if available == nil || degraded == nil {
		return 0, 0, refuse("the etcd operator does not report EtcdMembersAvailable and EtcdMembersDegraded: the health of etcd is not known")
	}
	if c := conditionOf(etcd, "EtcdMembersControllerDegraded"); c != nil && c["status"] == "True" {
		return 0, 0, refuse("the etcd operator cannot see its members, so what it reports is old: %v", c["message"])
	}
	if available["status"] != "True" {
		return 0, 0, refuse("etcd has no quorum: %v", available["message"]).instead("restore quorum first; nothing else helps")
	}
	if degraded["status"] != "False" {
		return 0, 0, refuse("etcd has a member that is not healthy: %v", degraded["message"]).instead("repair that member first")
	}
	text, _ := available["message"].(string)
	m := members.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, refuse("the etcd operator's EtcdMembersAvailable is %q, from which the number of healthy members cannot be read", text)
	}
	healthy, _ = strconv.Atoi(m[1])
	all = healthy
	if m[2] != "" {
		all, _ = strconv.Atoi(m[2])
	}
	return healthy, all, nil
}

func guardEtcdQuorum(ctx context.Context, e env, _ Step, _ Guard) (string, error) {
	etcd, err := e.read(ctx, etcdRef())
	if err != nil {
		return "", err
	}
	healthy, all, err := etcdState(etcd)
	if err != nil {
		return "", err
	}
	if healthy < all/2+1 {
		return "", refuse("etcd has %d healthy members of %d, which is no quorum", healthy, all)
	}
	return fmt.Sprintf("etcd: %d of %d members are healthy", healthy, all), nil
}

// etcdControllers are the operator's conditions that must not be True before a
// control-plane node is taken down (facts: controlplane 3.2).
var etcdControllers = []string{
	"BootstrapTeardownDegraded", "EtcdEndpointsDegraded", "EtcdCertSignerControllerDegraded", "ClusterMemberControllerDegraded",
	"TargetConfigControllerDegraded", "FSyncControllerDegraded", "ScriptControllerDegraded", "DefragControllerDegraded",
	"GuardControllerDegraded", "InstallerControllerDegraded", "NodeControllerDegraded", "RevisionControllerDegraded", "StaticPodsDegraded",
}

func guardEtcdMembers(ctx context.Context, e env, _ Step, g Guard) (string, error) {
	etcd, err := e.read(ctx, etcdRef())
	if err != nil {
		return "", err
	}
	return etcdMembers(etcd, g.Count)
}

func etcdMembers(etcd Object, want int) (string, error) {
	healthy, all, err := etcdState(etcd)
	if err != nil {
		return "", err
	}
	if healthy < want || healthy != all {
		return "", refuse("etcd has %d healthy members of %d; %d are needed before a control-plane node is touched", healthy, all, want).
			instead("wait until every member is healthy")
	}
	if c := conditionOf(etcd, "EtcdMembersProgressing"); c != nil && c["status"] != "False" {
		return "", refuse("an etcd member has not started: %v", c["message"])
	}
	for _, kind := range etcdControllers {
		if c := conditionOf(etcd, kind); c != nil && c["status"] == "True" {
			return "", refuse("the etcd operator reports %s: %v", kind, c["message"])
		}
	}
	return fmt.Sprintf("etcd: %d members, all healthy", healthy), nil
}
