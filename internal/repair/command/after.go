package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// checksAfter reports whether a run of a plan has changed something that is to be looked
// at: the after check is about the whole cluster, and not only about what the plan is for.
func checksAfter(run fixRun, o *repair.Outcome, err error) bool {
	return err == nil && o != nil && run.verb != "undo" && !run.more &&
		(o.State == repair.Repaired || o.State == repair.InProgress || o.State == repair.PartlyDone)
}

// untilPlan is the word of --until that ends a repair when what the plan is for is gone;
// after.Stable is the other one.
const untilPlan = "plan"

// afterEvery is the time between two after checks. A check that takes long is repeated
// less often.
const afterEvery = 15 * time.Second

// afterWait is the after check of a repair: it waits until every sign of success holds.
type afterWait struct {
	limit time.Duration // how long it waits; 0: it looks once
	check func(context.Context) ([]after.Indicator, error)
	now   func() time.Time
	sleep func(context.Context, time.Duration) error
	say   func(text string)
}

// afterWait returns how the after check of a run is made: for as long as effects may still
// be reported (--wait), and for as long again as operators are to be at rest.
func (a *app) afterWait(run fixRun, o *repair.Outcome) afterWait {
	w := afterWait{check: a.afterCheck, now: time.Now, sleep: repair.SystemClock{}.Sleep, say: func(string) {}}
	if run.until == string(after.Stable) && run.wait > 0 && passes(o) {
		w.limit = run.wait + after.StableFor
	}
	if say := a.sayStep(); say != nil {
		w.say = func(text string) { say("after check", text) }
	}
	return w
}

// passes reports whether it may help to wait: where a cause stands that the plan is not
// for, it does not. What operators report of it passes.
func passes(o *repair.Outcome) bool {
	return o.ExitCode() == int(cmdutil.ExitOK) && !slices.ContainsFunc(o.Others, func(s repair.Seen) bool { return s.Subject.Kind != fault.Operator })
}

// run returns the newest signs, and why there are none.
func (w afterWait) run(ctx context.Context) ([]after.Indicator, error) {
	end := w.now().Add(w.limit)
	for last := ""; ; {
		began := w.now()
		list, err := w.check(ctx)
		pause := max(afterEvery, 3*w.now().Sub(began))
		if after.AllHold(list) || w.now().Add(pause).After(end) {
			return list, err
		}
		if text := notHeld(list, err); text != last {
			w.say(fmt.Sprintf("waiting at most %s for: %s", end.Sub(w.now()).Round(time.Second), text))
			last = text
		}
		if w.sleep(ctx, pause) != nil {
			return list, err // interrupted: what was seen last counts
		}
	}
}

// notHeld names the signs that do not hold, with the reason.
func notHeld(list []after.Indicator, err error) string {
	if err != nil {
		return err.Error()
	}
	var open []string
	for _, i := range list {
		if !i.Holds() {
			open = append(open, strings.TrimSuffix(fmt.Sprintf("%s (%s)", i.ID, i.Reason), " ()"))
		}
	}
	return strings.Join(open, ", ")
}

// codeAfter is the exit code of a repair whose steps ended well: 0 where every sign holds, 2
// where an error is present that the plan is not for, else 3.
func codeAfter(list []after.Indicator, err error) cmdutil.ExitCode {
	switch {
	case err == nil && after.AllHold(list):
		return cmdutil.ExitOK
	case slices.ContainsFunc(list, func(i after.Indicator) bool { return i.ID == after.NoFault && i.Outcome == fault.Absent }):
		return cmdutil.ExitFault
	}
	return cmdutil.ExitUndecided
}

// afterCheck reads the cluster again and looks at the signs of success.
func (a *app) afterCheck(ctx context.Context) (_ []after.Indicator, err error) {
	r, err := a.session().Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return nil, err
	}
	return after.Check(ctx, after.World(r.World(d.Now), d), d, after.Options{Goal: after.Stable, StableFor: after.StableFor})
}

// printAfter prints the after check between two sections.
func (a *app) printAfter(list []after.Indicator) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.IO.Out)
		return err
	}
	held := 0
	for _, i := range list {
		if i.Holds() {
			held++
		}
	}
	if _, err := fmt.Fprintln(a.IO.Out); err != nil {
		return err
	}
	if err := after.Write(a.IO.Out, fmt.Sprintf("After check: %d of %d hold", held, len(list)), list, a.Style()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(a.IO.Out)
	return err
}
