package checks

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// networkArea is the area plan-networks: machine, cluster and service networks of the plan.
type networkArea struct {
	Invalid  problems // networks that are none
	Overlap  problems // pairs of networks that overlap
	Internal problems // networks that overlap with what OVN-Kubernetes uses itself
	Bridges  problems // networks that overlap with those of podman and docker on the bootstrap host
	Small    problems // cluster networks with room for fewer hosts than there will be
	Pods     problems // cluster networks with room for fewer pods on a host than the kubelet allows
	Families problems // address families that do not fit
	Captured problems // addresses outside the cluster that are in its cluster or service networks
}

var networkChecks = check.Area("plan-networks", needs, readNetworks, check.Fields[networkArea]{
	"plan-network-invalid":            func(f *networkArea) *problems { return &f.Invalid },
	"plan-networks-overlap":           func(f *networkArea) *problems { return &f.Overlap },
	"plan-network-of-ovn":             func(f *networkArea) *problems { return &f.Internal },
	"plan-network-of-containers":      func(f *networkArea) *problems { return &f.Bridges },
	"plan-network-too-small":          func(f *networkArea) *problems { return &f.Small },
	"plan-network-few-pods":           func(f *networkArea) *problems { return &f.Pods },
	"plan-network-families":           func(f *networkArea) *problems { return &f.Families },
	"plan-address-in-cluster-network": func(f *networkArea) *problems { return &f.Captured },
})

// network is a network of the plan, or a default.
type network struct {
	node
	kind   string // machineNetwork, clusterNetwork, serviceNetwork, provisioning
	prefix netip.Prefix
	host   int64 // hostPrefix, of a cluster network
}

// networks returns the networks of the plan. What is not written has the installer's default
// (pkg/types/defaults/installconfig.go); invalid collects what is no network.
func (p plans) networks(invalid *problems) []network {
	var list []network
	c := p.install.get("networking")
	take := func(kind string, n node, host int64) {
		prefix, ok := n.prefix()
		switch {
		case invalid == nil:
		case !ok:
			add(invalid, n, n.text(), "%q is no network; write it as 10.0.0.0/16", n.text())
		case prefix != prefix.Masked():
			add(invalid, n, n.text(), "%s is an address in a network; write %s", n.text(), prefix.Masked())
		}
		if ok {
			list = append(list, network{n, kind, prefix.Masked(), host})
		}
	}
	byDefault := func(kind, cidr string, host int64) {
		list = append(list, network{node{c.doc, "networking." + kind, nil}, kind, netip.MustParsePrefix(cidr), host})
	}
	machine, cluster, service := c.get("machineNetwork"), c.first("clusterNetwork", "clusterNetworks"), c.get("serviceNetwork")
	switch {
	case len(machine.items()) > 0:
		for _, n := range machine.items() {
			take("machineNetwork", n.get("cidr"), 0)
		}
	case c.get("machineCIDR").there():
		take("machineNetwork", c.get("machineCIDR"), 0)
	case platformOf(p.install) != "libvirt" && platformOf(p.install) != "powervs":
		byDefault("machineNetwork", "10.0.0.0/16", 0)
	}
	for _, n := range cluster.items() {
		take("clusterNetwork", n.get("cidr"), hostPrefix(n))
	}
	if len(cluster.items()) == 0 {
		byDefault("clusterNetwork", "10.128.0.0/14", 23)
	}
	switch {
	case len(service.items()) > 0:
		for _, n := range service.items() {
			take("serviceNetwork", n, 0)
		}
	case c.get("serviceCIDR").there():
		take("serviceNetwork", c.get("serviceCIDR"), 0)
	default:
		byDefault("serviceNetwork", "172.30.0.0/16", 0)
	}
	for _, n := range p.unread() {
		if _, ok := n.prefix(); !ok && invalid != nil {
			add(invalid, n, n.text(), "%q is no network; remove it: another field says it already", n.text())
		}
	}
	metal := p.install.get("platform", "baremetal")
	switch n := metal.get("provisioningNetworkCIDR"); {
	case n.there() && !isNetwork(n): // it is decoded, also where it is not used
		take("provisioning", n, 0)
	case !p.provisions():
	case n.text() != "":
		take("provisioning", n, 0)
	default: // pkg/types/baremetal/defaults/platform.go
		list = append(list, network{n, "provisioning", netip.MustParsePrefix("172.22.0.0/24"), 0})
	}
	return list
}

