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
)

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
		d    *diagnosis.Diagnosis
		open bool
	}{
		"a part": {part, true}, "healthy": {answertest.Healthy(), false}, "settling": {answertest.Settling(), false},
	} {
		var out bytes.Buffer
		if err := Roll(&out, tt.d, Options{}); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); strings.Contains(got, whole) != tt.open || strings.Contains(got, next) != tt.open || strings.Contains(got, "44h") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
