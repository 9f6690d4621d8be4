package checks

import (
	"net/netip"
	"strconv"
	"strings"
)

// refused: what nmstate does not take, of what this package reads. The installer runs
// `nmstatectl gc` for an agent-based installation (pkg/asset/agent/manifests/staticnetworkconfig);
// else it is run for the image of the host (openshift/image-customization-controller:
// pkg/ignition/builder.go ProcessNetworkState). nmstate/nmstate: rust/src/lib/ip.rs InterfaceIpAddr
// and InterfaceIpv4.sanitize, dns.rs DnsClientState.sanitize, route.rs RouteEntry.sanitize; v2.2.
func (f *addressArea) refused(h host) {
	for _, i := range h.links() {
		if gone(i) {
			continue
		}
		for _, a := range i.get("ipv4", "address").items() {
			f.refusedAddress(h, a, "ipv4", 32)
		}
		for _, a := range i.get("ipv6", "address").items() {
			f.refusedAddress(h, a, "ipv6", 128)
		}
	}
	for _, n := range h.config.get("dns-resolver", "config", "server").items() {
		if _, err := netip.ParseAddr(n.text()); err != nil {
			add(&f.Refused, n, h.title(), "%q is no address, and a name server has to be one; write one as 192.168.10.2", n.text())
		}
	}
	f.refusedLinks(h)
	f.refusedRoutes(h)
	f.refusedServers(h)
	f.misspelled(h)
}

func (f *addressArea) refusedAddress(h host, a node, family string, bits int) {
	n, length := a.get("ip"), a.get("prefix-length")
	if !n.there() {
		if _, block := a.v.(map[string]any); block {
			add(&f.Refused, n, h.title(), "an address in %s has no ip", family)
		} else {
			add(&f.Refused, a, h.title(), "an address is a block with ip and prefix-length, and not %q", a.text())
		}
		return
	}
	addr, ok := n.addr()
	if zone := strings.Contains(n.text(), "%"); !ok || zone {
		add(&f.Refused, n, h.title(), "%q is no address; write one as 192.168.10.20, and its prefix-length in a field of its own", n.text())
		return
	}
	if family == "ipv4" && addr.Is6() {
		add(&f.Refused, n, h.title(), "%s is an IPv6 address in the block ipv4; move it to ipv6", addr)
	} else if family == "ipv6" && !strings.Contains(n.text(), ":") {
		add(&f.Refused, n, h.title(), "%s is an IPv4 address in the block ipv6; move it to ipv4", addr)
	}
	switch v, err := strconv.Atoi(length.text()); {
	case !length.there():
		add(&f.Refused, n, h.title(), "%s has no prefix-length; write that of its network", addr)
	case err != nil || v < 0 || v > bits:
		add(&f.Refused, length, h.title(), "prefix-length %s is not possible; write a number from 0 to %d", length.text(), bits)
	}
}

// disabled: nmstate drops the addresses of a block with enabled: false (InterfaceIpv4.sanitize),
// which is what it takes where enabled is not written (From<InterfaceIp>), and those of an
// interface that is not up.
func (f *addressArea) disabled(h host) {
	for _, i := range h.links() {
		state := strings.ToLower(i.get("state").text())
		for _, family := range []string{"ipv4", "ipv6"} {
			list := i.get(family, "address")
			n := i.get(family, "enabled")
			switch {
			case len(list.items()) == 0:
			case !n.there():
				add(&f.Disabled, list, h.title(), "the addresses of %s are not used without enabled: true in %s; add it", i.get("name").text(), family)
			case !on(n):
				add(&f.Disabled, n, h.title(), "the addresses of %s are not used with enabled: false; write true, or remove them", i.get("name").text())
			case state == "down" || state == "absent" || state == "ignore":
				n := i.get("state")
				add(&f.Disabled, n, h.title(), "the addresses of %s are not used with state: %s; write up, or remove them", i.get("name").text(), state)
			}
		}
	}
}

// unusable: static addresses that a host cannot have.
func (f *addressArea) unusable(p plans, list []host) {
	bmcs := map[netip.Addr]string{}
	for _, h := range list {
		if a, err := netip.ParseAddr(hostOnly(h.bmc.get("address").text())); err == nil {
			bmcs[a.Unmap()] = h.title()
		}
	}
	for _, h := range list {
		gateways := map[netip.Addr]bool{}
		for _, r := range h.routes() {
			if a, ok := r.get("next-hop-address").addr(); ok {
				gateways[a] = true
			}
		}
		for _, a := range h.addresses() {
			switch of := bmcs[a.addr]; {
			case of != "":
				add(&f.Unusable, a.node, h.title(), "%s of %s is the address of the BMC of %s, too; write another one", a.addr, h.title(), of)
			case a.addr.IsMulticast() || a.addr.IsUnspecified():
				add(&f.Unusable, a.node, h.title(), "%s is not the address of one host", a.addr)
			case edge(a.prefix, a.addr):
				add(&f.Unusable, a.node, h.title(), "%s is the first or the last address of %s, which no host can have", a.addr, a.prefix)
			case gateways[a.addr]:
				add(&f.Unusable, a.node, h.title(), "%s is the gateway of %s, too; write an address of its own", a.addr, h.title())
			}
		}
	}
	f.bootstrap(p)
}

// looksLikeAddress reports whether a name has the form of an IPv4 address and is none, such as
// 10.0.0.300: no name of a host ends in a number (RFC 1123, 2.1).
func looksLikeAddress(name string) bool {
	if _, err := netip.ParseAddr(name); err == nil {
		return false
	}
	last := name[strings.LastIndexByte(name, '.')+1:]
	_, err := strconv.Atoi(last)
	return strings.Contains(name, ".") && err == nil
}
