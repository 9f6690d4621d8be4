package checks

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// netPortsArea is the area plan-network-ports: who answers at the VIPs or the load balancer of the plan.
type netPortsArea struct {
	Used    problems // VIPs that a machine answers at already
	Maybe   problems // VIPs that something answers for which may be no machine
	Closed  problems // ports that the load balancer does not accept connections at
	Serving problems // ports of the load balancer at which a server answers already
}

var netPortsChecks = check.Area("plan-network-ports", networkNeeds, readNetPorts, check.Fields[netPortsArea]{
	"plan-vip-in-use":           func(f *netPortsArea) *problems { return &f.Used },
	"plan-vip-perhaps-in-use":   func(f *netPortsArea) *problems { return &f.Maybe },
	"plan-load-balancer-closed": func(f *netPortsArea) *problems { return &f.Closed },
	"plan-load-balancer-serves": func(f *netPortsArea) *problems { return &f.Serving },
})

func readNetPorts(ctx context.Context, w *facts.World) (netPortsArea, error) {
	var f netPortsArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	if p := l.platform(); p.balanced {
		f.balancer(&l, p)
	} else {
		for _, vip := range slices.Concat(p.api, p.ingress) {
			if a, ok := vip.addr(); ok {
				f.vip(&l, vip, a)
			}
		}
	}
	return f, nil
}

// vip: keepalived of the hosts will take the address. Before that no one may have it.
func (f *netPortsArea) vip(l *answers, vip node, ip netip.Addr) {
	text := ip.String()
	free, open := false, "nothing was asked of "+text
	var refused, elsewhere *probe.NetAnswer
	for _, a := range l.list {
		if parsed, err := netip.ParseAddr(a.Host); err != nil || parsed != ip || a.Kind != probe.NetPort && a.Kind != probe.NetNeighbor {
			continue
		}
		switch {
		case a.NotRun != "":
			open = a.NotRun
		case a.Kind == probe.NetNeighbor && a.Neighbor == probe.NeighborAnswered && l.proxied(a):
			open = a.MAC + " answers for the gateway, too: a router may answer for every address (proxy ARP)"
		case a.Kind == probe.NetNeighbor && a.Neighbor == probe.NeighborAnswered:
			f.Used.Add(text, hold(vip, a, "%s answers for %s%s; choose a free address, or take it from that machine", a.MAC, text, l.owner(a.MAC)))
		case a.Kind == probe.NetNeighbor && a.Neighbor == probe.NeighborSilent:
			free = true
		case a.Kind == probe.NetPort && a.Stage != probe.StageNone && !l.inside[a.Vantage] && !l.ours(a):
			elsewhere, open = &a, a.Vantage+" is in no network of the hosts: what accepts connections may be a proxy on the way"
		case a.Kind == probe.NetPort && a.Stage != probe.StageNone:
			f.Used.Add(text, hold(vip, a, "a server listens on %s port %d%s; choose a free address, or take it from that machine", text, a.Port, served(a)))
		case a.Kind == probe.NetPort && a.ErrorClass == probe.ErrRefused:
			refused = &a
		}
	}
	if f.Used.Any() || free {
		return
	}
	if refused != nil {
		f.Maybe.Add(text, hold(vip, *refused, "connections to %s port %d are refused: a machine has the address, or a firewall "+
			"refuses them", text, refused.Port))
	}
	if elsewhere != nil {
		f.Maybe.Add(text, hold(vip, *elsewhere, "connections to %s port %d are accepted%s: a machine has the address, or a proxy on the way accepts "+
			"all of them", text, elsewhere.Port, served(*elsewhere)))
	}
	unproven(&f.Used, open)
}

// ours reports whether a certificate is of the cluster of the plan: no proxy has that.
func (l *answers) ours(a probe.NetAnswer) bool {
	leaf := probe.APIAnswer{Chain: a.Chain}.Leaf()
	name := "api." + l.install.get("metadata", "name").text() + "." + l.install.get("baseDomain").text()
	return leaf != nil && leaf.VerifyHostname(name) == nil
}

// proxied reports whether what answers for an address answers for a gateway, too.
func (l *answers) proxied(a probe.NetAnswer) bool {
	return slices.ContainsFunc(l.of(probe.NetNeighbor), func(g probe.NetAnswer) bool {
		return g.Target == probe.NetGateway && g.Host != a.Host && g.Vantage == a.Vantage && g.MAC != "" && g.MAC == a.MAC
	})
}

// owner names the host of the plan that has a MAC address.
func (l *answers) owner(mac string) string {
	for _, h := range l.hosts() {
		if h.hasMAC(mac) {
			return ", which is " + h.title() + " of this plan: is the cluster installed already?"
		}
	}
	return ""
}

// hasMAC looks into the list of the host and into its networkConfig.
func (h host) hasMAC(mac string) bool {
	return h.usesMAC(mac) || slices.ContainsFunc(h.macs, func(n node) bool { return strings.EqualFold(n.text(), mac) })
}

