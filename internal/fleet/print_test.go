package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/page"
)

// TestReasons holds that a row does not say its state twice, and never says nothing.
func TestReasons(t *testing.T) {
	l := Look{}
	for name, c := range map[string]struct {
		of   Result
		want []string
	}{
		"the column says it": {Result{State: Undecided, Headline: "UNDECIDED", Reason: "no host was checked"}, []string{"no host was checked"}},
		"a longer headline":  {Result{State: InProgress, Headline: "IN PROGRESS, AS EXPECTED", Reason: "for 5m"}, []string{"for 5m"}},
		"another headline": {Result{State: Undecided, Headline: "TOO LITTLE COLLECTED", Reason: "no Nodes"},
			[]string{"TOO LITTLE COLLECTED: no Nodes"}},
		"no reason": {Result{State: Undecided, Headline: "UNDECIDED"}, []string{"UNDECIDED"}},
		"an error":  {Result{State: NotRead, Error: "open it:\n no such file"}, []string{"open it: no such file"}},
		"causes": {Result{State: Broken, Headline: "BROKEN", Causes: []Cause{{Fault: "a", Title: "A", Confidence: "proven"}}, Open: []string{"B"}},
			[]string{"A (a, proven); 1 more"}},
	} {
		if got := reasons(c.of, l); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLongNames: a row of a cluster with a long name fits the screen, and the name is whole.
func TestLongNames(t *testing.T) {
	long := "must-gather.local." + strings.Repeat("7", 60)
	r := Report{Counts: map[State]int{Quiet: 2}, Clusters: []Result{{Name: "short", State: Quiet, Hosts: 3, Done: 3}, {Name: long, State: Quiet, Hosts: 5, Done: 4}}}
	var b strings.Builder
	if err := Text(&b, r, Look{Style: page.Style{Width: 80}}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if page.Length(strings.TrimRight(line, "\n")) > 80 && strings.TrimSpace(strings.TrimLeft(line, "✓ ")) != long {
			t.Errorf("%q is wider than the screen", line)
		}
	}
	if !strings.Contains(b.String(), long) || !strings.Contains(b.String(), "4 of 5") {
		t.Errorf("the name or its row is missing:\n%s", b.String())
	}
}
