package plan

// usualMTU is that of an Ethernet interface without a setting.
const usualMTU = 1500

// mtuOf is the MTU of an interface of the nmstate document: its own, for a VLAN without one
// that of its base. depth bounds documents that name each other.
func (h host) mtuOf(name string, depth int) (node, int64) {
	for _, i := range h.links() {
		if i.get("name").text() != name {
			continue
		}
		if n := i.get("mtu"); n.there() {
			mtu, _ := n.number()
			return n, mtu
		}
		if base := i.get("vlan", "base-iface").text(); base != "" && depth < 4 {
			if n, mtu := h.mtuOf(base, depth+1); mtu > 0 {
				return n, mtu
			}
		}
		return i.get("name"), usualMTU
	}
	return node{}, 0
}

// mtus: the cluster takes the MTU of its network from one host, less what Geneve needs: from
// one of the control plane, because no other Node is there yet. The network of hosts whose
// interface has a smaller one does not start
// (openshift/cluster-network-operator: pkg/controller/operconfig/mtu_probe.go;
// ovn-org/ovn-kubernetes: go-controller/pkg/node/default_node_network_controller.go
// validateVTEPInterfaceMTU).
func (f *Addresses) mtus(list []host) {
	largest, of := int64(0), ""
	for _, h := range list {
		if _, mtu := h.nodeMTU(); mtu > largest && h.role.text() != "worker" {
			largest, of = mtu, h.title()
		}
	}
	for _, h := range list {
		if n, mtu := h.nodeMTU(); mtu > 0 && mtu < largest {
			add(&f.MTU, n, h.title(), "%s has MTU %d and %s has %d; write one MTU for all hosts", h.title(), mtu, of, largest)
		}
	}
}

// nodeMTU is that of the interface of the default route, else of the first address; 0 where a
// host has no static address.
func (h host) nodeMTU() (node, int64) {
	addresses := h.addresses()
	if len(addresses) == 0 {
		return node{}, 0
	}
	for _, r := range h.routes() {
		if dest, ok := r.get("destination").prefix(); ok && dest.Bits() == 0 {
			if n, mtu := h.mtuOf(r.get("next-hop-interface").text(), 0); mtu > 0 {
				return n, mtu
			}
		}
	}
	return h.mtuOf(addresses[0].iface, 0)
}
