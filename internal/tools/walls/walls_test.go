package walls

import (
	"slices"
	"strings"
	"testing"
)

// TestWalls: the imports of the tree cross no wall but for the exceptions.
func TestWalls(t *testing.T) {
	list, err := imports("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 500 {
		t.Fatalf("only %d imports were found: the tree was not read", len(list))
	}
	for _, line := range broken(list) {
		t.Error(line)
	}
}

// TestCrossed: each wall refuses what it is for, and nothing else.
func TestCrossed(t *testing.T) {
	for _, c := range []struct {
		from, to string
		wall     string // "": none
	}{
		{"kernel/diagnose", "kernel/fault", ""},
		{"kernel/diagnose", "openshift/apitypes", ""},
		{"kernel/diagnose", "facts/etcd", "the kernel imports nothing"},
		{"kernel/diagnose", "repair", "the kernel imports nothing"},
		{"openshift", "kernel/evidence", "import nothing of ours"},
		{"repair", "repair/hostscript", ""},
		{"repair", "workers", "no wing imports another"},
		{"watch/command", "repair/command", "no wing imports another"},
		{"facts/etcd", "watch", "only the command line"},
		{"session", "preflight/plan", "only the command line"},
		{"cli", "watch/command", ""},
		{"hostcli", "preflight/netcheck", ""},
		{"cmd/rollcall", "cli", ""},
		{"repair", "cli/cmdutil", "only the commands of the wings"},
		{"repair/command", "cli/cmdutil", ""},
		{"repair/command", "cli", "only the programs"},
		{"watch", "cobra", "know cobra"},
		{"watch/command", "cobra", ""},
		{"session", "cobra", "know cobra"},
	} {
		got := crossed(Import{From: c.from, To: c.to})
		if c.wall == "" && got != "" || !strings.Contains(got, c.wall) {
			t.Errorf("%s -> %s: %q, want %q", c.from, c.to, got, c.wall)
		}
	}
}

// TestExceptionsShrink: an exception that is no longer needed is an error.
func TestExceptionsShrink(t *testing.T) {
	lines := broken(nil)
	if len(lines) != len(exceptions) || slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(l, "not needed any more") }) {
		t.Errorf("%d lines for %d exceptions: %q", len(lines), len(exceptions), lines)
	}
}
