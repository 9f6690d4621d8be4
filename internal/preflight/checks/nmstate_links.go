package checks

import (
	"slices"
	"strconv"
	"strings"
)

// nmstate/nmstate, rust/src/lib: iface.rs InterfaceState and MergedInterface, ifaces/base.rs
// BaseInterface.sanitize and validate_can_have_ip, ifaces/bond.rs BondMode and
// validate_new_iface_with_no_mode, ifaces/vlan.rs VlanConfig, ifaces/inter_ifaces_controller.rs;
// releases 2.2.9 to 2.2.38, which agree in what is checked here.
var (
	linkStates = []string{"up", "down", "absent", "ignore", "unknown"}
	bondModes  = []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"}
)

// blocks are those of which the type of the interface decides whether it can have them.
var blocks = map[string][]string{
	"vlan": {"vlan"}, "link-aggregation": {"bond"}, "bridge": {"linux-bridge", "ovs-bridge"}, "vrf": {"vrf"},
}

// leastMTU is the smallest MTU of IPv6 (base.rs MINIMUM_IPV6_MTU, RFC 8200), lastVLAN the largest
// number of a VLAN (NetworkManager: src/libnm-core-impl/nm-setting-vlan.c verify; Linux:
// net/8021q/vlan_netlink.c vlan_validate). nmstate itself takes more.
const leastMTU, lastVLAN = 1280, 4094

// longestName is the longest name of an interface of the kernel (NetworkManager:
// src/libnm-core-impl/nm-setting-connection.c verify; nmstate itself takes more), named are the
// types of those. An OVS bridge has a name of Open vSwitch.
const longestName = 15

var named = []string{"ethernet", "bond", "vlan", "linux-bridge", "vrf", "vxlan", "dummy", "mac-vlan", "mac-vtap", "veth"}

// renamed reports whether the name of an interface is one in the document only: its card is
// found by a MAC address, and the host writes the card's own name instead, also in front of the
// dot of a VLAN (nmstate/nmstate: rust/src/lib/nm/settings/connection.rs;
// openshift/assisted-service: internal/constants/scripts.go update_physical_nics_references).
func (h host) renamed(link node) bool {
	if link.get("identifier").text() == "mac-address" {
		return true
	}
	name, mapped, mac := link.get("name").text(), h.iface.items(), "macAddress"
	if !h.agent {
		mapped, mac = h.links(), "mac-address"
	}
	return slices.ContainsFunc(mapped, func(i node) bool {
		card := i.get("name").text()
		return i.get(mac).text() != "" && card != "" && (name == card || strings.HasPrefix(name, card+"."))
	})
}

// on reads a switch as nmstate does (deserializer.rs option_bool_or_string).
func on(n node) bool {
	switch strings.ToLower(n.text()) {
	case "true", "yes", "on", "y", "1":
		return true
	}
	return false
}

// whole reads a number that nmstate takes with and without quotes (option_u64_or_string).
func whole(n node) (int64, bool) {
	base, text := 10, n.text()
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		base, text = 16, hex
	}
	v, err := strconv.ParseInt(text, base, 64)
	return v, err == nil && v >= 0
}

// gone reports whether nmstate does not read what is written of an interface.
func gone(link node) bool {
	return link.get("state").text() == "absent" || link.get("state").text() == "ignore"
}

// link is the interface of a name that can have addresses: an OVS bridge can have the name of
// one of its interfaces.
func (h host) link(name string) node {
	for _, i := range h.links() {
		if i.get("name").text() == name && i.get("type").text() != "ovs-bridge" {
			return i
		}
	}
	return node{}
}

// ports are the interfaces that a bond, a bridge or a VRF is built of.
func ports(link node) []node {
	bond := link.get("link-aggregation")
	list := bond.first("port", "ports", "slaves").items()
	if len(list) == 0 {
		list = bond.get("ports-config").items()
	}
	list = append(list, link.get("bridge").first("port", "ports", "slaves").items()...)
	return append(list, link.get("vrf").first("port", "ports").items()...)
}

// nameOf is the name of a port, which is a text or has one.
func nameOf(port node) string {
	if n := port.get("name"); n.there() {
		return n.text()
	}
	return port.text()
}

