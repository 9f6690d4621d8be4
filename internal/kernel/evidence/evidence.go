// Package evidence is everything that Rollcall reads and where it read it:
// API objects, lines of text and answers of probes, each with a locator under
// which a person can look it up again.
//
// It holds types only: internal/source reads, internal/sanitize removes secrets,
// internal/kernel/reader joins both.
//
// Invariants:
//   - "Looked and found nothing" and "could not look" are different: the second
//     is always an *Unavailable error and never an empty list.
//   - A source knows nothing of faults.
package evidence

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Resource names a kind of API object without its version, as `oc get` spells it.
type Resource struct {
	Group   string // "" is the core group
	Name    string // plural, lower case
	Cluster string // Management, or "" for the cluster that is looked at
}

// String returns the resource as "machineconfigpools.machineconfiguration.openshift.io",
// with "@management" behind it where that is meant.
func (r Resource) String() string {
	s := r.Name
	if r.Group != "" {
		s += "." + r.Group
	}
	if r.Cluster != "" {
		s += "@" + r.Cluster
	}
	return s
}

// In is the same kind of object in another cluster.
func (r Resource) In(cluster string) Resource {
	r.Cluster = cluster
	return r
}

// The resources that facts read. They are listed here once, so that a source,
// an index and the RBAC that is generated from needs agree on the spelling.
var (
	Nodes                = Resource{Group: "", Name: "nodes"}
	Pods                 = Resource{Group: "", Name: "pods"}
	Events               = Resource{Group: "", Name: "events"}
	ConfigMaps           = Resource{Group: "", Name: "configmaps"}
	Secrets              = Resource{Group: "", Name: "secrets"}
	Namespaces           = Resource{Group: "", Name: "namespaces"}
	Leases               = Resource{Group: openshift.CoordinationGroup, Name: "leases"}
	CSRs                 = Resource{Group: openshift.CertificatesGroup, Name: "certificatesigningrequests"}
	PodDisruptionBudgets = Resource{Group: "policy", Name: "poddisruptionbudgets"}
	DaemonSets           = Resource{Group: "apps", Name: "daemonsets"}
	Deployments          = Resource{Group: "apps", Name: "deployments"}
	MachineConfigs       = Resource{Group: openshift.MachineConfigGroup, Name: "machineconfigs"}
	MachineConfigPools   = Resource{Group: openshift.MachineConfigGroup, Name: "machineconfigpools"}
	ControllerConfigs    = Resource{Group: openshift.MachineConfigGroup, Name: "controllerconfigs"}
	Machines             = Resource{Group: openshift.MachineGroup, Name: "machines"}
	MachineHealthChecks  = Resource{Group: openshift.MachineGroup, Name: "machinehealthchecks"}
	MachineSets          = Resource{Group: openshift.MachineGroup, Name: "machinesets"}
	BareMetalHosts       = Resource{Group: openshift.Metal3Group, Name: "baremetalhosts"}
	ClusterOperators     = Resource{Group: openshift.ConfigGroup, Name: "clusteroperators"}
	ClusterVersions      = Resource{Group: openshift.ConfigGroup, Name: "clusterversions"}
	Infrastructures      = Resource{Group: openshift.ConfigGroup, Name: "infrastructures"}
	EtcdOperators        = Resource{Group: openshift.OperatorGroup, Name: "etcds"}
	APIServerOperators   = Resource{Group: openshift.OperatorGroup, Name: "kubeapiservers"}
	ManagerOperators     = Resource{Group: openshift.OperatorGroup, Name: "kubecontrollermanagers"}
	SchedulerOperators   = Resource{Group: openshift.OperatorGroup, Name: "kubeschedulers"}
	NetworkConfigs       = Resource{Group: openshift.ConfigGroup, Name: "networks"}
	ReplicaSets          = Resource{Group: "apps", Name: "replicasets"}
	Provisionings        = Resource{Group: openshift.Metal3Group, Name: "provisionings"}
	HardwareData         = Resource{Group: openshift.Metal3Group, Name: "hardwaredata"}
	PreparedImages       = Resource{Group: openshift.Metal3Group, Name: "preprovisioningimages"}
	MCSProbes            = Resource{Group: ProbeGroup, Name: "mcsanswers"}
	APIProbes            = Resource{Group: ProbeGroup, Name: "apianswers"}
	EtcdAnswers          = Resource{Group: ProbeGroup, Name: "etcdanswers"} // what etcd told a must-gather
	HostedClusters       = Resource{Group: openshift.HyperShiftGroup, Name: "hostedclusters", Cluster: Management}
	NodePools            = Resource{Group: openshift.HyperShiftGroup, Name: "nodepools", Cluster: Management}
	HostedMachines       = Resource{Group: openshift.ClusterAPIGroup, Name: "machines", Cluster: Management}
	AgentMachines        = Resource{Group: openshift.AgentProviderGroup, Name: "agentmachines", Cluster: Management}
	HostedAgents         = Resource{Group: openshift.AgentInstallGroup, Name: "agents", Cluster: Management}
	KubevirtMachines     = Resource{Group: openshift.ClusterAPIProviderGroup, Name: "kubevirtmachines", Cluster: Management}
	HostedPods           = Resource{Name: "pods", Cluster: Management}
	HostedSecrets        = Resource{Name: "secrets", Cluster: Management}
	HostedEvents         = Resource{Name: "events", Cluster: Management}
	HostedServices       = Resource{Name: "services", Cluster: Management}
	HostedDeployments    = Resource{Group: "apps", Name: "deployments", Cluster: Management}
	HostedProbes         = Resource{Group: ProbeGroup, Name: "hostedanswers", Cluster: Management}
	BootstrapServices    = Resource{Group: ProbeGroup, Name: "bootstrapservices"} // what the bootstrap host recorded of its services
	PointerUserDataHints = Resource{Group: ProbeGroup, Name: "pointers"}
	Installs             = Resource{Group: ProbeGroup, Name: "installs"}
	Plans                = Resource{Group: ProbeGroup, Name: "plans"}          // install-config, agent-config: internal/preflight/plan
	NetProbes            = Resource{Group: ProbeGroup, Name: "networkanswers"} // what the network of a plan answered: internal/preflight/netcheck
	NamedHosts           = Resource{Group: ProbeGroup, Name: "namedhosts"}     // hosts that the user, or a text, names
	BMCAnswers           = Resource{Group: ProbeGroup, Name: "bmcanswers"}     // what BMCs answered: internal/preflight/bmc
	AssistedServices     = Resource{Group: ProbeGroup, Name: "assistedservices"}
	AssistedClusters     = Resource{Group: ProbeGroup, Name: "assistedclusters"}
	AssistedHosts        = Resource{Group: ProbeGroup, Name: "assistedhosts"}
	Agents               = Resource{Group: openshift.AgentInstallGroup, Name: "agents"}
	AgentClusterInstalls = Resource{Group: openshift.AgentClusterInstallGroup, Name: "agentclusterinstalls"}
)

