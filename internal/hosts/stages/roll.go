// Package stages calls the roll: every host that is expected, the stage of the join
// path at which it is, since when and how that is known.
//
// Invariants:
//   - The roll is a function of evidence: it chooses no root and explains nothing;
//     what blocks a host is attached by the diagnosis.
//   - A stage is passed, failed, waiting, unknown or not applicable. Proof of a
//     later stage implies the earlier ones; a stage that could not be checked is
//     unknown, not passed.
//   - A host whose Node no longer reports has lost its later stages: an old
//     "Ready" is not proof.
package stages

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Caller implements diagnose.Roll.
type Caller struct{}

// Hosts returns the state of every host, sorted by name, and behind them that of the
// bootstrap host. Where nothing that names hosts could be read there are no others: the
// coverage says why.
func (Caller) Hosts(ctx context.Context, w *facts.World, _ []diagnosis.Finding) ([]diagnosis.HostState, error) {
	boot, err := bootstrap(ctx, w)
	if err != nil {
		return nil, err
	}
	r, err := inventory.Read(ctx, w)
	if _, ok := evidence.AsUnavailable(err); ok {
		return boot, nil
	}
	if err != nil {
		return nil, err
	}
	shared, err := readShared(ctx, w, r)
	if err != nil {
		return nil, err
	}
	var list []diagnosis.HostState
	for _, h := range r.Hosts {
		if h.Spare {
			continue // a BareMetalHost that nothing consumes is not asked to join
		}
		v, err := shared.of(ctx, w, h)
		if err != nil {
			return nil, fmt.Errorf("look at host %s: %w", h.Name, err)
		}
		list = append(list, v.state())
	}
	for _, g := range r.Gaps {
		list = append(list, missing(g, w.Now)...)
	}
	return append(list, boot...), nil
}

// newMachineSet is the age up to which no Machine of a MachineSet can have been removed: the ones
// it lacks are missing since it was created.
const newMachineSet = 10 * time.Minute

// missing stands for hosts that are only counted: they are expected, and nothing
// names them.
func missing(g inventory.Gap, now time.Time) []diagnosis.HostState {
	var list []diagnosis.HostState
	var since time.Time
	if age := now.Sub(g.Since); !g.Since.IsZero() && age >= 0 && age < newMachineSet {
		since = g.Since
	}
	for n := range g.Wanted - g.Named {
		name := fmt.Sprintf("(%s %d of %d, not named by any object)", g.Role, g.Named+n+1, g.Wanted)
		s := diagnosis.StageState{
			Stage: fault.Planned,
			State: diagnosis.StageUnknown,
			Why:   fmt.Sprintf("install-config asks for %d, %d are known", g.Wanted, g.Named),
		}
		if g.NodePool != "" {
			name = fmt.Sprintf("(%d of %d of NodePool %s, not named by any object)", g.Named+n+1, g.Wanted, g.NodePool)
			s.State, s.Why = diagnosis.StageWaiting, fmt.Sprintf("NodePool %s wants %d, %d are known", g.NodePool, g.Wanted, g.Named)
		}
		if g.Of != "" {
			name = fmt.Sprintf("(%d of %d of MachineSet %s, no Machine yet)", g.Named+n+1, g.Wanted, g.Of)
			s.State, s.Why = diagnosis.StageWaiting, fmt.Sprintf("MachineSet %s wants %d and has %d Machines", g.Of, g.Wanted, g.Named)
		}
		if g.Unread != nil {
			name = fmt.Sprintf("(%d of %d of MachineSet %s, its Machines were not read)", g.Named+n+1, g.Wanted, g.Of)
			s.State, s.Why = diagnosis.StageUnknown, fmt.Sprintf("MachineSet %s wants %d, %d have a Node: %s", g.Of, g.Wanted, g.Named, g.Unread)
		}
		s.Evidence = []evidence.Item{{Locator: g.Loc, Excerpt: fmt.Sprintf("replicas: %d", g.Wanted)}}
		list = append(list, diagnosis.HostState{
			Name:     name,
			Role:     g.Role,
			Expected: true,
			Stage:    s.Stage,
			State:    s.State,
			Since:    since,
			Why:      s.Why,
			Stages:   []diagnosis.StageState{s},
		})
	}
	return list
}

// view is everything that the stages of one host look at.
type view struct {
	*shared
	host     inventory.Host
	requests []csrs.Request // for this host's name, oldest first
	ignition ignition
	machine  *machine                      // what rollcall-host collected on it; nil: it did not run
	kubelet  *evidence.Item                // the line that shows that its kubelet was started; nil: no journal shows it
	logged   map[fault.Stage]evidence.Item // what its journal proves, where the cluster was not asked for it
	stale    bool                          // the Node no longer reports
	lastSeen time.Time
}

// rule decides one stage of one host.
type rule struct {
	stage  fault.Stage
	decide func(*view) diagnosis.StageState
}

// rules lists the join path.
func rules() []rule {
	return []rule{
		{fault.Planned, (*view).planned},
		{fault.Powered, (*view).powered},
		{fault.Inspected, (*view).inspected},
		{fault.Imaged, (*view).imaged},
		{fault.IgnitionFetched, (*view).ignitionFetched},
		{fault.FirstBoot, (*view).firstBoot},
		{fault.ClientCert, (*view).clientCert},
		{fault.Registered, (*view).registered},
		{fault.NetworkReady, (*view).networkReady},
		{fault.Ready, (*view).ready},
		{fault.ServingCert, (*view).servingCert},
		{fault.EtcdMember, (*view).etcdMember},
		{fault.StaticPods, (*view).staticPods},
		{fault.ConfigDone, (*view).configDone},
	}
}

