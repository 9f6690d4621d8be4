package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metal3"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// some lists the objects that could be read, and why they are not all: each is of a host,
// and the inventory says that hosts may be missing.
func some(ctx context.Context, w *facts.World, need evidence.Need) (list []evidence.Object, part, err error) {
	if list, err = w.Some(ctx, need.Resource, need.Namespace); err != nil {
		return nil, nil, err
	}
	_, part = w.List(ctx, need.Resource, need.Namespace)
	return list, part, nil
}

func (b *builder) nodes(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, part, err := some(ctx, w, need)
	if err != nil {
		return err
	}
	b.nodesRead = true
	for _, o := range list {
		h := b.add(o.Name)
		api, err := evidence.Decode[corev1.Node](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			api.Name = o.Name
		}
		h.Node = &Node{Loc: o.Loc, API: api}
		for _, a := range api.Status.Addresses {
			switch a.Type {
			case corev1.NodeInternalIP, corev1.NodeExternalIP:
				h.addresses(a.Address)
			case corev1.NodeHostName, corev1.NodeInternalDNS, corev1.NodeExternalDNS:
				h.alias(a.Address)
			}
		}
	}
	return part
}

func (b *builder) machines(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, part, err := some(ctx, w, need)
	if err != nil {
		return err
	}
	for _, o := range list {
		api, err := evidence.Decode[apitypes.Machine](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			api.Name, api.Namespace = o.Name, o.Namespace
		}
		h := b.hostOfMachine(&api)
		if h == nil {
			h = b.add(o.Name)
			if ref := api.Status.NodeRef; ref != nil &&
				slices.ContainsFunc(api.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == ref.Name }) {
				h.Name = ref.Name // its Node was deleted, or Nodes were not read: the host keeps its name
			}
			h.Expected = api.DeletionTimestamp == nil
		}
		h.alias(o.Name)
		h.Machine = &Machine{Loc: o.Loc, API: api, part: o.Part()}
		for _, a := range api.Status.Addresses {
			switch a.Type {
			case corev1.NodeInternalIP, corev1.NodeExternalIP:
				h.addresses(a.Address)
			default:
				h.alias(a.Address)
			}
		}
	}
	return part
}

// hostOfMachine finds the Node of a Machine: what either object says of the
// other comes before names, names before addresses.
func (b *builder) hostOfMachine(m *apitypes.Machine) *Host {
	node := func(f func(*Node) bool) func(*Host) bool {
		return func(h *Host) bool { return h.Node != nil && h.Machine == nil && f(h.Node) }
	}
	var dns, ips []string
	for _, a := range m.Status.Addresses {
		if a.Type == corev1.NodeInternalIP {
			ips = append(ips, a.Address)
		} else if a.Type != corev1.NodeExternalIP {
			dns = append(dns, a.Address)
		}
	}
	tests := []func(*Host) bool{
		node(func(n *Node) bool { return m.Status.NodeRef != nil && n.API.Name == m.Status.NodeRef.Name }),
		node(func(n *Node) bool {
			return n.API.Annotations[openshift.MachineOnNodeAnnotation] == m.Namespace+"/"+m.Name
		}),
		node(func(n *Node) bool {
			return m.Spec.ProviderID != nil && *m.Spec.ProviderID != "" && n.API.Spec.ProviderID == *m.Spec.ProviderID
		}),
	}
	for _, d := range append(dns, m.Name) {
		byName := named(d)
		tests = append(tests, func(h *Host) bool { return h.Machine == nil && byName(h) })
	}
	byAddress := addressed(ips)
	tests = append(tests, func(h *Host) bool { return h.Machine == nil && byAddress(h) })
	return b.match(tests...)
}