// What only a machine itself can tell, one object per machine and resource
// (internal/source/onhost has the schema).
var (
	HostIdentities  = Resource{Group: ProbeGroup, Name: "hostidentities"}  // name, kubeconfigs, certificates
	HostConfigs     = Resource{Group: ProbeGroup, Name: "hostconfigs"}     // files of the machine-config-daemon, the booted image
	HostUnits       = Resource{Group: ProbeGroup, Name: "hostunits"}       // systemd
	HostClocks      = Resource{Group: ProbeGroup, Name: "hostclocks"}      // chrony
	HostResolutions = Resource{Group: ProbeGroup, Name: "hostresolutions"} // names as the machine resolves them
	HostContainers  = Resource{Group: ProbeGroup, Name: "hostcontainers"}  // the container runtime and the static pods' manifests
	HostDisks       = Resource{Group: ProbeGroup, Name: "hostdisks"}       // file systems and the devices under them
)

// OnHost lists them.
func OnHost() []Resource {
	return []Resource{HostIdentities, HostConfigs, HostUnits, HostClocks, HostResolutions, HostContainers, HostDisks}
}

// IsOnHost reports whether a need's name is that of one of them.
func IsOnHost(need string) bool {
	return slices.ContainsFunc(OnHost(), func(r Resource) bool { return r.String() == need })
}

