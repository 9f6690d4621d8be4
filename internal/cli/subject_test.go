package cli

import (
	"errors"
	"testing"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

func TestParseSubject(t *testing.T) {
	for arg, want := range map[string]string{
		"node/a": "host/a", "Nodes/a": "host/a", "bmh/a": "host/a", "machine.machine.openshift.io/a": "host/a",
		"mcp/worker": "pool/worker", "csr/csr-1": "csr/csr-1", "co/etcd": "operator/etcd",
		"node/a.example.com": "host/a.example.com", "control0": "host/control0", "w1.example.com": "host/w1.example.com",
	} {
		s, err := session.ParseSubject(arg)
		if err != nil || s.String() != want {
			t.Errorf("%s: %s, %v; want %s", arg, s, err, want)
		}
	}
	for _, arg := range []string{"", "node", "mcp", "A b", "a_b", "node/", "/a", "pod/a"} {
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
