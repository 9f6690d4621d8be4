package cmdutil

import (
	"errors"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// ExitCode is what the process returns. It is the same for every output format.
type ExitCode int

// The exit codes. docs/reading-the-answer.md describes them for users.
const (
	ExitOK          ExitCode = 0   // nothing wrong
	ExitFailed      ExitCode = 1   // usage, or the tool could not do its work
	ExitFault       ExitCode = 2   // a fault at or above --fail-on
	ExitUndecided   ExitCode = 3   // an expected host or a present symptom is left without an answer
	ExitRolledBack  ExitCode = 4   // a repair failed and was rolled back
	ExitNeedsHuman  ExitCode = 5   // a repair failed and a person is needed
	ExitInterrupted ExitCode = 130 // watch: by Ctrl-C or SIGTERM, as shells count it
	ExitPartlyDone  ExitCode = 6   // a repair was done, and something that it was for is still present, or an error is new
)

// ExitError ends a command with a code. Err is printed on stderr; it is nil where
// the answer on stdout already says all.
type ExitError struct {
	Code ExitCode
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// CodeOf returns the exit code of a command's error; other is asked for those that carry none.
func CodeOf(err error, other func(error) int) ExitCode {
	var exit *ExitError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &exit):
		return exit.Code
	}
	return ExitCode(other(err))
}

// FailOnNever is the word that keeps every answer at exit code 0.
const FailOnNever = "never"

// AnswerExit returns the exit code of a diagnosis as an error, nil for 0.
//
// A fault counts for 2 when its cause is known: roots and what they explain. A
// present fault whose cause is not known is an open question, 3. With
// --fail-on never an answer never changes the code.
func AnswerExit(d *diagnosis.Diagnosis, narrowed bool, failOn string) error {
	return exitOf(d, undecided(d, narrowed), failOn)
}

func exitOf(d *diagnosis.Diagnosis, undecided bool, failOn string) error {
	switch {
	case failOn == FailOnNever:
		return nil
	case diagnose.Worst(d) >= fault.Severity(failOn).Rank():
		return &ExitError{Code: ExitFault}
	case undecided:
		return &ExitError{Code: ExitUndecided}
	}
	return nil
}

// undecided is diagnose.Undecided for an answer that may be narrowed to a subject
// which is no host: that it then lists no host is no open question.
func undecided(d *diagnosis.Diagnosis, narrowed bool) bool {
	if narrowed && len(d.Hosts) == 0 {
		copied := *d
		copied.Hosts = []diagnosis.HostState{{Expected: true, State: diagnosis.StagePassed}}
		d = &copied
	}
	return diagnose.Undecided(d)
}