// NotOnHost is the answer of a source that is not on a machine to what only
// the machine itself can show.
func NotOnHost(n Need) *Unavailable {
	return &Unavailable{Need: n, Why: NotAsked, Detail: "rollcall-host was not run on the machines",
		Supply: Supply{Kind: SupplyOnHost}}
}

// NotOnBootstrap is the answer of a source that has no log bundle to what the bootstrap
// host alone recorded.
func NotOnBootstrap(n Need) *Unavailable {
	return &Unavailable{Need: n, Why: NotCollected, Detail: "no log bundle of the bootstrap host was given",
		Supply: Supply{Kind: SupplyGatherBootstrap}}
}

// ProbeGroup is the pseudo API group of answers that Rollcall asked for itself.
// A probe's answer is an object like any other, so that recording and replaying
// need no second mechanism.
const ProbeGroup = "rollcall.dev"

// HostSource begins the Source of locators on a machine on which rollcall-host was run.
const HostSource = "host:"

// RunOnHost begins the need of a coverage for a host on which rollcall-host was to run and did not. The host's name
// follows.
const RunOnHost = "rollcall-host on "

// OnRequest says what asks for objects that are there only when a user wants them
// asked for: a source that was not told to ask lacks them as NotAsked, and what
// needs them does not apply in that run. ok is false for all other resources.
func OnRequest(r Resource) (u Unavailable, ok bool) {
	u = Unavailable{Need: Objects(r, ""), Why: NotAsked}
	switch r {
	case APIProbes:
		u.Detail, u.Supply = "the API was not probed", Supply{Kind: SupplyProbe}
	case AssistedServices, AssistedClusters, AssistedHosts:
		u.Detail, u.Supply = "the rendezvous host of an agent-based install was not queried", Supply{Kind: SupplyRendezvous}
	case Installs:
		u.Detail, u.Supply = "no directory of openshift-install was read", Supply{Kind: SupplyInstallDir}
	case Plans:
		u.Detail, u.Supply = "no plan of an installation was read", Supply{Kind: SupplyPlan}
	case NetProbes:
		u.Detail, u.Supply = "the network was not asked", Supply{Kind: SupplyPlanNetwork}
	case BMCAnswers:
		u.Detail, u.Supply = "no BMC was asked", Supply{Kind: SupplyBMC}
	case NamedHosts:
		u.Detail, u.Supply = "no host was named", Supply{Kind: SupplyExpect}
	default:
		return Unavailable{}, false
	}
	return u, true
}

// UserSupplied reports whether sources add objects of a resource on their own: where none
// does there are none, and nothing is missing.
func UserSupplied(r Resource) bool { return r == NamedHosts }

// Object is one API object as it was read, sanitized.
type Object struct {
	Resource  Resource
	Namespace string
	Name      string
	Content   map[string]any
	Loc       Locator
	ReadAt    time.Time // zero where the source cannot tell
	Alone     bool      // it lay in a file of its own, and nothing lists which others there were
}

// PartMark is the annotation that a source puts on an object of which it has only some
// fields: a row of a table, or what somebody has copied out of an object.
const PartMark = ProbeGroup + "/part"

// Part reports whether the object lacks some of its fields.
func (o Object) Part() bool { return o.Annotation(PartMark) != "" }

// NotShown says that a field of an object that lacks some is not known to be empty.
func (o Object) NotShown(field string) *Unavailable {
	return &Unavailable{Need: Objects(o.Resource, o.Namespace), Why: NotCollected, Detail: field + " of " + o.Name + " is not shown", Fields: true,
		Supply: Supply{Kind: SupplyGet, Resource: o.Resource.Name, Namespace: o.Namespace, Name: o.Name}}
}

