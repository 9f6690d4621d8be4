package checks

import (
	"context"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// Addresses is the fact plan-addresses: what the hosts' networkConfig says.
type addressArea struct {
	Twice       problems // addresses that two hosts have
	Outside     problems // hosts without a static address in a machine network
	Gateway     problems // gateways that no network of the host leads to
	NoRoute     problems // hosts with static addresses and no default route
	Routes      problems // hosts with several default routes of one metric
	NoDNS       problems // hosts with static addresses and no name server
	Incomplete  problems // bonds, VLANs and bridges over interfaces that the document does not have
	NotMapped   problems // interfaces of networkConfig that no MAC address is given for
	NoInterface problems // interfaces with a MAC address that networkConfig does not have, or changes
	Refused     problems // parts of networkConfig that nmstate refuses
	Unusable    problems // static addresses that a host cannot have
	Disabled    problems // interfaces whose addresses are switched off
	LinkTwice   problems // interfaces that networkConfig has twice
	MTUOfBase   problems // VLANs with a larger MTU than their interface
	MTU         problems // hosts whose interface of the node address has a smaller MTU than another host's
}

var addressChecks = check.Area("plan-addresses", needs, readAddresses, check.Fields[addressArea]{
	"plan-address-twice":          func(f *addressArea) *problems { return &f.Twice },
	"plan-address-outside":        func(f *addressArea) *problems { return &f.Outside },
	"plan-gateway-unreachable":    func(f *addressArea) *problems { return &f.Gateway },
	"plan-default-route-missing":  func(f *addressArea) *problems { return &f.NoRoute },
	"plan-default-routes-equal":   func(f *addressArea) *problems { return &f.Routes },
	"plan-name-server-missing":    func(f *addressArea) *problems { return &f.NoDNS },
	"plan-interface-missing":      func(f *addressArea) *problems { return &f.Incomplete },
	"plan-interface-not-mapped":   func(f *addressArea) *problems { return &f.NotMapped },
	"plan-interface-unused":       func(f *addressArea) *problems { return &f.NoInterface },
	"plan-network-config-refused": func(f *addressArea) *problems { return &f.Refused },
	"plan-address-unusable":       func(f *addressArea) *problems { return &f.Unusable },
	"plan-address-disabled":       func(f *addressArea) *problems { return &f.Disabled },
	"plan-interface-twice":        func(f *addressArea) *problems { return &f.LinkTwice },
	"plan-vlan-mtu-limited":       func(f *addressArea) *problems { return &f.MTUOfBase },
	"plan-mtu-differs":            func(f *addressArea) *problems { return &f.MTU },
})

// address is a static address of a host.
type address struct {
	node
	addr   netip.Addr
	prefix netip.Prefix
	iface  string
}

// links are the interfaces of the nmstate document.
func (h host) links() []node { return h.config.get("interfaces").items() }

func (h host) routes() []node {
	var list []node
	for _, r := range h.config.get("routes", "config").items() {
		if r.get("state").text() != "absent" {
			list = append(list, r)
		}
	}
	return list
}

func (h host) addresses() []address {
	var list []address
	for _, i := range h.links() {
		for _, family := range []string{"ipv4", "ipv6"} {
			ip := i.get(family)
			if v, ok := ip.get("enabled").v.(bool); ok && !v {
				continue
			}
			for _, a := range ip.get("address").items() {
				addr, ok := a.get("ip").addr()
				bits, sized := a.get("prefix-length").number()
				if !ok || addr.IsLoopback() || addr.IsLinkLocalUnicast() {
					continue
				}
				prefix := netip.PrefixFrom(addr, addr.BitLen())
				if sized && bits >= 0 && int(bits) <= addr.BitLen() {
					prefix = netip.PrefixFrom(addr, int(bits))
				}
				list = append(list, address{a.get("ip"), addr, prefix.Masked(), i.get("name").text()})
			}
		}
	}
	return list
}

// dynamic reports whether an interface of the host asks DHCP, or hears router advertisements.
func (h host) dynamic() bool {
	if !h.config.there() {
		return true
	}
	for _, i := range h.links() {
		for _, family := range []string{"ipv4", "ipv6"} {
			if ip := i.get(family); ip.get("dhcp").yes() || ip.get("autoconf").yes() {
				return true
			}
		}
	}
	return false
}

func readAddresses(ctx context.Context, w *facts.World) (addressArea, error) {
	var f addressArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	list := p.hosts()
	seen := map[netip.Addr]string{}
	for _, h := range list {
		for _, a := range h.addresses() {
			if other, again := seen[a.addr]; again && other != h.title() {
				add(&f.Twice, a.node, a.addr.String(), "%s has %s, which is an address of %s, too", h.title(), a.addr, other)
			}
			seen[a.addr] = h.title()
		}
		f.refused(h)
		f.disabled(h)
		f.routes(h)
		f.links(h, p.release)
		f.linksTwice(h)
		f.mtuOfBases(h)
	}
	if p.install.there() {
		f.outside(p, list)
	} else {
		f.Outside.Miss(missing("the machine networks are in install-config.yaml", "install-config.yaml"))
	}
	f.unusable(p, list)
	f.mtus(list)
	return f, nil
}

// outside: a host's node IP is an address in a machine network
// (openshift/baremetal-runtimecfg: cmd/runtimecfg/node-ip.go; openshift/assisted-service:
// internal/host/validator.go belongsToMachineCidr).
func (f *addressArea) outside(p plans, list []host) {
	machine := machineNetworks(p)
	if !p.install.get("networking", "machineNetwork").there() && !p.install.get("networking", "machineCIDR").there() && p.agentBased() {
		return // it is taken from the hosts then (pkg/asset/agent/manifests/agentclusterinstall.go)
	}
	for _, h := range list {
		addresses := h.addresses()
		if len(addresses) == 0 || h.dynamic() {
			continue
		}
		inside := slices.ContainsFunc(addresses, func(a address) bool {
			return slices.ContainsFunc(machine, func(n network) bool { return n.prefix.Contains(a.addr) })
		})
		if !inside {
			add(&f.Outside, addresses[0].node, h.title(), "%s has %s, which is in none of the machine networks (%s); add its network to "+
				"machineNetwork, or write another address", h.title(), addresses[0].addr, prefixes(machine))
		}
	}
}

func (f *addressArea) routes(h host) {
	addresses := h.addresses()
	if len(addresses) == 0 {
		return
	}
	metrics := map[string]string{}
	found := false
	for _, r := range h.routes() {
		dest, ok := r.get("destination").prefix()
		if !ok || dest.Bits() != 0 {
			continue
		}
		found = true
		gateway, ok := r.get("next-hop-address").addr()
		key := metricOf(r) + "/" + dest.String()
		if other, again := metrics[key]; again && mainTable(r) && other != r.get("next-hop-interface").text() {
			add(&f.Routes, r, h.title(), "%s has default routes over %s and %s with one metric: which of them gives the node its address is left to "+
				"chance; keep one, or give them metrics", h.title(), other, r.get("next-hop-interface").text())
		}
		if mainTable(r) {
			metrics[key] = r.get("next-hop-interface").text()
		}
		reaches := func(a address) bool { return a.prefix.IsSingleIP() || a.prefix.Contains(gateway) } // NetworkManager adds a route to the gateway of a /32
		if ok && !gateway.IsLinkLocalUnicast() && !h.dynamic() && !slices.ContainsFunc(addresses, reaches) {
			add(&f.Gateway, r.get("next-hop-address"), h.title(), "no address of %s is in the network of its gateway %s; compare the address, its "+
				"prefix-length and the gateway", h.title(), gateway)
		}
	}
	if h.dynamic() {
		return
	}
	if !found {
		n := h.config.get("routes")
		add(&f.NoRoute, n, h.title(), "%s has static addresses and no default route; add routes.config with destination 0.0.0.0/0", h.title())
	}
	if len(h.config.get("dns-resolver", "config", "server").items()) == 0 {
		n := h.config.get("dns-resolver")
		add(&f.NoDNS, n, h.title(), "%s has static addresses and no name server; add dns-resolver.config.server", h.title())
	}
}

// links: what is built of interfaces needs them. An agent-based installation finds the
// interfaces of the document by the MAC addresses of hosts[].interfaces
// (openshift/assisted-service: pkg/staticnetworkconfig/generator.go).
func (f *addressArea) links(h host, release string) {
	names := map[string]bool{}
	for _, i := range h.links() {
		names[i.get("name").text()] = true
	}
	used := map[string]bool{}
	needs := func(n node, of string) {
		name := nameOf(n)
		used[name] = true
		if name != "" && !names[name] && !h.mapped(name) {
			add(&f.Incomplete, n, h.title(), "%s of %s needs the interface %s, which networkConfig does not have; add it, or "+
				"correct the name", of, h.title(), name)
		}
	}
	for _, i := range h.links() {
		of := i.get("name").text()
		f.portless(h, i)
		if gone(i) {
			continue
		}
		list := slices.DeleteFunc(ports(i), func(n node) bool { return nameOf(n) == of }) // an OVS bridge has itself as a port
		omitted := h.omits(list, names, release)
		if base := i.get("vlan", "base-iface"); base.there() {
			list = append(list, base)
			omitted = h.omits(list, names, release) && !slices.ContainsFunc(h.links(), card)
		}
		for _, n := range list {
			if used[nameOf(n)] = true; !omitted {
				needs(n, of)
			}
		}
	}
	for _, r := range h.routes() {
		if n := r.get("next-hop-interface"); len(names) > 0 {
			needs(n, "the route to "+r.get("destination").text())
		}
	}
	if !h.agent || !h.config.there() {
		return
	}
	f.otherMACs(h)
	f.mapping(h, release, names, used)
}

// omits reports whether interfaces are network cards that the document leaves out on purpose:
// it has none of them, and each has a name that the kernel gives. nmstate takes them as they are
// (nmstate/nmstate: rust/src/lib/ifaces/inter_ifaces.rs set_missing_port_to_eth).
func (h host) omits(list []node, names map[string]bool, release string) bool {
	return !slices.ContainsFunc(list, func(n node) bool {
		name := nameOf(n)
		return names[name] || !kernelName(name, release) && (h.agent || !strings.HasPrefix(name, "eth"))
	})
}

// portless: a bond without a port has no link. A port can name its bond, too.
func (f *addressArea) portless(h host, bond node) {
	name := bond.get("name").text()
	if bond.get("type").text() != "bond" || gone(bond) || bond.get("state").text() == "down" || len(ports(bond)) > 0 {
		return
	}
	needed, is := on(bond.get("ipv4", "enabled")) || on(bond.get("ipv6", "enabled")), false
	for _, i := range h.links() {
		needed = needed || i.get("vlan", "base-iface").text() == name
		is = is || i.get("controller").text() == name
	}
	if needed && !is {
		add(&f.Incomplete, bond.get("link-aggregation"), h.title(), "the bond %s of %s has no ports, and so no link; write them in "+
			"link-aggregation.port", name, h.title())
	}
}

// linksTwice: of two interfaces of one name nmstate keeps the last
// (nmstate/nmstate: rust/src/lib/ifaces/inter_ifaces.rs Interfaces.push).
func (f *addressArea) linksTwice(h host) {
	first := map[string]node{}
	for _, i := range h.links() {
		name, kind := i.get("name").text(), i.get("type").text()
		if kind == "ovs-bridge" || name == "" {
			continue
		}
		if other, again := first[name]; again && !reflect.DeepEqual(other.v, i.v) {
			add(&f.LinkTwice, i.get("name"), h.title(), "%s of %s is there twice, and only the last is used; join the two", name, h.title())
		}
		first[name] = i
	}
}

// mapped reports whether hosts[].interfaces names an interface.
func (h host) mapped(name string) bool {
	return slices.ContainsFunc(h.iface.items(), func(i node) bool { return i.get("name").text() == name })
}

// card reports whether an interface is a network card.
func card(link node) bool {
	return slices.Contains(physical, strings.ToLower(link.get("type").text()))
}

// physical are the types of interfaces that a network card is.
var physical = []string{"ethernet", "infiniband", ""}

// kernelName reports whether an interface has a name as the kernel gives it, which is then the
// network card's own: from 4.18 on it needs no MAC address
// (openshift/assisted-service: pkg/staticnetworkconfig/generator.go
// validateInterfaceNamesExistenceYAML; since commit 0dd4f5f16).
func kernelName(name, release string) bool {
	minor, known := minorOf(release)
	return len(name) > 2 && name[:2] == "en" && strings.ContainsRune("PsvxXbucaipod", rune(name[2])) && (!known || minor >= 18)
}

func (f *addressArea) mapping(h host, release string, names, used map[string]bool) {
	for _, i := range h.links() {
		name, kind := i.get("name"), strings.ToLower(i.get("type").text())
		if name.text() == "" || !slices.Contains(physical, kind) || h.mapped(name.text()) || i.get("mac-address").text() != "" ||
			i.get("state").text() == "absent" || i.get("ethernet", "sr-iov").there() || kernelName(name.text(), release) {
			continue
		}
		add(&f.NotMapped, name, h.title()+" "+name.text(), "no MAC address is given for %s of %s: the ISO does not know which network card it is; add "+
			"it to interfaces of this host", name.text(), h.title())
	}
	for _, i := range h.iface.items() {
		if n := i.get("name"); n.text() != "" && len(names) > 0 && !names[n.text()] && !used[n.text()] && !h.usesMAC(i.get("macAddress").text()) {
			add(&f.NoInterface, n, h.title()+" "+n.text(), "%s has a MAC address and networkConfig of %s has no such interface; are the "+
				"names the same?", n.text(), h.title())
		}
	}
}

// otherMACs: without identifier: mac-address nmstate gives the card the mac-address that is
// written (nmstate/nmstate: rust/src/lib/nm/settings/wired.rs gen_nm_wired_setting). A host is
// then no longer recognized by that of interfaces.
func (f *addressArea) otherMACs(h host) {
	for _, i := range h.iface.items() {
		name := i.get("name").text()
		link := h.link(name)
		n := link.get("mac-address")
		mac, err := net.ParseMAC(i.get("macAddress").text())
		other, bad := net.ParseMAC(n.text())
		if err != nil || bad != nil || link.get("type").text() != "ethernet" || gone(link) || link.get("identifier").text() == "mac-address" ||
			mac.String() == other.String() {
			continue
		}
		add(&f.NoInterface, n, h.title()+" "+name, "networkConfig changes the MAC address of %s to %s, interfaces of %s has %s: the host may not be "+
			"recognized; write that of the card in both", name, other, h.title(), mac)
	}
}

func (h host) usesMAC(mac string) bool {
	return slices.ContainsFunc(h.links(), func(i node) bool { return strings.EqualFold(i.get("mac-address").text(), mac) })
}