// provisions reports whether the plan is for an installation with a provisioning network.
func (p plans) provisions() bool {
	metal := p.install.get("platform", "baremetal")
	return metal.there() && !p.agentBased() && metal.get("provisioningNetwork").text() != "Disabled"
}

func isNetwork(n node) bool { _, ok := n.prefix(); return ok }

// unread are networks under old names, which the installer decodes and then does not use
// (pkg/types/conversion/installconfig.go convertNetworking).
func (p plans) unread() []node {
	var list []node
	c := p.install.get("networking")
	for _, names := range [][2]string{{"machineNetwork", "machineCIDR"}, {"serviceNetwork", "serviceCIDR"}} {
		if n := c.get(names[1]); n.there() && len(c.get(names[0]).items()) > 0 {
			list = append(list, n)
		}
	}
	for _, n := range c.get("clusterNetworks").items() {
		if cidr := n.get("cidr"); cidr.there() && c.get("clusterNetwork").there() {
			list = append(list, cidr)
		}
	}
	return list
}

// hostPrefix is that of a cluster network, also where it is written as hostSubnetLength
// (pkg/types/conversion/installconfig.go convertNetworking). Where there is none, and plan-file
// finds that, it is the one that a cluster network by default has.
func hostPrefix(n node) int64 {
	if v, ok := n.get("hostPrefix").number(); ok && v != 0 {
		return v
	}
	prefix, ok := n.get("cidr").prefix()
	if v, written := n.get("hostSubnetLength").number(); ok && written && v != 0 {
		return int64(prefix.Addr().BitLen()) - v
	}
	if ok && prefix.Addr().Is6() {
		return 64
	}
	return 23
}

func readNetworks(ctx context.Context, w *facts.World) (networkArea, error) {
	var f networkArea
	p, err := installConfig(ctx, w)
	if err != nil {
		return f, err
	}
	list := p.networks(&f.Invalid)
	for i, a := range list {
		for _, b := range list[:i] {
			if a.prefix.Overlaps(b.prefix) {
				add(&f.Overlap, a.node, a.prefix.String(), "%s %s overlaps with %s %s; choose another one", a.kind, a.prefix, b.kind, b.prefix)
			}
		}
	}
	f.internal(p, list)
	f.join(p, list)
	f.capacity(p, list)
	f.families(p, list)
	f.captured(p, list)
	return f, nil
}

// What OVN-Kubernetes uses itself (openshift/cluster-network-operator:
// pkg/network/ovn_kubernetes.go; openshift/installer: pkg/types/validation/installconfig.go
// checks it in recent releases only). The masquerade network is /29 before 4.17.
var ovn = []struct{ name, v4, v6 string }{
	{"join", "100.64.0.0/16", "fd98::/64"},
	{"transit", "100.88.0.0/16", "fd97::/64"},
	{"masquerade", "169.254.0.0/17", "fd69::/112"},
}

const oldMasquerade = "169.254.169.0/29"

// bridges are the networks of containers on the bootstrap and the rendezvous host.
var bridges = []struct{ name, cidr string }{
	{"podman", "10.88.0.0/16"},
	{"docker", "172.17.0.0/16"},
}

