package checks

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// vipArea is the area plan-vips: VIPs of the API and of ingress in the plan.
type vipArea struct {
	Missing  problems // VIPs that have to be there
	Invalid  problems // what is no address, and too many of them
	Outside  problems // VIPs in none of the machine networks
	External problems // the same with a load balancer of the user: the installer accepts it
	Equal    problems // API VIPs that are ingress VIPs, too
	Taken    problems // VIPs that the plan gives to something else
	Family   problems // VIPs of the wrong address family
}

var vipChecks = check.Area("plan-vips", needs, readVIPs, check.Fields[vipArea]{
	"plan-vip-missing":          func(f *vipArea) *problems { return &f.Missing },
	"plan-vip-invalid":          func(f *vipArea) *problems { return &f.Invalid },
	"plan-vip-outside":          func(f *vipArea) *problems { return &f.Outside },
	"plan-vip-outside-accepted": func(f *vipArea) *problems { return &f.External },
	"plan-vip-shared":           func(f *vipArea) *problems { return &f.Equal },
	"plan-vip-taken":            func(f *vipArea) *problems { return &f.Taken },
	"plan-vip-family":           func(f *vipArea) *problems { return &f.Family },
})

// vipsOf returns the VIPs of a platform under their new or old names: those of the old ones
// are used where the new list is empty (pkg/types/conversion/installconfig.go).
func vipsOf(platform node, list, old string) []node {
	if v := platform.get(list); len(v.items()) > 0 {
		return v.items()
	}
	if v := platform.get(old); v.text() != "" {
		return []node{v}
	}
	return nil
}

func readVIPs(ctx context.Context, w *facts.World) (vipArea, error) {
	var f vipArea
	p, err := installConfig(ctx, w)
	if err != nil {
		return f, err
	}
	name := platformOf(p.install)
	if !slices.Contains([]string{"baremetal", "vsphere", "nutanix", "openstack"}, name) {
		return f, check.NotApplicable("platform %q has no VIPs", name)
	}
	platform := p.install.get("platform", name)
	api, ingress := vipsOf(platform, "apiVIPs", "apiVIP"), vipsOf(platform, "ingressVIPs", "ingressVIP")
	user := platform.get("loadBalancer", "type").text() == "UserManaged"
	f.present(p, platform, name, api, ingress)
	machine := machineNetworks(p)
	uses := p.uses()
	required := name == "baremetal" || name == "openstack" || p.agentBased()
	for _, vip := range slices.Concat(api, ingress) {
		addr, ok := vip.addr()
		if !ok {
			add(&f.Invalid, vip, vip.text(), "%q is no address", vip.text())
			continue
		}
		inside := slices.ContainsFunc(machine, func(n network) bool { return n.prefix.Contains(addr) })
		switch {
		case inside || len(machine) == 0:
		case user:
			add(&f.External, vip, addr.String(), "%s is in none of the machine networks (%s); add its network behind them", addr, prefixes(machine))
		case required:
			add(&f.Outside, vip, addr.String(), "%s is in none of the machine networks (%s); write a free address of them, or add "+
				"its network", addr, prefixes(machine))
		}
		for _, n := range machine {
			if n.prefix.Contains(addr) && edge(n.prefix, addr) {
				add(&f.Taken, vip, addr.String(), "%s is the first or the last address of %s, which no host can have", addr, n.prefix)
			}
		}
		for _, u := range uses {
			if u.addr == addr {
				add(&f.Taken, vip, addr.String(), "%s is %s (%s); choose a free one", addr, u.what, u.path)
			}
		}
		for _, r := range p.ranges() {
			if r.from.Compare(addr) <= 0 && addr.Compare(r.to) <= 0 {
				add(&f.Taken, vip, addr.String(), "%s is in the DHCP range %s-%s (%s), which gives it to a host", addr, r.from, r.to, r.path)
			}
		}
	}
	f.equal(api, ingress, user)
	f.family(p, api)
	f.family(p, ingress)
	return f, nil
}

// present: validateAPIAndIngressVIPs. On platform baremetal the installer asks DNS for
// api and *.apps where no VIP is written (pkg/types/baremetal/defaults/platform.go), but not
// for an agent-based installation.
func (f *vipArea) present(p plans, platform node, name string, api, ingress []node) {
	for _, v := range []struct {
		list  []node
		field string
		other []node
	}{{api, "apiVIPs", ingress}, {ingress, "ingressVIPs", api}} {
		n := platform.get(v.field)
		if old := platform.get(strings.TrimSuffix(v.field, "s")); old.text() != "" &&
			!slices.ContainsFunc(v.list, func(n node) bool { return n.text() == old.text() }) {
			add(&f.Invalid, old, old.text(), "it is another address than in %s; remove it", v.field)
		}
		if len(v.list) > 2 {
			add(&f.Invalid, n, v.field, "there are %d addresses; one is possible, or one of IPv4 and one of IPv6", len(v.list))
		}
		if len(v.list) > 0 {
			continue
		}
		lookedUp := name == "baremetal" && !p.agentBased()
		if len(v.other) > 0 && !lookedUp {
			add(&f.Missing, n, v.field, "the other VIP is set, this one has to be, too")
		} else if name == "baremetal" && p.agentBased() {
			add(&f.Missing, n, v.field, "an agent-based installation on platform baremetal needs it")
		}
	}
}

