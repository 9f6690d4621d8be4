// Package fault holds the words of a diagnosis: subjects, faults, findings and
// the diagnosis itself, the loader of the catalogue, and its expressions.
//
// Invariants:
//   - A finding has one of four outcomes; "could not look" is Unknown and names
//     the fact that would decide.
//   - Symptom and root are roles in one diagnosis, not kinds of fault.
//   - The package knows no source and no repair: remedy ids are checked against
//     a set that the caller passes.
package fault

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
)

// Kind is what a fault can be wrong with.
type Kind string

// The kinds of subject.
const (
	Cluster  Kind = "cluster"
	Host     Kind = "host"
	Pool     Kind = "pool"
	CSR      Kind = "csr"
	Operator Kind = "operator"
	NodePool Kind = "nodepool" // of a hosted cluster; it lies in the management cluster
)

// Kinds lists all kinds in the order in which reports show them.
func Kinds() []Kind { return []Kind{Cluster, NodePool, Pool, Host, CSR, Operator} }

// Subject is one thing that a fault can be about.
type Subject struct {
	Cluster   string `json:"cluster,omitempty"` // "management" for what lies there; "" for the cluster that is looked at
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// String renders the subject as "pool/master".
func (s Subject) String() string {
	if s.Kind == Cluster && s.Name == "" {
		return "cluster"
	}
	return string(s.Kind) + "/" + s.Name
}

// Outcome is one of four. There is no fifth and no default.
type Outcome string

// The four outcomes.
const (
	Present       Outcome = "present"
	Absent        Outcome = "absent"
	Unknown       Outcome = "unknown"
	NotApplicable Outcome = "not-applicable"
)

// Severity of a present fault.
type Severity string

// Severities, weakest first.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Rank orders severities; an unknown word ranks lowest.
func (s Severity) Rank() int {
	switch s {
	case Error:
		return 2
	case Warning:
		return 1
	}
	return 0
}

// Confidence of a root.
type Confidence string

// Confidences: the mechanism was seen; it fits and nothing speaks against it; it could be.
const (
	Proven   Confidence = "proven"
	Likely   Confidence = "likely"
	Possible Confidence = "possible"
)

// Stage is a step of the join path (DESIGN: stages).
type Stage string

// The join path in order. EtcdMember and StaticPods are for the control plane.
const (
	Planned         Stage = "planned"
	Powered         Stage = "powered"
	Inspected       Stage = "inspected"
	Imaged          Stage = "imaged"
	IgnitionFetched Stage = "ignition-fetched"
	FirstBoot       Stage = "first-boot"
	ClientCert      Stage = "client-cert"
	Registered      Stage = "registered"
	NetworkReady    Stage = "network-ready"
	Ready           Stage = "ready"
	ServingCert     Stage = "serving-cert"
	EtcdMember      Stage = "etcd-member"
	StaticPods      Stage = "static-pods"
	ConfigDone      Stage = "config-done"
)

// Stages lists the join path in order.
func Stages() []Stage {
	return []Stage{Planned, Powered, Inspected, Imaged, IgnitionFetched, FirstBoot, ClientCert, Registered,
		NetworkReady, Ready, ServingCert, EtcdMember, StaticPods, ConfigDone}
}

// Finding is the state of one fault for one subject.
type Finding struct {
	Fault    string          `json:"fault"`
	Subject  Subject         `json:"subject"`
	Outcome  Outcome         `json:"outcome"`
	Title    string          `json:"title"`
	Severity Severity        `json:"severity"`
	Evidence []evidence.Item `json:"evidence,omitempty"`
	Since    time.Time       `json:"since,omitzero"`
	Until    time.Time       `json:"until,omitzero"`   // the condition holds, and is normal until then
	Reason   string          `json:"reason,omitempty"` // why unknown, not applicable, or ruled out
	Missing  []string        `json:"missing,omitempty"`
	Accepted *Accepted       `json:"accepted,omitempty"` // a person accepts it, or all that explains it
	// Unsettled says of an unknown finding that its condition holds, and that it is not
	// known whether it does so for longer than is normal.
	Unsettled bool `json:"-"`
	// Withheld says of an unknown finding that the source refused what would decide it, or
	// did not answer.
	Withheld bool `json:"-"`
	// HeldUp says of a finding that is still normal what may hold it up and was withheld.
	HeldUp  string          `json:"-"`
	Support int             `json:"-"` // how many supporting expressions held
	Supply  evidence.Supply `json:"-"` // what would make it known, where its subjects could not be listed
}

// Waiting reports whether the fault's condition holds and is still normal.
func (f Finding) Waiting() bool { return f.Outcome == Absent && !f.Until.IsZero() }

// Key identifies a finding.
func (f Finding) Key() Key { return Key{f.Fault, f.Subject} }

// Key is a fault at a subject.
type Key struct {
	Fault   string  `json:"fault"`
	Subject Subject `json:"subject"`
}
