package answer

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/page"
)

func TestBestFirst(t *testing.T) {
	items := []evidence.Item{
		answertest.Item("nodes/a", "metadata.annotations.currentConfig", "state: Degraded"),
		answertest.Item("machineconfigs", "", "no MachineConfig x among 3"),
		answertest.Logged("mcs.log", 8, "Pool master requested by address"),
		answertest.Logged("mcs.log", 9, "couldn't get config: not found"),
		answertest.Logged("mcs2.log", 9, "couldn't get config for b: not found"),
		answertest.Item("nodes/a", "metadata.annotations.reason", "configs do not match"),
	}
	var got []string
	for _, p := range bestFirst(distinct(items, false)) {
		got = append(got, p.Excerpt)
	}
	want := "couldn't get config: not found|no MachineConfig x among 3|configs do not match|state: Degraded|couldn't get config for b: not found|Pool master requested by address"
	if strings.Join(got, "|") != want {
		t.Errorf("order of proof:\n%s\nwant\n%s", strings.Join(got, "|"), want)
	}
}

// TestSqueeze: the beginning and the end of a line stay.
func TestSqueeze(t *testing.T) {
	long := "couldn't " + strings.Repeat("get the config of the pool ", 20) + `: "" not found`
	got := squeeze(long, 2, "…")
	if !strings.HasPrefix(got, "couldn't get") || !strings.HasSuffix(got, `"" not found`) || !strings.Contains(got, " … ") ||
		len(page.Break(got, page.LineRoom, page.LineRoom)) > 2 {
		t.Errorf("squeezed to %q", got)
	}
	if whole := squeeze(long, 0, "…"); whole != long {
		t.Errorf("without a limit the line is changed: %q", whole)
	}
	if huge := squeeze(strings.Repeat("a ", 1<<20), 2, "…"); len(huge) < 60 || len(page.Break(huge, page.LineRoom, page.LineRoom)) > 2 {
		t.Errorf("a line of 2 MiB is squeezed to %q", huge)
	}
	image := "registry.example.com/os@sha256:" + strings.Repeat("0a", 32)
	reason := "could not update to " + image + ": error running tool " + image + ": error: The rope is too short: " + image + " : exit status 1"
	if got := squeeze(reason, 3, "…"); !strings.Contains(got, "error: The rope is too short: ") || !strings.HasPrefix(got, "could not") {
		t.Errorf("what is behind the last error: is lost: %q", got)
	}
	if word := strings.Repeat("x", 200); squeeze(word, 1, "…") != word {
		t.Error("a word that cannot be broken is broken")
	}
}

// TestBrief: names are short in sentences and whole in proof and in wide output.
func TestBrief(t *testing.T) {
	const name = "rendered-worker-cnf-0aa1f5c2d3e4b5a697887766554433aa"
	for _, c := range []struct {
		wide bool
		want string
	}{{false, "pool x names rendered-worker-cnf-0aa1f5…, not " + name + "ff"}, {true, "pool x names " + name + ", not " + name + "ff"}} {
		x := newText(&diagnosis.Diagnosis{}, Options{Wide: c.wide})
		if got := x.o.Brief("pool x names " + name + ", not " + name + "ff"); got != c.want {
			t.Errorf("wide %v: %q, want %q", c.wide, got, c.want)
		}
	}
}

// TestWhereOfFile: a file that is a source by itself is named once.
func TestWhereOfFile(t *testing.T) {
	d := &diagnosis.Diagnosis{Source: diagnosis.Source{Name: "other.json"}}
	for want, l := range map[string]evidence.Locator{
		"c.json: clusters/7":   {Source: "c.json", Path: "c.json: clusters/7"},
		"mcp.yaml spec":        {Source: "mcp.yaml", Path: "mcp.yaml", Field: "spec"},
		"mg: nodes/m0 spec":    {Source: "mg", Path: "nodes/m0", Field: "spec"},
		"c.json: c.json.d/f:3": {Source: "c.json", Path: "c.json.d/f", Line: 3},
	} {
		if got := newText(d, Options{}).where(evidence.Item{Locator: l}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
