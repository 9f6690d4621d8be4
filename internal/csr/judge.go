package csr

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// client: the Node must not exist, or be dead and named for a rebuild.
func (j *judging) client() {
	if o := j.heldBySomeone(); o != nil {
		j.must("alone", "no one is that node yet", false, "the node itself asks for a serving certificate in %s", one(o))
	}
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

// heldBySomeone returns a request that was made with the identity of the node, or of a node with another of its names, since the
// host could ask: somebody has a client certificate of it already.
func (j *judging) heldBySomeone() *csrs.Request {
	names := append(j.otherNames(), j.e.Name)
	for i := range j.p.Requests {
		o := &j.p.Requests[i]
		node, isNode := strings.CutPrefix(o.Requester, openshift.NodeUserPrefix)
		if isNode && slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, node) }) && j.e.MayHaveMade(*o) && o.State != csrs.Denied {
			return o
		}
	}
	return nil
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
		if why := j.p.notOfAHost(d); why != "" {
			j.must("names", "every name that is asked for is the host's", false, "%s %s", d, why)
		} else if j.p.AppsGap != "" && !strings.EqualFold(d, j.e.Name) {
			j.must("names", "every name that is asked for is the host's", false, "whether %s is a name of applications is not known: %s", d, j.p.AppsGap)
			j.d.Checks[len(j.d.Checks)-1].Result = csrs.Unknown
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
	if n.Control && !j.e.Explicit {
		j.must("role", "a control-plane host is named by a person", false, "the Node has the label of the control plane")
	}
	for _, ip := range j.r.IPs {
		why := j.foreign(ip, n)
		j.must("address", "the address is declared, the Node's, and of no other host", why == "", "%s%s", ip, why)
		if why == notYet {
			j.d.Checks[len(j.d.Checks)-1].Result = csrs.Unknown
		}
	}
}

// notOfAHost returns why a name is that of no single host, whoever declares it: a person's inventory may not have it
// either (ParseInventory). "" where it may be one.
func (p Snapshot) notOfAHost(name string) string {
	name = strings.ToLower(name)
	switch {
	case !hostName(name) || defaultName(name) || isAddress(name):
		return "is not a name of one host"
	case slices.Contains([]string{"kubernetes", "kubernetes.default", "openshift", "openshift.default"}, name), strings.HasSuffix(name, ".svc"),
		strings.Contains(name, ".svc."), strings.HasSuffix("."+name, ".cluster.local"):
		return "is a name of a Service"
	}
	for _, own := range p.Names {
		label, domain, _ := strings.Cut(own, ".")
		switch {
		case strings.EqualFold(own, name), strings.EqualFold(label, name):
			return "is a name of the cluster's API"
		case strings.EqualFold(domain, name):
			return "is the domain of the cluster"
		}
	}
	if slices.ContainsFunc(p.Apps, func(domain string) bool { return strings.HasSuffix("."+name, "."+domain) }) {
		return "is a name of the cluster's applications"
	}
	return ""
}

// Awaited returns the Machine whose addresses a serving request waits for: it belongs to the Node that asks, and has none yet; ""
// where there is none.
func (p Snapshot) Awaited(r csrs.Request) string {
	i := slices.IndexFunc(p.Declared, func(d Declared) bool {
		return r.Kind == csrs.Serving && d.Node == r.NodeName && len(d.Addresses)+len(d.Hostnames) == 0
	})
	if i < 0 || r.NodeName == "" {
		return ""
	}
	return p.Declared[i].Object
}

// joined is the Node that the host's Machine belongs to; "" where there is none. A person who names the host does
// not say which Machine is its own: the one that lists the name.
func (j *judging) joined() string {
	if j.e.Joined != "" {
		return j.e.Joined
	}
	for _, d := range j.p.Declared {
		if !d.has(j.e.Name) {
			continue
		}
		if d.Node != "" && d.Node != j.e.Name {
			return d.Node
		}
		for _, n := range j.p.Nodes { // the Machine API has not written its nodeRef yet
			if n.Name != j.e.Name && (d.ProviderID != "" && n.ProviderID == d.ProviderID || "Machine "+afterSlash(n.Machine) == d.Object) {
				return n.Name
			}
		}
	}
	return ""
}

// has reports whether a host has exactly a name.
func (d Declared) has(name string) bool {
	return slices.ContainsFunc(d.Names, func(have string) bool { return strings.EqualFold(have, name) })
}