// served describes what answered.
func served(a probe.NetAnswer) string {
	text := ""
	leaf := probe.APIAnswer{Chain: a.Chain}.Leaf()
	if leaf != nil {
		text = fmt.Sprintf(" with a certificate of %s by %s", leaf.Subject.CommonName, leaf.Issuer.CommonName)
		if len(leaf.DNSNames) > 0 {
			text += " for " + strings.Join(leaf.DNSNames[:min(3, len(leaf.DNSNames))], ", ")
		}
	}
	if a.Status != 0 {
		text += fmt.Sprintf(", HTTP %d", a.Status)
	}
	return text
}

// balancer: a load balancer is there before the hosts are. Whether it accepts connections
// while it has no backend differs between them.
func (f *netPortsArea) balancer(l *answers, p platform) {
	if p.single {
		return
	}
	open, seen := "", ""
	asked := false
	for _, a := range l.nearest(probe.NetPort) {
		asked = asked || a.NotRun == ""
		where := fmt.Sprintf("%s:%d", a.Host, a.Port)
		at := l.install.get("platform", platformOf(l.install))
		silent := a.NotRun == "" && a.Stage == probe.StageNone
		switch {
		case a.NotRun != "":
			open = a.NotRun
		case silent && a.ErrorClass != probe.ErrRefused && !l.inside[a.Vantage]:
			open = outside(a, where)
		case silent:
			f.Closed.Add(where, hold(at, a, "%s for %s: %s; open the port, or add it to the load balancer (it may refuse connections while no "+
				"host is up)", where, a.Target, why(a)))
		case a.Port != 443 && len(a.Chain) > 0 && !l.inside[a.Vantage] && !l.ours(a):
			seen = a.Vantage + " is in no network of the hosts: what answers may be a proxy on the way"
		case a.Port != 443 && len(a.Chain) > 0:
			f.Serving.Add(where, hold(at, a, "a server answers at %s for %s%s: hosts would take it for this cluster; is it an older one, or does the "+
				"load balancer end TLS?", where, a.Target, served(a)))
		}
	}
	if !asked && open == "" {
		open = "the names of the load balancer have no address"
	}
	unproven(&f.Closed, open)
	unproven(&f.Serving, cmp.Or(seen, open))
}

// netAddressesArea is the area plan-network-addresses: which addresses of hosts and gateways answer by ARP or neighbor discovery.
type netAddressesArea struct {
	Used     problems // addresses of hosts that another machine answers at
	Gateways problems // gateways that do not answer
}

var netAddressesChecks = check.Area("plan-network-addresses", networkNeeds, readNetAddresses, check.Fields[netAddressesArea]{
	"plan-address-in-use": func(f *netAddressesArea) *problems { return &f.Used },
	"plan-gateway-silent": func(f *netAddressesArea) *problems { return &f.Gateways },
})

func readNetAddresses(ctx context.Context, w *facts.World) (netAddressesArea, error) {
	var f netAddressesArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	networks := l.hostNetworks()
	within := func(ip netip.Addr) bool {
		return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
	}
	for _, h := range l.hosts() {
		for _, a := range h.addresses() {
			if within(a.addr) {
				f.host(&l, h, a)
			}
		}
		for _, r := range h.routes() {
			gateway := r.get("next-hop-address")
			if ip, ok := gateway.addr(); ok && within(ip) {
				f.gateway(&l, gateway, ip)
			}
		}
	}
	return f, nil
}

// neighbor returns what the machines in a network saw of an address; open is why none did.
func (l *answers) neighbor(ip netip.Addr) (answered, silent *probe.NetAnswer, open string) {
	open = "nothing was asked of " + ip.String()
	for _, a := range l.of(probe.NetNeighbor) {
		if parsed, err := netip.ParseAddr(a.Host); err != nil || parsed != ip {
			continue
		}
		switch {
		case a.Neighbor == probe.NeighborAnswered && a.Target != probe.NetGateway && l.proxied(a):
			open = a.MAC + " answers for the gateway, too: a router may answer for every address (proxy ARP)"
		case a.Neighbor == probe.NeighborAnswered:
			answered = &a
		case a.Neighbor == probe.NeighborSilent:
			silent = &a
		case a.NotRun != "":
			open = a.NotRun
		}
	}
	return answered, silent, open
}

// host: the host itself may be up already, which its MAC address shows.
func (f *netAddressesArea) host(l *answers, h host, own address) {
	answered, silent, open := l.neighbor(own.addr)
	switch {
	case answered != nil && !h.hasMAC(answered.MAC):
		text := own.addr.String()
		f.Used.Add(text, hold(own.node, *answered, "%s answers for %s, and it is no MAC address of %s%s; choose another address, or take it from "+
			"that machine", answered.MAC, text, h.title(), strings.TrimSuffix(l.owner(answered.MAC), ": is the cluster installed already?")))
	case answered == nil && silent == nil:
		unproven(&f.Used, open)
	}
}

func (f *netAddressesArea) gateway(l *answers, n node, ip netip.Addr) {
	answered, silent, open := l.neighbor(ip)
	switch {
	case answered != nil:
	case silent != nil:
		f.Gateways.Add(ip.String(), hold(n, *silent, "gateway %s does not answer on %s; correct the address, or the VLAN", ip, silent.Interface))
	default:
		unproven(&f.Gateways, open)
	}
}
