package csr

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// client: the Node must not exist, or be dead and named for a rebuild.
func (j *judging) client() {
	n, exists := j.p.node(j.e.Name)
	if !exists {
		j.must("node", "the Node does not exist", true, "it does not")
		return
	}
	silent := j.p.Now.Sub(n.Renewed)
	dead := !n.Ready && silent > deadAfter
	j.must("node", "the Node does not exist, or is dead and named for a rebuild", dead && j.e.Rebuild,
		"it exists, Ready %t, lease renewed %s, named for a rebuild %t", n.Ready, stamp(n.Renewed), j.e.Rebuild)
}

// serving: the names and addresses must be the host's own, and no one else's.
func (j *judging) serving() {
	n, exists := j.p.node(j.e.Name)
	j.must("node", "the Node exists", exists, "Node %s exists: %t", j.e.Name, exists)
	j.identity(n)
	names := append([]string{j.e.Name}, j.e.DNS...)
	var strange []string
	for _, d := range j.r.DNSNames {
		if other := j.nameOfOther(d); other != "" {
			j.must("names-of-others", "no name that is asked for is another host's", false, "%s is a name of %s", d, other)
		}
		if !slices.ContainsFunc(names, func(have string) bool { return strings.EqualFold(have, d) }) {
			strange = append(strange, d)
		}
	}
	j.must("names", "every name that is asked for is the host's", len(strange) == 0,
		"asked for %s, declared %s", list(j.r.DNSNames), list(names))
	declared := list(j.e.IPs)
	if len(j.e.IPs) == 0 {
		declared = "no Machine, BareMetalHost, Agent or plan has one for this host only, and what its Node has is only the kubelet's claim; name it: " +
			"--expect " + j.e.Name + "=ADDRESS"
	}
	j.must("declared", "the host's addresses are declared", len(j.e.IPs) > 0, "%s", declared)
	for _, ip := range j.r.IPs {
		why := j.foreign(ip, n)
		j.must("address", "the address is declared, the Node's, and of no other host", why == "", "%s%s", ip, why)
		if why == notYet {
			j.d.Checks[len(j.d.Checks)-1].Result = csrs.Unknown
		}
	}
}

// joined is the Node that the host's Machine belongs to; "" where there is none. A person who names the host does
// not say which Machine is its own: the one that lists the name.
func (j *judging) joined() string {
	if j.e.Joined != "" {
		return j.e.Joined
	}
	for _, d := range j.p.Declared {
		if d.Node != "" && d.Node != j.e.Name && slices.ContainsFunc(d.Names, func(have string) bool { return strings.EqualFold(have, j.e.Name) }) {
			return d.Node
		}
	}
	return ""
}

// holders are the Machines and BareMetalHosts that have the host's name, each host once.
func (j *judging) holders() (list []string) {
	for _, d := range j.p.Declared {
		if slices.ContainsFunc(d.Names, func(have string) bool { return strings.EqualFold(have, j.e.Name) }) {
			list = append(list, d.Object)
		}
	}
	return list
}

// nameOfOther returns which other host has a name, or has it as its first label; "" where none has.
func (j *judging) nameOfOther(name string) string {
	own, _, _ := strings.Cut(j.e.Name, ".")
	for _, n := range j.p.Nodes {
		label, _, _ := strings.Cut(n.Name, ".")
		if n.Name != j.e.Name && (strings.EqualFold(n.Name, name) || strings.EqualFold(label, name) && !strings.EqualFold(own, name)) {
			return "node " + n.Name
		}
	}
	for _, d := range j.p.Declared {
		if d.called(name) && !d.called(j.e.Name) && (d.Node == "" || d.Node != j.e.Name) {
			return d.Object
		}
	}
	if slices.ContainsFunc(j.e.Shared, func(have string) bool { return strings.EqualFold(have, name) }) {
		return "another host that the cluster expects"
	}
	return ""
}

// identity is the rule on who the requester is: a kubelet that serves a certificate of
// the same names, or a Node whose client certificate somebody may vouch for. Answered
// requests are deleted after an hour (csrs.Kept); who approved that of an older Node
// cannot be seen any more, so a person must have named the host, or its Machine the Node.
func (j *judging) identity(n Node) {
	if served, asked := j.p.Served[j.e.Name]; asked {
		why := served.renews(j.r, j.p.Now)
		if why == "" {
			j.must("renewal", "the kubelet serves a valid certificate of the same names", true, "valid until %s", stamp(served.Certificate.NotAfter))
			return
		}
	}
	by := j.clientApprovedBy()
	if by == "" && !n.Created.IsZero() && j.p.Now.Sub(n.Created) > csrs.Kept && (j.e.Explicit || j.e.Joined == n.Name) {
		j.must("client", "the Node's client request was approved by Rollcall, the machine approver or a person", true,
			"no longer known: the Node is of %s, and requests are kept for an hour; the host is declared (%s)", stamp(n.Created), j.e.Source)
		return
	}
	j.must("client", "the Node's client request was approved by Rollcall, the machine approver or a person", slices.Contains(trusted, by),
		"approved with reason %s", orNone(by))
}

// renews reports whether the request renews what the host's kubelet serves.
func (j *judging) renews() bool {
	served, asked := j.p.Served[j.e.Name]
	return asked && j.r.Kind == csrs.Serving && served.renews(j.r, j.p.Now) == ""
}

// clientApprovedBy is the reason with which the Node's client certificate was
// approved. Whoever holds one of several may ask, so that the first one that is not
// trusted counts.
func (j *judging) clientApprovedBy() string {
	by := ""
	for _, o := range j.p.Requests {
		if o.Kind != csrs.Client || o.NodeName != j.e.Name || o.State != csrs.Issued || o.Requester != openshift.NodeBootstrapper {
			continue
		}
		if by = orNone(o.Approval.Reason); !slices.Contains(trusted, by) {
			break
		}
	}
	return by
}

// notYet is why an address waits: the kubelet writes the Node's addresses after the Node, and may
// ask for its serving certificate in between.
const notYet = " cannot be checked yet: the Node has no addresses in its status; the request waits for them"

// foreign returns why an address must not be certified for the host.
func (j *judging) foreign(text string, n Node) string {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return " is not an address"
	}
	ip = ip.Unmap()
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Unmap() == ip })
	}
	switch {
	case !has(j.e.IPs):
		return " is not declared"
	case !ip.IsGlobalUnicast() && !(j.e.Explicit && ownLoopback(ip)):
		return " is not an address of a host in a network"
	case has(j.p.VIPs):
		return " is a VIP of the cluster"
	case len(n.Addresses) > 0 && !has(n.Addresses):
		return " is not in the Node's status.addresses"
	}
	for _, other := range j.p.Nodes {
		if other.Name != n.Name && has(other.Addresses) {
			return " is the address of node " + other.Name
		}
	}
	for _, c := range j.p.CIDRs {
		if c.Contains(ip) {
			return " lies in the network of pods or services " + c.String()
		}
	}
	if len(n.Addresses) == 0 {
		return notYet
	}
	return ""
}

// ownLoopback reports an address of 127.0.0.0/8 but the one that every host has: hosts on
// one machine, as in a laboratory, have them, and a person has to name them.
func ownLoopback(ip netip.Addr) bool {
	return ip.Is4() && ip.IsLoopback() && ip != netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
