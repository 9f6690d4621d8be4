package fault

import (
	"fmt"
	"time"
)

// Fault is one entry of the catalog: something that can be wrong with a
// subject, what it means, what it explains and what is safe to do. The YAML form
// is described in docs/writing-a-fault.md.
type Fault struct {
	ID          string             `json:"id"`
	Aliases     []string           `json:"aliases,omitempty"` // other names of the same or of a wider cause
	Title       string             `json:"title"`             // may name {pool}, {host}, ... and fields of facts: {served.specName}
	General     string             `json:"general,omitempty"` // the title where no value is known, see ShortTitle
	Layer       string             `json:"layer"`
	For         Kind               `json:"for"`
	Runs        ControlPlane       `json:"controlPlane,omitempty"` // see ControlPlaneOf
	Severity    Severity           `json:"severity"`
	Given       map[string]FactRef `json:"given,omitempty"`
	When        string             `json:"when,omitempty"` // empty: see TextOnly
	Settles     *Settles           `json:"settles,omitempty"`
	Since       string             `json:"since,omitempty"` // expression: when it began
	Refute      string             `json:"refute,omitempty"`
	Support     []string           `json:"support,omitempty"`
	StandsAlone bool               `json:"standsAlone,omitempty"`
	// ReasonElsewhere says that the fault names the step that failed: the reason is in the line,
	// or in the log that its remedy reads first. A text that shows only it shows no cause.
	ReasonElsewhere bool   `json:"reasonElsewhere,omitempty"`
	Explains        []Edge `json:"explains,omitempty"`
	// ExplainedLike lists faults of the same kind: whatever explains one of them explains this one, too.
	ExplainedLike []string `json:"explainedLike,omitempty"`
	// ExplainedUpTo is a step of the join path: whatever blocks the host at it or before explains this.
	ExplainedUpTo Stage    `json:"explainedUpTo,omitempty"`
	Blocks        Stage    `json:"blocks,omitempty"`
	Means         string   `json:"means"`
	Remedies      []string `json:"remedies,omitempty"`
	NoRemedy      string   `json:"noRemedy,omitempty"` // of a warning or info: why it has no remedy
	Refused       []string `json:"refused,omitempty"`
	Next          string   `json:"next,omitempty"` // fact that would decide when unknown
	Versions      string   `json:"versions,omitempty"`
	Refs          []Ref    `json:"refs"`
}

// FactRef binds a name of the expressions to a fact.
type FactRef struct {
	Fact string `json:"fact"`
}

// Settles says how long the condition is normal.
type Settles struct {
	Within Duration `json:"within"`
	Since  string   `json:"since,omitempty"`  // expression; the fault's since where empty
	Unless string   `json:"unless,omitempty"` // expression: it is not normal, even now
	// Earliest is an expression: the condition cannot have begun before it. Where since when
	// it holds is not known, it is normal for Within after that.
	Earliest string `json:"earliest,omitempty"`
}

// Edge says what a fault explains.
type Edge struct {
	Fault    string   `json:"fault"`
	On       Relation `json:"on"`
	Strength Strength `json:"strength"`
	When     string   `json:"when,omitempty"` // over the cause's facts and `effect`
	upTo     bool     // made of ExplainedUpTo: it says that a present fault is enough, and makes no suspect
}

// OfPresent reports an edge that only a fault that is present has: of all the faults that could
// stop a host those that were not checked are no suspects.
func (e Edge) OfPresent() bool { return e.upTo }

// Relation leads from the cause's subject to the subjects of the effect.
type Relation string

// The closed list of relations; internal/facts/relation implements them.
const (
	Same         Relation = "same"
	HostsOfPool  Relation = "hosts-of-pool"  // every host whose pool or NodePool it is, those that never joined included
	NodesOfPool  Relation = "nodes-of-pool"  // only those that are nodes
	PoolsOfHost  Relation = "pools-of-host"  // the pool that serves the host
	HostsOfPeers Relation = "hosts-of-peers" // the other hosts of the same pools
	CSRsOfHost   Relation = "csrs-of-host"
	HostOfCSR    Relation = "host-of-csr"
	AllHosts     Relation = "all-hosts"
	AllPools     Relation = "all-pools"
	AllNodePools Relation = "all-nodepools"
	AllCSRs      Relation = "all-csrs"
	Operators    Relation = "operators"
	ToCluster    Relation = "cluster"
)

