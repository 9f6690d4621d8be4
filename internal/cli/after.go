package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/report"
)

// indicators looks at the signs of success in what a run has read.
func (r *run) indicators(ctx context.Context, d *diagnosis.Diagnosis, o after.Options) ([]after.Indicator, error) {
	return after.Check(ctx, after.World(facts.NewWorld(r.reader, d.Now), d), d, o)
}

// checksAfter reports whether a run of a plan has changed something that is to be looked
// at: the after check is about the whole cluster, and not only about what the plan is for.
func checksAfter(run fixRun, o *repair.Outcome, err error) bool {
	return err == nil && o != nil && run.verb != "undo" &&
		(o.State == repair.Repaired || o.State == repair.InProgress || o.State == repair.PartlyDone)
}

// afterCheck reads the cluster again and looks at the signs of success.
func (a *app) afterCheck(ctx context.Context) (_ []after.Indicator, err error) {
	r, err := a.openRun(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := a.diagnose(ctx, r)
	if err != nil {
		return nil, err
	}
	return r.indicators(ctx, d, after.Options{Goal: after.Stable, StableFor: stableFor})
}

// printAfter prints the after check between two sections.
func (a *app) printAfter(list []after.Indicator) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.io.Out)
		return err
	}
	held := 0
	for _, i := range list {
		if i.Holds() {
			held++
		}
	}
	if _, err := fmt.Fprintln(a.io.Out); err != nil {
		return err
	}
	if err := report.Indicators(a.io.Out, fmt.Sprintf("After check: %d of %d hold", held, len(list)), list, a.style()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.io.Out)
	return err
}
