package diagnosis

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Groups are the parts of a diagnosis that are alike, put together once for all outputs
// (internal/kernel/diagnose Group). Each list has the order of what it groups.
type Groups struct {
	Unexplained []Group         `json:"unexplained"`        // symptoms of one fault without a known cause
	Accepted    []AcceptedGroup `json:"accepted,omitempty"` // accepted findings of one fault by one entry
	Waiting     []WaitingGroup  `json:"waiting"`            // what holds and is normal so far
	Hosts       []HostGroup     `json:"hosts"`              // hosts that are not done
	Gaps        []Gap           `json:"gaps"`               // what could not be read
}

// Group is one fault with all subjects that it is at.
type Group struct {
	Fault    string          `json:"fault"`
	Subjects []fault.Subject `json:"subjects"`
	First    int             `json:"-"` // index of the first of them in the list that is grouped
}

// Keys are the findings of the group.
func (g Group) Keys() []fault.Key {
	keys := make([]fault.Key, 0, len(g.Subjects))
	for _, s := range g.Subjects {
		keys = append(keys, fault.Key{Fault: g.Fault, Subject: s})
	}
	return keys
}

// WaitingGroup has the first deadline of its findings.
type WaitingGroup struct {
	Group
	Until     time.Time `json:"until"`
	Explained bool      `json:"explained"` // by a root, also an accepted one
}

// HostGroup are hosts at one stage in one state for like reasons.
type HostGroup struct {
	Stage fault.Stage  `json:"stage"`
	State StageOutcome `json:"state"`
	Names []string     `json:"names"`
	First int          `json:"-"` // index of the first of them in the hosts
}

// Gap is what could not be read for one reason, and what would supply it.
type Gap struct {
	State  evidence.State    `json:"state"`
	Reason string            `json:"reason"`
	Needs  []string          `json:"needs"`
	Supply []evidence.Supply `json:"supply"`
}