// Shows returns a field of the object as a piece of evidence.
func (o Object) Shows(field, excerpt string, at time.Time) Item {
	return Item{Locator: o.Loc.At(field), Excerpt: excerpt, Time: at}
}

// TextKind tells what wrote a text.
type TextKind string

// The kinds of text that facts search.
const (
	ContainerLog TextKind = "log"
	Journal      TextKind = "journal"
	Console      TextKind = "console"
	Installer    TextKind = "installer" // .openshift_install.log: what openshift-install said
)

// TextQuery selects texts. Empty fields select all.
type TextQuery struct {
	Kind      TextKind
	Cluster   string // Management, or "" for the cluster that is looked at
	Namespace string // of the pod
	Container string
	Unit      string // of a journal
	Host      string // of a journal or console
}

// String renders the query as a need: "log openshift-machine-config-operator/machine-config-server".
func (q TextQuery) String() string {
	if q.Cluster != "" {
		at := q.Cluster
		q.Cluster = ""
		return q.String() + "@" + at
	}
	switch q.Kind {
	case ContainerLog:
		return fmt.Sprintf("log %s/%s", q.Namespace, q.Container)
	case Journal:
		return strings.TrimRight("journal "+q.Unit+" "+q.Host, " ")
	}
	if q.Host != "" {
		return string(q.Kind) + " " + q.Host
	}
	return string(q.Kind)
}

// Text is one stream of lines. Open may be called once at a time; its bytes are
// foreign and not yet sanitized.
type Text struct {
	Kind      TextKind
	Namespace string
	Pod       string
	Container string
	Previous  bool
	Host      string // node or console name, where known
	Unit      string
	Path      string // base of the lines' locators
	Cluster   string // of the lines' locators
	Source    string // of the lines' locators; "" where one source is read
	Open      func(context.Context) (io.ReadCloser, error)
	Skimmed   *Skimmed // the lines that matter, where the source kept them; else nil
}

// Item returns the line as a piece of evidence.
func (m Match) Item() Item {
	return Item{Locator: m.Line.Loc, Excerpt: m.Line.Text, Time: m.Line.Time}
}

// TextGap is a text that is there, or should be, and was not read to its end.
type TextGap struct {
	Text     Text // without Open
	Why      string
	NotAsked bool // on purpose: nothing else tells of trouble there
}

// Skimmed are the lines that were kept of a text that can be read only once.
type Skimmed struct {
	By any // who chose the lines; a reader that would choose others reads the whole text
	// Each calls yield for the lines in their order, and returns how reading the
	// text ended.
	Each func(yield func(n int, line []byte) error) error
}

// Line is one sanitized line of a text.
type Line struct {
	Text string
	Time time.Time // zero: the line carries no time that can be placed
	Loc  Locator
}

// Match is one line that carries a signature.
type Match struct {
	Line   Line
	Text   Text // without Open
	Groups []string
}

// Need names something that a fact reads. Exactly one of Resource and Text is set.
type Need struct {
	Resource  Resource
	Namespace string // of the objects; "" is cluster-scoped or all
	Text      TextQuery
}

// String is the need's stable name in coverage, reports and RBAC.
func (n Need) String() string {
	if n.Resource.Name == "" {
		return n.Text.String()
	}
	if n.Namespace != "" {
		return n.Resource.String() + " -n " + n.Namespace
	}
	return n.Resource.String()
}

// Objects is the need for all objects of a resource in a namespace.
func Objects(r Resource, namespace string) Need { return Need{Resource: r, Namespace: namespace} }

// Texts is the need for texts.
func Texts(q TextQuery) Need { return Need{Text: q} }

// Why says why something could not be read.
type Why string

// The reasons, from "this source never has it" to "it should have been there".
const (
	NotCollected Why = "not collected" // the archive's kind does not contain it, or the collector did not get that far
	NotServed    Why = "not served"    // the API does not know the resource
	Forbidden    Why = "forbidden"     // rights are missing
	Unreachable  Why = "unreachable"   // the other side did not answer in time
	Damaged      Why = "damaged"       // it is there and cannot be read
	NotAsked     Why = "not asked"     // it is only read when the user asks for it
)

