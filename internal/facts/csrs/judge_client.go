package csrs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// usages that a kubelet's request may have, exactly one of the two, in any order
// (openshift/cluster-machine-approver:pkg/controller/node_client.go).
var (
	clientUsages       = []string{"digital signature", "client auth"}
	clientUsagesLegacy = []string{"key encipherment", "digital signature", "client auth"}
)

// client runs the checks of node_client.go isNodeClientCert and csr_check.go
// authorizeNodeClientCSR, in their order.
func (j *judging) client() {
	r := j.request
	if !j.clientShape() {
		return
	}
	const flow = "client certificates are not switched off in machine-approver-config"
	if disabled, err := j.in.FlowDisabled.Get(); err != nil {
		j.cannot("flow-enabled", flow, waitsFlowDisabled, err)
	} else {
		j.must("flow-enabled", flow, waitsFlowDisabled, !disabled, "nodeClientCert.disabled is true",
			fmt.Sprintf("CSR %s for node client cert rejected as the flow is disabled", r.Name))
	}
	const fresh = "no Node of that name exists yet"
	if exists, err := j.in.NodeExists.Get(); err != nil {
		j.cannot("node-absent", fresh, waitsNodeExists, err)
	} else if !j.must("node-absent", fresh, waitsNodeExists, !exists, "node "+r.NodeName+" exists",
		fmt.Sprintf("%s: node %s already exists, cannot approve", r.Name, r.NodeName)) {
		return
	}
	j.clientMachine()
}

// clientShape checks that the request is one of a kubelet for its first
// certificate. Requests of other shapes are left alone by the approver.
func (j *judging) clientShape() bool {
	r := j.request
	ok := j.must("request", "the request can be read", WaitsShape, r.Broken == "", r.Broken, r.Name+": Failed to parse csr: "+r.Broken)
	if !ok {
		return false
	}
	sans := slices.Concat(r.DNSNames, r.IPs, r.Emails)
	ignored := r.Name + ": CSR does not appear to be a valid node bootstrapper client cert request"
	all := []bool{
		j.must("organisation", "the only organisation is system:nodes", WaitsShape,
			slices.Equal(r.Organisations, []string{openshift.NodesGroup}), list(r.Organisations), ""),
		j.must("no-names", "a client certificate asks for no names or addresses", WaitsShape, len(sans) == 0, list(sans), ""),
		j.must("usages", "usages are exactly those of a kubelet client", WaitsShape,
			sameUsages(r.Usages, clientUsages) || sameUsages(r.Usages, clientUsagesLegacy), list(r.Usages), ""),
		j.must("common-name", "the common name is system:node: and a name", WaitsShape,
			strings.HasPrefix(r.CN, openshift.NodeUserPrefix) && r.NodeName != "", fmt.Sprintf("%q", r.CN), ignored),
		j.must("requester", "asked for by the node bootstrapper", WaitsShape, r.Requester == openshift.NodeBootstrapper, r.Requester, ignored),
		j.must("requester-groups", "the requester's groups are exactly the bootstrapper's", WaitsShape,
			slices.Equal(sorted(r.Groups), BootstrapperGroups), list(r.Groups), ignored),
	}
	return !slices.Contains(all, false)
}

// sameUsages is the approver's hasExactUsages.
func sameUsages(have, want []string) bool {
	return len(have) == len(want) && !slices.ContainsFunc(have, func(u string) bool { return !slices.Contains(want, u) })
}

func list(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, ", ")
}

// clientMachine checks the Machine whose InternalDNS is the node's name.
func (j *judging) clientMachine() {
	const found = "a Machine lists the node's name as InternalDNS"
	const unlinked = "that Machine has no nodeRef yet"
	const window = "asked between 10 s before and 2 h after the Machine was created"
	r := j.request
	machines, err := j.in.Machines.Get()
	if err != nil {
		j.cannot("machine", found, waitsNoMachine, err)
		return
	}
	at := slices.IndexFunc(machines, func(m machine) bool { return m.internalDNS(r.NodeName) })
	if at < 0 {
		waits, detail := j.missing(machines, r.NodeName)
		j.must("machine", found, waits, false, detail, noMachine(j.in.Version, r))
		j.maybe(waits)
		return
	}
	m := machines[at]
	j.machine = m.Name
	j.must("machine", found, waitsNoMachine, true, "", "")
	if !j.must("machine-unlinked", unlinked, waitsNodeRef, m.NodeRef == "", "Machine "+m.Name+" belongs to node "+m.NodeRef,
		fmt.Sprintf("%s: machine for node %s already has node ref, cannot approve", r.Name, m.NodeRef)) {
		return
	}
	start, end := m.window()
	inside := r.Created.After(start) && r.Created.Before(end)
	j.must("window", window, waitsWindow, inside,
		fmt.Sprintf("asked at %s, the window is %s to %s", excerpt.Time(r.Created), excerpt.Time(start), excerpt.Time(end)),
		fmt.Sprintf("%s: CSR creation time %s not in range (%s, %s)", r.Name, r.Created, start, end))
}

// window returns the span in which a first request of the Machine's host is approved.
func (m machine) window() (start, end time.Time) {
	return m.Created.Add(-machineSkew), m.Created.Add(machineWindow)
}

// noMachine is the approver's line; it was reworded in 4.20.
func noMachine(version string, r Request) string {
	if older(version, 20) {
		return fmt.Sprintf("%s: failed to find machine for node %s, cannot approve", r.Name, r.NodeName)
	}
	return fmt.Sprintf("%s: failed to find machine with InternalDNS matching %s, cannot approve", r.Name, r.NodeName)
}

// missing tells why no Machine lists the name: there is none for this node, the
// one there is has no addresses, or it has another name.
func (j *judging) missing(all []machine, node string) (waits, string) {
	if len(all) == 0 {
		return waitsNoMachine, "there are no Machines"
	}
	at := slices.IndexFunc(all, func(m machine) bool {
		return m.Name == node || j.candidate(m)
	})
	if at < 0 {
		at = slices.IndexFunc(all, func(m machine) bool {
			return m.NodeRef == "" && slices.ContainsFunc(slices.Concat(m.DNS, m.ExtDNS), func(a string) bool {
				return strings.EqualFold(label(a), label(node))
			})
		})
	}
	if _, err := j.in.Candidate.Get(); at < 0 && err != nil {
		return waitsUnknown, "no Machine lists " + node + "; whether one should is not known: " + err.Error()
	}
	if at < 0 {
		return waitsNoMachine, fmt.Sprintf("none of the %d Machines lists %s or belongs to such a host", len(all), node)
	}
	m := all[at]
	if m.empty() {
		return waitsNoAddresses, "Machine " + m.Name + " lists no addresses"
	}
	if len(m.DNS) == 0 {
		return waitsNoAddresses, "Machine " + m.Name + " lists no InternalDNS, only " + list(slices.Concat(m.ExtDNS, m.IPs))
	}
	return waitsName, fmt.Sprintf("Machine %s lists %s, the host calls itself %s", m.Name, list(m.DNS), node)
}

// candidate reports whether other signs tie the Machine to the node.
func (j *judging) candidate(m machine) bool {
	name, err := j.in.Candidate.Get()
	return err == nil && name != "" && m.Name == name
}

// maybe keeps why it is not known what stops the request, in the last check.
func (j *judging) maybe(waits waits) {
	if _, err := j.in.Candidate.Get(); waits == waitsUnknown {
		j.checks[len(j.checks)-1].err = err
	}
}

// label is the first label of a host name.
func label(name string) string { first, _, _ := strings.Cut(name, "."); return first }
