package repair

import (
	"context"
	"crypto/rsa"
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
	Key   func() (*rsa.PrivateKey, error) // makes the keys of new certificates; nil: a new one with 2048 bits
}

func (p *Planner) newKey() func() (*rsa.PrivateKey, error) {
	if p.Key != nil {
		return p.Key
	}
	return newKey
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
	Inspect   string // the host that is to be inspected again: with its name a person confirms that what stopped it is removed
	From      string // the archive that is read instead of a cluster; the plan is not applicable
}

// ErrNothingToDo is the error of a root for which no step can be planned.
var ErrNothingToDo = errors.New("there is nothing to repair")

// Plan turns a root and its remedies into ordered steps
// (the order is that of docs/repair.md: unblock, join, quorum, then the nodes).
func (p *Planner) Plan(ctx context.Context, ask Ask) (*Plan, error) {
	d := &draft{Planner: p, ask: ask, plan: &Plan{
		APIVersion: APIVersion, Kind: planKind, Created: p.Clock.Now().UTC().Truncate(time.Second),
		Cluster: ask.Cluster, Context: ask.Context, Root: ask.Root,
	}}
	if err := d.collect(); err != nil {
		return nil, err
	}
	d.plan.ID = fmt.Sprintf("%.40s-%s", ask.Root.Fault, d.plan.Created.Format("20060102-150405"))
	if err := d.steps(ctx); err != nil {
		return nil, fmt.Errorf("make plan for %s at %s: %w", ask.Root.Fault, ask.Root.Subject, err)
	}
	if len(d.plan.Steps) == 0 {
		return nil, fmt.Errorf("make plan for %s at %s: %w", ask.Root.Fault, ask.Root.Subject, noStep(d.plan.Open))
	}
	if ask.From != "" {
		d.plan.From = ask.From
		return d.plan, nil // it is never applied
	}
	return d.plan, d.plan.check()
}

