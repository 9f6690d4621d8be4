package repair

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// GuardName names a precondition.
type GuardName string

// The guards.
const (
	SameCluster    GuardName = "same-cluster"      // clusterID and CA are those of the plan
	NoUpgrade      GuardName = "no-upgrade"        // no update is under way; a first install may be
	EtcdQuorum     GuardName = "etcd-quorum"       // quorum, and no member is unhealthy
	EtcdMembers    GuardName = "etcd-members"      // at least Count members, all healthy, no etcd controller degraded
	PoolNotPaused  GuardName = "pool-not-paused"   // of pool Subject
	OneAtATime     GuardName = "one-at-a-time"     // pool Subject rolls at most one machine at once
	OthersAtRest   GuardName = "others-at-rest"    // no control-plane node but Subject is being changed
	RenderExists   GuardName = "render-exists"     // MachineConfig Subject is in the cluster
	MemberDead     GuardName = "etcd-member-dead"  // member Subject is unhealthy and its host away; all others are healthy and enough
	FreshBackup    GuardName = "etcd-backup"       // the backup that was named is whole and fresh
	NoFurtherDrift GuardName = "no-applied-change" // step's held config and MachineConfig Subject differ in nothing that is applied
)

// Guard is a typed precondition with its parameters.
type Guard struct {
	Guard   GuardName `json:"guard"`
	Subject string    `json:"subject,omitempty"`
	Count   int       `json:"count,omitempty"`
}

// guardFunc looks. It returns what it saw, or a *Refused; a read that fails is a
// refusal as well.
type guardFunc func(ctx context.Context, r *run, s Step, g Guard) (string, error)

var guards = map[GuardName]guardFunc{
	SameCluster:    guardSameCluster,
	NoUpgrade:      guardNoUpgrade,
	EtcdQuorum:     guardEtcdQuorum,
	EtcdMembers:    guardEtcdMembers,
	PoolNotPaused:  guardPoolNotPaused,
	OneAtATime:     guardOneAtATime,
	OthersAtRest:   guardOthersAtRest,
	RenderExists:   guardRenderExists,
	MemberDead:     guardMemberDead,
	FreshBackup:    guardFreshBackup,
	NoFurtherDrift: guardNoFurtherDrift,
}

// read gets an object for a guard; what cannot be read refuses.
func (r *run) read(ctx context.Context, ref Ref) (Object, error) {
	o, err := r.API.Get(ctx, ref)
	if err != nil {
		return nil, refuse("%s could not be read, so it is not known whether it is safe: %v", ref, err)
	}
	return o, nil
}

func guardSameCluster(ctx context.Context, r *run, _ Step, _ Guard) (string, error) {
	if want := r.plan.Cluster.CA; want != "" && r.CA != want {
		return "", refuse("this API server is verified with another CA (%s) than the plan's (%s): it is another cluster, or its CA was renewed", short(r.CA), short(want)).
			instead("choose the kubeconfig context of the plan (%s at %s), or make a new plan", r.plan.Context, r.plan.Cluster.Server)
	}
	what := "cluster "
	cv, err := r.identity(ctx)
	if err != nil {
		return "", err
	}
	if r.plan.Cluster.Hosted != "" {
		what = "hosted cluster "
	}
	if id := stringAt(cv, "spec", "clusterID"); id == "" || id != r.plan.Cluster.ID {
		return "", refuse("this is cluster %s, the plan is for %s", orNone(id), r.plan.Cluster.ID).
			instead("choose the kubeconfig context of the plan (%s at %s)", r.plan.Context, r.plan.Cluster.Server)
	}
	return what + r.plan.Cluster.ID, nil
}

// identity is the object that has the cluster's ID.
func (r *run) identity(ctx context.Context) (Object, error) {
	if r.plan.Cluster.Hosted != "" {
		return r.hostedCluster(ctx)
	}
	return r.read(ctx, clusterVersionRef())
}

