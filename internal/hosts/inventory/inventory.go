// Package inventory lists the hosts that a cluster expects and says which objects are one
// host: Nodes, Machines, BareMetalHosts, Agents, the hosts of install-config and
// agent-config, hosts that the user names, consoles and certificate requests.
//
// Invariants:
//   - A host that is expected is in the inventory even if it never became a Node.
//   - A name that only a certificate request claims is listed and is not
//     expected: whoever asks chooses the name.
//   - Hosts that are only counted (the replicas of install-config, or of a
//     MachineSet that has fewer Machines) are a gap with a number and never an
//     invented name.
//   - A host that the user names is in the inventory and expected, whatever else is known.
//   - The bootstrap host of an installation is not in the inventory: it never joins.
//   - A MAC address joins two objects only where no other host has it, and a host
//     name only where it says who the host is: localhost does not.
//   - The Agents of a hub are hosts of other clusters. They are in the inventory where
//     the source has no Nodes of its own, or where they belong to the hub itself.
//   - A kind that could not be read makes the inventory partial and is named in
//     Inventory.Missing; only an inventory of which nothing could be read is an error.
package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/obfuscation"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/install"
)

// Standing says how sure a statement about a host is.
type Standing string

// The standings. The empty one is "not known".
const (
	Proven Standing = "proven" // the Node's labels or annotations, or the host's own request, say so
	Likely Standing = "likely" // the object that made the host says so
)

// Pool is the MachineConfigPool that serves a host.
type Pool struct {
	Name     string
	Standing Standing
	Excerpt  string // what says so
	Loc      evidence.Locator
}

// Node is a Node object and where it was read.
type Node struct {
	Loc evidence.Locator
	API corev1.Node
}

// Machine is a Machine object and where it was read.
type Machine struct {
	Loc evidence.Locator
	API apitypes.Machine

	part bool // fields of it were not shown
}

// BMH is a BareMetalHost object and where it was read.
type BMH struct {
	Loc evidence.Locator
	API metal3.BareMetalHost
}

// Claim is a request for a client certificate in a host's name.
type Claim struct {
	Name    string // of the request
	Created time.Time
	Loc     evidence.Locator
}

// Host is one machine of the inventory.
type Host struct {
	Name      string   // the Node's where there is one, else the BareMetalHost's, the Machine's, ...
	Aliases   []string // every other name that it is known under, sorted
	Expected  bool     // false: only a certificate request claims the name
	Spare     bool     // a BareMetalHost that nothing consumes: it is not asked to join
	Role      string   // master, worker, arbiter or a custom role; "" where nothing tells
	Node      *Node    // nil: there is none, or Nodes could not be read (Inventory.Missing)
	Machine   *Machine
	BMH       *BMH
	Assisted  *Assisted
	Planned   *Planned // in the installer's own words, where an install directory was read
	Named     *Named   // the user, or a text, names it
	Console   string   // locator path of a console text, "" if there is none
	Addresses []string // all IP addresses that any object names, sorted
	MACs      []string // lower case, sorted
	Pool      Pool
	Claims    []Claim // requests for its first client certificate, oldest first
	// OperatorWords is what the operators of etcd and the API server report of it.
	OperatorWords []OperatorWord
	OnHost        string // the name under which rollcall-host ran on the machine itself, "" where it did not
	PerhapsNode   bool   // a Machine whose Node was not shown, while there are Nodes without a Machine: it may be one of them

	// Of a host of a hosted cluster.
	NodePool string           // "" where nothing tells
	Hosted   *HostedMachine   // nil on the platform None, and for a host without a Machine
	Provider *ProviderMachine // the AgentMachine or KubevirtMachine
	Agent    *Agent
}

// Assisted is what the service of an agent-based install says of a host, and where
// it was read.
type Assisted struct {
	Loc evidence.Locator
	API assisted.Host
}