// steps has each action plan its steps, and adds what a reader of the plan wants to see.
func (d *draft) steps(ctx context.Context) error {
	for _, a := range actions() {
		if a.plan == nil {
			continue
		}
		if err := a.plan(ctx, d); err != nil {
			return err
		}
	}
	d.backup(ctx)
	d.outside()
	return d.preview(ctx)
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

// UnprovenError refuses a plan for a cause that is not proven: a step that changes something
// needs a proven cause.
type UnprovenError struct{ Root diagnosis.Case }

func (e *UnprovenError) Error() string {
	return fmt.Sprintf("no plan for %s at %s: the cause is %s, not proven: %s", e.Root.Fault, e.Root.Subject, e.Root.Confidence, orNone(e.Root.Lowered))
}

// draft is one plan in the making.
type draft struct {
	*Planner
	ask      Ask
	plan     *Plan
	root     diagnosis.Case
	remedies map[string][]fault.Key // remedy -> present findings whose fault has it
	pool     string                 // of the root; "" where none is known
	members  int                    // etcd members that there are to be; 0: not a control-plane pool
	writes   bool                   // some step writes
	settles  int                    // minutes until the faults are absent, where that takes longer than usual
}

// requires reports whether the root, or one of its effects, has a remedy of the action.
func (d *draft) requires(a action) bool {
	return slices.ContainsFunc(a.remedies, func(r remedy) bool { return len(d.remedies[r.id]) > 0 })
}

// whole reports whether the plan changes something and nothing is left out of it.
func (d *draft) whole() bool { return d.writes && len(d.plan.Open) == 0 }

// collect finds the remedies of the root and of what it explains.
func (d *draft) collect() error {
	deadlock := 0
	for _, r := range d.ask.Diagnosis.Roots {
		for i := range r.Cases {
			if r.Cases[i].Key == d.ask.Root {
				d.root, deadlock = r.Cases[i], r.Deadlock
			}
		}
	}
	if i := slices.IndexFunc(d.ask.Diagnosis.Unexplained, func(u diagnosis.Unexplained) bool { return u.Key == d.ask.Root }); i >= 0 && d.ask.Inspect != "" {
		d.root = Symptom(d.ask.Diagnosis.Unexplained[i])
	}
	if d.root.Key != d.ask.Root {
		return fmt.Errorf("make plan: %s at %s is not a root of this diagnosis", d.ask.Root.Fault, d.ask.Root.Subject)
	}
	d.plan.Title = d.root.Title
	proven := d.root.Confidence == diagnosis.Proven
	named := d.ask.named()
	if !proven && named == "" {
		return &UnprovenError{d.root}
	}
	for _, why := range diagnose.Unread(d.ask.Diagnosis) {
		d.note("other causes may be hidden: %s", why)
	}
	keys := append([]fault.Key{d.root.Key}, d.root.Explains...)
	if deadlock > 0 && deadlock <= len(d.ask.Diagnosis.Deadlocks) {
		keys = append(keys, d.ask.Diagnosis.Deadlocks[deadlock-1].Members...)
	}
	d.plan.Before = beforeOf(d.ask, slices.DeleteFunc(slices.Clone(keys), func(k fault.Key) bool { return !d.isPresent(k) }))
	d.remedies = map[string][]fault.Key{}
	for _, k := range keys {
		f, ok := d.ask.Catalog.Fault(k.Fault)
		if !ok || !d.isPresent(k) {
			continue
		}
		for _, id := range f.Remedies {
			if !slices.Contains(d.remedies[id], k) {
				d.remedies[id] = append(d.remedies[id], k)
			}
		}
		if k.Subject.Kind == fault.Pool && d.pool == "" {
			d.pool = k.Subject.Name
		}
	}
	if (!proven || d.ask.Inspect != "") && !d.only(named) {
		return &UnprovenError{d.root}
	}
	if d.pool == "" {
		d.pool = d.poolOf(d.root.Subject)
	}
	if d.pool == "" && d.needsPool() {
		return fmt.Errorf("make plan: no pool is known for %s; name the host with --expect NAME=IP", d.root.Subject)
	}
	if controlPlanePool(d.pool) {
		d.members = max(leastMembers, len(d.hosts()))
	}
	return nil
}

// Symptom is what is present without a cause that is known, as a case that a plan begins with.
func Symptom(u diagnosis.Unexplained) diagnosis.Case {
	return diagnosis.Case{Key: u.Key, Title: u.Title, Evidence: u.Evidence, Remedies: u.Remedies,
		Confidence: diagnosis.Possible, Lowered: "its cause is not known"}
}

// named is the remedy that a person asks for by the name of a host, "" for none. Why the host is as
// it is need not be proven for it: what the step needs its own guards prove before it writes.
func (a Ask) named() string {
	switch {
	case a.Inspect != "":
		return InspectAgain
	case a.Member.Name != "":
		return removeDeadMember
	}
	return ""
}

// Named are the remedies that the values of a person are for: only a cause that has one of them is
// meant.
func (a Ask) Named() []string {
	var list []string
	for remedy, value := range a.Values {
		if value != "" {
			list = append(list, remedy)
		}
	}
	if a.BMC != nil {
		list = append(list, bmcCredentials)
	}
	if len(a.MCS.Kept) > 0 || a.MCS.NewCA {
		list = append(list, mcsCertificate)
	}
	if named := a.named(); named != "" {
		list = append(list, named)
	}
	return list
}

// only leaves nothing but one remedy that a person named, and reports whether there is that: the
// removal of a dead member (that it is dead, and stays away, its guard proves: MemberDead), or a
// new inspection of the host.
func (d *draft) only(remedy string) bool {
	while := slices.DeleteFunc(slices.Clone(d.remedies[remedy]), func(k fault.Key) bool {
		return d.ask.Inspect != "" && !inventory.SameName(k.Subject.Name, d.ask.Inspect)
	})
	d.remedies = map[string][]fault.Key{remedy: while}
	if d.root.Confidence != diagnosis.Proven {
		d.note("why %s is %s, not proven: %s", d.root.Title, d.root.Confidence, orNone(d.root.Lowered))
	}
	return len(while) > 0
}

// isPresent reports whether a fault is present, or is the root.
func (d *draft) isPresent(k fault.Key) bool {
	return slices.ContainsFunc(d.ask.Diagnosis.Findings, func(f diagnosis.Finding) bool {
		return f.Key() == k && f.Outcome == fault.Present
	}) || k == d.root.Key
}

// poolOf returns the pool of a subject, "" where it is not known: that of the host's role. A request
// only claims a host, so there the host that a person named decides.
func (d *draft) poolOf(s fault.Subject) string {
	names := []string{}
	switch s.Kind {
	case fault.Host:
		names = append(names, s.Name)
	case fault.Cluster, fault.Operator:
		return "master"
	}
	for _, e := range d.ask.Expect {
		names = append(names, e.Name)
	}
	for _, h := range d.ask.Diagnosis.Hosts {
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

// hosts returns the pool's expected hosts, each name once and with its latest stage:
// one machine may be known by objects that nothing links.
func (d *draft) hosts() []diagnosis.HostState {
	var out []diagnosis.HostState
	for _, h := range d.ask.Diagnosis.Hosts {
		if !h.Expected || poolOfRole(h.Role) != d.pool {
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
// those that only --expect makes expected.
func (d *draft) toJoin() []diagnosis.HostState {
	limit := slices.Index(fault.Stages(), fault.Registered)
	var out []diagnosis.HostState
	for _, h := range d.hosts() {
		if slices.Index(fault.Stages(), h.Stage) <= limit && h.State != diagnosis.StagePassed {
			out = append(out, h)
		}
	}
	for _, e := range d.ask.Expect {
		i := slices.IndexFunc(d.ask.Diagnosis.Hosts, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) })
		if i < 0 || !d.ask.Diagnosis.Hosts[i].Expected || onlyNamed(d.ask.Diagnosis.Hosts[i]) {
			d.note("%s is in no object of the cluster; only your --expect makes it expected", e.Name)
			if slices.ContainsFunc(out, func(h diagnosis.HostState) bool { return inventory.SameName(h.Name, e.Name) }) {
				continue
			}
			out = append(out, diagnosis.HostState{Name: e.Name, Role: d.pool})
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
func (d *draft) add(s Step) string {
	s = described(s, d.ask.Root)
	s.Preconditions = mandatory(s)
	for i := range s.Preconditions {
		if g := &s.Preconditions[i]; g.Guard == EtcdMembers {
			g.Count = max(g.Count, d.members)
		}
	}
	d.writes = d.writes || s.Writes()
	s.ID = fmt.Sprintf("%d-%s", len(d.plan.Steps)+1, s.Action)
	d.plan.Steps = append(d.plan.Steps, s)
	return s.ID
}

// note adds what a reader should know.
func (d *draft) note(format string, args ...any) {
	d.plan.Notes = append(d.plan.Notes, fmt.Sprintf(format, args...))
}

// leaveOut notes what the plan does not contain, and what would supply it.
func (d *draft) leaveOut(format string, args ...any) {
	d.plan.Open = append(d.plan.Open, fmt.Sprintf(format, args...))
}

func minutes(n int) duration { return duration{Duration: time.Duration(n) * time.Minute} }

// needsPool reports whether no step can be planned without the pool of the root.
func (d *draft) needsPool() bool {
	return !slices.ContainsFunc(remedies(), func(r remedy) bool {
		return len(d.remedies[r.id]) > 0 && (r.needsPool == nil || !r.needsPool(d.ask))
	})
}

// always is for a remedy that always depends on the pool of the root.
func always(Ask) bool { return true }
