// Package check is what the checks of a preflight have in common: what a check is, what it
// finds, and how the checks of one area share what they read.
//
// Invariants:
//   - A check finds problems, finds none, does not know, or has no meaning for what was given.
//     What could not be read is never "none".
//   - Each problem has a piece of evidence: the place, what is wrong there, what to write.
package check

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Check is one thing that can be wrong with a plan, or with the network and the machines that
// it needs. What that means, its remedies and its sources are the page of the catalog with the
// same id.
type Check struct {
	ID    string
	Area  string          // names what it is computed with in the reason of an unknown result: plan-file
	Needs []evidence.Need // what it reads
	Run   func(ctx context.Context, w *facts.World) (Result, error)
}

// Result is what a check found.
type Result struct {
	Outcome  fault.Outcome
	Names    []string              // what has the problem, as the title of the page names it; of many the first ones
	Evidence []evidence.Item       // one for each problem
	Reason   string                // why it is unknown or not applicable
	Unread   *evidence.Unavailable // of an unknown result: what it lacks
}

// Fields lead from an area to what each of its checks found, by the ids of the checks.
type Fields[T any] map[string]func(*T) *Problems

// Area makes the checks of which one function finds the problems: it is called once for all
// of them. An error of read that is an *evidence.Unavailable makes all of them unknown, one of
// NotApplicable gives none of them a meaning; every other error is a defect.
func Area[T any](name string, needs []evidence.Need, read func(context.Context, *facts.World) (T, error), fields Fields[T]) []Check {
	list := make([]Check, 0, len(fields))
	for _, id := range slices.Sorted(maps.Keys(fields)) {
		run := func(ctx context.Context, w *facts.World) (Result, error) {
			found, err := facts.Memo(ctx, w, "preflight."+name, func(ctx context.Context, w *facts.World) (*T, error) {
				found, err := read(ctx, w)
				return &found, err
			})
			none, notApplicable := errors.AsType[*notApplicableError](err)
			unread, unavailable := evidence.AsUnavailable(err)
			switch {
			case notApplicable:
				return Result{Outcome: fault.NotApplicable, Reason: none.why}, nil
			case unavailable:
				return Result{Outcome: fault.Unknown, Reason: name + ": " + err.Error(), Unread: unread}, nil
			case err != nil:
				return Result{}, fmt.Errorf("check %s: %w", id, err)
			}
			return fields[id](found).result(name), nil
		}
		list = append(list, Check{ID: id, Area: name, Needs: needs, Run: run})
	}
	return list
}

// notApplicableError says why checks have no meaning for what was given.
type notApplicableError struct{ why string }

func (e *notApplicableError) Error() string { return "not applicable: " + e.why }

// NotApplicable returns the error of an area whose checks have no meaning for what was given.
func NotApplicable(format string, args ...any) error {
	return &notApplicableError{fmt.Sprintf(format, args...)}
}

// IsNotApplicable reports whether an error is one of NotApplicable.
func IsNotApplicable(err error) bool {
	_, is := errors.AsType[*notApplicableError](err)
	return is
}
