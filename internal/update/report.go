package update

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Verdict is whether every host will come back.
type Verdict string

// The verdicts.
const (
	Ready     Verdict = "ready"
	NotReady  Verdict = "not-ready"
	Undecided Verdict = "undecided" // nothing is known that holds it, and something is missing to decide
)

// Report is the answer. Its JSON form is a published contract (docs/schema/update.v1alpha1.json).
type Report struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Source     Source    `json:"source"`
	Now        time.Time `json:"now"`
	Version    string    `json:"version,omitempty"` // of the cluster; "" where it could not be read
	Target     string    `json:"target,omitempty"`  // "": an update within the minor version, or a reboot
	Window     string    `json:"window"`            // certificates have to be valid for this long
	Verdict    Verdict   `json:"verdict"`
	Why        string    `json:"why"`
	Holds      int       `json:"holds"`    // findings that hold it
	Warnings   int       `json:"warnings"` // findings that disturb it, or concern new hosts
	Checks     []*Result `json:"checks"`
	Hosts      []Host    `json:"hosts"`
	NotAsked   []Missing `json:"notLookedAt"`
}

// Source says what was read.
type Source struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Result is what a check found.
type Result struct {
	ID       string        `json:"id"`
	Title    string        `json:"title"`
	Outcome  fault.Outcome `json:"outcome"`
	Why      string        `json:"why,omitempty"` // of one that is not applicable
	Findings []Finding     `json:"findings"`      // present ones; none where the outcome is absent
	Missing  []Missing     `json:"missing"`       // what could not be read
	Sources  []fault.Ref   `json:"sources"`

	open     bool // what is missing leaves the answer undecided
	howToGet func(evidence.Supply) string
}

// Finding is one thing that will hold or disturb the update.
type Finding struct {
	Severity fault.Severity  `json:"severity"`
	Fault    string          `json:"fault,omitempty"` // the page of the catalog; "" for what only this check looks at
	Says     string          `json:"says"`
	Hosts    []string        `json:"hosts"` // that it holds; none: the whole cluster
	Do       []string        `json:"do"`    // now, in this order
	See      string          `json:"see"`   // how to see that it worked
	Evidence []evidence.Item `json:"evidence"`
}

// Host is what holds one host.
type Host struct {
	Name  string   `json:"name"`
	Role  string   `json:"role,omitempty"`
	Holds []string `json:"holds"` // none: nothing is known that holds it
}

// Missing is something that was not read.
type Missing struct {
	What   string `json:"what"`
	Supply string `json:"supply,omitempty"` // how to get it
	// Open says that the answer is undecided because of it.
	Open bool `json:"open"`

	short string // of What, for a list; "": What
}
