package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Undo undoes what a plan did, last step first, as long as nothing depends
// on it. It returns *NeedPerson where something has to stay.
func (e *Executor) Undo(ctx context.Context, id string) (o *Outcome, err error) {
	r, err := e.open(id)
	if err != nil {
		return nil, err
	}
	defer func() { err = closed(err, r.journal) }()
	return r.recheck(ctx, r.undo(ctx))
}

func (r *run) undo(ctx context.Context) error {
	if err := r.ofThisCluster(ctx); err != nil {
		return err
	}
	_, left, err := r.undoSteps(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return &NeedPerson{Cause: errors.New("not everything can be undone"), Left: left}
	}
	return r.record(ctx, Record{Kind: Finished, Note: "undone"})
}

// undoSteps undoes the steps that acted. A step that must stay does not keep
// earlier ones from being undone: each judges its own dependants.
func (r *run) undoSteps(ctx context.Context) (back, left []string, err error) {
	for _, s := range slices.Backward(r.plan.Steps) {
		st := r.journal.step(s.ID)
		if st.intent == nil || st.undone {
			continue
		}
		if st.result == nil {
			happened, err := r.settle(ctx, s, *st.intent.Write)
			if err != nil {
				return back, left, err
			}
			if !happened {
				continue
			}
			st = r.journal.step(s.ID)
		}
		why, err := r.undoStep(ctx, s, *st.result.Write)
		if err != nil {
			return back, left, err
		}
		if why != "" {
			left = append(left, s.ID+": "+why)
			r.say(s.ID, "stays: %s", why)
			continue
		}
		back = append(back, s.ID)
		r.say(s.ID, "undone")
	}
	return back, left, nil
}

// undoStep undoes one write, or returns why it stays.
func (r *run) undoStep(ctx context.Context, s Step, w Write) (string, error) {
	a, ok := actionOf(s.Action)
	if !ok {
		return "", fmt.Errorf("step %s: there is no action %q", s.ID, s.Action)
	}
	for range maxTries {
		have, content, err := r.digestOf(ctx, w)
		if err != nil {
			return "", err
		}
		if have == w.Before { // an undo that was killed after its write, or someone else did it
			return "", r.record(ctx, Record{Kind: UndoResult, Step: s.ID, Note: "found undone"})
		}
		if why, err := a.dependants(ctx, r.env(), s, w); err != nil || why != "" {
			return why, err
		}
		if have != w.After {
			return fmt.Sprintf("%s was changed since by %s", w.Target, lastManager(content, w.Fields)), nil
		}
		err = r.writeInverse(ctx, s, w, content)
		if !isConflict(err) {
			return "", err
		}
	}
	return fmt.Sprintf("%s is being written so often that the inverse never fits", w.Target), nil
}

// writeInverse writes the pre-image back, or deletes what was created.
func (r *run) writeInverse(ctx context.Context, s Step, w Write, content Object) error {
	do, err := r.inverseOf(w, content)
	if err != nil {
		return err
	}
	if err := do(ctx, true); err != nil {
		return rejected(w.Target, "the server refuses the inverse (tried without keeping it)", err)
	}
	if r.journal.step(s.ID).undoIntent == nil {
		if err := r.record(ctx, Record{Kind: UndoIntent, Step: s.ID, Write: &w}); err != nil {
			return err
		}
	}
	r.at(s.ID, "before inverse")
	err = do(ctx, false)
	r.at(s.ID, "after inverse")
	if err != nil {
		return rejected(w.Target, "the server refused the inverse", err)
	}
	return r.record(ctx, Record{Kind: UndoResult, Step: s.ID})
}

func (r *run) inverseOf(w Write, content Object) (func(context.Context, bool) error, error) {
	absent, err := digestFields(nil, nil)
	if err != nil {
		return nil, err
	}
	if w.Before == absent {
		uid, version := stringAt(content, "metadata", "uid"), stringAt(content, "metadata", "resourceVersion")
		return func(ctx context.Context, dryRun bool) error { return r.API.Delete(ctx, w.Target, uid, version, dryRun) }, nil
	}
	raw, err := r.Store.Get(w.PreImage)
	if err != nil {
		return nil, fmt.Errorf("read pre-image of %s: %w", w.Target, err)
	}
	set := map[string]any{}
	if err := json.Unmarshal(raw, &set); err != nil {
		return nil, fmt.Errorf("parse pre-image of %s: %w", w.Target, err)
	}
	patch, err := setPatch(content, w.Fields, set)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, dryRun bool) error {
		_, err := r.API.Patch(ctx, w.Target, w.Sub, patch, dryRun)
		return err
	}, nil
}

// failed decides what a failure means: a refusal leaves everything as it is, a
// wait that was too short waits for a person, and an act that did not do what it
// was for is rolled back.
func (r *run) failed(ctx context.Context, s Step, cause error) error {
	var refused *Refused
	if errors.As(cause, &refused) && refused.Step == "" {
		refused.Step = s.ID
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted at step %s; continue with `rollcall fix resume %s` or undo it with `rollcall fix undo %s`: %w", s.ID, r.plan.ID,
			r.plan.ID, cause)
	}
	if err := r.record(ctx, Record{Kind: Stopped, Step: s.ID, Note: cause.Error()}); err != nil {
		return errors.Join(cause, err)
	}
	var tooLate *late
	a, _ := actionOf(s.Action)
	if !errors.As(cause, &tooLate) || !a.rollback {
		return r.stopped(cause)
	}
	back, left, err := r.undoSteps(ctx)
	if err != nil {
		return &NeedPerson{Cause: errors.Join(cause, err), Back: back, Left: left}
	}
	if len(left) > 0 {
		return &NeedPerson{Cause: cause, Back: back, Left: left}
	}
	if err := r.record(ctx, Record{Kind: Finished, Note: "rolled back"}); err != nil {
		return errors.Join(cause, err)
	}
	return &RolledBack{Cause: cause, Steps: back}
}

// stopped reports a stop without rollback. With nothing written it is a plain refusal.
func (r *run) stopped(cause error) error {
	var left []string
	for _, s := range r.plan.Steps {
		if r.journal.step(s.ID).acted() {
			left = append(left, s.ID+": `rollcall fix resume "+r.plan.ID+"` continues, `rollcall fix undo "+r.plan.ID+"` undoes it where that is possible")
		}
	}
	if len(left) == 0 {
		return cause
	}
	return &NeedPerson{Cause: cause, Left: left}
}
