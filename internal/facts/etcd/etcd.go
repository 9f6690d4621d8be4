// Package etcd computes the health of etcd from what its operator says: the
// operator's own resource first, because the ClusterOperator lags behind it by up
// to ten minutes (openshift/cluster-etcd-operator:pkg/operator/starter.go, status inertia).
//
// Invariants:
//   - Numbers come from the operator's words about members. Where it says none,
//     they are unknown and not zero.
//   - When quorum is really lost the operator cannot write: its last words are old.
//     The fact says when they were last changed, and never that all is well.
package etcd

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Etcd is the fact etcd.
type Etcd struct {
	Available      int       `cel:"available"` // members that are healthy
	Members        int       `cel:"members"`   // members that count for the quorum
	Quorum         int       `cel:"quorum"`    // how many must be healthy
	Quorate        bool      `cel:"quorate"`
	Unhealthy      []string  `cel:"unhealthy"`
	NotStarted     []string  `cel:"notStarted"` // added, and never joined
	HA             bool      `cel:"ha"`         // the topology asks for more than one member
	Fenced         bool      `cel:"fenced"`     // two nodes of which the one fences the other: they never have one to spare
	Tolerant       bool      `cel:"tolerant"`   // one more member may fail
	Bootstrap      bool      `cel:"bootstrap"`  // the member of the bootstrap host has not been removed
	Degraded       bool      `cel:"degraded"`   // EtcdMembersDegraded
	Since          time.Time `cel:"since"`      // since when members are not all healthy
	AvailableSince time.Time `cel:"availableSince"`
	HeldBack       bool      `cel:"heldBack"` // the operator holds back revisions until etcd is fault tolerant
	TimedOut       bool      `cel:"timedOut"` // etcd did not answer the operator in time
	Unsafe         bool      `cel:"unsafe"`   // the override for clusters without quorum protection is set
}

// Fact is the fact etcd.
func Fact() facts.Fact {
	return facts.DefinePlain("etcd", fault.Cluster, "etcd's members and quorum, as its operator reports them",
		[]evidence.Need{
			evidence.Objects(evidence.EtcdOperators, ""),
			evidence.Objects(evidence.ClusterOperators, ""),
			evidence.Objects(evidence.Infrastructures, ""),
		}, read)
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{Fact(), answersFact} }

func read(ctx context.Context, w *facts.World, _ fault.Subject) (Etcd, facts.Proof, error) {
	var e Etcd
	var p facts.Proof
	list, err := said(ctx, w)
	if err != nil {
		return e, p, err
	}
	e.members(list, &p)
	e.words(list, &p)
	cr, ok, err := w.Get(ctx, evidence.EtcdOperators, "", "cluster")
	if err == nil && ok {
		e.Unsafe = unsafe(cr)
		if e.Unsafe {
			p.Add(cr.Loc.At("spec.unsupportedConfigOverrides"), unsafeKey+": true", time.Time{}, "unsafe")
		}
	} else if err := miss(&p, err, "unsafe"); err != nil {
		return e, p, err
	}
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.Infrastructures, ""), Why: evidence.NotCollected}
	}
	if err != nil {
		err = errors.Join(miss(&p, err, "ha"), miss(&p, err, "fenced"))
		return e, p, err
	}
	topology := evidence.String(infra.Content, "status", "controlPlaneTopology")
	e.HA = topology != "SingleReplica" && topology != "External" // "" is before 4.8, when all were highly available
	e.Fenced = topology == "DualReplica"                         // openshift/api:config/v1/types_infrastructure.go DualReplicaTopologyMode
	if topology == "External" {
		return e, p, facts.NotApplicable("etcd of a hosted cluster is not run by this cluster")
	}
	return e, p, nil
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

// said returns the operator's conditions: those of its own resource, else the
// lines of its ClusterOperator.
func said(ctx context.Context, w *facts.World) ([]conditions.Condition, error) {
	cr, ok, err := w.Get(ctx, evidence.EtcdOperators, "", "cluster")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return nil, err
	}
	if list := conditions.Of(cr); ok && len(list) > 0 {
		return list, nil
	}
	missing := err
	co, ok, err := w.Get(ctx, evidence.ClusterOperators, "", "etcd")
	if err != nil {
		return nil, err
	}
	if ok {
		return conditions.Split(conditions.Of(co)), nil
	}
	if missing == nil {
		missing = &evidence.Unavailable{Need: evidence.Objects(evidence.EtcdOperators, ""), Why: evidence.NotCollected, Detail: "the operator has not reported yet"}
	}
	return nil, missing
}

