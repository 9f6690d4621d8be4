// Package etcd computes the health of etcd from what its operator says: the
// operator's own resource first, because the ClusterOperator lags behind it by up
// to ten minutes (openshift/cluster-etcd-operator:pkg/operator/starter.go, status inertia).
//
// Invariants:
//   - Numbers come from the operator's words about members. Where it says none,
//     they are unknown and not zero.
//   - A ClusterOperator's condition is a union, whose time is that of its last change of
//     status: it may be older than a member's loss, or up to ten minutes younger. It is
//     no beginning.
//   - When quorum is really lost the operator cannot write: its last words are old.
//     The fact says when they were last changed, and never that all is well. That it has
//     lost its quorum is the operator's view, too: writes and etcd's own answers tell more.
package etcd

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Etcd is the fact etcd.
type Etcd struct {
	Available  facts.Field[int]       `cel:"available"` // members that are healthy
	Members    facts.Field[int]       `cel:"members"`   // members that count for the quorum
	Quorum     facts.Field[int]       `cel:"quorum"`    // how many must be healthy
	Quorate    facts.Field[bool]      `cel:"quorate"`
	Unhealthy  facts.Field[[]string]  `cel:"unhealthy"`
	NotStarted facts.Field[[]string]  `cel:"notStarted"` // added, and never joined
	HA         facts.Field[bool]      `cel:"ha"`         // the topology asks for more than one member
	Fenced     facts.Field[bool]      `cel:"fenced"`     // two nodes of which the one fences the other: they never have one to spare
	Tolerant   facts.Field[bool]      `cel:"tolerant"`   // one more member may fail
	Bootstrap  facts.Field[bool]      `cel:"bootstrap"`  // the member of the bootstrap host has not been removed
	Degraded   facts.Field[bool]      `cel:"degraded"`   // EtcdMembersDegraded
	Since      facts.Field[time.Time] `cel:"since"`      // since when members are not all healthy; only the operator's own resource shows it
	// since when the condition that reports it has its status, be it for this or for what came
	// before
	ReportedSince facts.Field[time.Time] `cel:"reportedSince"`
	HeldBack      facts.Field[bool]      `cel:"heldBack"` // the operator holds back revisions until etcd is fault tolerant
	TimedOut      facts.Field[bool]      `cel:"timedOut"` // etcd did not answer the operator in time
	Unsafe        facts.Field[bool]      `cel:"unsafe"`   // the override for clusters without quorum protection is set
}

// Fact is the fact etcd.
func Fact() facts.Fact {
	return facts.Define("etcd", fault.Cluster, "etcd's members and quorum, as its operator reports them",
		[]evidence.Need{
			evidence.Objects(evidence.EtcdOperators, ""),
			evidence.Objects(evidence.ClusterOperators, ""),
			evidence.Objects(evidence.Infrastructures, ""),
		}, read)
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{Fact(), answersFact, writesFact} }

func read(ctx context.Context, w *facts.World, _ fault.Subject) (Etcd, error) {
	var e Etcd
	list, union, err := operatorConditions(ctx, w)
	if err != nil {
		return e, err
	}
	e.members(list)
	if union {
		e.Since.Miss(errUnion)
	}
	e.words(list)
	cr, ok, err := w.Get(ctx, evidence.EtcdOperators, "", "cluster")
	switch {
	case err != nil:
		if err := facts.Miss(err, &e.Unsafe); err != nil {
			return e, err
		}
	case ok:
		e.Unsafe.Set(unsafe(cr), cr.Shows("spec.unsupportedConfigOverrides", fmt.Sprintf("%s: %t", unsafeKey, unsafe(cr)), time.Time{}))
	}
	topology, err := platform.Topology(ctx, w)
	if err != nil {
		facts.Complete(&e)
		return e, facts.Miss(err, &e.HA, &e.Fenced)
	}
	if topology.Text == "External" {
		return e, facts.Excluded(topology.Item(), "etcd of a hosted cluster is not run by this cluster")
	}
	e.HA.Set(topology.Text != "SingleReplica", topology.Item())
	e.Fenced.Set(topology.Text == "DualReplica", topology.Item()) // openshift/api:config/v1/types_infrastructure.go DualReplicaTopologyMode
	facts.Complete(&e)
	return e, nil
}

const unsafeKey = "useUnsupportedUnsafeNonHANonProductionUnstableEtcd"

func unsafe(cr evidence.Object) bool {
	switch v := evidence.Field(cr.Content, "spec", "unsupportedConfigOverrides", unsafeKey).(type) {
	case bool:
		return v
	case string:
		on, err := strconv.ParseBool(v) // as the operator reads it
		return err == nil && on
	}
	return false
}

// operatorConditions returns the operator's conditions: those of its own resource, else the lines
// of its ClusterOperator; union reports the latter.
func operatorConditions(ctx context.Context, w *facts.World) (list []conditions.Condition, union bool, err error) {
	cr, ok, err := w.Get(ctx, evidence.EtcdOperators, "", "cluster")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return nil, false, err
	}
	if list := conditions.Of(cr); ok && len(list) > 0 {
		return list, false, nil
	}
	missing := err
	co, ok, err := w.Get(ctx, evidence.ClusterOperators, "", "etcd")
	if err != nil {
		return nil, false, err
	}
	if ok {
		return conditions.Split(conditions.Of(co)), true, nil
	}
	if missing == nil {
		missing = &evidence.Unavailable{
			Need:   evidence.Objects(evidence.EtcdOperators, ""),
			Why:    evidence.NotCollected,
			Detail: "the operator has not reported yet",
		}
	}
	return nil, false, missing
}