// Planned is a host of install-config or agent-config in an install directory.
type Planned struct {
	Loc evidence.Locator
	API install.Host
}

// Named is what the user, or a text, says of a host, and where.
type Named struct {
	Loc evidence.Locator
	By  string // one of namedhost's words

	Console bool // text of its console was given
	// Seen is the first line of its journal, Kubelet the first one of its kubelet: without their messages
	// and times; nil where no journal has one.
	Seen    *evidence.Item
	Kubelet *evidence.Item
}

// Gap counts hosts that are wanted and that no object names.
type Gap struct {
	Role     string
	NodePool string // of a hosted cluster; "" where install-config or a MachineSet asks for them
	Of       string // the MachineSet that counts; "" is install-config or a NodePool
	Wanted   int
	Named    int
	Since    time.Time             // when the MachineSet was created; zero for the others
	Unread   *evidence.Unavailable // why it is not known which there are: Named is what else tells of them
	Loc      evidence.Locator
}

// Inventory is the whole list.
type Inventory struct {
	Hosts   []Host // sorted by name
	Gaps    []Gap
	Missing []*evidence.Unavailable // kinds that could not be read: hosts may be missing

	byName map[string]int
}

// Needs is what Read reads.
func Needs() []evidence.Need {
	return append(append(hostedNeeds(), operatorNeeds()...), []evidence.Need{
		evidence.Objects(evidence.Nodes, ""),
		evidence.Objects(evidence.Machines, openshift.MachineAPINamespace),
		evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace),
		evidence.Objects(evidence.MachineSets, openshift.MachineAPINamespace),
		evidence.Objects(evidence.AssistedHosts, ""),
		evidence.Objects(evidence.Agents, ""),
		evidence.Objects(evidence.Installs, ""),
		evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace),
		evidence.Objects(evidence.CSRs, ""),
		evidence.Objects(evidence.NamedHosts, ""),
		evidence.Texts(Consoles),
		evidence.Objects(evidence.HostIdentities, ""),
	}...)
}

// All returns the hosts of the inventory, computed once per run.
func All(ctx context.Context, w *facts.World) ([]Host, error) {
	r, err := Read(ctx, w)
	if err != nil {
		return nil, err
	}
	return r.Hosts, nil
}

// Find returns the host of a name or alias.
func Find(ctx context.Context, w *facts.World, name string) (Host, bool, error) {
	r, err := Read(ctx, w)
	if err != nil {
		return Host{}, false, err
	}
	i, ok := r.byName[name]
	if !ok {
		return Host{}, false, nil
	}
	return r.Hosts[i], true, nil
}

// NodeOf returns the Node of a host. That there is none is "not applicable": a claim from
// silence, as a kind that joins names and was not read may hide that it has another name.
func NodeOf(ctx context.Context, w *facts.World, name string) (evidence.Object, error) {
	o, ok, err := w.Get(ctx, evidence.Nodes, "", name)
	if err != nil || ok {
		return o, err
	}
	h, _, err := Find(ctx, w, name)
	if err != nil {
		return o, err
	}
	if h.Node != nil {
		o, ok, err = w.Get(ctx, evidence.Nodes, "", h.Node.API.Name)
	}
	if err == nil && !ok {
		err = facts.NotApplicable("%s is not a Node yet", name)
	}
	return o, err
}

// Joined returns the Node of a host, whatever the Node is called; ok is false where it has none.
// Where an object that may join another name to the host is there and was not read, it is not
// known whether it has one: an *evidence.Unavailable.
func Joined(ctx context.Context, w *facts.World, name string) (node evidence.Object, ok bool, err error) {
	if node, ok, err = w.Get(ctx, evidence.Nodes, "", name); err != nil || ok {
		return node, ok, err
	}
	r, err := Read(ctx, w)
	if err != nil {
		return node, false, err
	}
	if i, known := r.byName[name]; known && r.Hosts[i].Node != nil {
		return w.Get(ctx, evidence.Nodes, "", r.Hosts[i].Node.API.Name)
	}
	for _, u := range r.Missing {
		if u.Why.MayHideObjects() || u.Fields {
			return node, false, u
		}
	}
	return node, false, nil
}

