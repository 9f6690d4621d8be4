package repair

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/statedir"
)

// Refused is the error of a step that was not done. Nothing was written for it.
type Refused struct {
	Step   string
	Reason string
	WayOut string // what can be done instead; empty where nothing is known
}

// Error implements error.
func (r *Refused) Error() string {
	s := r.Reason
	if r.Step != "" {
		s = "step " + r.Step + " refused: " + s
	}
	if r.WayOut != "" {
		s += "; " + r.WayOut
	}
	return s
}

func refuse(format string, args ...any) *Refused {
	return &Refused{Reason: fmt.Sprintf(format, args...)}
}

func (r *Refused) instead(format string, args ...any) *Refused {
	r.WayOut = fmt.Sprintf(format, args...)
	return r
}

// RolledBack is the error of a repair that failed and was undone whole. The command ends with 4.
type RolledBack struct {
	Cause error
	Steps []string // undone, in the order in which it was done
}

// Error implements error.
func (r *RolledBack) Error() string {
	return fmt.Sprintf("repair failed and was rolled back (%s): %v", strings.Join(r.Steps, ", "), r.Cause)
}

// Unwrap returns the cause.
func (r *RolledBack) Unwrap() error { return r.Cause }

// NeedPerson is the error of a repair that stopped and for which a person has to decide. The
// command ends with 5.
type NeedPerson struct {
	Cause error
	Left  []string // what was done and stays, with the reason
	Back  []string // what was undone
}

// Error implements error.
func (n *NeedPerson) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a person is needed: %v", n.Cause)
	if len(n.Back) > 0 {
		fmt.Fprintf(&b, "; undone: %s", strings.Join(n.Back, ", "))
	}
	if len(n.Left) > 0 {
		fmt.Fprintf(&b, "; stays: %s", strings.Join(n.Left, "; "))
	}
	return b.String()
}

// Unwrap returns the cause.
func (n *NeedPerson) Unwrap() error { return n.Cause }

// Exit codes of a repair (docs/commands.md lists them all).
const (
	exitNotChecked = 3
	exitRolledBack = 4
	exitNeedPerson = 5
	exitPartlyDone = 6
)

// ExitCode maps the outcome of a run that ended without an error to the exit code of
// the command. What is in progress is normal until its time.
func (o *Outcome) ExitCode() int {
	switch o.State {
	case Repaired, InProgress, Undone, NothingDone:
		return 0
	case PartlyDone:
		return exitPartlyDone
	}
	return exitNotChecked
}

// ExitCode maps an error of Apply, Resume or Undo to the exit code of the
// command: 0 for nil, 4, 5, and 1 for what is neither (a usage or tool error).
func ExitCode(err error) int {
	var back *RolledBack
	var person *NeedPerson
	var refused *Refused
	var unsafe *statedir.UnsafeError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &back):
		return exitRolledBack
	case errors.As(err, &person), errors.As(err, &refused), errors.As(err, &unsafe):
		return exitNeedPerson
	}
	return 1
}