func (f *vipArea) equal(api, ingress []node, user bool) {
	if user {
		return
	}
	for _, a := range api {
		for _, i := range ingress {
			x, okX := a.addr()
			y, okY := i.addr()
			if okX && okY && x == y {
				add(&f.Equal, i, x.String(), "%s is the VIP of the API, too; ingress needs one of its own", x)
			}
		}
	}
}

func (f *vipArea) family(p plans, list []node) {
	var six []bool
	for _, n := range list {
		if a, ok := n.addr(); ok {
			six = append(six, a.Is6())
		}
	}
	if len(six) == 2 && six[0] == six[1] {
		add(&f.Family, list[1], list[1].text(), "both addresses are of one family; write one of IPv4 and one of IPv6")
	}
	machine := machineNetworks(p)
	if len(six) != 1 || len(machine) == 0 {
		return
	}
	if both := slices.ContainsFunc(machine, func(n network) bool { return n.prefix.Addr().Is6() != machine[0].prefix.Addr().Is6() }); both &&
		six[0] != machine[0].prefix.Addr().Is6() {
		add(&f.Family, list[0], list[0].text(), "%s is not of the family of the first machine network, %s", list[0].text(), machine[0].prefix)
	}
}

func machineNetworks(p plans) []network {
	return slices.DeleteFunc(p.networks(nil), func(n network) bool { return n.kind != "machineNetwork" })
}

func prefixes(list []network) string {
	words := make([]string, 0, len(list))
	for _, n := range list {
		words = append(words, n.prefix.String())
	}
	return strings.Join(words, ", ")
}

// edge reports whether an address is the network's own or its broadcast address.
func edge(p netip.Prefix, a netip.Addr) bool {
	if !a.Is4() || p.Bits() > 30 {
		return false
	}
	return a == p.Masked().Addr() || !p.Contains(a.Next())
}

// use is an address that the plan gives to something.
type use struct {
	node
	addr netip.Addr
	what string
	host bool // it is a host's own
}

// uses are the addresses that are not free for a VIP or a host.
func (p plans) uses() []use {
	var list []use
	take := func(n node, what string) {
		if a, ok := n.addr(); ok {
			list = append(list, use{node: n, addr: a, what: what})
		}
	}
	for _, h := range p.hosts() {
		for _, a := range h.addresses() {
			list = append(list, use{node: a.node, addr: a.addr, what: "an address of " + h.title(), host: true})
		}
		for _, r := range h.routes() {
			take(r.get("next-hop-address"), "a gateway")
		}
		for _, d := range h.config.get("dns-resolver", "config", "server").items() {
			take(d, "a name server")
		}
		if n := h.bmc.get("address"); n.text() != "" {
			if a, err := netip.ParseAddr(strings.Trim(hostOnly(n.text()), "[]")); err == nil {
				list = append(list, use{node: n, addr: a.Unmap(), what: "the BMC of " + h.title()})
			}
		}
	}
	metal := p.install.get("platform", "baremetal")
	for _, key := range []string{"clusterProvisioningIP", "provisioningHostIP", "bootstrapProvisioningIP", "bootstrapExternalStaticIP",
		"bootstrapExternalStaticGateway", "bootstrapExternalStaticDNS"} {
		take(metal.get(key), "the "+key)
	}
	take(p.agent.get("rendezvousIP"), "the rendezvous IP")
	for _, n := range slices.Concat(p.agent.get("additionalNTPSources").items(), metal.get("additionalNTPServers").items()) {
		take(n, "a time server")
	}
	return list
}

func hostOnly(address string) string {
	_, rest := schemeOf(address)
	if ap, err := netip.ParseAddrPort(strings.SplitN(rest, "/", 2)[0]); err == nil {
		return ap.Addr().String()
	}
	return strings.SplitN(rest, "/", 2)[0]
}

// span is a range of addresses that a DHCP server gives away.
type span struct {
	node
	from, to netip.Addr
}

// ranges are the DHCP ranges that the plan names.
func (p plans) ranges() []span {
	n := p.install.get("platform", "baremetal", "provisioningDHCPRange")
	from, to, ok := strings.Cut(n.text(), ",")
	a, errA := netip.ParseAddr(strings.TrimSpace(from))
	b, errB := netip.ParseAddr(strings.TrimSpace(to))
	if !ok || errA != nil || errB != nil {
		return nil
	}
	return []span{{n, a.Unmap(), b.Unmap()}}
}