// MayHideObjects reports whether what is needed may be there anyway: a source has it, or
// should, and could not read it. What another source says does not make up for that.
func (w Why) MayHideObjects() bool { return w != NotCollected && w != NotServed && w != NotAsked }

// Unavailable is the error of a read that could not look. It is never "nothing there".
type Unavailable struct {
	Need   Need
	Why    Why
	Detail string // what happened, without secrets
	Supply Supply // what would supply it
	// Fields reports that of the objects returned with it some have only a part of their fields: a row of
	// a table. A field that is not there is then not known to be empty.
	Fields bool
}

// Error implements error.
func (u *Unavailable) Error() string {
	s := u.Need.String() + ": " + string(u.Why)
	if u.Detail != "" {
		s += " (" + u.Detail + ")"
	}
	return s
}

// Damage is the error of a text that is there, and whose bytes are lost or are not those
// that were written.
type Damage struct{ Detail string }

// Error implements error.
func (d *Damage) Error() string { return d.Detail }

// IsDamage reports whether a Damage is in err's chain.
func IsDamage(err error) bool {
	var d *Damage
	return errors.As(err, &d)
}

// AsUnavailable returns the Unavailable in err's chain.
func AsUnavailable(err error) (*Unavailable, bool) {
	var u *Unavailable
	ok := errors.As(err, &u)
	return u, ok
}

// Description says what a source is.
type Description struct {
	Kind    string    // "live", "must-gather", "inspect", "collection", "console", ...
	Name    string    // what the user called it: a path, a context
	Origin  string    // of a collection: the Kind of what was collected; else ""
	API     string    // the URL of the API that is asked; "" where none is
	Vantage string    // from where probes were made
	File    bool      // it is a file or directory that somebody named
	More    int       // how many others of these were read with it; a Reader counts them
	Whole   bool      // its collector keeps all that the ClusterOperators refer to: a part that is missing was lost
	Now     time.Time // the newest trustworthy time in the source; zero: it carries none
	// AtLeast says that Now is only the newest time that an object or a line carries: the
	// source does not say when it was read. What lasts, lasts at least until Now.
	AtLeast bool
	// ByClock says that Now is the clock of this machine, or the time of a file: nothing in
	// the source carries one.
	ByClock bool
	// Cut says how reading the source ended early, "" where it did not.
	Cut string
	// Notes are what the source holds and does not read, and how it was joined
	// with others. They are part of the coverage of every run.
	Notes []Coverage
	// Holds are the kinds of objects in single files, where nothing else says what should be in a source.
	Holds []Resource
	// Hosted is set where the cluster that is looked at is a hosted one and its
	// management cluster is read as well.
	Hosted *Hosted
}

// Source reads from one place. Implementations are safe for concurrent use,
// honor the context, and return *Unavailable when they cannot look.
type Source interface {
	Describe(context.Context) (Description, error)
	// List returns the objects of a resource, sorted by namespace and name. Objects
	// returned with an *Unavailable are some of them; so are texts.
	List(ctx context.Context, r Resource, namespace string) ([]Object, error)
	// Texts returns the texts that match, sorted by path.
	Texts(ctx context.Context, q TextQuery) ([]Text, error)
}

// State of a need after a run.
type State string

// Coverage states: the four outcomes, spelled for reads.
const (
	Read    State = "read"
	Empty   State = "empty"   // looked, nothing there
	Partial State = "partial" // some of it could not be read
	Missing State = "missing" // could not look
)

// Coverage is the outcome of one need.
type Coverage struct {
	Need   string `json:"need"`
	State  State  `json:"state"`
	Count  int    `json:"count,omitempty"`
	Reason string `json:"reason,omitempty"`
	Supply Supply `json:"supply,omitzero"`

	Why     Why  `json:"-"` // why not all of it was read; "" for texts
	Damaged bool `json:"-"` // something is there, and is not what was written
	// Lost names a part of the cluster that something shows to exist, and of which nothing is in
	// the source; "" for all else.
	Lost string `json:"-"`
}
