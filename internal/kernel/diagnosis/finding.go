package diagnosis

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Finding is the state of one fault for one subject.
type Finding struct {
	Fault    string          `json:"fault"`
	Subject  fault.Subject   `json:"subject"`
	Outcome  fault.Outcome   `json:"outcome"`
	Title    string          `json:"title"`
	Severity fault.Severity  `json:"severity"`
	Evidence []evidence.Item `json:"evidence,omitempty"`
	Since    time.Time       `json:"since,omitzero"`
	Until    time.Time       `json:"until,omitzero"`   // the condition holds, and is normal until then
	Reason   string          `json:"reason,omitempty"` // why unknown, not applicable, or ruled out
	Missing  []string        `json:"missing,omitempty"`
	Accepted *Accepted       `json:"accepted,omitempty"` // a person accepts it, or all that explains it
	// Others are further hosts of which the same is unknown for the same reason, and that have no finding
	// of their own: see diagnose.Options.Deciding.
	Others []fault.Subject `json:"-"`
	// Unread is what an unknown finding lacks, the most important first.
	Unread []*evidence.Unavailable `json:"-"`
	// Lost is the evidence from a list on which a finding rests although an object may be lost
	// from the list; nil where it rests on none.
	Lost *evidence.Item `json:"-"`
	// HeldUp says of a finding that is still normal what may block it and was withheld.
	HeldUp string           `json:"-"`
	Supply *evidence.Supply `json:"-"` // what would make it known, where its subjects could not be listed; else nil
	// Unsettled says of an unknown finding that its condition holds, and that it is not
	// known whether it does so for longer than is normal. The small fields are side by side: a large
	// cluster has a million findings.
	Unsettled bool `json:"-"`
	// Withheld says of an unknown finding that the source refused what would decide it, or
	// did not answer.
	Withheld bool  `json:"-"`
	OfLines  bool  `json:"-"` // only lines of a text show it
	Seen     bool  `json:"-"` // a supporting expression holds without the lists that may lack an object
	Support  int32 `json:"-"` // how many supporting expressions held
}

// Waiting reports whether the fault's condition holds and is still normal.
func (f Finding) Waiting() bool { return f.Outcome == fault.Absent && !f.Until.IsZero() }

// DecidesNothing reports whether the fault is absent or not applicable, not in progress, and not accepted.
func (f *Finding) DecidesNothing() bool {
	return (f.Outcome == fault.Absent || f.Outcome == fault.NotApplicable) && f.Until.IsZero() && f.Accepted == nil
}

// NotRun is how many faults were not looked for at one subject at least.
func (d *Diagnosis) NotRun() int {
	unknown := map[string]bool{}
	for i := range d.Findings {
		if d.Findings[i].Outcome == fault.Unknown {
			unknown[d.Findings[i].Fault] = true
		}
	}
	return len(unknown)
}

// Aside counts findings that decide nothing and are not in the diagnosis.
type Aside struct{ Absent, NotApplicable int }

// Count counts one more.
func (a *Aside) Count(o fault.Outcome) {
	if o == fault.Absent {
		a.Absent++
		return
	}
	a.NotApplicable++
}

// Key identifies a finding.
func (f Finding) Key() fault.Key { return fault.Key{Fault: f.Fault, Subject: f.Subject} }

// Confidence of a root.
type Confidence string

// Confidences: the mechanism was seen; it fits and nothing speaks against it; it could be.
const (
	Proven   Confidence = "proven"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)