func afterSlash(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// holders are the Machines and BareMetalHosts that have the host's name, each host once.
func (j *judging) holders() (list []string) {
	for _, d := range j.p.Declared {
		if d.has(j.e.Name) {
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
		if n.Name != j.e.Name && n.hasHostname(name) {
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
	if strangers := j.otherCredential(n); strangers != "" {
		j.must("client", "it was made with the Node's client certificate", false, "%s", strangers)
		return
	}
	by := j.clientApprovedBy()
	if by == "" && !n.Created.IsZero() && j.p.Now.Sub(n.Created) > csrs.Kept && (j.e.Explicit || j.e.isOf(n)) {
		j.must("client", "the Node's client request was approved by Rollcall, the machine approver or a person", true,
			"no longer known: the Node is of %s, and requests are kept for an hour; the host is declared (%s)", stamp(n.Created), j.e.Source)
		return
	}
	how := "approved with reason " + by
	if by == "" {
		how = "there is no client request of it with a certificate"
	}
	j.must("client", "the Node's client request was approved by Rollcall, the machine approver or a person", slices.Contains(trusted, by), "%s", how)
}

// isOf reports whether a Node is the one that the host's Machine belongs to.
func (e *Expectation) isOf(n Node) bool {
	return e.Joined == n.Name && (e.JoinedUID == "" || n.UID == "" || e.JoinedUID == n.UID)
}

// renews reports whether the request renews what the host's kubelet serves.
func (j *judging) renews() bool {
	served, asked := j.p.Served[j.e.Name]
	return asked && j.r.Kind == csrs.Serving && served.renews(j.r, j.p.Now) == ""
}

// otherCredential says that the request was made with none of the client certificates that were issued for the Node, "" where
// it was, or it cannot be known: the API server says which it was from Kubernetes 1.32 on, and requests are kept for an hour.
func (j *judging) otherCredential(n Node) string {
	if j.r.Used != "" && !strings.HasPrefix(j.r.Used, openshift.CertificateCredential) {
		return "it was made with a credential that is no certificate"
	}
	young := !n.Created.IsZero() && j.p.Now.Sub(n.Created) < csrs.Kept
	if !young || j.r.Used == "" {
		return ""
	}
	issued := 0
	for i := range j.p.Requests {
		o := &j.p.Requests[i]
		if o.Kind != csrs.Client || o.NodeName != j.e.Name || len(o.Credentials) == 0 {
			continue
		}
		if slices.Contains(o.Credentials, j.r.Used) {
			return ""
		}
		issued++
	}
	if issued == 0 {
		return ""
	}
	return fmt.Sprintf("it was made with another one than the %d that were issued for it since its Node is there", issued)
}

// clientApprovedBy is the reason with which the Node's client certificate was
// approved. Whoever holds one of several may ask, so that the first one that is not
// trusted counts.
func (j *judging) clientApprovedBy() string {
	by := ""
	for _, o := range j.p.Requests {
		if o.Kind != csrs.Client || o.NodeName != j.e.Name || o.State != csrs.Issued || o.Requester != openshift.NodeBootstrapper ||
			o.Created.After(j.r.Created.Add(clockSkew)) {
			continue
		}
		if slices.Contains(o.Credentials, j.r.Used) {
			return orNone(o.Approval.Reason)
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
	// What must be there is compared as it is; what may not be there, however anybody reads it.
	is := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Unmap() == ip })
	}
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(readings(s), ip) })
	}
	switch {
	case !is(j.e.IPs):
		return " is not declared"
	case !ofOneHost(ip), ownLoopback(ip) && !j.e.Explicit:
		return " is not an address of a host in a network"
	case has(j.p.VIPs):
		return " is a VIP of the cluster"
	case len(n.Addresses) > 0 && !is(n.Addresses):
		return " is not in the Node's status.addresses"
	}
	for _, other := range j.p.Nodes {
		if other.Name != n.Name && has(other.Addresses) {
			return " is the address of node " + other.Name
		}
	}
	if i := slices.IndexFunc(j.p.Declared, func(d Declared) bool { return d.other(j.e.Name) && has(d.Addresses) }); i >= 0 {
		return " is an address of " + j.p.Declared[i].Object
	}
	if i := slices.IndexFunc(j.e.Claimed, func(c Claim) bool { return c.IP == ip }); i >= 0 {
		return " is also an address of " + j.e.Claimed[i].By + "; if that is the same host, give its other name in dns"
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

// Networks without hosts: this network and the reserved one, the broadcast address among them, what is discarded (RFC 6890), and
// addresses that stand for one of IPv4 (RFC 4291 2.5.5.1, RFC 6052, RFC 8215, RFC 2765, RFC 3056, RFC 4380).
var noHosts = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("::ffff:0:0:0/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32")}

// ofOneHost reports whether others reach one host at an address: it is not unspecified, not multicast, not
// link-local, not broadcast, and not the loopback address that every host has.
func ofOneHost(ip netip.Addr) bool {
	if ownLoopback(ip) {
		return true
	}
	return ip.IsGlobalUnicast() && !slices.ContainsFunc(noHosts, func(p netip.Prefix) bool { return p.Contains(ip) }) && !isatap(ip)
}

// isatap reports an address of IPv6 that ends in one of IPv4 behind 0:5efe (RFC 5214).
func isatap(ip netip.Addr) bool {
	raw := ip.As16()
	return ip.Is6() && raw[8]&^2 == 0 && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe
}

// ownLoopback reports an address of 127.0.0.0/8 but the one that every host has: hosts on
// one machine, as in a laboratory, have them, and a person has to name them.
func ownLoopback(ip netip.Addr) bool {
	return ip.Is4() && ip.IsLoopback() && ip != netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
