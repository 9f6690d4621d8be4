package diagnosis

import "github.com/rollcall-project/rollcall/internal/kernel/fault"

// Acceptance says that a person accepts a finding: why, who, and until when.
type Acceptance struct {
	Reason string `json:"reason"`
	Owner  string `json:"owner"`
	Until  string `json:"until"` // the last day on which it counts, as 2026-12-31, in UTC
	Entry  string `json:"entry"` // FILE:LINE of the entry
}

// Accepted is the acceptance of a finding.
type Accepted struct {
	Acceptance
	Through []fault.Key `json:"through,omitempty"` // the accepted causes that alone explain the finding; none: the entry is about it
}

// String says who accepts it, until when and why.
func (a Acceptance) String() string { return "by " + a.Owner + " until " + a.Until + ": " + a.Reason }

// Role is what a finding is in a diagnosis.
type Role string

// The roles of a present finding.
const (
	RoleRoot        Role = "root"
	RoleUnexplained Role = "unexplained"
	RoleSymptom     Role = "symptom"
)

// AcceptedFinding is a present finding that an entry accepts. It stays in the findings;
// it is not in the roots or in what is unexplained.
type AcceptedFinding struct {
	fault.Key
	Acceptance
	Title    string         `json:"title"`
	Severity fault.Severity `json:"severity"`
	Role     Role           `json:"role"`
	DataRisk bool           `json:"dataRisk,omitempty"` // an error that is about etcd or about the loss of data
	Effects  []fault.Key    `json:"effects"`            // findings that are accepted through it
	Root     *Root          `json:"-"`                  // for RoleRoot; its one case is the finding
	Open     *Unexplained   `json:"-"`                  // for RoleUnexplained
}

// AcceptedGroup are accepted findings of one fault by one entry.
type AcceptedGroup struct {
	Group
	Effects []fault.Key `json:"effects"` // findings that are accepted through any of them
}
