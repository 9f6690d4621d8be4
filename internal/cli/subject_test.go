package cli

import (
	"errors"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func TestParseSubject(t *testing.T) {
	for arg, want := range map[string]string{
		"node/a": "host/a", "Nodes/a": "host/a", "bmh/a": "host/a", "machine.machine.openshift.io/a": "host/a",
		"mcp/worker": "pool/worker", "csr/csr-1": "csr/csr-1", "co/etcd": "operator/etcd",
		"node/a.example.com": "host/a.example.com",
	} {
		s, err := session.ParseSubject(arg)
		if err != nil || s.String() != want {
			t.Errorf("%s: %s, %v; want %s", arg, s, err, want)
		}
	}
	for _, arg := range []string{"", "a", "node/", "/a", "pod/a"} {
		if s, err := session.ParseSubject(arg); err == nil {
			t.Errorf("%q is taken for %s", arg, s)
		}
	}
}

// TestExitCodes is the one table of the codes.
func TestExitCodes(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want cmdutil.ExitCode
	}{
		"nothing":     {nil, 0},
		"an error":    {errors.New("x"), 1},
		"usage":       {session.Usagef("x"), 1},
		"fault":       {&cmdutil.ExitError{Code: cmdutil.ExitFault}, 2},
		"undecided":   {&cmdutil.ExitError{Code: cmdutil.ExitUndecided}, 3},
		"rolled back": {&repair.RolledBack{}, 4},
		"a person":    {&repair.NeedPerson{}, 5},
		"refused":     {&repair.Refused{}, 5},
	} {
		if got := cmdutil.CodeOf(c.err, repair.ExitCode); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
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
	for _, c := range []struct {
		name   string
		d      *diagnosis.Diagnosis
		failOn string
		want   cmdutil.ExitCode
	}{
		{"an error", root(fault.Error), "error", 2},
		{"a warning", root(fault.Warning), "error", 0},
		{"a warning counts", root(fault.Warning), "warning", 2},
		{"an info counts", root(fault.Info), "info", 2},
		{"an error that a warning explains", symptom, "error", 2},
		{"without a cause", open, "error", 3},
		{"2 goes before 3", both, "error", 2},
		{"never", both, "never", 0},
	} {
		if got := cmdutil.CodeOf(cmdutil.AnswerExit(c.d, false, c.failOn), repair.ExitCode); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	blind := &diagnosis.Diagnosis{}
	if cmdutil.CodeOf(cmdutil.AnswerExit(blind, false, "error"), repair.ExitCode) != cmdutil.ExitUndecided || cmdutil.CodeOf(cmdutil.AnswerExit(blind, true, "error"), repair.ExitCode) != cmdutil.ExitOK {
		t.Error("an answer about a pool lists no host; an answer about the cluster has to")
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"csr-client-pending", "etcd-no-quorum"}
	for word, want := range map[string]string{
		"csr-client-pendin": " (did you mean csr-client-pending?)", "quorum": " (did you mean etcd-no-quorum?)", "zzzzzzzz": "",
	} {
		if got := suggest.DidYouMean(word, known); got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"./mg.tar.gz": "./mg.tar.gz", "a b": "'a b'", "": "''", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := shellcommand.Quote(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
