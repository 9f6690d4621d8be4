// Package staticpods computes how far the static pods of the control plane are:
// revisions, installers and guards, as the operators' own resources say it.
//
// Invariants:
//   - The operators' own resources are read and not the ClusterOperators, which
//     lag behind them by up to ten minutes.
//   - "Missing operand" is said only of nodes whose Ready is True
//     (openshift/library-go:pkg/operator/staticpod/controller/guard/guard_controller.go sync):
//     it speaks of the mirror pod in the API, and not of the container on the host.
package staticpods

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// operators are the ClusterOperators that run static pods, and their own resources.
var operators = map[string]evidence.Resource{
	"etcd":                    evidence.EtcdOperators,
	"kube-apiserver":          evidence.APIServerOperators,
	"kube-controller-manager": evidence.ManagerOperators,
	"kube-scheduler":          evidence.SchedulerOperators,
}

// Pods is the fact static-pods.
type Pods struct {
	Latest       int       `cel:"latest"`       // the newest revision that can be installed
	Nodes        int       `cel:"nodes"`        // that have a status
	Behind       []string  `cel:"behind"`       // nodes with an older revision, or none
	Rollout      time.Time `cel:"rollout"`      // since when nodes are being moved to it
	Failed       []string  `cel:"failed"`       // nodes on which installing the revision failed, and that do not have it
	FailedReason string    `cel:"failedReason"` // InstallerFailed, OperandFailed, OperandFailedFallback
	FailedSince  time.Time `cel:"failedSince"`
	Missing      []string  `cel:"missing"` // nodes without the operand's mirror pod
	MissingSince time.Time `cel:"missingSince"`
	Gone         []string  `cel:"gone"`    // those of them whose member of etcd does not answer either
	Blocked      string    `cel:"blocked"` // what an installer pod waits for
	BlockedSince time.Time `cel:"blockedSince"`
	NoNetwork    bool      `cel:"noNetwork"` // it gets no network on its node
	Lost         string    `cel:"lost"`      // a pod whose manifest was written and that never showed up
	LostSince    time.Time `cel:"lostSince"`
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{Fact()} }

// Fact is the fact static-pods.
func Fact() facts.Fact {
	var needs []evidence.Need
	for _, r := range []evidence.Resource{evidence.EtcdOperators, evidence.APIServerOperators, evidence.ManagerOperators, evidence.SchedulerOperators} {
		needs = append(needs, evidence.Objects(r, ""))
	}
	return facts.DefinePlain("static-pods", fault.Operator, "revisions, installers and guards of an operator's static pods", needs, read)
}

func read(ctx context.Context, w *facts.World, s fault.Subject) (Pods, facts.Proof, error) {
	var f Pods
	var p facts.Proof
	r, ok := operators[s.Name]
	if !ok {
		return f, p, facts.NotApplicable("operator %s runs no static pods", s.Name)
	}
	o, ok, err := w.Get(ctx, r, "", "cluster")
	if err != nil {
		return f, p, err
	}
	if !ok {
		return f, p, facts.NotApplicable("there is no %s cluster", r.Name)
	}
	f.nodes(o, &p)
	list := conditions.Of(o)
	f.conditions(list, &p)
	f.members(list, &p)
	return f, p, nil
}

// nodes reads openshift/api:operator/v1/types.go NodeStatus.
func (f *Pods) nodes(o evidence.Object, p *facts.Proof) {
	f.Latest = int(evidence.Int(o.Content, "status", "latestAvailableRevision"))
	list, _ := evidence.Field(o.Content, "status", "nodeStatuses").([]any)
	for _, e := range list {
		n, _ := e.(map[string]any)
		name := evidence.String(n, "nodeName")
		current, failed := int(evidence.Int(n, "currentRevision")), int(evidence.Int(n, "lastFailedRevision"))
		f.Nodes++
		text := fmt.Sprintf("%s has revision %d of %d", name, current, f.Latest)
		if current < f.Latest {
			f.Behind = append(f.Behind, name)
		}
		if failed > current && evidence.Int(n, "lastFailedCount") > 0 {
			f.Failed, f.FailedReason = append(f.Failed, name), evidence.String(n, "lastFailedReason")
			at := evidence.Time(n, "lastFailedTime")
			earliest(&f.FailedSince, at)
			text += fmt.Sprintf(", revision %d failed %d times: %s %s", failed, evidence.Int(n, "lastFailedCount"), f.FailedReason, errorsOf(n))
		}
		p.Add(o.Loc.At("status.nodeStatuses"), text, time.Time{}, "behind", "latest", "nodes", "failed", "failedReason", "failedSince")
	}
	if f.Nodes == 0 {
		p.Miss("behind", &evidence.Unavailable{Need: evidence.Objects(o.Resource, ""), Why: evidence.NotCollected, Detail: "no nodeStatuses", Supply: "oc get " + o.Resource.Name + " cluster -o yaml"})
		p.Miss("failed", &evidence.Unavailable{Need: evidence.Objects(o.Resource, ""), Why: evidence.NotCollected, Detail: "no nodeStatuses"})
	}
}

