// Package fault has what may be wrong: subjects, faults, remedies and messages, the loader
// of the catalog that holds them, and the compiler of its expressions.
//
// Invariants:
//   - An outcome is one of four; "could not look" is Unknown.
//   - Symptom and root are roles in one diagnosis, not kinds of fault.
//   - The package knows no source and no repair: remedy ids are checked against
//     a set that the caller passes.
package fault

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

// Any is the kind of a fact that is computed for a subject of every kind. No subject has it.
const Any Kind = "any"

// Kinds lists all kinds in the order in which reports show them.
func Kinds() []Kind { return []Kind{Cluster, NodePool, Pool, Host, CSR, Operator} }

// Subject is one thing that a fault can be about.
type Subject struct {
	Cluster   string `json:"cluster,omitempty"` // "management" for what lies there; "" for the cluster that is looked at
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Unnamed is the name of a subject that stands for all of its kind: they could not be
// listed.
const Unnamed = "?"

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

// Stage is a step of the join path.
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

// Key is a fault at a subject.
type Key struct {
	Fault   string  `json:"fault"`
	Subject Subject `json:"subject"`
}

// Strength of an edge.
type Strength string

// Strengths of edges.
const (
	Certain      Strength = "certain"
	LikelyEdge   Strength = "likely"
	PossibleEdge Strength = "possible"
)
