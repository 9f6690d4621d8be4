// Package diagnose turns facts into findings and findings into a diagnosis.
//
// It is deterministic: the same evidence and clock give the same answer in the
// same order. It computes no fact and prints nothing.
package diagnose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Relater returns the subjects that are related to another one. known is false if a subject's
// relation could not be read: a host that never joined has no proven pool.
type Relater interface {
	Relate(ctx context.Context, w *facts.World, r fault.Relation, from fault.Subject) (to []fault.Subject, known bool, err error)
	Subjects(ctx context.Context, w *facts.World, k fault.Kind) ([]fault.Subject, error)
}

// Engine evaluates a catalog.
type Engine struct {
	catalog  *fault.Catalog
	compiler *fault.Compiler
	facts    map[string]facts.Fact
	relate   Relater
	log      *slog.Logger
	deciding bool                         // see Options
	product  string                       // another distribution that the cluster is of, "" where it is OpenShift or nothing shows that it is not
	names    map[string]map[string]string // by fault: what lines of a text name, see Lines
}

// New returns an engine. The catalog's expressions are compiled as they are used; compiler keeps
// them from one engine to the next, nil makes one.
func New(catalog *fault.Catalog, list []facts.Fact, relate Relater, compiler *fault.Compiler, log *slog.Logger) (*Engine, error) {
	if compiler == nil {
		var err error
		if compiler, err = fault.NewCompiler(facts.Types(list)); err != nil {
			return nil, fmt.Errorf("make engine: %w", err)
		}
	}
	e := &Engine{catalog: catalog, compiler: compiler, facts: map[string]facts.Fact{}, relate: relate, log: log}
	for _, f := range list {
		e.facts[f.Name] = f
	}
	return e, nil
}

// Evaluate evaluates one fault for one subject. The error is a defect of the
// catalog or a fact, never an outcome.
func (e *Engine) Evaluate(ctx context.Context, w *facts.World, f *fault.Fault, s fault.Subject) (diagnosis.Finding, error) {
	t, err := e.open(ctx, w, f)
	if err != nil {
		return diagnosis.Finding{}, err
	}
	out, err := e.evaluate(ctx, w, t, s)
	out.Title = t.titleOf(s)
	return out, err
}

// evaluate returns the finding without its title: see titleOf.
func (e *Engine) evaluate(ctx context.Context, w *facts.World, t *tested, s fault.Subject) (diagnosis.Finding, error) {
	f := t.fault
	out := diagnosis.Finding{Fault: f.ID, Subject: s, Severity: f.Severity}
	v := &t.state
	v.begin(e, t)
	if t.excluded != "" {
		out.Outcome, out.Reason = fault.NotApplicable, t.excluded
		return out, nil
	}
	b := &v.bound
	b.bind(ctx, w, t.facts, s)
	if b.err != nil {
		return out, b.err
	}
	if b.notApplicable != "" {
		out.Outcome, out.Reason, out.Evidence = fault.NotApplicable, b.notApplicable, b.excludes
		return out, nil
	}
	if err := v.run(&out, w); err != nil {
		return out, fmt.Errorf("evaluate fault %s for %s: %w", f.ID, s, err)
	}
	v.judged = true
	return out, nil
}

// applies reports whether the cluster is in the version range of a fault. A cluster of unknown
// version is not excluded.
func applies(versions, cluster string) (bool, string) {
	if versions == "" || cluster == "" {
		return true, ""
	}
	want, err := semver.NewConstraint(versions)
	if err != nil {
		return true, ""
	}
	have, err := semver.NewVersion(cluster)
	if err != nil {
		return true, ""
	}
	release := semver.New(have.Major(), have.Minor(), have.Patch(), "", "") // a nightly of 4.20 behaves as 4.20
	if !want.Check(release) {
		return false, fmt.Sprintf("only for versions %s, this is %s", versions, cluster)
	}
	return true, ""
}

// excludedByTopology returns why a fault does not apply to a cluster with this control plane
// topology, "" if it does. An unknown topology excludes nothing.
func excludedByTopology(ctx context.Context, w *facts.World, f *fault.Fault) (string, error) {
	h, err := w.Hosted(ctx)
	if err != nil {
		return "", fmt.Errorf("find out where the control plane runs: %w", err)
	}
	switch fault.ControlPlaneOf(f) {
	case fault.OwnControlPlane:
		if h != nil || w.Topology == external {
			return "this is a hosted cluster: its control plane does not run in it", nil
		}
	case fault.AloneControlPlane:
		if h != nil {
			return "the network path to the API of the kubeconfig was not checked: it is the management cluster's", nil
		}
	case fault.HostedControlPlane:
		if h == nil {
			return "no hosted cluster is looked at together with its management cluster (--hosted)", nil
		}
	}
	return "", nil
}

// ofAnyKubernetes are the layers of the faults that a cluster of any distribution can have: of kubelets, pods and, with Metal3,
// bare metal hosts.
var ofAnyKubernetes = []string{"kubelet", "workloads", "baremetal"}

