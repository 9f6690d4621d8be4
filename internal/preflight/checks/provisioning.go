package checks

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// provisioningArea is the area plan-provisioning: provisioning network and images of platform baremetal.
type provisioningArea struct {
	Network problems // settings of the provisioning network that are refused
	Images  problems // image URLs that are refused
}

var provisioningChecks = check.Area("plan-provisioning", needs, readProvisioning, check.Fields[provisioningArea]{
	"plan-provisioning-network-refused": func(f *provisioningArea) *problems { return &f.Network },
	"plan-image-url-refused":            func(f *provisioningArea) *problems { return &f.Images },
})

// readProvisioning: pkg/types/baremetal/validation/platform.go ValidateProvisioning.
func readProvisioning(ctx context.Context, w *facts.World) (provisioningArea, error) {
	var f provisioningArea
	p, err := installConfig(ctx, w)
	if err != nil {
		return f, err
	}
	metal := p.install.get("platform", "baremetal")
	switch {
	case !metal.there():
		return f, check.NotApplicable("the platform is not baremetal")
	case p.agentBased():
		return f, check.NotApplicable("an agent-based installation has no provisioning network")
	}
	f.images(metal)
	f.external(metal)
	if p.provisions() {
		f.network(p, metal)
	} else {
		f.disabled(p, metal)
	}
	return f, nil
}

func (f *provisioningArea) network(p plans, metal node) {
	cidr := metal.get("provisioningNetworkCIDR")
	prefix, ok := cidr.prefix()
	if cidr.text() == "" { // pkg/types/baremetal/defaults/platform.go
		prefix, ok = netip.MustParsePrefix("172.22.0.0/24"), true
	}
	f.bridges(metal)
	inside := func(n node, what string) {
		if n.text() == "" {
			return
		}
		addr, valid := n.addr()
		switch {
		case !valid:
			add(&f.Network, n, n.text(), "%s %q is no address", what, n.text())
		case ok && !prefix.Contains(addr):
			add(&f.Network, n, n.text(), "%s %s is not in the provisioning network %s", what, addr, prefix)
		}
		for _, m := range machineNetworks(p) {
			if valid && m.prefix.Contains(addr) {
				add(&f.Network, n, n.text(), "%s %s is in the machine network %s; it belongs to the provisioning network", what, addr, m.prefix)
			}
		}
	}
	services := provisioningIPs(metal)
	for _, key := range sortedNodes(services) {
		n := services[key]
		inside(n, key)
	}
	cluster, bootstrap := services["clusterProvisioningIP"], services["bootstrapProvisioningIP"]
	if cluster.text() != "" && cluster.text() == bootstrap.text() {
		add(&f.Network, bootstrap, bootstrap.text(), "%s is the clusterProvisioningIP, too; write two", bootstrap.text())
	}
	if ok && prefix.Addr().Is6() && prefix.Bits() < 64 {
		add(&f.Network, cidr, cidr.text(), "%s is larger than /64", prefix)
	}
	r := metal.get("provisioningDHCPRange")
	if r.text() == "" {
		return
	}
	ends := p.ranges()
	switch {
	case strings.Count(r.text(), ",") != 1 || len(ends) == 0:
		add(&f.Network, r, r.text(), "%q is no range; write FIRST,LAST", r.text())
	case ok && (!prefix.Contains(ends[0].from) || !prefix.Contains(ends[0].to)):
		add(&f.Network, r, r.text(), "the range is not in the provisioning network %s", prefix)
	case ends[0].to.Less(ends[0].from):
		add(&f.Network, r, r.text(), "the range ends before it begins")
	default:
		for _, key := range sortedNodes(services) {
			n := services[key]
			a, valid := n.addr()
			if n.text() == "" && ok { // the second and the third address (pkg/types/baremetal/defaults/platform.go)
				a, valid = prefix.Masked().Addr().Next().Next(), true
				if key == "clusterProvisioningIP" {
					a = a.Next()
				}
			}
			if valid && ends[0].from.Compare(a) <= 0 && a.Compare(ends[0].to) <= 0 {
				add(&f.Network, r, r.text(), "the range contains %s, the %s; leave it out", a, key)
			}
		}
	}
}

func sortedNodes(m map[string]node) []string { return slices.Sorted(maps.Keys(m)) }

// provisioningIPs are the addresses of the services, under their new names.
func provisioningIPs(metal node) map[string]node {
	return map[string]node{
		"clusterProvisioningIP":   metal.first("clusterProvisioningIP", "provisioningHostIP"),
		"bootstrapProvisioningIP": metal.first("bootstrapProvisioningIP", "bootstrapHostIP"),
	}
}

// disabled: without a provisioning network the services are in a machine network.
func (f *provisioningArea) disabled(p plans, metal node) {
	machine := machineNetworks(p)
	services := provisioningIPs(metal)
	for _, key := range sortedNodes(services) {
		n := services[key]
		addr, ok := n.addr()
		switch {
		case n.text() == "":
		case !ok:
			add(&f.Network, n, n.text(), "%s %q is no address", key, n.text())
		case len(machine) > 0 && !slices.ContainsFunc(machine, func(m network) bool { return m.prefix.Contains(addr) }):
			add(&f.Network, n, n.text(), "the provisioning network is Disabled, and %s %s is in none of the machine networks (%s); write a free "+
				"address of them", key, addr, prefixes(machine))
		}
	}
}

// bridges: the MAC addresses of the bridges of the bootstrap host.
func (f *provisioningArea) bridges(metal node) {
	a, b := metal.get("provisioningMACAddress"), metal.get("externalMACAddress")
	if a.text() != "" && strings.EqualFold(a.text(), b.text()) {
		add(&f.Network, a, a.text(), "provisioningMACAddress and externalMACAddress are equal; write two")
	}
}

// external checks what does not depend on the provisioning network.
func (f *provisioningArea) external(metal node) {
	for _, key := range []string{"provisioningMACAddress", "externalMACAddress"} {
		n := metal.get(key)
		if n.text() == "" {
			continue
		}
		mac, err := net.ParseMAC(n.text())
		switch {
		case err != nil || len(mac) != 6:
			add(&f.Network, n, n.text(), "%q is no MAC address", n.text())
		case mac[0]&1 == 1:
			add(&f.Network, n, n.text(), "%s is a multicast address; write one whose first byte is even", n.text())
		}
	}
	for _, n := range metal.get("additionalNTPServers").items() {
		if _, err := netip.ParseAddr(n.text()); looksLikeAddress(n.text()) || err != nil && !subdomain.MatchString(strings.TrimSuffix(n.text(), ".")) {
			add(&f.Network, n, n.text(), "the time server %q is neither an address nor a name", n.text())
		}
	}
	if n := metal.get("libvirtURI"); n.text() != "" {
		if _, err := url.ParseRequestURI(n.text()); err != nil {
			add(&f.Network, n, "libvirtURI", "%q is no URI; write qemu:///system", n.text())
		}
	}
}

func (f *provisioningArea) images(metal node) {
	for _, key := range []string{"bootstrapOSImage", "clusterOSImage"} {
		n := metal.get(key)
		if n.text() == "" {
			continue
		}
		_, sum, found := strings.Cut(n.text(), "sha256=")
		sum, _, _ = strings.Cut(sum, "&")
		switch {
		case !strings.HasPrefix(n.text(), "http://") && !strings.HasPrefix(n.text(), "https://"):
			add(&f.Images, n, key, "%s has to be an http or https URL", key)
		case !found || len(sum) != 64:
			add(&f.Images, n, key, "%s needs ?sha256= with 64 digits behind it", key)
		}
	}
}
