package answer

import (
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Escalation says when to stop and call for support, one reason a line.
func Escalation(d *diagnosis.Diagnosis) []string {
	var list []string
	if d.Verdict.Cause == diagnosis.CauseUnknown {
		list = append(list, "Now, if nothing of what is not checked can be read: the cause is not known.")
	}
	for _, r := range d.Roots {
		remedies := r.Cases[0].Remedies
		if len(remedies) == 0 {
			list = append(list, fmt.Sprintf("Now, for %s: no remedy is known.", r.Fault))
			continue
		}
		a := remedies[0]
		if a.NeedsProof {
			list = append(list, fmt.Sprintf("If %s cannot be proven: what changes something needs a proven cause.", r.Fault))
			continue
		}
		after := ""
		if a.Verify.Takes != "" {
			after = " within twice the usual time (" + a.Verify.Takes + ")"
		}
		seen := trimStop(a.Verify.Expect)
		if a.Verify.Run != "" && !strings.Contains(a.Verify.Run, "\n") {
			seen += " (" + a.Verify.Run + ")"
		}
		list = append(list, fmt.Sprintf("If after %s this is not seen%s: %s.", a.ID, after, seen))
		switch a.Actor() {
		case fault.ByDecision:
			list = append(list, "Before the decision, if the cluster holds data that has no other copy.")
		default:
		}
	}
	return append(list, "If a step shows another result than the expected one. Stop there.")
}

func trimStop(s string) string {
	if n := len(s); n > 0 && s[n-1] == '.' {
		return s[:n-1]
	}
	return s
}