// index finds hosts by name and, where no host has that name, by alias.
func (r *Inventory) index() {
	r.byName = make(map[string]int, len(r.Hosts))
	for i := range r.Hosts {
		r.byName[r.Hosts[i].Name] = i
	}
	for i := range r.Hosts {
		for _, a := range r.Hosts[i].Aliases {
			if _, taken := r.byName[a]; !taken {
				r.byName[a] = i
			}
		}
	}
}

// Read returns the inventory, computed once per run. The error is an
// *evidence.Unavailable when no kind that names hosts could be read.
func Read(ctx context.Context, w *facts.World) (*Inventory, error) {
	return facts.Memo(ctx, w, "inventory", read)
}

func read(ctx context.Context, w *facts.World) (*Inventory, error) {
	b := &builder{}
	steps := []struct {
		need evidence.Need
		step func(context.Context, *facts.World, evidence.Need) error
		// optional kinds add to an inventory; that they are missing does not make it partial
		optional bool
	}{
		{evidence.Objects(evidence.Nodes, ""), b.nodes, false},
		{evidence.Objects(evidence.Machines, openshift.MachineAPINamespace), b.machines, false},
		{evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace), b.bareMetalHosts, false},
		{evidence.Objects(evidence.MachineSets, openshift.MachineAPINamespace), b.machineSets, true},
		{evidence.Objects(evidence.AssistedHosts, ""), b.assisted, true},
		{evidence.Objects(evidence.Agents, ""), b.agents, true},
		{evidence.Objects(evidence.Installs, ""), b.installs, true},
		{evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace), b.installConfig, true},
		{evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace), b.hosted, false},
		{evidence.Objects(evidence.NamedHosts, ""), b.namedHosts, true},
		{evidence.Objects(evidence.EtcdOperators, ""), b.operatorNodes, true},
		{evidence.Texts(Consoles), b.consoles, true},
		{evidence.Objects(evidence.HostIdentities, ""), b.machinesSeen, true},
		{evidence.Objects(evidence.CSRs, ""), b.claims, true},
	}
	h, err := w.Hosted(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the expected hosts: %w", err)
	}
	for _, s := range steps {
		if h != nil && slices.Contains([]evidence.Resource{evidence.Machines, evidence.BareMetalHosts, evidence.EtcdOperators}, s.need.Resource) {
			continue // the Machines of a hosted cluster are those of the Cluster API, next to its control plane
		}
		err := s.step(ctx, w, s.need)
		u, unavailable := evidence.AsUnavailable(err)
		switch {
		case unavailable && s.optional:
		case unavailable && u.Why == evidence.NotServed:
			// The API has no such kind (no Machine API, no bare metal): nothing is missing.
		case unavailable:
			b.inventory.Missing = append(b.inventory.Missing, u)
		case err != nil:
			return nil, fmt.Errorf("list the expected hosts: %w", err)
		}
	}
	if len(b.list) == 0 && len(b.inventory.Missing) > 0 {
		return nil, b.inventory.Missing[0]
	}
	b.finish()
	return &b.inventory, nil
}

// builder joins objects to hosts. A host is found again by any of its keys.
type builder struct {
	inventory Inventory
	list      []*Host
	gaps      []Gap

	nodesRead bool // Nodes could be read: the source is of a cluster that has an API
	bmhsRead  bool
	sets      bool       // MachineSets say how many workers there are to be
	pools     []NodePool // of the hosted cluster that is looked at
}

func (b *builder) add(name string) *Host {
	h := &Host{Name: name, Expected: true}
	b.list = append(b.list, h)
	return h
}

