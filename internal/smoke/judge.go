package smoke

import (
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Title is what a try shows.
const Title = "a new pod on each of these hosts runs and answers"

// NewRun names a run of tries, so that pods of two runs have different names.
func NewRun() string { return strings.ToLower(rand.Text()[:6]) }

// Judge makes one outcome of the tries: absent where one pod did not answer.
func Judge(list []Result) (outcome fault.Outcome, reason string) {
	outcome = fault.Present
	if len(list) == 0 {
		return fault.Unknown, "no host was tried"
	}
	var reasons, left []string
	for _, r := range list {
		switch {
		case r.Outcome == fault.Absent:
			outcome = fault.Absent
		case r.Outcome == fault.Unknown && outcome == fault.Present:
			outcome = fault.Unknown
		}
		if r.Outcome != fault.Present {
			reasons = append(reasons, r.Node+": "+r.Reason)
		}
		if r.Left != "" {
			left = append(left, r.Left)
		}
	}
	const named = 3
	if n := len(reasons) - named; n > 0 {
		reasons = append(reasons[:named], fmt.Sprintf("and %d more", n))
	}
	if len(left) > 0 {
		reasons = append(reasons, "not deleted, delete by hand: "+strings.Join(left, ", "))
	}
	return outcome, strings.Join(reasons, "; ")
}