func errorsOf(n map[string]any) string {
	list, _ := n["lastFailedRevisionErrors"].([]any)
	var words []string
	for _, e := range list {
		if s, ok := e.(string); ok {
			words = append(words, strings.Join(strings.Fields(s), " "))
		}
	}
	text := []rune(strings.Join(words, "; "))
	return string(text[:min(len(text), 300)])
}

func earliest(to *time.Time, t time.Time) {
	if !t.IsZero() && (to.IsZero() || t.Before(*to)) {
		*to = t
	}
}

// The words of the controllers (openshift/library-go:pkg/operator/staticpod/controller/
// {guard,installer,installerstate,missingstaticpod}).
var (
	missing = regexp.MustCompile(`(?i)missing operand on node ([^\s,\]]+)`)
	// openshift/cluster-etcd-operator:pkg/operator/etcdmemberscontroller
	unhealthy = regexp.MustCompile(`(?:^|[ ,])([^ ,]+) is unhealthy`)
	lost      = regexp.MustCompile(`(?i)static pod: "?([^"\s]+)"?.* didn't show up`)
)

// blocking are the conditions under which an installer pod waits.
var blocking = []string{"InstallerPodPendingDegraded", "InstallerPodContainerWaitingDegraded", "InstallerPodNetworkingDegraded"}

func (f *Pods) conditions(list []conditions.Condition, p *facts.Proof) {
	for _, c := range list {
		if c.Status != "True" {
			continue
		}
		text := c.Type + ": " + strings.Join(strings.Fields(c.Message), " ")
		for _, m := range missing.FindAllStringSubmatch(c.Message, -1) {
			if strings.HasSuffix(c.Type, "Degraded") && !slices.Contains(f.Missing, m[1]) {
				f.Missing, f.MissingSince = append(f.Missing, m[1]), c.Since
				p.Add(c.Loc, text, c.Since, "missing", "missingSince")
			}
		}
		switch {
		case c.Type == "NodeInstallerProgressing":
			f.Rollout = c.Since
			p.Add(c.Loc, text, c.Since, "rollout", "behind")
		case slices.Contains(blocking, c.Type):
			f.Blocked, f.NoNetwork = c.Message, f.NoNetwork || c.Type == "InstallerPodNetworkingDegraded"
			earliest(&f.BlockedSince, c.Since)
			p.Add(c.Loc, text, c.Since, "blocked", "blockedSince", "noNetwork")
		case c.Type == "NodeInstallerDegraded":
			earliest(&f.FailedSince, c.Since)
			p.Add(c.Loc, text, c.Since, "failed", "failedReason", "failedSince")
		case lost.MatchString(c.Message):
			f.Lost, f.LostSince = lost.FindStringSubmatch(c.Message)[1], c.Since
			p.Add(c.Loc, text, c.Since, "lost", "lostSince")
		}
	}
}

// members finds where not only the mirror pod is missing: the operator asks the
// members of etcd themselves.
func (f *Pods) members(list []conditions.Condition, p *facts.Proof) {
	for _, c := range list {
		if c.Type != "EtcdMembersDegraded" || c.Status != "True" {
			continue
		}
		for _, m := range unhealthy.FindAllStringSubmatch(c.Message, -1) {
			if slices.Contains(f.Missing, m[1]) && !slices.Contains(f.Gone, m[1]) {
				f.Gone = append(f.Gone, m[1])
				p.Add(c.Loc, c.Type+": "+strings.Join(strings.Fields(c.Message), " "), c.Since, "gone")
			}
		}
	}
}
