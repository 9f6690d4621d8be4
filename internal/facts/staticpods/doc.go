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

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// operators are the ClusterOperators that run static pods, and their own resources.
var operators = map[string]evidence.Resource{
	"etcd":                      evidence.EtcdOperators,
	openshift.APIServer:         evidence.APIServerOperators,
	openshift.ControllerManager: evidence.ManagerOperators,
	openshift.Scheduler:         evidence.SchedulerOperators,
}

// Pods is the fact static-pods.
type Pods struct {
	Latest       facts.Field[int]       `cel:"latest"`       // the newest revision that can be installed
	Nodes        facts.Field[int]       `cel:"nodes"`        // that have a status
	Behind       facts.Field[[]string]  `cel:"behind"`       // nodes with an older revision, or none
	Rollout      facts.Field[time.Time] `cel:"rollout"`      // since when nodes are being moved to it
	Failed       facts.Field[[]string]  `cel:"failed"`       // nodes on which installing the revision failed, and that do not have it
	FailedReason facts.Field[string]    `cel:"failedReason"` // InstallerFailed, OperandFailed, OperandFailedFallback
	FailedSince  facts.Field[time.Time] `cel:"failedSince"`
	Missing      facts.Field[[]string]  `cel:"missing"` // nodes without the operand's mirror pod
	MissingSince facts.Field[time.Time] `cel:"missingSince"`
	Gone         facts.Field[[]string]  `cel:"gone"`    // those of them whose member of etcd does not answer either
	Blocked      facts.Field[string]    `cel:"blocked"` // what an installer pod waits for
	BlockedSince facts.Field[time.Time] `cel:"blockedSince"`
	NoNetwork    facts.Field[bool]      `cel:"noNetwork"` // it gets no network on its node
	Lost         facts.Field[string]    `cel:"lost"`      // a pod whose manifest was written and that never showed up
	LostSince    facts.Field[time.Time] `cel:"lostSince"`
}

// Facts lists the facts of this package.
func Facts() []facts.Fact { return []facts.Fact{Fact()} }

// Fact is the fact static-pods.
func Fact() facts.Fact {
	var needs []evidence.Need
	for _, r := range []evidence.Resource{evidence.EtcdOperators, evidence.APIServerOperators, evidence.ManagerOperators, evidence.SchedulerOperators} {
		needs = append(needs, evidence.Objects(r, ""))
	}
	return facts.Define("static-pods", fault.Operator, "revisions, installers and guards of an operator's static pods", needs, read)
}

func read(ctx context.Context, w *facts.World, s fault.Subject) (Pods, error) {
	var f Pods
	r, ok := operators[s.Name]
	if !ok {
		return f, facts.NotApplicable("operator %s runs no static pods", s.Name)
	}
	o, ok, err := w.Get(ctx, r, "", "cluster")
	if err != nil {
		return f, err
	}
	if !ok {
		return f, facts.NotApplicable("there is no %s cluster", r.Name)
	}
	list := conditions.Of(o)
	f.conditions(list)
	f.members(list)
	f.nodes(o)
	facts.Complete(&f)
	return f, nil
}

// nodes reads openshift/api:operator/v1/types.go NodeStatus.
func (f *Pods) nodes(o evidence.Object) {
	latest := int(evidence.Int(o.Content, "status", "latestAvailableRevision"))
	list, _ := evidence.Field(o.Content, "status", "nodeStatuses").([]any)
	if len(list) == 0 {
		u := &evidence.Unavailable{
			Need:   evidence.Objects(o.Resource, ""),
			Why:    evidence.NotCollected,
			Detail: "no nodeStatuses",
			Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: o.Resource.Name, Name: "cluster"},
		}
		_ = facts.Miss(u, &f.Latest, &f.Nodes, &f.Behind, &f.Failed, &f.FailedReason)
		return
	}
	var behind, failing []string
	reason := ""
	for _, e := range list {
		n, _ := e.(map[string]any)
		name := evidence.String(n, "nodeName")
		current, failed := int(evidence.Int(n, "currentRevision")), int(evidence.Int(n, "lastFailedRevision"))
		text := fmt.Sprintf("%s has revision %d of %d", name, current, latest)
		if current < latest {
			behind = append(behind, name)
		}
		if failed > current && evidence.Int(n, "lastFailedCount") > 0 {
			failing, reason = append(failing, name), evidence.String(n, "lastFailedReason")
			facts.Earliest(&f.FailedSince, evidence.Time(n, "lastFailedTime"))
			text += fmt.Sprintf(", revision %d failed %d times: %s %s", failed, evidence.Int(n, "lastFailedCount"), reason, errorsOf(n))
		}
		facts.Prove(o.Shows("status.nodeStatuses", text, time.Time{}), &f.Behind, &f.Latest, &f.Nodes, &f.Failed, &f.FailedReason, &f.FailedSince)
	}
	f.Latest.Set(latest)
	f.Nodes.Set(len(list))
	f.Behind.Set(behind)
	f.Failed.Set(failing)
	f.FailedReason.Set(reason)
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

func (f *Pods) conditions(list []conditions.Condition) {
	for _, c := range list {
		if c.Status != "True" {
			continue
		}
		for _, m := range missing.FindAllStringSubmatch(c.Message, -1) {
			if strings.HasSuffix(c.Type, "Degraded") && !slices.Contains(f.Missing.Value(), m[1]) {
				facts.Append(&f.Missing, m[1], c.Item())
				f.MissingSince.Set(c.Since, c.Item())
			}
		}
		switch {
		case c.Type == "NodeInstallerProgressing":
			f.Rollout.Set(c.Since, c.Item())
			f.Behind.Prove(c.Item())
		case slices.Contains(blocking, c.Type):
			f.Blocked.Set(c.Message, c.Item())
			f.NoNetwork.Set(f.NoNetwork.Value() || c.Type == "InstallerPodNetworkingDegraded", c.Item())
			facts.Earliest(&f.BlockedSince, c.Since, c.Item())
		case c.Type == "NodeInstallerDegraded":
			facts.Earliest(&f.FailedSince, c.Since)
			facts.Prove(c.Item(), &f.Failed, &f.FailedReason, &f.FailedSince)
		case lost.MatchString(c.Message):
			f.Lost.Set(lost.FindStringSubmatch(c.Message)[1], c.Item())
			f.LostSince.Set(c.Since, c.Item())
		}
	}
}

// members finds where not only the mirror pod is missing: the operator asks the
// members of etcd themselves.
func (f *Pods) members(list []conditions.Condition) {
	for _, c := range list {
		if c.Type != "EtcdMembersDegraded" || c.Status != "True" {
			continue
		}
		for _, m := range unhealthy.FindAllStringSubmatch(c.Message, -1) {
			if slices.Contains(f.Missing.Value(), m[1]) && !slices.Contains(f.Gone.Value(), m[1]) {
				facts.Append(&f.Gone, m[1], c.Item())
			}
		}
	}
}