// excludedByProduct returns why a fault does not apply to a cluster of another distribution, "" if it does.
func (e *Engine) excludedByProduct(f *fault.Fault) string {
	if e.product == "" || slices.Contains(ofAnyKubernetes, f.Layer) {
		return ""
	}
	return "this is " + e.product + " and not OpenShift"
}

// external is the topology of a cluster whose control plane runs elsewhere
// (openshift/api:config/v1/types_infrastructure.go ExternalTopologyMode).
const external = "External"

// bound has the facts of one evaluation by variable.
type bound struct {
	this          fault.This
	given         map[string]fault.FactRef // variable -> fact
	names         []string                 // its variables, sorted
	values        []facts.Value            // of the variables
	vars          map[string]any           // the variables as expressions see them; empty until one is evaluated
	notApplicable string
	excludes      []evidence.Item // what shows that it is not applicable
	err           error
}

// bind computes the facts of a fault's variables for a subject.
func (e *Engine) bind(ctx context.Context, w *facts.World, f *fault.Fault, s fault.Subject) bound {
	b := bound{given: f.Given, names: variables(f)}
	list := make([]facts.Fact, 0, len(b.names))
	for _, name := range b.names {
		fact, ok := e.facts[f.Given[name].Fact]
		if !ok {
			b.err = fmt.Errorf("fault %s: there is no fact %q", f.ID, f.Given[name].Fact)
			return b
		}
		list = append(list, fact)
	}
	b.bind(ctx, w, list, s)
	return b
}

// bind computes the facts of the variables for a subject. It stops at the first that has none.
func (b *bound) bind(ctx context.Context, w *facts.World, list []facts.Fact, s fault.Subject) {
	b.this = fault.This{Name: s.Name, Namespace: s.Namespace, Kind: string(s.Kind), Now: w.Now, Version: w.Version}
	for i := range list {
		v := w.Compute(ctx, list[i], s)
		b.values = append(b.values, v)
		if v.Err == nil {
			continue
		}
		if errors.Is(v.Err, facts.ErrNotApplicable) {
			b.notApplicable, b.excludes, _ = v.WhyNot()
		} else if _, unavailable := evidence.AsUnavailable(v.Err); !unavailable {
			b.err = fmt.Errorf("compute fact %s: %w", list[i].Name, v.Err)
		}
		if b.err != nil || b.notApplicable != "" {
			return
		}
	}
}

// variables returns what an expression sees: each fact, known or unknown as a whole, and the subject.
func (b *bound) variables() map[string]any {
	if len(b.vars) > 0 {
		return b.vars
	}
	if b.vars == nil {
		b.vars = make(map[string]any, len(b.names)+2)
	}
	b.vars["this"] = b.this
	for i, v := range b.values {
		if v.Err == nil {
			b.vars[b.names[i]] = fault.Var{Name: b.names[i], Record: v}
		} else {
			b.vars[b.names[i]] = fault.Var{Name: b.names[i]}
		}
	}
	return b.vars
}

// why returns why a name of an expression is unknown: "variable", or "variable.field".
func (b *bound) why(name string) error {
	variable, field, _ := strings.Cut(name, ".")
	i := slices.Index(b.names, variable)
	if i < 0 || i >= len(b.values) {
		return nil
	}
	return b.values[i].Why(field)
}

// reason returns why names are unknown; the first is the one that matters most.
func (b *bound) reason(names []string) string {
	var parts []string
	for _, n := range names {
		variable, _, _ := strings.Cut(n, ".")
		why := "could not be read"
		if err := b.why(n); err != nil {
			why = err.Error()
		}
		if part := b.given[variable].Fact + ": " + why; !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "; ")
}

// withheld reports whether one of the unknown names is unknown because a source refused to answer,
// or did not answer.
func (b *bound) withheld(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		u, ok := evidence.AsUnavailable(b.why(n))
		return ok && (u.Why == evidence.Forbidden || u.Why == evidence.Unreachable)
	})
}

// unread is what unknown names lack.
func (b *bound) unread(names []string) []*evidence.Unavailable {
	var list []*evidence.Unavailable
	for _, n := range names {
		if u, ok := evidence.AsUnavailable(b.why(n)); ok {
			list = append(list, u)
		}
	}
	return list
}

// evaluation is the evaluation of one fault for one subject.
type evaluation struct {
	engine *Engine
	tested *tested
	bound  bound
	used   []*expression // the expressions that decided
	hidden []string      // why it is not known when the condition began, see timeOf
	shown  []int         // room of fields
	judged bool          // the condition was evaluated: the facts have values for a title

	doubted map[string]any // the variables without what rests on lists that may lack an object, see lost
}

// begin forgets the subject before.
func (v *evaluation) begin(e *Engine, t *tested) {
	clear(v.bound.vars)
	*v = evaluation{
		engine: e, tested: t, used: v.used[:0], shown: v.shown[:0],
		bound: bound{given: t.fault.Given, names: t.given, values: v.bound.values[:0], vars: v.bound.vars},
	}
}

