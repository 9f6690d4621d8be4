package checks

// usualMTU is that of an Ethernet interface without a setting.
const usualMTU = 1500

// mtuOf is the MTU of an interface of the nmstate document: its own, for a VLAN at most that of
// its base (NetworkManager: src/core/devices/nm-device.c nm_device_get_configured_mtu_wired_parent).
// depth bounds documents that name each other.
func (h host) mtuOf(name string, depth int) (node, int64) {
	for _, i := range h.links() {
		if i.get("name").text() != name {
			continue
		}
		var of node
		least := int64(0)
		if base := i.get("vlan", "base-iface").text(); base != "" && depth < 4 {
			of, least = h.mtuOf(base, depth+1)
		}
		mtu, ok := whole(i.get("mtu"))
		switch {
		case ok && (least == 0 || mtu <= least):
			return i.get("mtu"), mtu
		case least > 0:
			return of, least
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
func (f *addressArea) mtus(list []host) {
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

// mtuOfBases: a VLAN gets no larger MTU than the interface that it is on. Without an MTU that
// one keeps the usual one, if it is a network card or a bond and asks no DHCP server.
func (f *addressArea) mtuOfBases(h host) {
	for _, i := range h.links() {
		n, base := i.get("mtu"), h.link(i.get("vlan", "base-iface").text())
		mtu, ok := whole(n)
		if !ok || !base.there() || gone(i) || gone(base) {
			continue
		}
		kind, dhcp := base.get("type").text(), on(base.get("ipv4", "dhcp")) || on(base.get("ipv6", "autoconf"))
		if !base.get("mtu").there() && (dhcp || kind != "ethernet" && kind != "bond") {
			continue
		}
		if _, least := h.mtuOf(base.get("name").text(), 0); mtu > least {
			add(&f.MTUOfBase, n, h.title(), "%s has MTU %d and %s, which it is on, %d: it gets %d; write mtu: "+
				"%d at %s, too", i.get("name").text(), mtu, base.get("name").text(), least, least, mtu, base.get("name").text())
		}
	}
}