func (f *addressArea) refusedLinks(h host) {
	for _, i := range h.links() {
		name, state, kind := i.get("name").text(), i.get("state"), i.get("type")
		if name == "" {
			add(&f.Refused, i, h.title(), "an interface of %s has no name", h.title())
			continue
		}
		if state.there() && !slices.Contains(linkStates, state.text()) {
			add(&f.Refused, state, h.title(), "%q is no state of an interface; write up, down or absent", state.text())
		}
		if gone(i) {
			continue
		}
		for _, key := range sortedKeys(blocks) {
			if n := i.get(key); n.there() && !slices.Contains(blocks[key], kind.text()) {
				add(&f.Refused, n, h.title(), "%s has the type %q and a block %s, which belongs to the type %s; correct "+
					"one of them", name, kind.text(), key, strings.Join(blocks[key], " or "))
			}
		}
		f.refusedMTU(h, i)
		if state.text() == "down" {
			continue
		}
		if len(name) > longestName && slices.Contains(named, kind.text()) && !h.renamed(i) {
			add(&f.Refused, i.get("name"), h.title(), "%s has %d characters and gets no interface: NetworkManager refuses more than %d; write a "+
				"shorter name", name, len(name), longestName)
		}
		switch kind.text() {
		case "vlan":
			f.refusedVLAN(h, i)
		case "bond":
			mode := i.get("link-aggregation", "mode")
			if v, err := strconv.Atoi(mode.text()); mode.text() == "" {
				add(&f.Refused, mode, h.title(), "the bond %s has no mode; write one of %s in link-aggregation", name, strings.Join(bondModes, ", "))
			} else if !slices.Contains(bondModes, mode.text()) && (err != nil || v < 0 || v >= len(bondModes)) {
				add(&f.Refused, mode, h.title(), "%q is no mode of a bond; write one of %s", mode.text(), strings.Join(bondModes, ", "))
			}
		}
	}
	f.refusedPorts(h)
}

func (f *addressArea) refusedVLAN(h host, i node) {
	block, name := i.get("vlan"), i.get("name").text()
	if !block.there() {
		add(&f.Refused, i.get("name"), h.title(), "the VLAN %s has no block vlan; add it with base-iface and id", name)
		return
	}
	if n := block.get("base-iface"); n.text() == "" {
		add(&f.Refused, n, h.title(), "the VLAN %s has no base-iface; write the interface that it is on", name)
	}
	n := block.get("id")
	if v, ok := whole(n); !n.there() {
		add(&f.Refused, n, h.title(), "the VLAN %s has no id; write its number", name)
	} else if !ok || v > lastVLAN {
		add(&f.Refused, n, h.title(), "%q is no number of a VLAN; write one from 1 to %d", n.text(), lastVLAN)
	}
}

func (f *addressArea) refusedMTU(h host, i node) {
	n := i.get("mtu")
	mtu, ok := whole(n)
	switch {
	case !n.there():
	case !ok:
		add(&f.Refused, n, h.title(), "%q is no MTU; write a number", n.text())
	case mtu < leastMTU && on(i.get("ipv6", "enabled")):
		add(&f.Refused, n, h.title(), "IPv6 needs an MTU of %d or more, %s has %d; write a larger one, or enabled: "+
			"false in ipv6", leastMTU, i.get("name").text(), mtu)
	}
}

// refusedPorts: a port is one of one bond or bridge, and has no addresses. Those of a VRF and
// the interfaces of an OVS bridge have some.
func (f *addressArea) refusedPorts(h host) {
	of := map[string]string{}
	for _, i := range h.links() {
		if s := i.get("state").text(); s != "" && s != "up" {
			continue
		}
		for _, n := range ports(i) {
			name := nameOf(n)
			if other, again := of[name]; again {
				add(&f.Refused, n, h.title(), "%s is a port of %s, too; remove it from one of them", name, other)
			}
			of[name] = i.get("name").text()
			link := h.link(name)
			s, kind := link.get("state").text(), link.get("type").text()
			if i.get("type").text() == "vrf" || kind == "ovs-interface" || s != "" && s != "up" {
				continue
			}
			for _, family := range []string{"ipv4", "ipv6"} {
				if n := link.get(family, "enabled"); on(n) {
					add(&f.Refused, n, h.title(), "%s is a port of %s and cannot have %s; write enabled: false, and the "+
						"addresses at %s", name, of[name], family, of[name])
				}
			}
		}
	}
	for _, i := range h.links() {
		n := i.get("controller")
		if name := n.text(); name != "" && !gone(i) && !slices.ContainsFunc(h.links(), func(l node) bool { return l.get("name").text() == name }) {
			add(&f.Refused, n, h.title(), "networkConfig has no interface %s, which is to be the controller of %s; add it, or "+
				"correct the name", name, i.get("name").text())
		}
	}
}
