package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Undecided reports whether a check that could be a mistake was not run: exit code 3 where
// there is no mistake.
func Undecided(d *diagnosis.Diagnosis) bool { return slices.ContainsFunc(d.Findings, isOpen) }

func isOpen(f diagnosis.Finding) bool { return f.Outcome == fault.Unknown && f.Severity == fault.Error }

// notChecked says what the checks that could not decide lack, the reasons of most checks
// first; "" where all could.
func notChecked(d *diagnosis.Diagnosis) string {
	const named = 3
	var reasons []string
	checks := map[string]int{}
	for _, f := range d.Findings {
		if !isOpen(f) {
			continue
		}
		why := f.Reason
		if detail := f.Unread[0].Detail; detail != "" {
			why = detail
		}
		if checks[why]++; checks[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return cmp.Compare(checks[b], checks[a]) })
	if n := len(reasons) - named; n > 0 {
		word := "reasons"
		if n == 1 {
			word = "reason"
		}
		reasons = append(reasons[:named], fmt.Sprintf("and %d more %s", n, word))
	}
	return "not checked: " + strings.Join(reasons, "; ")
}

// noMistake says what was looked at, and what was not.
func noMistake(d *diagnosis.Diagnosis) string {
	var open []string
	for _, part := range []struct {
		asked evidence.Resource
		words string
	}{{evidence.BMCAnswers, "the machines"}, {evidence.NetProbes, "the network"}} {
		if !slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
			return c.Need == evidence.Objects(part.asked, "").String() && c.State == evidence.Read
		}) {
			open = append(open, part.words)
		}
	}
	if len(open) == 0 {
		return "no known mistake is in the plan, and none was found in what machines and network show"
	}
	return "no known mistake is in the plan; what only " + strings.Join(open, " and ") + " can show was not checked"
}
