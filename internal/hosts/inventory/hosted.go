package inventory

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// NodePool is a NodePool of the hosted cluster that is looked at.
type NodePool struct {
	Namespace, Name string
	Platform        string // None, Agent, KubeVirt, AWS, ...
	Wanted          int    // replicas, or the least that the autoscaler keeps
	Counted         bool   // Wanted is said
	Object          evidence.Object
}

// HostedMachine is a Machine of the Cluster API in the control plane's namespace.
type HostedMachine struct {
	Loc        evidence.Locator
	Name       string
	Created    time.Time
	Deleting   bool
	Phase      string // Pending, Provisioning, Provisioned, Running, Deleting, Failed
	NodeRef    string
	ProviderID string
	InfraKind  string // AgentMachine, KubevirtMachine, AWSMachine, ...
	InfraName  string
	DNS        []string // InternalDNS
	Names      []string // ExternalDNS and Hostname
	IPs        []string
	Failure    string // failureMessage
	Object     evidence.Object
}

// ProviderMachine is the machine of the infrastructure provider: an AgentMachine or
// a KubevirtMachine.
type ProviderMachine struct {
	Loc    evidence.Locator
	Kind   string
	Object evidence.Object
}

// Agent is the host that the assisted installer discovered.
type Agent struct {
	Loc    evidence.Locator
	Name   string
	Object evidence.Object
}

// hostedNeeds is what the inventory of a hosted cluster reads in its management cluster.
func hostedNeeds() []evidence.Need {
	return []evidence.Need{
		evidence.Objects(evidence.NodePools, evidence.HostedNamespace),
		evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace),
		evidence.Objects(evidence.AgentMachines, evidence.ControlPlaneNamespace),
		evidence.Objects(evidence.KubevirtMachines, evidence.ControlPlaneNamespace),
		evidence.Objects(evidence.HostedAgents, evidence.AgentsNamespace),
	}
}

// NodePools returns the NodePools of the hosted cluster that is looked at, sorted by
// name; none where no hosted cluster is looked at.
func NodePools(ctx context.Context, w *facts.World) ([]NodePool, error) {
	h, err := w.Hosted(ctx)
	if err != nil || h == nil {
		return nil, err
	}
	list, err := w.List(ctx, evidence.NodePools, evidence.HostedNamespace)
	if err != nil {
		return nil, err
	}
	var pools []NodePool
	for _, o := range list {
		if evidence.String(o.Content, "spec", "clusterName") != h.Name {
			continue // of another hosted cluster of the same namespace
		}
		p := NodePool{Namespace: o.Namespace, Name: o.Name, Platform: evidence.String(o.Content, "spec", "platform", "type"), Object: o}
		switch {
		case evidence.Field(o.Content, "spec", "replicas") != nil:
			p.Wanted, p.Counted = int(evidence.Int(o.Content, "spec", "replicas")), true
		case evidence.Field(o.Content, "spec", "autoScaling") != nil:
			p.Wanted, p.Counted = int(evidence.Int(o.Content, "spec", "autoScaling", "min")), true
		}
		pools = append(pools, p)
	}
	slices.SortFunc(pools, func(a, b NodePool) int { return strings.Compare(a.Name, b.Name) })
	return pools, nil
}

// HostedMachines returns the Machines of the hosted cluster that is looked at.
func HostedMachines(ctx context.Context, w *facts.World) ([]HostedMachine, error) {
	list, err := w.List(ctx, evidence.HostedMachines, evidence.ControlPlaneNamespace)
	if err != nil {
		return nil, err
	}
	var machines []HostedMachine
	for _, o := range list {
		machines = append(machines, hostedMachine(o))
	}
	return machines, nil
}

// hostedMachine reads fields that v1beta1 and v1beta2 of the Cluster API have in
// common; InfraKind and NodeRef are in the same place in both.
func hostedMachine(o evidence.Object) HostedMachine {
	m := HostedMachine{
		Loc: o.Loc, Name: o.Name, Created: o.Created(), Object: o,
		Deleting: evidence.String(o.Content, "metadata", "deletionTimestamp") != "",
		Phase:    evidence.String(o.Content, "status", "phase"), NodeRef: evidence.String(o.Content, "status", "nodeRef", "name"),
		ProviderID: evidence.String(o.Content, "spec", "providerID"),
		InfraKind:  evidence.String(o.Content, "spec", "infrastructureRef", "kind"), InfraName: evidence.String(o.Content, "spec", "infrastructureRef", "name"),
		Failure: evidence.String(o.Content, "status", "failureMessage"),
	}
	addresses, _ := evidence.Field(o.Content, "status", "addresses").([]any)
	for _, a := range addresses {
		entry, _ := a.(map[string]any)
		value := evidence.String(entry, "address")
		switch corev1.NodeAddressType(evidence.String(entry, "type")) {
		case corev1.NodeInternalDNS:
			m.DNS = append(m.DNS, value)
		case corev1.NodeExternalDNS, corev1.NodeHostName:
			m.Names = append(m.Names, value)
		case corev1.NodeInternalIP, corev1.NodeExternalIP:
			m.IPs = append(m.IPs, value)
		}
	}
	return m
}

// NodePoolOf is the name in the nodePool annotation, which is "ns/name".
func NodePoolOf(o evidence.Object) string {
	note := o.Annotation(openshift.NodePoolKey)
	return note[strings.LastIndexByte(note, '/')+1:]
}

