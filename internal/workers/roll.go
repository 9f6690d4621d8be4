package workers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Move replaces one worker by another one.
type Move struct {
	Old    string
	OldRun *Runner // the run that made the old one
	New    string  // of the run that replaces
}

// RollOptions say how many workers are replaced at once, and when it stops.
type RollOptions struct {
	MaxSurge       int                         // new workers before old ones go
	MaxUnavailable int                         // Ready Nodes that may be missing meanwhile
	JoinTimeout    time.Duration               // for the new workers of one step
	Drain          Drain                       // KeepAtLeast is a floor of its own
	Healthy        func(context.Context) error // before each step: why nothing may be taken away now
}

// Check refuses what would never do a step.
func (o RollOptions) Check() error {
	switch {
	case o.MaxSurge < 0 || o.MaxUnavailable < 0:
		return errors.New("--max-surge and --max-unavailable are not negative")
	case o.MaxSurge == 0 && o.MaxUnavailable == 0:
		return errors.New("with --max-surge 0 and --max-unavailable 0 no worker can be replaced")
	}
	return nil
}

// stoppedError says why a rolling replacement stopped, and how far it came.
type stoppedError struct {
	Done, All int
	Err       error
}

// Error implements error.
func (e *stoppedError) Error() string {
	return fmt.Sprintf("stopped after %d of %d replacements: %v", e.Done, e.All, e.Err)
}

// Unwrap returns the reason.
func (e *stoppedError) Unwrap() error { return e.Err }

// Roll replaces workers step by step: with a surge the new ones of a step first, and the old
// ones when those are Ready; without one the old ones first. The Ready Nodes are never fewer
// than at the beginning less MaxUnavailable. It stops at the first that fails, and what was not
// begun stays as it is. What an earlier call has done is not done again.
func (r *Runner) Roll(ctx context.Context, c Cluster, moves []Move, o RollOptions) error {
	if err := o.Check(); err != nil {
		return err
	}
	ready, err := c.ReadyNodes(ctx)
	if err != nil {
		return fmt.Errorf("count the Nodes that are Ready: %w", err)
	}
	// An earlier call may have added its surge already: those are no part of what was there.
	begun := 0
	for _, m := range moves {
		if slices.Contains(ready, m.New) && m.OldRun.step(m.Old) != Out {
			begun++
		}
	}
	floor := max(o.Drain.KeepAtLeast, len(ready)-begun-o.MaxUnavailable)
	size := o.MaxSurge
	if size == 0 {
		size = o.MaxUnavailable
	}
	done := 0
	for step := range slices.Chunk(moves, size) {
		if err := r.rollStep(ctx, c, step, o, floor); err != nil {
			return &stoppedError{done, len(moves), err}
		}
		done += len(step)
		r.report("replacement", "%d of %d workers are replaced", done, len(moves))
	}
	return nil
}

func (r *Runner) rollStep(ctx context.Context, c Cluster, moves []Move, o RollOptions, floor int) error {
	if o.Healthy != nil {
		if err := o.Healthy(ctx); err != nil {
			return err
		}
	}
	if o.MaxSurge > 0 {
		if err := r.add(ctx, moves, o.JoinTimeout); err != nil {
			return err
		}
	}
	for _, m := range moves {
		if m.OldRun.step(m.Old) == Out {
			continue
		}
		d := o.Drain
		d.KeepAtLeast = floor
		if err := m.OldRun.Remove(ctx, c, m.Old, d); err != nil {
			return fmt.Errorf("%s: %w", m.Old, err)
		}
	}
	if o.MaxSurge == 0 {
		return r.add(ctx, moves, o.JoinTimeout)
	}
	return nil
}

// add makes the new workers of a step and waits for them.
func (r *Runner) add(ctx context.Context, moves []Move, limit time.Duration) error {
	list := slices.DeleteFunc(r.Journal.Statuses(), func(s Status) bool {
		return !slices.ContainsFunc(moves, func(m Move) bool { return m.New == s.Worker.Name })
	})
	made := r.each(list, func(s Status) error {
		if s.Step != Planned && s.Step != MayBe {
			return nil
		}
		return r.create(ctx, s)
	})
	if made != nil {
		return made
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return r.Join(ctx)
}

// step is how far a worker of the run came.
func (r *Runner) step(name string) Step {
	for _, s := range r.Journal.Statuses() {
		if s.Worker.Name == name {
			return s.Step
		}
	}
	return ""
}
