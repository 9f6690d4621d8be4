package diagnose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// lost returns the evidence that makes it unknown whether the condition holds if an object that
// was not found was lost; nil if it is known anyway. An archive with a file for each object and no
// list of them does not show that one is missing, so a condition must not hold because of such a
// list alone. That a condition does not hold is accepted, unless another object refers to the
// missing one.
func (v *evaluation) lost(proof []evidence.Item, w *facts.World, holds bool) (*evidence.Item, error) {
	doubt := func(item evidence.Item) error {
		if item.List == nil || !holds && !item.Dangling || !w.Unlisted(context.Background(), *item.List) { // it was read: nothing is waited for
			return nil
		}
		return errors.New(mayBeLost(&item))
	}
	i := slices.IndexFunc(proof, func(item evidence.Item) bool { return doubt(item) != nil })
	if i < 0 {
		return nil, nil
	}
	v.doubted = map[string]any{"this": v.bound.this}
	for i, name := range v.tested.given {
		v.doubted[name] = v.bound.variables()[name]
		if v.bound.values[i].Err == nil {
			v.doubted[name] = fault.Var{Name: name, Record: v.bound.values[i].WithDoubt(doubt)}
		}
	}
	when, err := v.with(v.tested.fault.When, v.doubted)
	if err != nil || when.Known() {
		return nil, err
	}
	return &proof[i], nil
}

// seenWithout reports whether the support of a fault holds without the lists that may lack an
// object: the mechanism is then seen elsewhere.
func (v *evaluation) seenWithout(support string) (bool, error) {
	if v.doubted == nil {
		return true, nil
	}
	r, err := v.with(support, v.doubted)
	return err == nil && r.Known() && r.True(), err
}

// mayBeLost explains why evidence from a list is no proof.
func mayBeLost(item *evidence.Item) string {
	return fmt.Sprintf("%s: %s; the archive has a file for each and no list of them, so one may be lost", item.Locator.Path, item.Excerpt)
}

// with evaluates an expression of the fault over other variables.
func (v *evaluation) with(expr string, vars map[string]any) (fault.Result, error) {
	x, err := v.tested.expression(v.engine.compiler, expr)
	if err != nil {
		return fault.Result{}, err
	}
	r, err := x.program.Eval(vars)
	if err != nil {
		return r, fmt.Errorf("%q: %w", expr, err)
	}
	return r, nil
}