func (b *builder) bareMetalHosts(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, part, err := some(ctx, w, need)
	if err != nil {
		return err
	}
	b.bmhsRead = len(list) > 0
	for _, o := range list {
		api, err := evidence.Decode[metal3.BareMetalHost](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			api.Name, api.Namespace = o.Name, o.Namespace
		}
		h := b.hostOfBMH(&api)
		if h == nil {
			h = b.add(o.Name)
			h.Spare = spare(&api)
		}
		h = b.joinByNode(h, &api)
		if h.Node == nil && h.Machine != nil && h.Name == h.Machine.API.Name && h.Name != o.Name {
			h.Name = o.Name // people know the machine by this name
			h.alias(h.Machine.API.Name)
		}
		h.alias(o.Name)
		h.BMH = &BMH{Loc: o.Loc, API: api}
		h.mac(api.Spec.BootMACAddress)
		if hw := api.Status.HardwareDetails; hw != nil {
			h.alias(hw.Hostname)
			for _, nic := range hw.NIC {
				h.addresses(nic.IP)
				h.mac(nic.MAC)
			}
		}
	}
	return part
}

// spare reports whether nothing asks the host to join: no consumer, no image,
// and not provisioned by someone else.
func spare(h *metal3.BareMetalHost) bool {
	return h.Spec.ConsumerRef == nil && h.Spec.Image == nil && !h.Spec.ExternallyProvisioned &&
		h.Status.Provisioning.State != metal3.StateProvisioned && h.Status.Provisioning.State != metal3.StateExternallyProvisioned
}

func (b *builder) hostOfBMH(m *metal3.BareMetalHost) *Host {
	id := m.Namespace + "/" + m.Name
	machine := func(f func(*Machine) bool) func(*Host) bool {
		return func(h *Host) bool { return h.Machine != nil && h.BMH == nil && f(h.Machine) }
	}
	tests := []func(*Host) bool{
		machine(func(x *Machine) bool { return m.Spec.ConsumerRef != nil && x.API.Name == m.Spec.ConsumerRef.Name }),
		machine(func(x *Machine) bool { return x.API.Annotations[openshift.HostOnMachineAnnotation] == id }),
		func(h *Host) bool {
			return h.BMH == nil && h.Node != nil && strings.HasPrefix(h.Node.API.Spec.ProviderID, "baremetalhost:///"+id+"/")
		},
	}
	names, ips := namesOfBMH(m)
	for _, n := range names {
		byName, byShort := named(n), b.shortNamed(n)
		tests = append(tests, func(h *Host) bool { return h.BMH == nil && (byName(h) || byShort(h)) })
	}
	byAddress := addressed(ips)
	tests = append(tests, func(h *Host) bool { return h.BMH == nil && byAddress(h) })
	return b.match(tests...)
}

// joinByNode joins a Machine that its BareMetalHost belongs to with the Node of the
// BareMetalHost's name. A Machine without addresses and without nodeRef, as the
// installer makes them for hosts that it does not inspect, leads to its Node only
// through its BareMetalHost.
func (b *builder) joinByNode(h *Host, m *metal3.BareMetalHost) *Host {
	if h.Node != nil || h.Machine == nil {
		return h
	}
	names, ips := namesOfBMH(m)
	free := func(test func(*Host) bool) func(*Host) bool {
		return func(o *Host) bool { return o.Node != nil && o.Machine == nil && o.BMH == nil && test(o) }
	}
	var tests []func(*Host) bool
	for _, n := range names {
		tests = append(tests, free(named(n)), free(b.shortNamed(n)))
	}
	node := b.match(append(tests, free(addressed(ips)))...)
	if node == nil {
		return h
	}
	node.Machine = h.Machine
	node.alias(append([]string{h.Name}, h.Aliases...)...)
	node.addresses(h.Addresses...)
	b.list = slices.DeleteFunc(b.list, func(o *Host) bool { return o == h })
	return node
}

// namesOfBMH returns the names and addresses under which the host of a
// BareMetalHost may be known.
func namesOfBMH(m *metal3.BareMetalHost) (names, ips []string) {
	names = []string{m.Name}
	if hw := m.Status.HardwareDetails; hw != nil {
		names = append([]string{hw.Hostname}, names...)
		for _, nic := range hw.NIC {
			if nic.IP != "" {
				ips = append(ips, nic.IP)
			}
		}
	}
	return names, ips
}

// damaged notes an object that does not fit its schema: it is in the inventory by
// name, what it says is not.
func (b *builder) damaged(err error) error {
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return fmt.Errorf("decode: %w", err)
	}
	b.inventory.Missing = append(b.inventory.Missing, u)
	return nil
}
