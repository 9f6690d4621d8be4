package checks

import (
	"net/netip"
	"slices"
)

// bootstrap: the static address of the bootstrap host. The installer asks for an address and a
// gateway or for neither (openshift/installer: pkg/asset/installconfig/baremetal/validation.go
// ValidateStaticBootstrapNetworking; a name server, too, in 4.19), and not where they are: their
// network is that of the machine networks
// (pkg/asset/ignition/bootstrap/baremetal/template.go GetTemplateData).
func (f *addressArea) bootstrap(p plans) {
	metal := p.install.get("platform", "baremetal")
	if p.agentBased() || !metal.there() {
		return
	}
	ip, gateway, dns := metal.get("bootstrapExternalStaticIP"), metal.get("bootstrapExternalStaticGateway"), metal.get("bootstrapExternalStaticDNS")
	for _, n := range []node{ip, gateway, dns} {
		if _, ok := n.addr(); n.text() != "" && !ok {
			add(&f.Unusable, n, n.path, "%s %q is no address", field(n), n.text())
		}
	}
	minor, known := minorOf(p.release)
	needed := []node{ip, gateway}
	if known && minor >= 19 {
		needed = append(needed, dns)
	}
	written := slices.ContainsFunc([]node{ip, gateway, dns}, func(n node) bool { return n.text() != "" })
	for _, n := range needed {
		if written && n.text() == "" {
			add(&f.Unusable, n, n.path, "%s is missing; write it, or remove the other addresses of the bootstrap host", field(n))
		}
	}
	f.bootstrapPlace(p, ip, gateway)
}

func field(n node) string { return n.path[len("platform.baremetal."):] }

// bootstrapPlace: the addresses are in a machine network, and the host has its own alone.
func (f *addressArea) bootstrapPlace(p plans, ip, gateway node) {
	machine := machineNetworks(p)
	if len(machine) == 0 {
		return
	}
	for _, n := range []node{ip, gateway} {
		addr, ok := n.addr()
		inside := slices.ContainsFunc(machine, func(m network) bool { return m.prefix.Contains(addr) })
		if ok && !addr.IsLinkLocalUnicast() && !inside {
			add(&f.Unusable, n, n.path, "%s %s is in none of the machine networks (%s); write an address of them", field(n), addr, prefixes(machine))
		}
	}
	addr, ok := ip.addr()
	if !ok {
		return
	}
	if g, ok := gateway.addr(); ok && g == addr {
		add(&f.Unusable, ip, ip.path, "%s is the gateway, too; write an address of its own", addr)
	}
	for _, h := range p.hosts() {
		if slices.ContainsFunc(h.addresses(), func(a address) bool { return a.addr == addr }) {
			add(&f.Unusable, ip, ip.path, "%s is an address of %s, too; write an address of its own", addr, h.title())
		}
		if a, err := netip.ParseAddr(hostOnly(h.bmc.get("address").text())); err == nil && a.Unmap() == addr {
			add(&f.Unusable, ip, ip.path, "%s is the address of the BMC of %s, too; write an address of its own", addr, h.title())
		}
	}
}
