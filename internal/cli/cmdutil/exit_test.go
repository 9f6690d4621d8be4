package cmdutil

import (
	"errors"
	"fmt"
	"testing"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// failed is what commands that know no error of their own return.
func failed(error) int { return int(ExitFailed) }

// TestCodeOf: the code is in the error, however it is wrapped; any other error is for its owner.
func TestCodeOf(t *testing.T) {
	cause := errors.New("no route to host")
	for _, c := range []struct {
		name  string
		err   error
		other func(error) int
		want  ExitCode
	}{
		{"nothing", nil, failed, ExitOK},
		{"an error", cause, failed, ExitFailed},
		{"an error of a wing", cause, func(error) int { return 5 }, ExitNeedsHuman},
		{"a code", &ExitError{Code: ExitFault}, failed, ExitFault},
		{"a code with a cause", &ExitError{Code: ExitUndecided, Err: cause}, failed, ExitUndecided},
		{"wrapped", fmt.Errorf("watch: %w", &ExitError{Code: ExitInterrupted}), failed, ExitInterrupted},
		{"joined", errors.Join(cause, &ExitError{Code: ExitRolledBack}), failed, ExitRolledBack},
	} {
		if got := CodeOf(c.err, c.other); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	silent, e := &ExitError{Code: ExitFault}, &ExitError{Code: ExitFailed, Err: cause}
	if silent.Error() != "" || e.Error() != cause.Error() || !errors.Is(e, cause) {
		t.Errorf("%q, %q", silent, e)
	}
}

// TestAnswerExit holds which answers count.
func TestAnswerExit(t *testing.T) {
	root := func(s fault.Severity) *diagnosis.Diagnosis {
		return &diagnosis.Diagnosis{
			Roots: []diagnosis.Root{{Fault: "r", Severity: s, Cases: []diagnosis.Case{{Key: fault.Key{Fault: "r"}}}}},
			Hosts: []diagnosis.HostState{{Name: "a", Expected: true, State: diagnosis.StagePassed}},
		}
	}
	symptom := root(fault.Warning)
	symptom.Roots[0].Cases[0].Explains = []fault.Key{{Fault: "s"}}
	symptom.Findings = []diagnosis.Finding{{Fault: "s", Outcome: fault.Present, Severity: fault.Error}}
	open := root(fault.Info)
	open.Unexplained = []diagnosis.Unexplained{{Key: fault.Key{Fault: "u"}, Severity: fault.Error}}
	both := root(fault.Error)
	both.Unexplained = open.Unexplained
	blind := &diagnosis.Diagnosis{}
	for _, c := range []struct {
		name     string
		d        *diagnosis.Diagnosis
		narrowed bool
		failOn   string
		want     ExitCode
	}{
		{"an error", root(fault.Error), false, "error", ExitFault},
		{"a warning", root(fault.Warning), false, "error", ExitOK},
		{"a warning counts", root(fault.Warning), false, "warning", ExitFault},
		{"an info counts", root(fault.Info), false, "info", ExitFault},
		{"an error that a warning explains", symptom, false, "error", ExitFault},
		{"without a cause", open, false, "error", ExitUndecided},
		{"2 goes before 3", both, false, "error", ExitFault},
		{"never", both, false, FailOnNever, ExitOK},
		{"an answer about the cluster has to list a host", blind, false, "error", ExitUndecided},
		{"an answer about a pool lists no host", blind, true, "error", ExitOK},
		{"a sample with a cause", answertest.DesyncProven(), false, "error", ExitFault},
		{"a sample without a cause", answertest.Undecided(), false, "error", ExitUndecided},
		{"a healthy sample", answertest.Healthy(), false, "info", ExitOK},
		{"a sample that could not be read", answertest.Unreadable(), false, "error", ExitUndecided},
	} {
		before := len(c.d.Hosts)
		if got := CodeOf(AnswerExit(c.d, c.narrowed, c.failOn), failed); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
		if len(c.d.Hosts) != before {
			t.Errorf("%s: the diagnosis was changed", c.name)
		}
	}
}
