package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// plan is the kind of a source that is the plan of an installation: none of its hosts could have
// answered.
const plan = "plan"

// ofPlan drops gaps that a plan cannot fill: objects of a cluster that does not exist yet. What
// was not asked of its network and machines is a gap.
func ofPlan(list []evidence.Coverage) []evidence.Coverage {
	return slices.DeleteFunc(list, func(c evidence.Coverage) bool {
		return c.State == evidence.Missing && !slices.ContainsFunc([]evidence.Resource{evidence.Plans, evidence.BMCAnswers, evidence.NetProbes},
			func(r evidence.Resource) bool { return c.Need == evidence.Objects(r, "").String() })
	})
}

// noMistake returns what a preflight checked, and what it did not.
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

// notChecked returns what the undecided checks of a plan lack, the reasons of most checks first.
// The answer is then never healthy: what was not read can be a mistake.
func notChecked(d *diagnosis.Diagnosis) []string {
	const named = 3
	var reasons []string
	checks := map[string]int{}
	for _, f := range openErrors(d) {
		why := f.Reason
		if len(f.Unread) > 0 && f.Unread[0].Detail != "" {
			why = f.Unread[0].Detail
		}
		if checks[why]++; checks[why] == 1 {
			reasons = append(reasons, why)
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return checks[b] - checks[a] })
	if n := len(reasons) - named; n > 0 {
		word := "reasons"
		if n == 1 {
			word = "reason"
		}
		reasons = append(reasons[:named], fmt.Sprintf("and %d more %s", n, word))
	}
	return []string{"not checked: " + strings.Join(reasons, "; ")}
}

// onlyNotChecked reports a plan without a present fault of which some checks did not run.
func onlyNotChecked(d *diagnosis.Diagnosis, open []diagnosis.Question) bool {
	return d.Source.Kind == plan && len(d.Roots)+len(d.Unexplained)+len(d.Accepted) == 0 && len(open) == len(notChecked(d))
}

// unread returns what unknown names lack.
func (b *bound) unread(names []string) []*evidence.Unavailable {
	var list []*evidence.Unavailable
	for _, n := range names {
		if u, ok := evidence.AsUnavailable(b.why(n)); ok {
			list = append(list, u)
		}
	}
	return list
}