// fields are the indexes of the fields of the i-th variable that the expressions read. The next call
// uses the same room.
func (v *evaluation) fields(i int) []int {
	if len(v.used) == 1 {
		return v.used[0].fields[i]
	}
	v.shown = v.shown[:0]
	for _, x := range v.used {
		v.shown = append(v.shown, x.fields[i]...)
	}
	return v.shown
}

func (v *evaluation) eval(expr string) (fault.Result, error) {
	x, err := v.tested.expression(v.engine.compiler, expr)
	if err != nil {
		return fault.Result{}, err
	}
	v.used = append(v.used, x)
	return x.eval(v.tested, &v.bound)
}

func (v *evaluation) run(out *diagnosis.Finding, w *facts.World) error {
	when, err := v.eval(v.tested.fault.When)
	if err != nil {
		return err
	}
	out.Evidence = v.proof()
	if !when.Known() {
		out.Outcome = fault.Unknown
		v.tested.unknown.tell(out, v, when.Unknown)
		return nil
	}
	if out.Lost, err = v.lost(out.Evidence, w, when.True()); err != nil {
		return err
	}
	if !when.True() {
		out.Outcome = fault.Absent
		if out.Lost != nil {
			out.Outcome, out.Reason = fault.Unknown, mayBeLost(out.Lost)
		}
		return nil
	}
	out.Outcome = fault.Present
	if err := v.since(out); err != nil {
		return err
	}
	if refuted, err := v.refuted(out); err != nil || refuted {
		return err
	}
	if err := v.settles(out, w); err != nil {
		return err
	}
	if err := v.support(out); err != nil {
		return err
	}
	if out.Outcome == fault.Present && len(out.Evidence) == 0 {
		// No one could look it up: what cannot be shown is not said.
		out.Outcome, out.Reason = fault.Unknown, "the condition holds and nothing shows it"
	}
	return nil
}

func (v *evaluation) missing(names []string) []string {
	var list []string
	for _, n := range names {
		variable, _, _ := strings.Cut(n, ".")
		if fact := v.bound.given[variable].Fact; fact != "" && !slices.Contains(list, fact) {
			list = append(list, fact)
		}
	}
	return list
}

func (v *evaluation) refuted(out *diagnosis.Finding) (bool, error) {
	if v.tested.fault.Refute == "" {
		return false, nil
	}
	before := v.used
	v.used = nil
	r, err := v.eval(v.tested.fault.Refute)
	if err != nil {
		return false, err
	}
	if r.Known() && r.True() {
		out.Outcome, out.Reason = fault.Absent, "counter-evidence: "+v.tested.fault.Refute
		out.Evidence = v.proof()
		return true, nil
	}
	v.used = before
	lost := func(w evidence.Why) bool { return w == evidence.Damaged }
	if hidden := v.unreadNames(r.Unknown, lost); len(hidden) > 0 {
		out.Outcome, out.Missing = fault.Unknown, v.missing(hidden)
		out.Reason = "the condition holds; what may speak against it is not shown: " + v.bound.reason(hidden)
		return true, nil
	}
	return false, nil
}

func (v *evaluation) support(out *diagnosis.Finding) error {
	for _, s := range v.tested.fault.Support {
		r, err := v.eval(s)
		if err != nil {
			return err
		}
		if !r.Known() || !r.True() {
			continue
		}
		out.Support++
		seen, err := v.seenWithout(s)
		if err != nil {
			return err
		}
		out.Seen = out.Seen || seen
	}
	out.Evidence = v.proof()
	return nil
}

// proof collects the evidence of the fields that the expressions read, in the order in which they
// read them.
func (v *evaluation) proof() []evidence.Item {
	parts := make([][]evidence.Item, 0, len(v.tested.order))
	n := 0
	for _, i := range v.tested.order {
		if part := v.bound.values[i].Proof(v.fields(i)); len(part) > 0 {
			parts = append(parts, part)
			n += len(part)
		}
	}
	// A large cluster has hundreds of thousands of proofs: a list that is not merged is shared
	// with its fact, and no list has spare capacity.
	if len(parts) == 1 && !repeats(parts[0]) {
		return slices.Clip(parts[0])
	}
	if n == 0 {
		return nil
	}
	list := make([]evidence.Item, 0, n)
	for _, part := range parts {
		for i := range part {
			if !contains(list, &part[i]) {
				list = append(list, part[i])
			}
		}
	}
	if len(list) < n {
		list = slices.Clone(list)
	}
	return list
}

// repeats reports whether a list has the same item twice.
func repeats(list []evidence.Item) bool {
	for i := range list {
		if contains(list[:i], &list[i]) {
			return true
		}
	}
	return false
}

func contains(list []evidence.Item, item *evidence.Item) bool {
	for i := range list {
		if list[i].Locator == item.Locator && list[i].Excerpt == item.Excerpt {
			return true
		}
	}
	return false
}
