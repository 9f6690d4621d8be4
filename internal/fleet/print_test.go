package fleet

import (
	"slices"
	"testing"
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