// hosted adds what the management cluster knows: the NodePools' replicas, the
// Machines and what they refer to.
func (b *builder) hosted(ctx context.Context, w *facts.World, _ evidence.Need) error {
	h, err := w.Hosted(ctx)
	if err != nil || h == nil {
		return err
	}
	var missing []error
	for _, step := range []func(context.Context, *facts.World) error{b.hostedMachines, b.hostedProviders, b.hostedPools} {
		err := step(ctx, w)
		if u, ok := evidence.AsUnavailable(err); ok {
			b.inventory.Missing = append(b.inventory.Missing, u)
		} else if err != nil {
			missing = append(missing, err)
		}
	}
	if len(missing) > 0 {
		return missing[0]
	}
	return nil
}

func (b *builder) hostedMachines(ctx context.Context, w *facts.World) error {
	machines, err := HostedMachines(ctx, w)
	if err != nil {
		return err
	}
	for _, m := range machines {
		h := b.hostOfHostedMachine(&m)
		if h == nil {
			h = b.add(m.Name)
			h.Expected = !m.Deleting
		}
		h.alias(append([]string{m.Name}, slices.Concat(m.DNS, m.Names)...)...)
		h.addresses(m.IPs...)
		h.Hosted, h.NodePool = &m, NodePoolOf(m.Object)
	}
	return nil
}

// hostOfHostedMachine finds the Node of a Machine: what either object says of the
// other comes before the provider's ID, that before names, names before addresses.
func (b *builder) hostOfHostedMachine(m *HostedMachine) *Host {
	free := func(f func(*Host) bool) func(*Host) bool {
		return func(h *Host) bool { return h.Hosted == nil && f(h) }
	}
	node := func(f func(*corev1.Node) bool) func(*Host) bool {
		return free(func(h *Host) bool { return h.Node != nil && f(&h.Node.API) })
	}
	tests := []func(*Host) bool{
		node(func(n *corev1.Node) bool { return m.NodeRef != "" && n.Name == m.NodeRef }),
		node(func(n *corev1.Node) bool { return n.Annotations[openshift.ClusterAPIMachineAnnotation] == m.Name }),
		node(func(n *corev1.Node) bool { return m.ProviderID != "" && n.Spec.ProviderID == m.ProviderID }),
	}
	for _, name := range append(slices.Concat(m.DNS, m.Names), m.Name) {
		tests = append(tests, free(named(name)))
	}
	return b.match(append(tests, free(addressed(m.IPs)))...)
}

// hostedProviders adds AgentMachines with their Agents, and KubevirtMachines. A kind
// that the management cluster does not serve has no objects.
func (b *builder) hostedProviders(ctx context.Context, w *facts.World) error {
	agents := map[string]evidence.Object{}
	list, err := served(w.List(ctx, evidence.HostedAgents, evidence.AgentsNamespace))
	for _, o := range list {
		agents[o.Name] = o
	}
	var first error
	for _, r := range []evidence.Resource{evidence.AgentMachines, evidence.KubevirtMachines} {
		machines, err := served(w.List(ctx, r, evidence.ControlPlaneNamespace))
		if err != nil && first == nil {
			first = err
		}
		for _, o := range machines {
			b.providerMachine(o, agents)
		}
	}
	if first == nil {
		first = err
	}
	return first
}

// served takes a kind that is not served for one without objects: that is known.
func served(list []evidence.Object, err error) ([]evidence.Object, error) {
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return nil, nil
	}
	return list, err
}

func (b *builder) providerMachine(o evidence.Object, agents map[string]evidence.Object) {
	kind := evidence.String(o.Content, "kind")
	h := b.match(func(h *Host) bool {
		return h.Hosted != nil && h.Hosted.InfraName == o.Name && (kind == "" || h.Hosted.InfraKind == kind)
	})
	if h == nil {
		return // of a Machine that is gone, or of another cluster
	}
	h.Provider = &ProviderMachine{Loc: o.Loc, Kind: h.Hosted.InfraKind, Object: o}
	a, ok := agents[evidence.String(o.Content, "status", "agentRef", "name")]
	if !ok {
		return
	}
	h.Agent = &Agent{Loc: a.Loc, Name: a.Name, Object: a}
	name := evidence.String(a.Content, "spec", "hostname")
	if name == "" {
		name = evidence.String(a.Content, "status", "inventory", "hostname")
	}
	if h.Node == nil && h.Name == h.Hosted.Name && name != "" {
		h.Name = name // people know the machine by this name
	}
	h.alias(h.Hosted.Name, name)
	nics, _ := evidence.Field(a.Content, "status", "inventory", "interfaces").([]any)
	for _, n := range nics {
		nic, _ := n.(map[string]any)
		h.mac(evidence.String(nic, "macAddress"))
	}
}

// hostedPools settles which NodePool a host belongs to and counts those that are
// wanted and that no object names. Nodes of the platform None carry no label
// (openshift/hypershift:control-plane-operator/hostedclusterconfigoperator/
// controllers/node/node.go needs the Machine): where there is one NodePool only, they
// are its.
func (b *builder) hostedPools(ctx context.Context, w *facts.World) error {
	pools, err := NodePools(ctx, w)
	if err != nil {
		return err
	}
	for _, h := range b.list {
		if h.Node != nil && h.Node.API.Labels[openshift.NodePoolKey] != "" {
			h.NodePool = h.Node.API.Labels[openshift.NodePoolKey]
		}
	}
	b.pools = pools
	for _, p := range pools {
		if p.Counted {
			b.gaps = append(b.gaps, Gap{Role: "worker", NodePool: p.Name, Wanted: p.Wanted, Loc: p.Object.Loc.At("spec.replicas")})
		}
	}
	return nil
}

// settleNodePool decides what no object says: the only NodePool is that of every
// expected host, and a hosted cluster has no hosts but workers.
func (b *builder) settleNodePool(h *Host) {
	if h.NodePool == "" && h.Expected && len(b.pools) == 1 {
		h.NodePool = b.pools[0].Name
	}
	if h.Role == "" && len(b.pools) > 0 {
		h.Role = "worker"
	}
}
