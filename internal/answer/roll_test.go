package answer

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer/answertest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// TestRollOfLongNames: no row is wider than the screen, each name stays whole, and a long one moves no column of the others.
func TestRollOfLongNames(t *testing.T) {
	const long, usual = "(1 of 1 of MachineSet ci-ln-fyvthbt-f76d1-nl2fh-worker-b, no Machine yet)", "ip-10-0-143-235.us-east-2.compute.internal"
	d := answertest.Base(answertest.Answered("control0", "master"))
	for _, name := range []string{usual, long} {
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: name, Role: "worker", Expected: true, Stage: fault.Planned, State: diagnosis.StageWaiting, Why: "it waits"})
	}
	for _, width := range []int{40, 80, 160} {
		var out bytes.Buffer
		if err := Roll(&out, d, Options{Style: page.Style{Width: width}}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); !strings.Contains(got, long) || !strings.Contains(got, usual) {
			t.Errorf("%d columns: a name is cut\n%s", width, got)
		}
		for line := range strings.Lines(out.String()) {
			if n := page.Length(strings.TrimRight(line, "\n")); width == 80 && n > width {
				t.Errorf("a line has %d columns: %s", n, line)
			}
		}
	}
}

// TestRollOfPart: where parts are missing, the list says what to get and where the rest is, and for how long nothing is
// known of a host it does not say.
func TestRollOfPart(t *testing.T) {
	const whole, next = "The whole answer: rollcall diagnose", "Next: get what would decide"
	part := answertest.Base(answertest.Answered("control0", "master"))
	part.Hosts = append(part.Hosts, diagnosis.HostState{
		Name: "control1", Role: "master", Expected: true, Stage: fault.EtcdMember, State: diagnosis.StageUnknown, Since: answertest.Noon.Add(-44 * time.Hour),
	})
	part.Verdict = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseNone, Reason: "not collected: pods"}
	part.Groups.Gaps = []diagnosis.Gap{{State: evidence.Missing, Reason: "not collected", Needs: []string{"pods -n openshift-etcd"},
		Supply: []evidence.Supply{{Kind: evidence.SupplyInspect, Resource: "pods"}}}}
	for name, tt := range map[string]struct {
		d           *diagnosis.Diagnosis
		whole, next bool
	}{
		"a part": {part, true, true}, "healthy": {answertest.Healthy(), false, false}, "settling": {answertest.Settling(), true, false},
	} {
		var out bytes.Buffer
		if err := Roll(&out, tt.d, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, whole) != tt.whole || strings.Contains(got, next) != tt.next || strings.Contains(got, "44h") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

// TestByStageNames: a reason that is said once for several hosts does not have the name of one of them.
func TestByStageNames(t *testing.T) {
	d := answertest.Base()
	for _, name := range []string{"w1.example.com", "w2.example.com"} {
		d.Hosts = append(d.Hosts, diagnosis.HostState{Name: name, Role: "worker", Expected: true, Stage: fault.StaticPods, State: diagnosis.StageWaiting,
			Why: "no mirror pod kube-apiserver-" + name})
	}
	for want, names := range map[string][]string{
		"w1.example.com, w2.example.com waiting at static-pods: no mirror pod kube-apiserver-HOST": {"w1.example.com", "w2.example.com"},
		"w1.example.com waiting at static-pods: no mirror pod kube-apiserver-w1.example.com":       {"w1.example.com"},
	} {
		d.Groups.Hosts = []diagnosis.HostGroup{{Stage: fault.StaticPods, State: diagnosis.StageWaiting, Names: names}}
		var out bytes.Buffer
		if err := Answer(&out, "text", d, Options{Style: page.Style{Width: page.NoWrap}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// TestAllReady: hosts that are Ready and of which later stages were not read do not make the others look as if they were not.
func TestAllReady(t *testing.T) {
	open := answertest.Answered("m0", "master")
	open.State = diagnosis.StageUnknown
	open.Stage = fault.EtcdMember
	list := []diagnosis.HostState{answertest.Answered("m1", "master"), answertest.Answered("m2", "master"), open}
	if got := notDone(list, "3"); open.Ready() && got != "3 of 3 Ready, 1 not checked further" {
		t.Errorf("%q", got)
	} else if !open.Ready() {
		t.Error("the host is not Ready")
	}
}