func short(digest string) string {
	if len(digest) > 19 {
		return digest[:19]
	}
	return orNone(digest)
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

// guardNoUpgrade refuses while an update runs. A first install that has not
// completed is no update: history has no Completed entry
// (openshift/api:config/v1 ClusterVersionStatus.history).
func guardNoUpgrade(ctx context.Context, r *run, _ Step, _ Guard) (string, error) {
	if r.plan.Cluster.Hosted != "" {
		return r.noHostedUpgrade(ctx)
	}
	cv, err := r.read(ctx, clusterVersionRef())
	if err != nil {
		return "", err
	}
	progressing := conditionOf(cv, "Progressing")
	history, _ := fieldAt(cv, "/status/history")
	list, _ := history.([]any)
	if progressing == nil || len(list) == 0 {
		return "", refuse("ClusterVersion does not show whether an update is under way")
	}
	completed := slices.ContainsFunc(list, func(e any) bool {
		m, _ := e.(map[string]any)
		return m["state"] == "Completed"
	})
	newest, _ := list[0].(map[string]any)
	underWay := progressing["status"] != "False" || newest["state"] != "Completed"
	switch {
	case underWay && completed:
		return "", refuse("an update to %v is under way: %v", newest["version"], progressing["message"]).
			instead("wait until it is complete")
	case underWay:
		return fmt.Sprintf("the installation of %v has not completed; this repair is made for that", newest["version"]), nil
	}
	return fmt.Sprintf("version %v, no update under way", newest["version"]), nil
}

func conditionOf(o Object, kind string) map[string]any {
	c, _ := fieldAt(o, "/status/conditions/[type="+kind+"]")
	m, _ := c.(map[string]any)
	return m
}

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

func guardEtcdQuorum(ctx context.Context, r *run, _ Step, _ Guard) (string, error) {
	etcd, err := r.read(ctx, etcdRef())
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

func guardEtcdMembers(ctx context.Context, r *run, _ Step, g Guard) (string, error) {
	etcd, err := r.read(ctx, etcdRef())
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

func guardPoolNotPaused(ctx context.Context, r *run, _ Step, g Guard) (string, error) {
	pool, err := r.read(ctx, poolRef(g.Subject))
	if err != nil {
		return "", err
	}
	if v, _ := fieldAt(pool, "/spec/paused"); v == true {
		return "", refuse("pool %s is paused: nothing would roll out", g.Subject).
			instead("find out who paused it and why; then oc patch mcp %s --type=merge -p '{\"spec\":{\"paused\":false}}'", g.Subject)
	}
	return "pool " + g.Subject + " is not paused", nil
}

// guardOneAtATime: an unset maxUnavailable is 1
// (openshift/machine-config-operator:pkg/controller/node/node_controller.go maxUnavailable).
func guardOneAtATime(ctx context.Context, r *run, _ Step, g Guard) (string, error) {
	pool, err := r.read(ctx, poolRef(g.Subject))
	if err != nil {
		return "", err
	}
	v, ok := fieldAt(pool, "/spec/maxUnavailable")
	if ok && canonical(v) != nil && fmt.Sprint(v) != "1" {
		return "", refuse("pool %s has maxUnavailable %v: it would take down several control-plane nodes at once", g.Subject, v).
			instead("set spec.maxUnavailable to 1")
	}
	return "pool " + g.Subject + " takes one machine at a time", nil
}

// guardOthersAtRest refuses while another control-plane node is being changed or
// is not well: two at once cost etcd its quorum.
func guardOthersAtRest(ctx context.Context, r *run, _ Step, g Guard) (string, error) {
	nodes, err := r.API.List(ctx, nodeRef(""))
	if err != nil {
		return "", refuse("nodes could not be listed, so it is not known whether another control-plane node is down: %v", err)
	}
	for _, n := range nodes {
		name := stringAt(n, "metadata", "name")
		if name == g.Subject || !controlPlane(n) {
			continue
		}
		if why := notAtRest(n); why != "" {
			return "", refuse("control-plane node %s %s; one at a time", name, why).instead("wait until it is healthy")
		}
	}
	return "no other control-plane node is being changed", nil
}

func controlPlane(node Object) bool {
	labels, _ := fieldAt(node, "/metadata/labels")
	m, _ := labels.(map[string]any)
	_, a := m["node-role.kubernetes.io/master"]
	_, b := m["node-role.kubernetes.io/control-plane"]
	return a || b
}

func notAtRest(node Object) string {
	if c := conditionOf(node, "Ready"); c == nil || c["status"] != "True" {
		return "is not Ready"
	}
	if v, _ := fieldAt(node, "/spec/unschedulable"); v == true {
		return "is cordoned"
	}
	switch state := stringAt(node, "metadata", "annotations", stateKey); state {
	case "Working", "Rebooting":
		return "is in state " + state
	}
	return ""
}

func guardRenderExists(ctx context.Context, r *run, _ Step, g Guard) (string, error) {
	if _, err := r.read(ctx, configRef(g.Subject)); err != nil {
		return "", err
	}
	return "MachineConfig " + g.Subject + " is there", nil
}

func guardNoFurtherDrift(ctx context.Context, r *run, s Step, g Guard) (string, error) {
	raw, err := r.Store.Get(s.Args.Content)
	if err != nil {
		return "", refuse("the held config that the plan compared cannot be read: %v", err).instead("make a new plan")
	}
	held, err := parseConfig(raw)
	if err != nil {
		return "", refuse("the held config: %v", err)
	}
	spec, err := r.read(ctx, configRef(g.Subject))
	if err != nil {
		return "", err
	}
	target, err := configOf(spec)
	if err != nil {
		return "", refuse("MachineConfig %s: %v", g.Subject, err)
	}
	diff, err := held.Diff(target)
	if err != nil {
		return "", refuse("the configs cannot be compared: %v", err)
	}
	if len(diff) > 0 {
		return "", refuse("what the host holds and %s differ in what is applied: %s", g.Subject, strings.Join(diff, "; ")).
			instead("re-create the missing render instead: then the controller rolls the change out with drain and reboot")
	}
	return "what the host holds and " + g.Subject + " apply the same", nil
}