// state decides all stages and then the stage of the host: its first stage
// that is not passed.
func (v *view) state() diagnosis.HostState {
	s := diagnosis.HostState{Name: v.host.Name, Role: v.host.Role, Expected: v.host.Expected, PerhapsNode: v.host.PerhapsNode}
	for _, r := range rules() {
		st := v.ofProduct(r)
		if own, ok := v.machine.stage(r.stage); ok && (st.State == diagnosis.StageUnknown || st.State == diagnosis.StageWaiting) {
			st = own // what the machine says of its own start is nearer than what others say
		}
		if line, ok := v.logged[r.stage]; ok && st.State == diagnosis.StageUnknown {
			st = passed(line.Time, line)
		}
		st.Stage = r.stage
		s.Stages = append(s.Stages, st)
	}
	imply(s.Stages)
	at := currentStage(s.Stages)
	s.Stage, s.State, s.Why, s.Since = s.Stages[at].Stage, s.Stages[at].State, s.Stages[at].Why, since(s.Stages, at)
	return s
}

// ofAnyKubernetes are the stages that a host of any distribution passes.
var ofAnyKubernetes = []fault.Stage{fault.Registered, fault.NetworkReady, fault.Ready}

// ofProduct decides a stage, if the distribution of the cluster has it.
func (v *view) ofProduct(r rule) diagnosis.StageState {
	if v.product != "" && !slices.Contains(ofAnyKubernetes, r.stage) {
		return notApplicable("this is " + v.product + " and not OpenShift")
	}
	return r.decide(v)
}

// currentStage returns the stage of a host: the first failed one, else the first that is not
// passed, else the last. An unknown stage outside the join path (etcd, static pods, and the
// serving certificate, without which a node still takes its config) is skipped while the path
// itself waits.
func currentStage(stages []diagnosis.StageState) int {
	open := -1
	for i, s := range stages {
		switch {
		case s.State == diagnosis.StageFailed:
			return i
		case s.State == diagnosis.StagePassed || s.State == diagnosis.StageNotApplicable:
		case open < 0, outsideJoinPath(stages[open]) && s.State == diagnosis.StageWaiting:
			open = i
		}
	}
	if open < 0 {
		return len(stages) - 1
	}
	return open
}

func outsideJoinPath(s diagnosis.StageState) bool {
	return unknownControlPlaneStage(s) || s.State == diagnosis.StageUnknown && s.Stage == fault.ServingCert
}

func unknownControlPlaneStage(s diagnosis.StageState) bool {
	return s.State == diagnosis.StageUnknown && (s.Stage == fault.EtcdMember || s.Stage == fault.StaticPods)
}

// imply passes stages that could not be checked before a stage that is proved.
// What is known to wait or to have failed stays, but for the stages of the bare
// machine: a host whose disk was written does not wait for its inspection, and the
// error of a BareMetalHost does not undo that its host has joined. That its
// disk was written says nothing of whether it is powered now, and that a config was
// applied once nothing of whether the Node is Ready now.
func imply(stages []diagnosis.StageState) {
	proved := fault.Stage("")
	for i, s := range slices.Backward(stages) {
		if s.State == diagnosis.StagePassed && proved == "" && s.Stage != fault.EtcdMember && s.Stage != fault.StaticPods {
			proved = s.Stage
		}
		bare := (s.State == diagnosis.StageWaiting || s.State == diagnosis.StageFailed) && before(s.Stage, fault.IgnitionFetched) &&
			(s.Stage != fault.Powered || !before(proved, fault.IgnitionFetched))
		if proved != "" && (bare || s.State == diagnosis.StageUnknown && s.Stage != fault.Ready) && !unknownControlPlaneStage(s) {
			stages[i].State, stages[i].Why = diagnosis.StagePassed, "implied by "+string(proved)
		}
	}
}

// before reports whether a stage is earlier on the path than another.
func before(a, b fault.Stage) bool {
	return slices.Index(fault.Stages(), a) < slices.Index(fault.Stages(), b)
}

// since is when a host reached its stage: the stage's own
// time, else when the stage before it was passed.
func since(stages []diagnosis.StageState, at int) time.Time {
	if !stages[at].At.IsZero() {
		return stages[at].At
	}
	for _, s := range slices.Backward(stages[:at]) {
		if s.State == diagnosis.StagePassed && !s.At.IsZero() {
			return s.At
		}
	}
	return time.Time{}
}

// The results of a rule, for short.

func passed(at time.Time, items ...evidence.Item) diagnosis.StageState {
	return diagnosis.StageState{State: diagnosis.StagePassed, At: at, Evidence: items}
}

func failed(at time.Time, why string, items ...evidence.Item) diagnosis.StageState {
	return diagnosis.StageState{State: diagnosis.StageFailed, At: at, Why: why, Evidence: items}
}

func waiting(at time.Time, why string, items ...evidence.Item) diagnosis.StageState {
	return diagnosis.StageState{State: diagnosis.StageWaiting, At: at, Why: why, Evidence: items}
}

func unknown(why string) diagnosis.StageState {
	return diagnosis.StageState{State: diagnosis.StageUnknown, Why: why}
}

func notApplicable(why string) diagnosis.StageState {
	return diagnosis.StageState{State: diagnosis.StageNotApplicable, Why: why}
}

func item(loc evidence.Locator, field, excerpt string, at time.Time) evidence.Item {
	return evidence.Item{Locator: loc.At(field), Excerpt: excerpt, Time: at}
}
