// Package diagnosis is the answer: findings, roots, symptoms without a cause, groups of
// findings that are alike, the state of each host, and the verdict. It holds values and
// computes nothing: internal/kernel/diagnose fills them.
//
// Invariants:
//   - A finding has one of four outcomes. One that is unknown names the fact that would
//     decide.
//   - A root has at least one case. One that is part of a deadlock has no other.
//   - The verdict says whether the cause is known and who can fix it.
package diagnosis

import (
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Diagnosis is the whole answer. Its JSON form is a published contract
// (rollcall.dev/v1alpha1, kind Diagnosis).
type Diagnosis struct {
	APIVersion  string              `json:"apiVersion"`
	Kind        string              `json:"kind"`
	Source      Source              `json:"source"`
	Now         time.Time           `json:"now"`
	Cluster     ClusterInfo         `json:"cluster"`
	Verdict     Verdict             `json:"verdict"`
	Roots       []Root              `json:"roots"`
	Deadlocks   []Deadlock          `json:"deadlocks"`
	Unexplained []Unexplained       `json:"unexplained"`
	Accepted    []AcceptedFinding   `json:"accepted,omitempty"`
	Edges       []EdgeSeen          `json:"edges"`
	Findings    []Finding           `json:"findings"`
	Aside       Aside               `json:"-"` // findings that decide nothing and are only counted
	Hosts       []HostState         `json:"hosts"`
	Machines    *Machines           `json:"machines,omitempty"` // of a preflight that asked BMCs
	Paths       []Path              `json:"paths,omitempty"`    // of a preflight that asked the network
	Timeline    []Moment            `json:"timeline"`
	Coverage    []evidence.Coverage `json:"coverage"`
	Groups      Groups              `json:"groups"`
	Stats       Stats               `json:"stats"`
}

// Source says what was read and from where.
type Source struct {
	Kind    string `json:"kind"`
	Origin  string `json:"-"` // of a collection: the kind of what was collected
	Whole   bool   `json:"-"` // see evidence.Description
	Name    string `json:"name"`
	More    int    `json:"more,omitempty"` // how many other files were read with it
	API     string `json:"api,omitempty"`  // the URL that was asked; none for an archive
	Vantage string `json:"vantage,omitempty"`
	// AtLeast says that now is the newest time in the source, and that the source does not
	// say when it was read.
	AtLeast bool                `json:"nowAtLeast,omitempty"`
	Holds   []evidence.Resource `json:"-"` // see evidence.Description
	// Newest is the newest time in the source, where the now that somebody gave is far from it.
	Newest time.Time `json:"newest,omitzero"`
}

// ClusterInfo is what the cluster says of itself. Empty fields were not readable.
type ClusterInfo struct {
	ID       string `json:"id,omitempty"`
	Version  string `json:"version,omitempty"`
	Platform string `json:"platform,omitempty"`
	Topology string `json:"topology,omitempty"`
	Hosted   string `json:"hosted,omitempty"` // namespace/name of the HostedCluster, where its management cluster was read, too

	Product *Product `json:"product,omitempty"` // another distribution of Kubernetes; nil: OpenShift, or nothing shows that it is not

	Installer *Installer `json:"installer,omitempty"` // where the cluster itself could not be asked
	Update    *Update    `json:"update,omitempty"`    // or installation that is under way; nil: none, or not known

	Short bool     `json:"-"`              // of what was read instead, a NodePool has fewer nodes than it wants
	Read  []string `json:"read,omitempty"` // where there is no Node: what else was read, and how it stands
	// ReadWrong: something of that is not as it should be
	ReadWrong bool `json:"-"`
	// ReadHosted is the HostedCluster that single files are about, as namespace/name; ReadNodePools says that they have its NodePools
	ReadHosted    string `json:"-"`
	ReadNodePools bool   `json:"-"`

	// Others are machines whose journals show another system: none of them is a host of a cluster.
	Others []OtherSystem `json:"others,omitempty"`

	// Completed is when the first version was completed, as ClusterVersion or the assisted service has it; zero: not known.
	Completed   time.Time `json:"-"`
	CompletedBy string    `json:"-"` // clusterversion or assisted-service

	Began      time.Time `json:"-"` // when the installation began; zero: not known
	Installing bool      `json:"-"` // no version was ever completed
	NoNode     bool      `json:"-"` // installing, and the scheduler found no Node
	ReadBy     time.Time `json:"-"` // where the source does not say when it was read: the latest that it can have been; zero: not known
}

// ByAssisted is who reports a completed installation: the service of an assisted or agent-based one.
const ByAssisted = "assisted-service"

// Product is another distribution of Kubernetes than OpenShift.
type Product struct {
	Name    string `json:"name"`
	Says    string `json:"says"` // what the Nodes show
	Locator string `json:"locator"`
}

// OtherSystem is a machine that is no host of a cluster.
type OtherSystem struct {
	Host    string `json:"host"`
	System  string `json:"system"`
	Locator string `json:"locator"`
	Source  string `json:"-"` // that the journal is in
}

// OnlyOthers reports whether journals of machines with another system are all that is known of a cluster.
func (c ClusterInfo) OnlyOthers() bool {
	return len(c.Others) > 0 && c.Installer == nil && len(c.Read) == 0 && c.ID == "" && c.Version == "" && c.Completed.IsZero()
}

// Update is an update or the first installation that is under way, as the version operator reports it.
type Update struct {
	First bool      `json:"first,omitempty"` // no version was ever completed: it is the installation
	To    string    `json:"to"`              // the version
	Done  int       `json:"done"`            // manifests of the release that are applied
	Total int       `json:"total"`           // manifests of the release; 0: it does not say how far it is
	Began time.Time `json:"began,omitzero"`  // when it was begun
}

// Percent is how much of the release is applied, rounded down. It counts manifests: the machines, which are last,
// take the longest.
func (u Update) Percent() int {
	if u.Total <= 0 {
		return 0
	}
	return u.Done * 100 / u.Total
}

// Installer is what the log of openshift-install says of the installation.
type Installer struct {
	Version string `json:"version,omitempty"` // of openshift-install, as it wrote it
	// Ended is complete, failed, interrupted, made: it only wrote files, or running: the log
	// has no end. Of a log that only gathers logs it is gathered, gather-failed or gathering.
	Ended string `json:"ended"`
	// Step is its last one, as the fact install-log has it; "" where it only gathers logs.
	Step string `json:"step,omitempty"`
	// WaitsFor is what its last step was for, in words; "" where it waits for nothing. Where
	// logs were gathered it is the file, or the error.
	WaitsFor string    `json:"waitsFor"`
	At       time.Time `json:"at"`      // of the last line that counts
	Locator  string    `json:"locator"` // of that line
	// Form is single-node, user-provisioned, agent, install-config or manifests where nothing but these was written,
	// or "" for another one or one that the log does not show.
	Form string `json:"form,omitempty"`
	// Blocked is what keeps the last run from going on, where its log shows that: api, what answers there
	// is no API that is ready; prompt, a question of openshift-install; ssh-key, the keys that a host does
	// not accept.
	Blocked string `json:"blocked,omitempty"`
	API     string `json:"api,omitempty"`   // the address that runs waited for in vain
	Stale   bool   `json:"stale,omitempty"` // its Ignition configs are too old to install with
	// Notes are what the log shows of the reason, with the line of each.
	Notes []InstallerNote `json:"notes,omitempty"`
}

// InstallerNote is one thing that a log of openshift-install shows.
type InstallerNote struct {
	Says    string `json:"says"`
	Line    string `json:"line"` // without time and level
	Locator string `json:"locator"`
}

// Completed reports whether the bootstrap or the installation was completed.
func (i Installer) Completed() bool { return i.Ended == "complete" }

// Name is openshift-install with its version.
func (i Installer) Name() string { return strings.TrimSpace("openshift-install " + i.Version) }

// String says it in words.
func (i Installer) String() string {
	at := "" // lines of a terminal have no time
	if !i.At.IsZero() {
		at = " at " + i.At.UTC().Format(time.RFC3339)
	}
	name := i.Name()
	switch {
	case i.Ended == "complete" && i.WaitsFor == "":
		return name + " saw the bootstrap complete" + at
	case i.Ended == "made":
		return name + " wrote its files" + at + ", and no later run works on a cluster"
	case i.Ended == "complete":
		return name + " completed" + at
	case i.Ended == "gathered":
		return name + " gathered logs" + at + " and wrote " + i.WaitsFor + ": give that, too"
	case i.Ended == "gather-failed":
		return name + " could not gather logs" + at + ": " + i.WaitsFor
	case i.Ended == "gathering":
		return name + " began to gather logs" + at + ", and the log does not show whether it could"
	case i.Ended == "running":
		return "the log of " + name + " ends" + at + ", where it waited for " + i.WaitsFor
	case i.Ended == "interrupted":
		return name + " was interrupted" + at + ", where it waited for " + i.WaitsFor
	}
	return name + " failed" + at + ", where it waited for " + i.WaitsFor
}

// VerdictClass is what may be said about the whole.
type VerdictClass string

// The verdicts: of a cluster, the mildest first; of one that was not judged; of a plan.
const (
	Healthy            VerdictClass = "healthy"
	Settling           VerdictClass = "settling"
	RecoverableInPlace VerdictClass = "recoverable-in-place"
	RecoverableByNode  VerdictClass = "recoverable-by-node-replacement"
	RecoverableQuorum  VerdictClass = "recoverable-by-quorum-restore"
	RecoverableBackup  VerdictClass = "recoverable-from-backup"
	ReinstallRequired  VerdictClass = "reinstall-required"
	Undetermined       VerdictClass = "undetermined"
	OnlyAccepted       VerdictClass = "accepted"     // something is wrong, and a person accepts all of it
	CannotCheck        VerdictClass = "cannot-check" // the API was not reached, and the cause of that is known
	NotReady           VerdictClass = "not-ready"    // a plan, or what it needs, has mistakes: nothing is installed yet
	CheckFirst         VerdictClass = "check-first"  // the same, and it has warnings only
)

// Question is one that the evidence does not answer.
type Question struct {
	Of   fault.Key `json:"of,omitzero"` // the problem whose cause is not known; zero where it is about something else
	Says string    `json:"says"`

	Forbidden bool `json:"-"` // what would answer it may not be read
}

// CauseState says whether what is wrong has a cause.
type CauseState string

// The states of the cause.
const (
	CauseKnown   CauseState = "known"   // every serious symptom has one
	CauseLikely  CauseState = "likely"  // likewise, and none of them is proven
	CauseUnknown CauseState = "unknown" // something is wrong, or may be, and the cause is not known
	CauseNone    CauseState = "none"    // nothing is wrong
)

// Verdict is the class, whether the cause is known and who can fix it, its reason in one
// sentence, and for settling until when.
type Verdict struct {
	Class  VerdictClass `json:"class"`
	Cause  CauseState   `json:"cause"`
	Fix    fault.Actor  `json:"fix,omitempty"`   // the farthest that is needed; "" where nobody is needed, or it is not known who is
	Where  string       `json:"where,omitempty"` // what is outside the cluster: DNS, BMC, ...
	Reason string       `json:"reason"`          // in one sentence
	// Open is what has no answer, where the class is Undetermined because of that.
	Open  []Question `json:"open,omitempty"`
	Until time.Time  `json:"until,omitzero"`
	// Accepted is how many findings entries accept, those that are accepted through another
	// one left out.
	Accepted int `json:"accepted,omitempty"`
}

// RuledOut is another cause of the same symptoms that was looked at and is not there.
type RuledOut struct {
	fault.Key
	Title  string `json:"title"`
	Reason string `json:"reason"`
}

// Deadlock is a closed ring of present faults that block each other.
type Deadlock struct {
	Members []fault.Key `json:"members"`
	Opens   fault.Key   `json:"opens"` // the member whose remedy opens the ring
	Remedy  string      `json:"remedy,omitempty"`
}

// Unexplained is a present fault that does not stand alone and has no present cause.
type Unexplained struct {
	fault.Key
	Title    string          `json:"title"`
	Severity fault.Severity  `json:"severity"`
	Evidence []evidence.Item `json:"evidence"`
	Suspects []Suspect       `json:"suspects"`
	Remedies []fault.Advice  `json:"remedies"`
}

// Suspect is an unknown fault that could explain a present one.
type Suspect struct {
	fault.Key
	Others []fault.Subject `json:"others,omitempty"` // where the same fault could be, and the same would decide
	Title  string          `json:"title"`
	Next   string          `json:"next"`   // the fact that would decide
	Supply evidence.Supply `json:"supply"` // how to get it; zero: not known
	Reason string          `json:"-"`      // why it is unknown
}

// Keys are the findings that the suspect stands for.
func (s Suspect) Keys() []fault.Key {
	keys := []fault.Key{s.Key}
	for _, o := range s.Others {
		keys = append(keys, fault.Key{Fault: s.Fault, Subject: o})
	}
	return keys
}

// EdgeSeen is an edge between two findings of this diagnosis.
type EdgeSeen struct {
	Cause    fault.Key      `json:"cause"`
	Effect   fault.Key      `json:"effect"`
	Strength fault.Strength `json:"strength"`
}

// StageOutcome is the state of one stage.
type StageOutcome string

// Outcomes of a stage.
const (
	StagePassed        StageOutcome = "passed"
	StageFailed        StageOutcome = "failed"
	StageWaiting       StageOutcome = "waiting"
	StageUnknown       StageOutcome = "unknown"
	StageNotApplicable StageOutcome = "not-applicable"
)

// StageState is one stage of a host with its proof.
type StageState struct {
	Stage    fault.Stage     `json:"stage"`
	State    StageOutcome    `json:"state"`
	At       time.Time       `json:"at,omitzero"` // when it was passed
	Why      string          `json:"why,omitempty"`
	Evidence []evidence.Item `json:"evidence,omitempty"`
	// OfPool says that the state was told by what the host's pool meets, and not by
	// the host itself. Only the diagnosis uses it.
	OfPool bool `json:"-"`
}

// HostState is one line of the roll.
type HostState struct {
	Name      string       `json:"name"`
	Role      string       `json:"role,omitempty"`
	Expected  bool         `json:"expected"` // false: only a CSR claims the name, or it is the bootstrap host
	Stage     fault.Stage  `json:"stage"`    // the first stage that is not passed, or the last one
	State     StageOutcome `json:"state"`
	Since     time.Time    `json:"since,omitzero"`
	Why       string       `json:"why,omitempty"`
	BlockedBy []fault.Key  `json:"blockedBy"`
	Stages    []StageState `json:"stages"`

	// PerhapsNode: it is a Machine whose Node was not shown, and one of the Nodes without a Machine may be it.
	PerhapsNode bool `json:"-"`
}

// Bootstrap reports whether the host is the one that starts an installation. It is not
// expected to join.
func (h HostState) Bootstrap() bool { return !h.Expected && h.Role == "bootstrap" }

// Named reports whether the host has a name. One that is only counted has words in its place, in
// parentheses; they are for the screen, and not for a command.
func (h HostState) Named() bool { return !strings.HasPrefix(h.Name, "(") }

// Done reports whether a host has passed every stage.
func (h HostState) Done() bool { return h.State == StagePassed || h.State == StageNotApplicable }

// Ready reports whether the Node of the host is Ready, whatever is open behind that.
func (h HostState) Ready() bool {
	return slices.ContainsFunc(h.Stages, func(s StageState) bool { return s.Stage == fault.Ready && s.State == StagePassed })
}

// Moment is a point of the timeline.
type Moment struct {
	Time    time.Time        `json:"time"`
	Subject fault.Subject    `json:"subject"`
	Text    string           `json:"text"`
	Locator evidence.Locator `json:"locator,omitzero"`
	// Passed says that the subject, a host, passed a stage.
	Passed bool `json:"-"`
}

// Stats says how much work the answer was.
type Stats struct {
	Faults   int   `json:"faults"`
	Subjects int   `json:"subjects"`
	Facts    int   `json:"facts"`
	Millis   int64 `json:"millis"`
}
