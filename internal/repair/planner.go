package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Planner makes plans. It reads; the only thing that it writes is a held config
// into the store on this machine.
type Planner struct {
	API   Reader
	Store *Store
	Held  HeldConfigs
	Clock Clock
}

// Ask is what a plan is made from.
type Ask struct {
	Diagnosis *diagnosis.Diagnosis
	Catalog   *fault.Catalog
	Root      fault.Key         // one of the diagnosis' roots
	Expect    []csr.Expectation // hosts that a person named
	Align     bool              // prefer align-annotations where nothing differs that is applied
	Cluster   ClusterID
	Context   string
	Values    map[string]string // by the remedy that writes it: what a person gave, never a secret
	BMC       *Credentials      // of a BMC; secret
	MCS       CertificateAsk
	Member    MemberAsk
	From      string // the archive that is read instead of a cluster; the plan is not applicable
}

// ErrNothingToDo says that no remedy of the root is something to be done.
var ErrNothingToDo = errors.New("there is nothing to repair")

// Plan turns a root and its remedies into ordered steps
// (the order is that of docs/repair.md: unblock, join, quorum, then the nodes).
func (p *Planner) Plan(ctx context.Context, ask Ask) (*Plan, error) {
	b := &building{Planner: p, ask: ask, plan: &Plan{
		APIVersion: APIVersion, Kind: PlanKind, Created: p.Clock.Now().UTC().Truncate(time.Second),
		Cluster: ask.Cluster, Context: ask.Context, Root: ask.Root,
	}}
	if err := b.collect(); err != nil {
		return nil, err
	}
	b.plan.ID = fmt.Sprintf("%.40s-%s", ask.Root.Fault, b.plan.Created.Format("20060102-150405"))
	for _, part := range []func(context.Context) error{b.change, b.touch, b.credentials, b.certificate, b.installers, b.member, b.adopt, b.join, b.quorum, b.render, b.pool, b.verify, b.backup, b.preview, b.outside} {
		if err := part(ctx); err != nil {
			return nil, fmt.Errorf("make plan for %s at %s: %w", ask.Root.Fault, ask.Root.Subject, err)
		}
	}
	if len(b.plan.Steps) == 0 {
		return nil, fmt.Errorf("make plan for %s at %s: %w", ask.Root.Fault, ask.Root.Subject, noStep(b.plan.Open))
	}
	if ask.From != "" {
		b.plan.From = ask.From
		return b.plan, nil // it is never applied
	}
	return b.plan, b.plan.check()
}

// noStep is the error of a plan without a step: there is nothing to repair, or it is known
// what is still missing for a step.
func noStep(open []string) error {
	if len(open) == 0 {
		return ErrNothingToDo
	}
	return openError(open)
}

// openError is what is missing for the first step of a plan. It is an ErrNothingToDo.
type openError []string

// Open reports whether an ErrNothingToDo names what is missing for a first step.
func Open(err error) bool {
	var open openError
	return errors.As(err, &open)
}

func (e openError) Error() string {
	return "no step can be planned yet: " + strings.Join(e, "; ")
}

func (e openError) Is(target error) bool { return target == ErrNothingToDo }

// building is one plan in the making.
type building struct {
	*Planner
	ask      Ask
	plan     *Plan
	root     diagnosis.Case
	remedies map[string][]fault.Key // remedy -> present findings whose fault names it
	poolName string
	adopted  string // id of the step that adopts
	members  int    // etcd members that there are to be; 0: not a control-plane pool
	changes  bool   // some step writes
	settles  int    // minutes until the faults are absent, where that takes longer than usual
}

// collect finds the remedies of the root and of what it explains.
func (b *building) collect() error {
	deadlock := 0
	for _, r := range b.ask.Diagnosis.Roots {
		for i := range r.Cases {
			if r.Cases[i].Key == b.ask.Root {
				b.root, deadlock = r.Cases[i], r.Deadlock
			}
		}
	}
	if b.root.Key != b.ask.Root {
		return fmt.Errorf("make plan: %s at %s is not a root of this diagnosis", b.ask.Root.Fault, b.ask.Root.Subject)
	}
	b.plan.Title = b.root.Title
	if b.root.Confidence != diagnosis.Proven {
		b.plan.Notes = append(b.plan.Notes, fmt.Sprintf("the root is %s, not proven: %s", b.root.Confidence, orNone(b.root.Lowered)))
	}
	for _, why := range diagnose.Unread(b.ask.Diagnosis) {
		b.plan.Notes = append(b.plan.Notes, "other causes may be hidden: "+why)
	}
	keys := append([]fault.Key{b.root.Key}, b.root.Explains...)
	if d := deadlock; d > 0 && d <= len(b.ask.Diagnosis.Deadlocks) {
		keys = append(keys, b.ask.Diagnosis.Deadlocks[d-1].Members...)
	}
	b.plan.Before = beforeOf(b.ask, slices.DeleteFunc(slices.Clone(keys), func(k fault.Key) bool { return !b.isPresent(k) }))
	b.remedies = map[string][]fault.Key{}
	for _, k := range keys {
		f, ok := b.ask.Catalog.Fault(k.Fault)
		if !ok || !b.isPresent(k) {
			continue
		}
		for _, id := range f.Remedies {
			if !slices.Contains(b.remedies[id], k) {
				b.remedies[id] = append(b.remedies[id], k)
			}
		}
		if k.Subject.Kind == fault.Pool && b.poolName == "" {
			b.poolName = k.Subject.Name
		}
	}
	if b.poolName == "" {
		b.poolName = b.poolOf(b.root.Subject)
	}
	if b.poolName == "" && !b.needsNoPool() {
		return fmt.Errorf("make plan: no pool is known for %s; name the host with --expect NAME=IP", b.root.Subject)
	}
	if controlPlanePool(b.poolName) {
		b.members = max(leastMembers, len(b.hosts()))
	}
	return nil
}

func (b *building) isPresent(k fault.Key) bool {
	return slices.ContainsFunc(b.ask.Diagnosis.Findings, func(f diagnosis.Finding) bool {
		return f.Key() == k && f.Outcome == fault.Present
	}) || k == b.root.Key
}

// poolOf: a host's role names the pool that serves it. A request only claims a
// host, so there the host that a person named decides.
func (b *building) poolOf(s fault.Subject) string {
	names := []string{}
	switch s.Kind {
	case fault.Host:
		names = append(names, s.Name)
	case fault.Cluster, fault.Operator:
		return "master"
	}
	for _, e := range b.ask.Expect {
		names = append(names, e.Name)
	}
	for _, h := range b.ask.Diagnosis.Hosts {
		if slices.ContainsFunc(names, func(n string) bool { return inventory.SameName(n, h.Name) }) && h.Role != "" {
			return poolOfRole(h.Role)
		}
	}
	return ""
}

func poolOfRole(role string) string {
	if role == "control-plane" {
		return "master"
	}
	return role
}

// hosts returns the pool's expected hosts, each name once and with the stage
// that came furthest: one machine may be known by objects that nothing links.
func (b *building) hosts() []diagnosis.HostState {
	var out []diagnosis.HostState
	for _, h := range b.ask.Diagnosis.Hosts {
		if !h.Expected || poolOfRole(h.Role) != b.poolName {
			continue
		}
		i := slices.IndexFunc(out, func(o diagnosis.HostState) bool { return inventory.SameName(o.Name, h.Name) })
		switch {
		case i < 0:
			out = append(out, h)
		case slices.Index(fault.Stages(), h.Stage) > slices.Index(fault.Stages(), out[i].Stage):
			out[i] = h
		}
	}
	return out
}

// toJoin returns the pool's hosts that have not passed the stage registered, and
// those that only a person's word makes expected.
func (b *building) toJoin() []diagnosis.HostState {
	limit := slices.Index(fault.Stages(), fault.Registered)
	var out []diagnosis.HostState
	for _, h := range b.hosts() {
		if slices.Index(fault.Stages(), h.Stage) <= limit && h.State != diagnosis.StagePassed {
			out = append(out, h)
		}
	}
	for _, e := range b.ask.Expect {
		i := slices.IndexFunc(b.ask.Diagnosis.Hosts, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) })
		if i < 0 || !b.ask.Diagnosis.Hosts[i].Expected || onlyNamed(b.ask.Diagnosis.Hosts[i]) {
			b.plan.Notes = append(b.plan.Notes, e.Name+" is in no object of the cluster; only your --expect makes it expected")
			if slices.ContainsFunc(out, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) }) {
				continue
			}
			out = append(out, diagnosis.HostState{Name: e.Name, Role: b.poolName})
		}
	}
	return out
}

// onlyNamed reports whether nothing but --expect puts the host on the list.
func onlyNamed(h diagnosis.HostState) bool {
	return slices.ContainsFunc(h.Stages, func(s diagnosis.StageState) bool {
		return s.Stage == fault.Planned && slices.ContainsFunc(s.Evidence, func(i evidence.Item) bool { return i.Locator.Source == namedhost.Expect })
	})
}

// add appends a step with its number, its guards, and what people read of it.
func (b *building) add(s Step) string {
	s = described(s, b.ask.Root)
	s.Preconditions = mandatory(s)
	for i := range s.Preconditions {
		if g := &s.Preconditions[i]; g.Guard == EtcdMembers {
			g.Count = max(g.Count, b.members)
		}
	}
	b.changes = b.changes || s.Writes()
	s.ID = fmt.Sprintf("%d-%s", len(b.plan.Steps)+1, s.Action)
	b.plan.Steps = append(b.plan.Steps, s)
	return s.ID
}

func (b *building) open(format string, args ...any) {
	b.plan.Open = append(b.plan.Open, fmt.Sprintf(format, args...))
}

func minutes(n int) Duration { return Duration{Duration: time.Duration(n) * time.Minute} }

// needsNoPool: fields and Secrets are written, and a request of a host that a person named is
// approved, whatever pool the host is in.
func (b *building) needsNoPool() bool {
	return b.changesFields() || len(b.remedies[bmcCredentials])+len(b.remedies[mcsCertificate])+len(b.remedies[replaceInstaller])+len(b.remedies[removeMember]) > 0 ||
		len(b.remedies["approve-expected-csrs"]) > 0 && len(b.ask.Expect) > 0
}
