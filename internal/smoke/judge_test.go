package smoke

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

func TestJudge(t *testing.T) {
	ok := Result{Node: "a", Outcome: fault.Present}
	no := Result{Node: "b", Outcome: fault.Absent, Reason: "it did not answer"}
	open := Result{Node: "c", Outcome: fault.Unknown, Reason: "no right"}
	left := Result{Node: "d", Outcome: fault.Present, Left: "ns/pod (conflict)"}
	for _, tt := range []struct {
		list []Result
		want fault.Outcome
		says string
	}{
		{nil, fault.Unknown, "no host was tried"},
		{[]Result{ok}, fault.Present, ""},
		{[]Result{ok, open}, fault.Unknown, "c: no right"},
		{[]Result{open, no}, fault.Absent, "b: it did not answer"},
		{[]Result{no, no, no, no}, fault.Absent, "and 1 more"},
		{[]Result{left}, fault.Present, "not deleted, delete by hand: ns/pod"},
	} {
		if got, reason := Judge(tt.list); got != tt.want || !strings.Contains(reason, tt.says) {
			t.Errorf("%v: %s %q, want %s %q", tt.list, got, reason, tt.want, tt.says)
		}
	}
}
