package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// recheckEvery is the time between two whole diagnoses after a repair.
const recheckEvery = 10 * time.Second

// recheck repeats the whole diagnosis after a run, whether it went well or not,
// and notes in the journal what it shows. A run that was refused before anything was
// begun, or before it was sure that this is the plan's cluster, has no outcome.
func (r *run) recheck(ctx context.Context, cause error) (*Outcome, error) {
	if r.journal.began() == "" || !r.sameCluster {
		return nil, cause
	}
	o := r.diagnosed(ctx)
	if ctx.Err() != nil {
		return &Outcome{State: NotChecked, Reason: "interrupted before the cluster was diagnosed again"}, errors.Join(cause, ctx.Err())
	}
	o, err := r.settled(ctx, o)
	if err != nil {
		return &o, errors.Join(cause, err)
	}
	if r.alreadyRecorded(o) {
		return &o, cause
	}
	if err := r.record(ctx, Record{Kind: Checked, Note: o.String(), Outcome: &o}); err != nil {
		return &o, errors.Join(cause, err)
	}
	return &o, cause
}

// diagnosed compares the cluster as it is now with the plan.
func (r *run) diagnosed(ctx context.Context) Outcome {
	d, err := readOrCancel(ctx, func(ctx context.Context) (*diagnosis.Diagnosis, error) { return r.Eval.Diagnose(ctx) })
	if err != nil {
		return Outcome{State: NotChecked, Reason: fmt.Sprintf("the diagnosis failed: %v", err)}
	}
	return compare(r.plan, r.end(), d, func(id string) bool { _, ok := r.Catalog.Fault(id); return ok })
}

// end is how far the plan came, by the journal.
func (r *run) end() ended {
	acted, last := false, RecordKind("")
	for _, s := range r.plan.Steps {
		acted = acted || r.journal.step(s.ID).acted()
	}
	note := ""
	for _, rec := range r.journal.records() {
		if rec.Kind != Checked {
			last, note = rec.Kind, rec.Note
		}
	}
	switch {
	case last == Finished && note == allDone:
		return endFinished
	case last == Finished:
		return endUndone
	case !acted && !r.journal.open():
		return endNothing
	}
	return endPartly
}

// operatorLag is how long an operator may still report what has ended: two minutes of inertia
// by default, and the time until it reconciles again (openshift/library-go: pkg/operator/status).
const operatorLag = 3 * time.Minute

// settled waits while effects of what was repaired are still reported: operators and
// kubelets look again at intervals. A plan with something left out does not end whole by
// waiting, but what operators still report of what it did ends by itself.
func (r *run) settled(ctx context.Context, o Outcome) (Outcome, error) {
	if r.end() != endFinished {
		return o, nil
	}
	whole, wait := r.promises(), r.Settle
	if !whole {
		wait = min(wait, operatorLag)
	}
	deadline := r.Clock.Now().Add(wait)
	for last := ""; (o.State == PartlyDone || o.State == NotChecked) && (whole || o.operatorsOnly()) && r.Clock.Now().Before(deadline); {
		if text := o.String(); text != last {
			r.say("", "the steps are done; waiting at most %s for: %s", deadline.Sub(r.Clock.Now()).Round(time.Second), text)
			last = text
		}
		if err := r.Clock.Sleep(ctx, recheckEvery); err != nil {
			return o, err
		}
		next := r.diagnosed(ctx)
		if ctx.Err() != nil {
			return o, ctx.Err()
		}
		o = next
	}
	return o, nil
}

// operatorsOnly reports whether nothing is left but what operators report.
func (o Outcome) operatorsOnly() bool {
	left := slices.Concat(o.Still, o.New, o.Unknown)
	return len(left) > 0 && len(o.Unread) == 0 && !slices.ContainsFunc(left, func(s Seen) bool { return s.Subject.Kind != fault.Operator })
}

// promises reports whether the plan claims that its root is absent at its end.
func (r *run) promises() bool {
	for _, s := range r.plan.Steps {
		if s.Action == Verify {
			return true
		}
	}
	return false
}

// alreadyRecorded reports whether the last record has the same outcome.
func (r *run) alreadyRecorded(o Outcome) bool {
	list := r.journal.records()
	last := list[len(list)-1]
	return last.Kind == Checked && last.Note == o.String()
}
