package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
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

// escalate says on the screen when to stop and call, and what to send, where an answer needs that: no
// cause of an error is known, or what comes next gives something up.
func (t *text) escalate() {
	when := escalatesWhen(t.d)
	if when == "" {
		return
	}
	t.Blank()
	t.Lead(0, page.Bold.Span("Stop and call support "), "  ", page.Plain, when+" ("+t.o.know("explain escalation")+"). Attach what this saves:", 0)
	t.Line(2, page.Cyan.Span(t.o.Again("collect")))
}

// escalatesWhen is when to stop and call, "" for an answer that needs no word about it. A text is
// no cluster that support could look at.
func escalatesWhen(d *diagnosis.Diagnosis) string {
	if d.Source.Kind != "live" && d.Source.Kind != "archive" && d.Source.Kind != "must-gather" {
		return ""
	}
	for _, r := range d.Roots {
		i := r.Cases[0].FirstRemedy()
		if i < 0 {
			continue
		}
		if a := r.Cases[0].Remedies[i]; a.By == fault.ByDecision && (a.Risk == fault.RiskDataLoss || a.Recovery != "") {
			return "before the decision, if the cluster holds data that has no other copy"
		}
	}
	if len(d.Roots) == 0 && slices.ContainsFunc(d.Unexplained, func(u diagnosis.Unexplained) bool { return u.Severity == fault.Error }) {
		return "if nothing more can be read and the cause stays unknown"
	}
	return ""
}

func trimStop(s string) string {
	if n := len(s); n > 0 && s[n-1] == '.' {
		return s[:n-1]
	}
	return s
}