// match returns the first host for which one of the tests holds; the tests are
// tried in order of their strength over all hosts.
func (b *builder) match(tests ...func(*Host) bool) *Host {
	for _, test := range tests {
		for _, h := range b.list {
			if test(h) {
				return h
			}
		}
	}
	return nil
}

// named matches a name or an alias, without regard to case and trailing dot.
func named(name string) func(*Host) bool {
	name = normal(name)
	return func(h *Host) bool {
		return name != "" && (normal(h.Name) == name || slices.ContainsFunc(h.Aliases, func(a string) bool { return normal(a) == name }))
	}
}

// shortNamed matches when one of the two names is the first label of the other.
// It holds only where it is unambiguous.
func (b *builder) shortNamed(name string) func(*Host) bool {
	short := firstLabel(name)
	fit := func(a string) bool {
		if len(a) < len(short) || !strings.EqualFold(a[:len(short)], short) {
			return false // soon: every host is held against every other
		}
		return firstLabel(a) == short && (normal(a) == short || normal(name) == short)
	}
	fits := func(h *Host) bool { return short != "" && (fit(h.Name) || slices.ContainsFunc(h.Aliases, fit)) }
	count := 0
	for _, h := range b.list {
		if fits(h) {
			count++
		}
	}
	return func(h *Host) bool { return count == 1 && fits(h) }
}

// addressed matches a host that holds one of the addresses.
func addressed(addresses []string) func(*Host) bool {
	return func(h *Host) bool {
		return slices.ContainsFunc(addresses, func(a string) bool { return slices.Contains(h.Addresses, a) })
	}
}

// hasMAC matches the one host that has one of the MAC addresses; where several
// have it, it tells nothing.
func (b *builder) hasMAC(macs []string) func(*Host) bool {
	fits := func(h *Host) bool {
		return slices.ContainsFunc(macs, func(m string) bool { return slices.Contains(h.MACs, strings.ToLower(m)) })
	}
	count := 0
	for _, h := range b.list {
		if fits(h) {
			count++
		}
	}
	return func(h *Host) bool { return count == 1 && fits(h) }
}

func normal(name string) string { return strings.TrimSuffix(strings.ToLower(name), ".") }

func firstLabel(name string) string {
	label, _, _ := strings.Cut(normal(name), ".")
	return label
}

func (h *Host) alias(names ...string) {
	for _, n := range names {
		if n != "" && n != h.Name && !slices.Contains(h.Aliases, n) {
			h.Aliases = append(h.Aliases, n)
		}
	}
}

func (h *Host) addresses(list ...string) {
	for _, a := range list {
		if a != "" && !slices.Contains(h.Addresses, a) && !obfuscation.Found(a) {
			h.Addresses = append(h.Addresses, a)
		}
	}
}

func (h *Host) mac(list ...string) {
	for _, m := range list {
		if m = strings.ToLower(m); m != "" && !slices.Contains(h.MACs, m) && !obfuscation.Found(m) {
			h.MACs = append(h.MACs, m)
		}
	}
}

// finish decides names, roles and pools, counts the gaps and sorts.
func (b *builder) finish() {
	b.markPerhapsNodes()
	for _, h := range b.list {
		h.settleRole()
		h.settlePool()
		b.settleNodePool(h)
		slices.Sort(h.Aliases)
		slices.Sort(h.Addresses)
		slices.Sort(h.MACs)
		b.inventory.Hosts = append(b.inventory.Hosts, *h)
	}
	slices.SortFunc(b.inventory.Hosts, func(x, y Host) int { return strings.Compare(x.Name, y.Name) })
	b.inventory.index()
	b.settleGaps()
}

// SameName reports whether two names are of one host: equal, or one of them the
// first label of the other. Case and a trailing dot do not count.
func SameName(a, b string) bool {
	x, y := normal(a), normal(b)
	if x == "" || y == "" {
		return false
	}
	return x == y || firstLabel(x) == firstLabel(y) && (firstLabel(x) == x || firstLabel(y) == y)
}
