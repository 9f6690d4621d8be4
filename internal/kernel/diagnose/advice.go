package diagnose

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// advice fills in the remedies of everything without a cause of its own: the roots and the
// unexplained. What changes something is for a cause that is proven, and what cannot be planned is
// done by hand.
func (e *Engine) advice(ctx context.Context, w *facts.World, plannable Plannable, d *diagnosis.Diagnosis) error {
	for _, r := range d.Roots {
		for i := range r.Cases {
			list, err := e.advise(ctx, w, d, r.Cases[i].Key)
			if err != nil {
				return err
			}
			if r.Cases[i].Confidence != diagnosis.Proven {
				untilProven(list)
			}
			for j := range list {
				list[j].Fix = list[j].Fix && (plannable == nil || plannable(ctx, w, d, r.Cases[i].Key, list[j].ID))
			}
			r.Cases[i].Remedies = list
		}
	}
	for i := range d.Unexplained {
		list, err := e.advise(ctx, w, d, d.Unexplained[i].Key)
		if err != nil {
			return err
		}
		untilProven(list)
		d.Unexplained[i].Remedies = list
	}
	return nil
}

// untilProven leaves of each remedy what looks whether it is the right one.
func untilProven(list []fault.Advice) {
	for i := range list {
		list[i] = list[i].UntilProven()
	}
}

// advise returns the remedies of a finding, the refused ones last.
func (e *Engine) advise(ctx context.Context, w *facts.World, d *diagnosis.Diagnosis, k fault.Key) ([]fault.Advice, error) {
	f, ok := e.catalog.Fault(k.Fault)
	if !ok {
		return nil, nil
	}
	var list []fault.Advice
	for _, id := range f.Remedies {
		r, ok := e.catalog.Remedy(id)
		if !ok {
			continue
		}
		if fits, _ := applies(r.Versions, w.Version); !fits || !e.has(r.Given) {
			continue
		}
		if p := d.Cluster.Platform; p != "" && len(r.Platforms) > 0 && !slices.Contains(r.Platforms, p) {
			continue
		}
		a, err := e.fill(ctx, w, f, r, k.Subject)
		if err != nil {
			return nil, fmt.Errorf("fill remedy %s of %s for %s: %w", r.ID, f.ID, k.Subject, err)
		}
		list = append(list, a)
	}
	slices.SortStableFunc(list, func(a, b fault.Advice) int { return refusedLast(a) - refusedLast(b) })
	return list, nil
}

// has reports whether this program computes the facts: rollcall-host has those of one machine, and
// gives no remedy that needs others.
func (e *Engine) has(given map[string]fault.FactRef) bool {
	for _, g := range given {
		if _, ok := e.facts[g.Fact]; !ok {
			return false
		}
	}
	return true
}

func refusedLast(a fault.Advice) int {
	if a.Applies == fault.Absent {
		return 1
	}
	return 0
}

// fill sets the placeholders of a remedy to the facts of the subject.
func (e *Engine) fill(ctx context.Context, w *facts.World, f *fault.Fault, r *fault.Remedy, s fault.Subject) (fault.Advice, error) {
	both, err := r.Bind(f)
	if err != nil {
		return fault.Advice{}, err
	}
	vars, err := e.known(ctx, w, both, s)
	if err != nil {
		return fault.Advice{}, err
	}
	var failed error
	a := r.Fill(both, s, func(expr string) []string {
		result, err := e.result(both, expr, vars)
		if err != nil {
			failed = err
		}
		if name := e.names[f.ID][expr]; name != "" && err == nil && !result.Known() {
			return []string{name}
		}
		if err != nil || !result.Known() {
			return nil
		}
		return shown(result)
	})
	if failed != nil {
		return a, failed
	}
	a.Applies = fault.Present
	for _, q := range r.Requires {
		result, err := e.result(both, q.That, vars)
		if err != nil {
			return a, err
		}
		a.Requires = append(a.Requires, q.Says+held(result))
		switch {
		case result.Known() && !result.True():
			a.Applies = fault.Absent
		case !result.Known() && a.Applies == fault.Present:
			a.Applies = fault.Unknown
		}
	}
	return a, nil
}

func held(r fault.Result) string {
	switch {
	case !r.Known():
		return ": not known, check it first"
	case !r.True():
		return ": no"
	}
	return ": yes"
}

// known computes the facts of a remedy. One that does not apply to the subject counts as unknown:
// it fills no placeholder and meets no requirement.
func (e *Engine) known(ctx context.Context, w *facts.World, f *fault.Fault, s fault.Subject) (map[string]any, error) {
	b := bound{given: f.Given, names: variables(f)}
	for _, name := range b.names {
		fact, ok := e.facts[f.Given[name].Fact]
		if !ok {
			return nil, fmt.Errorf("there is no fact %q", f.Given[name].Fact)
		}
		b.bind(ctx, w, []facts.Fact{fact}, s)
		if b.err != nil {
			return nil, b.err
		}
		b.notApplicable = ""
	}
	return b.variables(), nil
}

func (e *Engine) result(f *fault.Fault, expr string, vars map[string]any) (fault.Result, error) {
	p, err := e.compiler.Compile(f, expr)
	if err != nil {
		return fault.Result{}, err
	}
	return p.Eval(vars)
}

// shown returns the values of a placeholder, nil if there are none.
func shown(r fault.Result) []string {
	switch v := r.Value.Value().(type) {
	case []string:
		return v
	case time.Time:
		if v.IsZero() {
			return nil
		}
	}
	if text := fault.Show(r); text != "" {
		return []string{text}
	}
	return nil
}
