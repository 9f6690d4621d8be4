package walls

import (
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
	for _, line := range broken(list, exceptions) {
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
		{"kernel/reader", "sanitize", ""},
		{"sanitize", "scan", ""},
		{"sanitize", "kernel/evidence", "the ground imports nothing"},
		{"scan", "text/logline", "the ground imports nothing"},
		{"kernel/fault", "text/logline", "the kernel imports nothing"},
		{"text/message", "kernel/fault", ""},
		{"text/message", "sanitize", ""},
		{"text/message", "answer", "what reads pasted text imports nothing"},
		{"facts/etcd", "text/message", "reads no pasted text"},
		{"source/paste", "text/octable", ""},
		{"answer", "text/message", ""},
		{"repair", "text/logline", ""},
		{"hostcli", "text/message", "reads no pasted text"},
		{"kernel/diagnose", "facts/etcd", "the kernel imports nothing"},
		{"kernel/diagnose", "repair", "the kernel imports nothing"},
		{"openshift", "kernel/evidence", "import nothing of ours"},
		{"page", "kernel/fault", "imports nothing of ours"},
		{"answer", "follow", "about a diagnosis alone"},
		{"answer", "watch/screen", "only the command line"},
		{"watch/screen", "answer", ""},
		{"after", "page", ""},
		{"workers/command", "follow", ""},
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
		{"kernel/diagnose", "errgroup", "crash.Group"},
		{"crash", "errgroup", ""},
		{"kernel/diagnose", "crash", ""},
	} {
		got := crossed(Import{From: c.from, To: c.to})
		if c.wall == "" && got != "" || !strings.Contains(got, c.wall) {
			t.Errorf("%s -> %s: %q, want %q", c.from, c.to, got, c.wall)
		}
	}
}

// TestExceptions: there is none. One would allow its own import only, and is an error when it is no
// longer needed.
func TestExceptions(t *testing.T) {
	if len(exceptions) > 0 {
		t.Errorf("%d exceptions: what two wings need stands below both", len(exceptions))
	}
	crossing := []Import{{From: "repair/command", To: "watch/screen", File: "f.go"}, {From: "repair", To: "watch/screen", File: "g.go"}}
	for _, c := range []struct {
		name string
		made []exception
		list []Import
		want []string
	}{
		{"no exception", nil, crossing, []string{"f.go: repair/command imports", "g.go: repair imports"}},
		{"one import is allowed", []exception{{"repair", "watch/screen", "why"}}, crossing, []string{"f.go: repair/command imports"}},
		{"it is no longer needed", []exception{{"repair", "watch/screen", "why"}}, crossing[:1], []string{"f.go: repair/command imports", "not needed any more"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := broken(c.list, c.made)
			if len(lines) != len(c.want) {
				t.Fatalf("%q, want %q", lines, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(lines[i], want) {
					t.Errorf("%q, want %q", lines[i], want)
				}
			}
		})
	}
}