// errUnion is why a beginning is not known (openshift/library-go:pkg/operator/status/condition.go
// UnionCondition, pkg/config/clusteroperator/v1helpers/status.go SetStatusCondition).
var errUnion = &evidence.Unavailable{
	Need: evidence.Objects(evidence.EtcdOperators, ""), Why: evidence.NotCollected,
	Detail: "the time of a ClusterOperator's condition is that of all its controllers together", Supply: evidence.Supply{
		Kind:     evidence.SupplyGet,
		Resource: "etcd",
		Name:     "cluster",
	},
}

var (
	allAvailable  = regexp.MustCompile(`(?:^|[^0-9])(\d+) members are available`)
	someAvailable = regexp.MustCompile(`(\d+) of (\d+) members are available`)
	isUnhealthy   = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) is unhealthy`)
	notStarted    = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) has not started`)
)

// members reads the counts (openshift/cluster-etcd-operator:pkg/etcdcli/health.go
// memberHealth.Status).
func (e *Etcd) members(list []conditions.Condition) {
	var n counts
	for _, c := range conditions.Named(list, "EtcdMembersAvailable", "EtcdMembersDegraded", "EtcdMembersProgressing") {
		degraded := c.Type == "EtcdMembersDegraded" && c.Status == "True"
		if n.read(c.Message) || degraded {
			facts.Prove(c.Item(), &e.Available, &e.Members, &e.Quorum, &e.Quorate, &e.Unhealthy, &e.NotStarted, &e.Tolerant)
		}
		switch {
		case c.Type == "EtcdMembersAvailable":
			if c.Status == "False" || c.Reason == "NoQuorum" {
				e.began(c)
			}
		case c.Type == "EtcdMembersDegraded":
			e.Degraded.Set(degraded, c.Item())
			if degraded {
				e.began(c)
			}
		}
	}
	if n.members == 0 {
		_ = facts.Miss(errNoMembers, &e.Available, &e.Members, &e.Quorum, &e.Quorate, &e.Unhealthy, &e.NotStarted, &e.Tolerant)
		return
	}
	quorum := n.members/2 + 1
	e.Available.Set(n.available)
	e.Members.Set(n.members)
	e.Quorum.Set(quorum)
	e.Quorate.Set(n.available >= quorum)
	e.Tolerant.Set(n.available > quorum)
	e.Unhealthy.Set(n.unhealthy)
	e.NotStarted.Set(n.notStarted)
}

// began sets since when a condition reports that members are not healthy.
func (e *Etcd) began(c conditions.Condition) {
	e.Since.Set(c.Since, c.Item())
	e.ReportedSince.Set(c.Since, c.Item())
}

var errNoMembers = &evidence.Unavailable{
	Need: evidence.Objects(evidence.EtcdOperators, ""), Why: evidence.NotCollected, Detail: "the etcd operator says nothing about members",
	Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: "etcd", Name: "cluster"},
}

// counts are the numbers that the operator's messages have.
type counts struct {
	available, members    int
	unhealthy, notStarted []string
}

// read reads one message; the larger number of members wins, because the three
// conditions are written one after the other.
func (n *counts) read(message string) bool {
	have, members := 0, 0
	if m := someAvailable.FindStringSubmatch(message); m != nil {
		have, _ = strconv.Atoi(m[1])
		members, _ = strconv.Atoi(m[2])
	} else if m := allAvailable.FindStringSubmatch(message); m != nil {
		have, _ = strconv.Atoi(m[1])
		members = have
	} else {
		return false
	}
	if members >= n.members {
		n.available, n.members = have, members
	}
	add := func(to *[]string, found [][]string) {
		for _, m := range found {
			if !slices.Contains(*to, m[1]) {
				*to = append(*to, m[1])
			}
		}
	}
	add(&n.unhealthy, isUnhealthy.FindAllStringSubmatch(message, -1))
	add(&n.notStarted, notStarted.FindAllStringSubmatch(message, -1))
	return true
}

// words reads what other controllers of the operator report about etcd.
func (e *Etcd) words(list []conditions.Condition) {
	if len(conditions.Named(list, "EtcdRunningInCluster")) == 0 {
		e.Bootstrap.Miss(errNoMembers) // the ClusterOperator does not carry it
	}
	for _, c := range list {
		bad := strings.HasSuffix(c.Type, "Degraded") && c.Status == "True"
		if bad && (strings.Contains(c.Message, "not fault tolerant") || strings.Contains(c.Message, "CheckSafeToScaleCluster")) {
			e.HeldBack.Set(true, c.Item())
		}
		if bad && (strings.Contains(c.Message, "etcdserver: request timed out") || strings.Contains(c.Message, "etcdserver: no leader")) {
			e.TimedOut.Set(true, c.Item())
		}
		if c.Type == "EtcdRunningInCluster" {
			e.Bootstrap.Set(c.Status == "False", c.Item())
		}
	}
}