func (f *networkArea) internal(p plans, list []network) {
	own := p.install.get("networking", "ovnKubernetesConfig", "ipv4", "internalJoinSubnet")
	minor, known := minorOf(p.release)
	used := ovn
	if t := p.install.get("networking").first("networkType", "type").text(); t != "" && !strings.EqualFold(t, "OVNKubernetes") {
		used = nil
	}
	for _, n := range list {
		if n.kind == "provisioning" {
			continue
		}
		for _, o := range used {
			for _, cidr := range []string{o.v4, o.v6} {
				if o.name == "join" && cidr == o.v4 && own.text() != "" {
					cidr = own.text()
				}
				if o.name == "masquerade" && cidr == o.v4 && known && minor < 17 {
					cidr = oldMasquerade
				}
				prefix, err := netip.ParsePrefix(cidr)
				if err == nil && prefix.Overlaps(n.prefix) {
					add(&f.Internal, n.node, n.prefix.String(), "%s %s overlaps with the %s network of OVN-Kubernetes, %s; choose "+
						"another one", n.kind, n.prefix, o.name, prefix)
				}
			}
		}
		for _, b := range bridges {
			if netip.MustParsePrefix(b.cidr).Overlaps(n.prefix) && n.there() {
				add(&f.Bridges, n.node, n.prefix.String(), "%s %s overlaps with %s, which %s uses on the first host; addresses of it cannot be "+
					"reached from there", n.kind, n.prefix, b.cidr, b.name)
			}
		}
	}
}

// join: validateOVNKubernetesConfig, validateOVNIPv4InternalJoinSubnet. Each node takes one
// address of the join network.
func (f *networkArea) join(p plans, list []network) {
	n := p.install.get("networking", "ovnKubernetesConfig", "ipv4", "internalJoinSubnet")
	if !n.there() {
		return
	}
	prefix, ok := n.prefix()
	switch {
	case !ok || !prefix.Addr().Is4():
		add(&f.Invalid, n, n.text(), "%q is no IPv4 network", n.text())
		return
	case prefix.Masked() != prefix:
		add(&f.Invalid, n, n.text(), "%s has bits set behind its prefix; write %s", prefix, prefix.Masked())
		return
	}
	var nodes int64
	for _, c := range list {
		if c.kind == "clusterNetwork" && c.prefix.Addr().Is4() && c.host >= int64(c.prefix.Bits()) {
			nodes += int64(1) << min(c.host-int64(c.prefix.Bits()), 32)
		}
	}
	if room := int64(1) << (32 - prefix.Bits()); room < nodes {
		add(&f.Small, n, prefix.String(), "the join network %s has %d addresses, and the cluster network is for %d nodes; write "+
			"a larger one", prefix, room, nodes)
	}
}

// maxPods is the kubelet's default (openshift/machine-config-operator:
// templates/master/01-master-kubelet/_base/files/kubelet.yaml).
const maxPods = 250

func (f *networkArea) capacity(p plans, list []network) {
	hosts := int64(len(p.hosts()))
	masters, ok := p.install.get("controlPlane", "replicas").number()
	if !ok {
		masters = 3
	}
	hosts = max(hosts, masters+workersOf(p.install))
	rooms := map[bool]int64{} // by IPv6
	first := map[bool]network{}
	for _, n := range list {
		if n.kind != "clusterNetwork" {
			continue
		}
		six := n.prefix.Addr().Is6()
		if _, ok := first[six]; !ok {
			first[six] = n
		}
		bits := int64(n.prefix.Bits())
		switch {
		case n.host < bits:
			add(&f.Small, n.node, n.prefix.String(), "hostPrefix %d is larger than the network %s; write a number above %d", n.host, n.prefix, bits)
			rooms[six] = 1 << 40
			continue
		case !six && n.host != first[six].host:
			add(&f.Small, n.node, n.prefix.String(), "hostPrefix %d is another one than %d of the first IPv4 network; write "+
				"one for all", n.host, first[six].host)
		case six && n.host != 64:
			add(&f.Small, n.node, n.prefix.String(), "hostPrefix of an IPv6 network has to be 64, it is %d", n.host)
		case !six && n.host <= 32 && int64(1)<<(32-n.host)-3 < maxPods:
			add(&f.Pods, n.node, n.prefix.String(), "hostPrefix %d leaves %d addresses for the pods of a host, the kubelet allows %d "+
				"pods; write 23", n.host, max(int64(1)<<(32-n.host)-3, 0), maxPods)
		}
		rooms[six] += int64(1) << min(n.host-bits, 40)
	}
	for six, room := range rooms {
		if room < hosts {
			n := first[six]
			add(&f.Small, n.node, n.prefix.String(), "the cluster network has room for %d hosts and there will be %d; write a larger network or a "+
				"larger hostPrefix", room, hosts)
		}
	}
}