var (
	allAvailable  = regexp.MustCompile(`(?:^|[^0-9])(\d+) members are available`)
	someAvailable = regexp.MustCompile(`(\d+) of (\d+) members are available`)
	isUnhealthy   = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) is unhealthy`)
	notStarted    = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) has not started`)
)

// members reads the counts (openshift/cluster-etcd-operator:pkg/etcdcli/health.go
// memberHealth.Status).
func (e *Etcd) members(list []conditions.Condition, p *facts.Proof) {
	found := false
	for _, c := range conditions.Named(list, "EtcdMembersAvailable", "EtcdMembersDegraded", "EtcdMembersProgressing") {
		degraded := c.Type == "EtcdMembersDegraded" && c.Status == "True"
		fields := []string{"available", "members", "quorum", "quorate", "unhealthy", "notStarted", "tolerant"}
		counted := e.count(c.Message)
		if degraded {
			fields = append(fields, "degraded")
		}
		if counted || degraded {
			found = found || counted
			p.Add(c.Loc, c.Type+"="+c.Status+" "+c.Reason+": "+c.Message, c.Since, fields...)
		}
		switch {
		case c.Type == "EtcdMembersAvailable":
			e.AvailableSince = c.Since
			if c.Status == "False" || c.Reason == "NoQuorum" {
				e.Since = c.Since
			}
		case degraded:
			e.Degraded, e.Since = true, c.Since
		}
	}
	if !found {
		for _, f := range []string{"available", "members", "quorum", "quorate", "unhealthy", "notStarted", "tolerant"} {
			p.Miss(f, errSilent)
		}
		return
	}
	e.Quorum = e.Members/2 + 1
	e.Quorate = e.Available >= e.Quorum
	e.Tolerant = e.Available > e.Quorum
}

var errSilent = &evidence.Unavailable{
	Need: evidence.Objects(evidence.EtcdOperators, ""), Why: evidence.NotCollected, Detail: "the etcd operator says nothing about members",
	Supply: "oc get etcd cluster -o yaml",
}

// count reads one message; the larger number of members wins, for the three
// conditions are written one after the other.
func (e *Etcd) count(message string) bool {
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
	if members >= e.Members {
		e.Available, e.Members = have, members
	}
	add := func(to *[]string, found [][]string) {
		for _, m := range found {
			if !slices.Contains(*to, m[1]) {
				*to = append(*to, m[1])
			}
		}
	}
	add(&e.Unhealthy, isUnhealthy.FindAllStringSubmatch(message, -1))
	add(&e.NotStarted, notStarted.FindAllStringSubmatch(message, -1))
	return true
}

// words reads what other controllers of the operator say about etcd.
func (e *Etcd) words(list []conditions.Condition, p *facts.Proof) {
	if len(conditions.Named(list, "EtcdRunningInCluster")) == 0 {
		p.Miss("bootstrap", errSilent) // the ClusterOperator does not carry it
	}
	for _, c := range list {
		bad := strings.HasSuffix(c.Type, "Degraded") && c.Status == "True"
		if bad && (strings.Contains(c.Message, "not fault tolerant") || strings.Contains(c.Message, "CheckSafeToScaleCluster")) {
			e.HeldBack = true
			p.Add(c.Loc, c.Type+": "+c.Message, c.Since, "heldBack")
		}
		if bad && (strings.Contains(c.Message, "etcdserver: request timed out") || strings.Contains(c.Message, "etcdserver: no leader")) {
			e.TimedOut = true
			p.Add(c.Loc, c.Type+": "+c.Message, c.Since, "timedOut")
		}
		if c.Type == "EtcdRunningInCluster" {
			e.Bootstrap = c.Status == "False"
			p.Add(c.Loc, fmt.Sprintf("EtcdRunningInCluster=%s %s: %s", c.Status, c.Reason, c.Message), c.Since, "bootstrap")
		}
	}
}

func miss(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}
