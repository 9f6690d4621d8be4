package checks

import (
	"net/netip"
	"strings"
)

// nowhere is the network that no route of hosts can lead to, save the default route
// (nmstate/nmstate: rust/src/lib/route.rs validate_route_dst).
var nowhere = netip.MustParsePrefix("0.0.0.0/8")

// refusedRoutes: rust/src/lib/route.rs Routes.validate, RouteEntry.sanitize and
// MergedRoutes.new; releases 2.2.9 to 2.2.38.
func (f *addressArea) refusedRoutes(h host) {
	for _, r := range h.routes() {
		if n := r.get("state"); n.there() {
			add(&f.Refused, n, h.title(), "%q is no state of a route; remove it, or write absent", n.text())
		}
		if n := r.get("next-hop-address"); n.text() != "" {
			if _, ok := n.addr(); !ok {
				add(&f.Refused, n, h.title(), "%q is no address; write that of the gateway", n.text())
			}
		}
		dest := r.get("destination")
		addr, isAddr := dest.addr()
		net, isNet := dest.prefix()
		switch {
		case dest.text() == "":
		case !isAddr && !isNet:
			add(&f.Refused, dest, h.title(), "%q is no network; write 0.0.0.0/0 for the default route", dest.text())
		case isAddr && nowhere.Contains(addr), isNet && net.Bits() >= nowhere.Bits() && nowhere.Contains(net.Addr()):
			add(&f.Refused, dest, h.title(), "no route can lead to %s; write 0.0.0.0/0 for the default route", dest.text())
		}
		for _, key := range []string{"metric", "table-id"} {
			if n := r.get(key); n.there() && n.text() != "-1" {
				if _, ok := whole(n); !ok {
					add(&f.Refused, n, h.title(), "%s %q is no number", key, n.text())
				}
			}
		}
		f.refusedHop(h, r)
	}
}

// refusedHop: a route leads over an interface that has addresses of its family.
func (f *addressArea) refusedHop(h host, r node) {
	n, dest := r.get("next-hop-interface"), r.get("destination").text()
	if r.get("route-type").there() { // it leads nowhere
		return
	}
	if n.text() == "" {
		add(&f.Refused, n, h.title(), "the route to %s has no next-hop-interface; write the interface of the gateway", dest)
		return
	}
	link := h.link(n.text())
	family := "ipv4"
	if strings.Contains(dest, ":") {
		family = "ipv6"
	}
	switch state := link.get("state").text(); {
	case !link.there() || state == "ignore" || dest == "":
	case state == "absent":
		add(&f.Refused, n, h.title(), "the route to %s leads over %s, whose state is absent", dest, n.text())
	case !on(link.get(family, "enabled")):
		add(&f.Refused, n, h.title(), "the route to %s leads over %s, and %s is not switched on there; write enabled: true in its block %s, or "+
			"remove the route", dest, n.text(), family, family)
	}
}

// metricOf is the metric that a route gets: nmstate writes 0 where there is none
// (rust/src/lib/nm/settings/route.rs gen_nm_ip_routes).
func metricOf(r node) string {
	if s := r.get("metric").text(); s != "" && s != "-1" {
		return s
	}
	return "0"
}

// mainTable reports whether a route is one that hosts use without rules of their own.
func mainTable(r node) bool {
	s := r.get("table-id").text()
	return s == "" || s == "0" || s == "254"
}

// refusedServers: without a running host nmstate stores name servers at an interface that has
// addresses of their family, or asks for them, and those of the two families one after the other
// (rust/src/lib/dns.rs is_iface_valid_for_dns, nm/dns.rs store_dns_config_to_iface).
func (f *addressArea) refusedServers(h host) {
	list := h.config.get("dns-resolver", "config", "server").items()
	families := map[string]bool{}
	changes, last := 0, ""
	for _, n := range list {
		addr, ok := n.addr()
		if !ok || strings.Contains(n.text(), "%") {
			return
		}
		family := "ipv4"
		if addr.Is6() {
			family = "ipv6"
		}
		if last != "" && family != last {
			changes++
		}
		last, families[family] = family, true
		if changes == 2 {
			add(&f.Refused, n, h.title(), "the name servers of IPv4 and IPv6 are mixed; write those of one family first, then those of the other")
			changes++
		}
	}
	for _, family := range sortedKeys(families) {
		if !h.asks(family) {
			n := h.config.get("dns-resolver", "config", "server")
			add(&f.Refused, n, h.title(), "no interface of %s has addresses in %s, and a name server is of that family; switch it on at an interface, "+
				"or remove the server", h.title(), family)
		}
	}
}

// asks reports whether an interface has addresses of a family, or gets some.
func (h host) asks(family string) bool {
	for _, i := range h.links() {
		ip := i.get(family)
		auto := on(ip.get("dhcp")) || on(ip.get("autoconf"))
		if !gone(i) && on(ip.get("enabled")) && (auto || len(ip.get("address").items()) > 0) {
			return true
		}
	}
	return false
}
