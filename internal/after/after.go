// Package after says what holds of a cluster after a repair, a join or an installation: one
// indicator of success after the other, as a person would look at them.
//
// Invariants:
//   - It judges nothing in a second way: hosts and faults are those of the diagnosis, all
//     else are fields of the facts that the catalog's expressions see.
//   - An indicator has one of four outcomes. Present: it holds. Absent: it does not.
//     Unknown: what would decide was not read. Not applicable: the cluster has no such thing.
//   - An indicator that something unread could refute is unknown, never present.
package after

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Goal is what has to hold in the end.
type Goal string

// The goals: every expected host is in; and the cluster has come to rest as well.
const (
	Joined Goal = "joined"
	Stable Goal = "stable"
)

// ID names an indicator.
type ID string

// The indicators, in the order in which they usually come to hold.
const (
	HostsJoined     ID = "hosts-joined"
	NodesReady      ID = "nodes-ready"
	NoOpenRequest   ID = "no-open-request"
	InstallDone     ID = "version-completed"
	NetworkOnNodes  ID = "network-on-nodes"
	EtcdMembers     ID = "etcd-members"
	PoolsUpdated    ID = "pools-updated"
	OperatorsStable ID = "operators-stable"
	NoFault         ID = "no-fault"
	// SmokePod is the only one that writes: where a person asks for it, after all others hold.
	SmokePod ID = "smoke-pod"
)

// Indicator is one sign of success.
type Indicator struct {
	ID      ID              `json:"id"`
	Title   string          `json:"title"` // what holds where it is present
	Outcome fault.Outcome   `json:"outcome"`
	Reason  string          `json:"reason,omitempty"` // what does not hold, or why it is not known
	Proof   []evidence.Item `json:"evidence,omitempty"`
}

// Holds reports whether nothing of the indicator is left to wait for.
func (i Indicator) Holds() bool {
	return i.Outcome == fault.Present || i.Outcome == fault.NotApplicable
}

// Options say what is looked at.
type Options struct {
	Goal      Goal
	StableFor time.Duration                  // how long operators have been at rest
	Hosts     func(diagnosis.HostState) bool // which hosts count; nil: every expected one
	Skip      []ID                           // indicators that are left out: those of a record that has no such objects
}

func (o Options) host(h diagnosis.HostState) bool {
	if o.Hosts != nil {
		return o.Hosts(h)
	}
	return h.Expected
}

// check is one run of all indicators.
type check struct {
	ctx   context.Context
	w     *facts.World
	d     *diagnosis.Diagnosis
	o     Options
	hosts []diagnosis.HostState
}

// rule decides one indicator.
type rule struct {
	id     ID
	goals  []Goal
	title  string
	decide func(*check) (Indicator, error)
}

var rules = []rule{
	{HostsJoined, []Goal{Joined, Stable}, "every expected host has joined", (*check).hostsJoined},
	{NodesReady, []Goal{Joined, Stable}, "every expected host has a Node that is Ready", (*check).nodesReady},
	{NoOpenRequest, []Goal{Joined, Stable}, "no certificate request of an expected host is pending", (*check).noOpenRequest},
	{InstallDone, []Goal{Joined, Stable}, "the cluster's version is completed", (*check).versionCompleted},
	{NetworkOnNodes, []Goal{Stable}, "the network plugin runs on every node", (*check).networkOnNodes},
	{EtcdMembers, []Goal{Stable}, "every etcd member is available", (*check).etcdMembers},
	{PoolsUpdated, []Goal{Stable}, "every MachineConfigPool is updated", (*check).poolsUpdated},
	{OperatorsStable, []Goal{Stable}, "every ClusterOperator is at rest", (*check).operatorsStable},
	{NoFault, []Goal{Stable}, "no error of the catalog is present", (*check).noFault},
}

// Check looks at every indicator of a goal. w reads what the diagnosis was made of.
func Check(ctx context.Context, w *facts.World, d *diagnosis.Diagnosis, o Options) ([]Indicator, error) {
	c := &check{ctx: ctx, w: w, d: d, o: o}
	for _, h := range d.Hosts {
		if o.host(h) {
			c.hosts = append(c.hosts, h)
		}
	}
	var list []Indicator
	for _, r := range rules {
		if !slices.Contains(r.goals, o.Goal) || slices.Contains(o.Skip, r.id) {
			continue
		}
		i, err := r.decide(c)
		if err != nil {
			return nil, fmt.Errorf("check indicator %s: %w", r.id, err)
		}
		i.ID, i.Title = r.id, r.title
		list = append(list, i)
	}
	return list, nil
}

// World returns the world in which the indicators of a diagnosis are looked at.
func World(w *facts.World, d *diagnosis.Diagnosis) *facts.World {
	w.Version, w.Topology, w.Installed, w.AtLeast = d.Cluster.Version, d.Cluster.Topology, d.Cluster.Began, d.Source.AtLeast
	return w
}

// AllHold reports whether all indicators hold, and that there are any.
func AllHold(list []Indicator) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(i Indicator) bool { return !i.Holds() })
}

// present, absent and unknown are the results of a rule, for short.

func present(proof ...evidence.Item) Indicator {
	return Indicator{Outcome: fault.Present, Proof: proof}
}

func absent(proof []evidence.Item, format string, args ...any) Indicator {
	return Indicator{Outcome: fault.Absent, Reason: fmt.Sprintf(format, args...), Proof: proof}
}

func unknown(format string, args ...any) Indicator {
	return Indicator{Outcome: fault.Unknown, Reason: fmt.Sprintf(format, args...)}
}

func notApplicable(format string, args ...any) Indicator {
	return Indicator{Outcome: fault.NotApplicable, Reason: fmt.Sprintf(format, args...)}
}

// few lists the first of many.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// noFault asks the diagnosis whether an error is present, as exit codes do.
func (c *check) noFault() (Indicator, error) {
	if diagnose.Worst(c.d) >= fault.Error.Rank() {
		var names []string
		for _, r := range c.d.Roots {
			for _, k := range r.Keys() {
				names = append(names, k.Fault+" of "+k.Subject.String())
			}
		}
		return absent(nil, "%s", few(names)), nil
	}
	if diagnose.Undecided(c.d) {
		return unknown("%s", c.d.Verdict.Reason), nil
	}
	return present(), nil
}

// StableFor is how long operators are at rest in a stable cluster. openshift/oc waits for as
// long (pkg/cli/admin/waitforstable: --minimum-stable-period): a cluster that seemed to be
// stable was not 11 s later (openshift/oc pull request 1455).
const StableFor = 5 * time.Minute