// Relations lists the closed list.
func Relations() []Relation {
	return []Relation{Same, HostsOfPool, NodesOfPool, PoolsOfHost, HostsOfPeers, CSRsOfHost, HostOfCSR,
		AllHosts, AllPools, AllNodePools, AllCSRs, Operators, ToCluster}
}

// Ref names a place in a public source that says what the fault claims.
type Ref struct {
	Repo   string `json:"repo"`
	Path   string `json:"path,omitempty"`
	Symbol string `json:"symbol,omitempty"`
	Branch string `json:"branch,omitempty"`
	Note   string `json:"note,omitempty"`
}

// RefusedRemedy is common unsafe advice.
type RefusedRemedy struct {
	ID       string           `json:"id"`
	Title    string           `json:"title"`
	Advice   []string         `json:"advice"`             // phrases of it; `explain "TEXT"` looks for them
	Commands []CommandPattern `json:"commands,omitempty"` // how it looks as a command
	Happens  string           `json:"happens"`            // what really happens, per version
	When     string           `json:"when"`               // when it is safe after all, or "never"
	Instead  string           `json:"instead"`
	Refs     []Ref            `json:"refs"`
}

// CommandNotes is one file of the catalog's directory "commands": what is to be known of
// commands that are neither refused nor said by what they do alone.
type CommandNotes struct {
	Topic string        `json:"topic"`
	Notes []CommandNote `json:"notes"`
	Refs  []Ref         `json:"refs"`
}

// CommandNote is what a command shows, or does not, and what to run then. Of one that changes
// something it is what that destroys.
type CommandNote struct {
	Commands []CommandPattern `json:"commands"`
	Says     string           `json:"says,omitempty"`
	Destroys *Destroys        `json:"destroys,omitempty"` // nil: it changes nothing, or what it changes is not known
	Next     []string         `json:"next"`               // commands
	Refs     []Ref            `json:"refs,omitempty"`     // of what it destroys
}

// Destroys is what a command does that changes something.
type Destroys struct {
	Changes string `json:"changes,omitempty"`
	Lost    string `json:"lost,omitempty"` // and whether it comes back by itself
	Safe    string `json:"safe,omitempty"` // when it may be run
	Instead string `json:"instead,omitempty"`
}

// check reports what is wrong with a file of notes.
func (c *CommandNotes) check() (wrong mistakes) {
	wrong.need(c.Topic, "topic", "write what the commands are about")
	if len(c.Notes) == 0 {
		wrong.add(Where{"notes"}, "write `commands`, `says` and `next` of each note", "is missing")
	}
	if len(c.Refs) == 0 {
		wrong.add(Where{"refs"}, "write the sources, as {repo: OWNER/NAME, path: PATH}", "is missing")
	}
	for i, n := range c.Notes {
		if len(n.Commands) == 0 || (n.Says == "") == (n.Destroys == nil) || len(n.Next) == 0 {
			wrong.add(Where{"notes", i}, "write all three", "`commands`, `next` and one of `says` and `destroys` are needed")
		}
		if d := n.Destroys; d != nil && (d.Changes == "" || d.Lost == "" || d.Safe == "" || d.Instead == "" || len(n.Refs) == 0) {
			wrong.add(Where{"notes", i, "destroys"}, "write all five", "`changes`, `lost`, `safe`, `instead`, and `refs` of the note are needed")
		}
		for j, p := range n.Commands {
			for k, expr := range p.Has {
				wrong.checkRegexp(Where{"notes", i, "commands", j, "has", k}, `(?i)`+expr)
			}
			for k, expr := range p.Not {
				wrong.checkRegexp(Where{"notes", i, "commands", j, "not", k}, `(?i)`+expr)
			}
		}
	}
	return wrong
}

// CommandPattern recognizes a command. Its expressions are tried, in any case, on the
// command without quotes.
type CommandPattern struct {
	Has []string `json:"has"` // all match
	Not []string `json:"not,omitempty"`
}

// Duration is a time.Duration in Go's notation, "30m".
type Duration struct{ time.Duration }

// UnmarshalJSON reads "30m".
func (d *Duration) UnmarshalJSON(b []byte) error {
	if len(b) < 2 || b[0] != '"' {
		return fmt.Errorf("read duration %s: want a string such as \"30m\"", b)
	}
	v, err := time.ParseDuration(string(b[1 : len(b)-1]))
	if err != nil {
		return fmt.Errorf("read duration %s: %w", b, err)
	}
	d.Duration = v
	return nil
}

// MarshalJSON writes "30m0s".
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }
