package report

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/diagnosis"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// What decides nothing is counted; what is normal until a deadline, or accepted, stays.
func TestFindings(t *testing.T) {
	all := []diagnosis.Finding{
		{Fault: "a", Outcome: fault.Present}, {Fault: "b", Outcome: fault.Absent}, {Fault: "c", Outcome: fault.Unknown},
		{Fault: "d", Outcome: fault.NotApplicable}, {Fault: "e", Outcome: fault.Absent, Until: time.Unix(1, 0)},
		{Fault: "f", Outcome: fault.Absent, Accepted: &diagnosis.Accepted{}}, {Fault: "g", Outcome: fault.Absent},
	}
	kept, left := Options{}.findings(all)
	var ids string
	for _, f := range kept {
		ids += f.Fault
	}
	if ids != "acef" || left == nil || *left != (omitted{Absent: 2, NotApplicable: 1}) {
		t.Errorf("kept %s, left %+v, want acef and 2 and 1", ids, left)
	}
	if kept, left = (Options{Findings: true}).findings(all); len(kept) != len(all) || left != nil {
		t.Errorf("with all findings: %d kept, left %+v", len(kept), left)
	}
}