// families: validateNetworkingIPVersion.
func (f *networkArea) families(p plans, list []network) {
	type have struct{ v4, v6, sixFirst bool }
	kinds := map[string]*have{}
	count := map[string]int{}
	at := map[string]node{}
	for _, n := range list {
		h := kinds[n.kind]
		if h == nil {
			h = &have{sixFirst: n.prefix.Addr().Is6()}
			kinds[n.kind], at[n.kind] = h, n.node
		}
		count[n.kind]++
		if n.prefix.Addr().Is6() {
			h.v6 = true
		} else {
			h.v4 = true
		}
	}
	for _, n := range list { // k8s.io/kubernetes: cmd/kube-apiserver/app/options/validation.go validateMaxCIDRRange
		if n.kind == "serviceNetwork" && n.prefix.Addr().Is6() && n.prefix.Bits() < 108 {
			add(&f.Families, n.node, n.prefix.String(), "an IPv6 service network of /%d is too large for the API server; write one of /112", n.prefix.Bits())
		}
	}
	service := kinds["serviceNetwork"]
	if service == nil {
		return
	}
	both := service.v4 && service.v6
	if n := at["serviceNetwork"]; count["serviceNetwork"] > 1 && !both || count["serviceNetwork"] > 2 {
		add(&f.Families, n, "serviceNetwork", "%d service networks are given; write one, or one of IPv4 and one of IPv6", count["serviceNetwork"])
	}
	primary := platformOf(p.install)
	for _, kind := range []string{"machineNetwork", "clusterNetwork", "serviceNetwork"} {
		h := kinds[kind]
		switch n := at[kind]; {
		case h == nil:
		case both && h.v4 != h.v6:
			add(&f.Families, n, kind, "the service networks are of IPv4 and IPv6, %s has only one of them; add the other", kind)
		case !both && (h.v4 && h.v6 || h.v4 != service.v4):
			add(&f.Families, n, kind, "%s and serviceNetwork are not of the same address families; write both in both, or one", kind)
		case both && h.sixFirst && (primary == "none" || primary == "external" || primary == "nutanix"):
			add(&f.Families, n, kind, "IPv4 has to be first in %s on platform %s", kind, primary)
		}
	}
}

// captured: on a host that has joined, routes lead the cluster and service networks into
// OVN-Kubernetes (ovn-org/ovn-kubernetes: go-controller/pkg/node newManagementPortIPFamilyConfig,
// configureSvcRouteViaInterface). What else has an address in them cannot be reached any more.
func (f *networkArea) captured(p plans, list []network) {
	for _, u := range p.uses() {
		if u.host || slices.ContainsFunc(list, func(n network) bool { return n.kind == "machineNetwork" && n.prefix.Contains(u.addr) }) {
			continue
		}
		for _, n := range list {
			if (n.kind == "clusterNetwork" || n.kind == "serviceNetwork") && n.prefix.Contains(u.addr) {
				add(&f.Captured, u.node, u.addr.String(), "%s is %s, and in %s %s, which leads to pods and services: hosts cannot reach it; choose "+
					"another network", u.addr, u.what, n.kind, n.prefix)
			}
		}
	}
}

// minorOf reads "4.18" or "4.18.3-rc.1"; false where no release was named.
func minorOf(release string) (int, bool) {
	var major, minor int
	if n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor); n != 2 || major != 4 {
		return 0, false
	}
	return minor, true
}
