package command

import (
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/watch/smoke"
)

func TestJudgeSmoke(t *testing.T) {
	ok := smoke.Result{Node: "a", Outcome: fault.Present}
	no := smoke.Result{Node: "b", Outcome: fault.Absent, Reason: "it did not answer"}
	open := smoke.Result{Node: "c", Outcome: fault.Unknown, Reason: "no right"}
	left := smoke.Result{Node: "d", Outcome: fault.Present, Left: "ns/pod (conflict)"}
	for _, tt := range []struct {
		list []smoke.Result
		want fault.Outcome
		says string
	}{
		{nil, fault.Unknown, "no host was tried"},
		{[]smoke.Result{ok}, fault.Present, ""},
		{[]smoke.Result{ok, open}, fault.Unknown, "c: no right"},
		{[]smoke.Result{open, no}, fault.Absent, "b: it did not answer"},
		{[]smoke.Result{no, no, no, no}, fault.Absent, "and 1 more"},
		{[]smoke.Result{left}, fault.Present, "not deleted, delete by hand: ns/pod"},
	} {
		var i after.Indicator
		judgeSmoke(&i, tt.list)
		if i.Outcome != tt.want || !strings.Contains(i.Reason, tt.says) {
			t.Errorf("%v: %s %q, want %s %q", tt.list, i.Outcome, i.Reason, tt.want, tt.says)
		}
	}
}
