package repair

import (
	"context"
	"slices"
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
	MemberDead     GuardName = "etcd-member-dead"  // member Subject is unhealthy and its host is off; all others are healthy and enough
	FreshBackup    GuardName = "etcd-backup"       // the backup that was named is whole and fresh
	NoFurtherDrift GuardName = "no-applied-change" // step's held config and MachineConfig Subject differ in nothing that is applied
)

// Guard is a typed precondition with its parameters.
type Guard struct {
	Guard   GuardName `json:"guard"`
	Subject string    `json:"subject,omitempty"`
	Count   int       `json:"count,omitempty"`
}

// guardKind is all there is to know about one precondition.
type guardKind struct {
	name GuardName
	// look returns what it saw, or a *Refused; a read that fails is a refusal as well.
	look func(ctx context.Context, e env, s Step, g Guard) (string, error)
	// rights are what it reads in addition to commonRights.
	rights []Access
}

// guards is the visible list of the guards.
func guards() []guardKind {
	etcd := access(etcdRef(), "", "get")
	nodesAndPool := append(access(nodeRef(""), "", "list"), access(poolRef(""), "", "get")...)
	config := access(configRef(""), "", "get")
	return []guardKind{
		{SameCluster, guardSameCluster, nil},
		{NoUpgrade, guardNoUpgrade, nil},
		{EtcdQuorum, guardEtcdQuorum, etcd},
		{EtcdMembers, guardEtcdMembers, etcd},
		{PoolNotPaused, guardPoolNotPaused, nodesAndPool},
		{OneAtATime, guardOneAtATime, nodesAndPool},
		{OthersAtRest, guardOthersAtRest, nodesAndPool},
		{RenderExists, guardRenderExists, config},
		{MemberDead, guardMemberDead, nil}, // with remove-member, whose rights include it
		{FreshBackup, guardFreshBackup, nil},
		{NoFurtherDrift, guardNoFurtherDrift, config},
	}
}

func guardOf(name GuardName) (guardKind, bool) {
	list := guards()
	i := slices.IndexFunc(list, func(g guardKind) bool { return g.name == name })
	if i < 0 {
		return guardKind{}, false
	}
	return list[i], true
}

// look evaluates the guard, which the form of the plan has shown to exist.
func (g Guard) look(ctx context.Context, e env, s Step) (string, error) {
	kind, ok := guardOf(g.Guard)
	if !ok {
		return "", refuse("there is no guard %q", g.Guard)
	}
	return kind.look(ctx, e, s, g)
}

// covers reports whether a plan's guard is at least as strict as the mandatory one.
func (g Guard) covers(must Guard) bool {
	return g.Guard == must.Guard && g.Subject == must.Subject && g.Count >= must.Count
}

// guardRights are what a guard reads.
func guardRights(name GuardName) []Access {
	kind, _ := guardOf(name)
	return kind.rights
}
