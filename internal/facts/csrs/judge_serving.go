package csrs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

var (
	servingUsages       = []string{"digital signature", "server auth"}
	servingUsagesLegacy = []string{"digital signature", "key encipherment", "server auth"}
)

// serving runs the checks of csr_check.go validateCSRContents and the
// methods of authorization that authorizeCSR tries after it.
func (j *judging) serving() {
	if !j.servingShape() {
		return
	}
	j.renewal()
	j.servingMachine()
}

func (j *judging) servingShape() bool {
	r := j.request
	if !j.must("request", "the request can be read", WaitsShape, r.Broken == "", r.Broken, r.Name+": Failed to parse csr: "+r.Broken) {
		return false
	}
	name, isNode := strings.CutPrefix(r.Requester, openshift.NodeUserPrefix)
	refused := func(old, now string) string {
		if older(j.in.Version, 20) {
			now = old
		}
		return r.Name + ": Unrecoverable serving cert error, cannot approve: " + now
	}
	hasAll := func(want []string) bool {
		return !slices.ContainsFunc(want, func(u string) bool { return !slices.Contains(r.Usages, u) })
	}
	all := []bool{
		j.must("requester", "asked for by a node for itself", WaitsShape, isNode && name != "", r.Requester,
			r.Name+": CSR does not appear to be a node serving cert"),
		j.must("requester-groups", "the requester is in system:nodes and system:authenticated", WaitsShape,
			slices.Contains(r.Groups, openshift.NodesGroup) && slices.Contains(r.Groups, Authenticated), list(r.Groups),
			refused("Too few groups", "too few groups")),
		j.must("usages", "usages are those of a kubelet server", WaitsShape,
			(len(r.Usages) == len(servingUsages) || len(r.Usages) == len(servingUsagesLegacy)) &&
				(hasAll(servingUsages) || hasAll(servingUsagesLegacy)), list(r.Usages),
			refused("Too few usages", "too few usages")),
		j.must("common-name", "the common name is the requester's own", WaitsShape, r.CN == r.Requester, fmt.Sprintf("%q", r.CN),
			refused(fmt.Sprintf("Mismatched CommonName %s != %s", r.CN, r.Requester),
				fmt.Sprintf("mismatched CommonName %s != %s", r.CN, r.Requester))),
		j.must("organisation", "system:nodes is among the organisations", WaitsShape, slices.Contains(r.Organisations, openshift.NodesGroup),
			list(r.Organisations), refused(fmt.Sprintf("Organization %v doesn't include %s", r.Organisations, openshift.NodesGroup),
				fmt.Sprintf("organization %v doesn't include %s", r.Organisations, openshift.NodesGroup))),
	}
	return !slices.Contains(all, false)
}

// renewal is the way that needs no Machine: the kubelet serves a valid certificate
// with the same names (authorizeServingRenewal). The approver dials the kubelet;
// from API objects alone it can be excluded, not confirmed, because a served
// certificate does not say whether the kubelet is reachable from the approver.
func (j *judging) renewal() {
	const rule = "renewal: the kubelet serves a valid certificate of the same names"
	r := j.request
	c := Check{Name: "renewal", Rule: rule, waits: waitsNames}
	have, err := j.in.Serving.Get()
	switch {
	case err != nil:
		c.Result, c.Detail, c.err = Unknown, err.Error(), err
	case have == nil:
		c.Result, c.Detail = Refused, "the node has no serving certificate yet"
	case have.CN != r.CN:
		c.Result, c.Detail = Refused, "it serves a certificate of "+have.CN
	case !r.Created.Before(have.NotAfter):
		c.Result, c.Detail = Refused, "its serving certificate expired at "+excerpt.Time(have.NotAfter)
	case !SameSet(have.DNSNames, r.DNSNames) || !SameSet(have.IPs, r.IPs):
		c.Result = Refused
		c.Detail = fmt.Sprintf("it serves %s, the request asks for %s",
			list(slices.Concat(have.DNSNames, have.IPs)), list(slices.Concat(r.DNSNames, r.IPs)))
	default:
		c.Result, c.Detail = Unknown, "whether the approver reaches the kubelet is not known from here"
	}
	if c.Result == Refused {
		c.Wording = "Could not use current serving cert for renewal"
	}
	j.anyOf = append(j.anyOf, c)
}

// SameSet reports whether two lists have the same values in any order.
func SameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// servingMachine is the method by the Machine whose nodeRef is the node
// (authorizeServingCertWithMachine): it must list every name and address asked for.
func (j *judging) servingMachine() {
	const rule = "the node's Machine lists every name and address that is asked for"
	r := j.request
	c := Check{Name: "machine", Rule: rule, Result: Passed, waits: waitsNoMachine}
	defer func() { j.anyOf = append(j.anyOf, c) }()
	machines, err := j.in.Machines.Get()
	if err != nil {
		c.Result, c.Detail, c.err = Unknown, err.Error(), err
		return
	}
	at := slices.IndexFunc(machines, func(m machine) bool { return m.NodeRef == r.NodeName })
	if at < 0 {
		c.Result, c.Wording = Refused, fmt.Sprintf("%s: Serving Cert: No target machine for node %q", r.Name, r.NodeName)
		c.waits, c.Detail, c.err = j.unlinked(machines, r.NodeName)
		return
	}
	m := machines[at]
	j.machine = m.Name
	names, ips := strange(r, m)
	switch {
	case len(names) > 0:
		c.Result, c.waits, c.Detail = Refused, waitsNames, fmt.Sprintf("Machine %s lists %s, not %s", m.Name, list(slices.Concat(m.DNS, m.ExtDNS)), list(names))
		c.Wording = fmt.Sprintf("%s: DNS name '%s' not in machine names: %s", r.Name, names[0], strings.Join(slices.Concat(m.DNS, m.ExtDNS), " "))
	case len(ips) > 0:
		c.Result, c.waits, c.Detail = Refused, waitsNames, fmt.Sprintf("Machine %s lists %s, not %s", m.Name, list(m.IPs), list(ips))
		c.Wording = fmt.Sprintf("%s: IP address '%s' not in machine addresses: %s", r.Name, ips[0], strings.Join(m.IPs, " "))
	}
}

// unlinked tells apart a node without a Machine and one whose Machine does not
// name it yet: the node link controller sets the nodeRef.
func (j *judging) unlinked(machines []machine, node string) (waits, string, error) {
	for _, m := range machines {
		if m.NodeRef == "" && (m.internalDNS(node) || m.Name == node || j.candidate(m)) {
			return waitsNotLinked, "Machine " + m.Name + " has no nodeRef", nil
		}
	}
	if len(machines) == 0 {
		return waitsNoMachine, "there are no Machines", nil
	}
	if _, err := j.in.Candidate.Get(); err != nil {
		return waitsUnknown, "no Machine names node " + node + "; whether one should is not known: " + err.Error(), err
	}
	return waitsNoMachine, fmt.Sprintf("none of the %d Machines has node %s as its nodeRef", len(machines), node), nil
}

// strange returns the names and addresses of a serving request that the Machine
// does not list. Addresses are compared as the approver does, by their text.
func strange(r Request, m machine) (names, ips []string) {
	known := slices.Concat(m.DNS, m.ExtDNS)
	for _, n := range r.DNSNames {
		if n != "" && !slices.ContainsFunc(known, func(a string) bool { return strings.EqualFold(n, strings.TrimSuffix(a, ".")) }) {
			names = append(names, n)
		}
	}
	for _, ip := range r.IPs {
		if !slices.Contains(m.IPs, ip) {
			ips = append(ips, ip)
		}
	}
	return names, ips
}
