package checks

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// host is one host of the plan, of either file.
type host struct {
	node                   // the whole block
	name, role, bmc        node
	macs                   []node
	config                 node // networkConfig
	hints, bootMode, iface node
	agent                  bool
}

func (h host) title() string {
	if v := h.name.text(); v != "" {
		return v
	}
	if v := h.get("nmStateConfig").text(); v != "" {
		return "NMStateConfig " + v
	}
	return h.path
}

// hosts returns the hosts that will be used: those of agent-config where it has any, else
// those of install-config (pkg/asset/agent/agentconfig/agenthosts.go Generate).
func (p plans) hosts() []host {
	var list []host
	for _, h := range p.agent.get("hosts").items() {
		a := host{node: h, name: h.get("hostname"), role: h.get("role"), bmc: h.get("bmc"), config: h.get("networkConfig"),
			hints: h.get("rootDeviceHints"), iface: h.get("interfaces"), agent: true}
		for _, i := range a.iface.items() {
			if mac := i.get("macAddress"); mac.text() != "" {
				a.macs = append(a.macs, mac)
			}
		}
		list = append(list, a)
	}
	if len(list) > 0 {
		return list
	}
	for _, h := range p.install.get("platform", "baremetal", "hosts").items() {
		m := host{node: h, name: h.get("name"), role: h.get("role"), bmc: h.get("bmc"), config: h.get("networkConfig"),
			hints: h.get("rootDeviceHints"), bootMode: h.get("bootMode")}
		if mac := h.get("bootMACAddress"); mac.text() != "" {
			m.macs = append(m.macs, mac)
		}
		list = append(list, m)
	}
	return list
}

// hostArea is the area plan-hosts: hosts of the plan: MAC addresses, BMCs, counts, disks, boot modes.
type hostArea struct {
	MACTwice    problems // MAC addresses that two hosts have, in any spelling
	MACInvalid  problems // MAC addresses that no network card has or is found by
	BMCTwice    problems // BMCs that two hosts have, in any spelling
	BMCScheme   problems // BMC addresses that no driver is for
	BMCNetwork  problems // BMC addresses whose driver needs a provisioning network that is disabled
	BMCInsecure problems // BMCs whose certificate will not be checked
	Count       problems // numbers of hosts and replicas that do not fit
	Fewer       problems // roles with fewer hosts in the plan than an agent-based installation waits for
	RootDevice  problems // root device hints that are refused
	Unstable    problems // root device hints that name another disk after the next boot
	DiskTwice   problems // disks that two hosts have
	Driver      problems // BMC drivers of which only the release tells whether it has them
	BootModes   problems // boot modes that differ between the hosts of the control plane
}

var hostChecks = check.Area("plan-hosts", needs, readHosts, check.Fields[hostArea]{
	"plan-mac-twice":            func(f *hostArea) *problems { return &f.MACTwice },
	"plan-mac-invalid":          func(f *hostArea) *problems { return &f.MACInvalid },
	"plan-bmc-twice":            func(f *hostArea) *problems { return &f.BMCTwice },
	"plan-bmc-address-unusable": func(f *hostArea) *problems { return &f.BMCScheme },
	"plan-bmc-needs-network":    func(f *hostArea) *problems { return &f.BMCNetwork },
	"plan-bmc-not-verified":     func(f *hostArea) *problems { return &f.BMCInsecure },
	"plan-host-count":           func(f *hostArea) *problems { return &f.Count },
	"plan-hosts-not-listed":     func(f *hostArea) *problems { return &f.Fewer },
	"plan-root-device-refused":  func(f *hostArea) *problems { return &f.RootDevice },
	"plan-root-device-unstable": func(f *hostArea) *problems { return &f.Unstable },
	"plan-root-device-twice":    func(f *hostArea) *problems { return &f.DiskTwice },
	"plan-bmc-driver-old":       func(f *hostArea) *problems { return &f.Driver },
	"plan-boot-modes-differ":    func(f *hostArea) *problems { return &f.BootModes },
})

func readHosts(ctx context.Context, w *facts.World) (hostArea, error) {
	var f hostArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	list := p.hosts()
	f.macs(p, list)
	f.bmcs(p, list)
	f.disks(list)
	f.disksTwice(list)
	if p.install.there() {
		f.count(p, list)
	} else {
		unknown := missing("how many hosts there are to be is in install-config.yaml", "install-config.yaml")
		f.Count.Miss(unknown)
		f.Fewer.Miss(unknown)
	}
	modes := map[string]host{}
	for _, h := range list {
		if mode := strings.ToLower(h.bootMode.text()); h.role.text() == "master" && !h.agent {
			if mode == "" {
				mode = "uefi"
			}
			for other, first := range modes {
				if other != mode {
					add(&f.BootModes, h.bootMode, h.title(), "%s boots with %s, %s with %s; write one mode for all", h.title(), mode, first.title(), other)
				}
			}
			if len(modes) == 0 {
				modes[mode] = h
			}
		}
	}
	return f, nil
}

// macs: the installer compares them as they are written.
func (f *hostArea) macs(p plans, list []host) {
	seen := map[string]string{}
	for _, h := range list {
		for _, n := range h.macs {
			mac, err := net.ParseMAC(n.text())
			switch {
			case err != nil || len(mac) != 6:
				add(&f.MACInvalid, n, n.text(), "%q is no MAC address of six bytes; write it as 52:54:00:12:34:56", n.text())
				continue
			case mac[0]&1 == 1:
				add(&f.MACInvalid, n, n.text(), "%s is an address of a group, which no network card has", n.text())
			case mac.String() == "00:00:00:00:00:00":
				add(&f.MACInvalid, n, n.text(), "%s stands for no address; write the one of the network card that boots", n.text())
			case !colons(n) && h.needsColons(p):
				add(&f.MACInvalid, n, n.text(), "the installer takes %s, and then no host is recognized by it; write %s", n.text(), mac)
			}
			if other, again := seen[mac.String()]; again {
				add(&f.MACTwice, n, mac.String(), "%s has the MAC address of %s", n.path, other)
			}
			seen[mac.String()] = n.path
		}
	}
}

func colons(mac node) bool { return strings.Contains(mac.text(), ":") }

// needsColons reports whether MAC addresses of the host with dashes or dots do not work. The
// API server refuses them in a BareMetalHost (metal3-io/baremetal-operator:
// apis/metal3.io/v1alpha1/baremetalhost_types.go BootMACAddress), and assisted-service refuses
// them next to networkConfig (openshift/assisted-service: models/mac_interface_map.go). Else it
// compares them with those of the hosts, letter by letter, and waits for one that fits
// (cmd/agentbasedinstaller/host_config.go findByMAC, missing).
func (h host) needsColons(p plans) bool {
	switch {
	case !p.agentBased():
		return true
	case h.agent:
		return h.config.there() || !slices.ContainsFunc(h.macs, colons)
	}
	return !slices.ContainsFunc(h.links(), func(i node) bool { return i.get("mac-address").text() != "" }) // these are used then
}

// drivers are the schemes of BMC addresses and whether one boots over the network and so
// needs a provisioning network (metal3-io/baremetal-operator: pkg/hardwareutils/bmc, each
// driver's NeedsMAC and SupportsISOPreprovisioningImage; openshift/installer:
// pkg/types/baremetal/validation/platform.go validateProvisioningNetworkDisabledSupported).
var drivers = map[string]bool{
	"ipmi": true, "libvirt": true, "redfish": true, "idrac": true, "idrac-redfish": true, "ilo5-redfish": true, "ilo4": true, "ilo5": true, "irmc": true,
	"redfish-virtualmedia": false, "idrac-virtualmedia": false, "ilo4-virtualmedia": false, "ilo5-virtualmedia": false, "ibmc": true, "redfish-uefihttp": false,
}

// lastDriver is the last minor release with a driver (openshift/baremetal-operator:
// pkg/hardwareutils/bmc, the names that each file registers, branches release-4.12 to release-4.23).
var lastDriver = map[string]int{"ibmc": 15, "idrac": 15, "ilo4": 20, "ilo4-virtualmedia": 20, "ilo5": 20, "irmc": 21}

// driverOfRelease: a driver that the release does not have. Which one is installed may not be known.
func (f *hostArea) driverOfRelease(p plans, n node, driver string) {
	minor, known := minorOf(p.release)
	last, leaves := lastDriver[driver]
	switch {
	case !known && leaves:
		add(&f.Driver, n, driver, "4.%d is the last release with a driver for %s://; write redfish-virtualmedia://ADDRESS/redfish/v1/Systems/1 or "+
			"redfish for a later one", last, driver)
	case !known:
	case leaves && minor > last:
		add(&f.BMCScheme, n, driver, "4.%d has no driver for %s://, 4.%d was the last one; write "+
			"redfish-virtualmedia://ADDRESS/redfish/v1/Systems/1 or redfish", minor, driver, last)
	case driver == "redfish-uefihttp" && minor < 18:
		add(&f.BMCScheme, n, driver, "4.%d has no driver for %s://, 4.18 is the first one; write redfish-virtualmedia", minor, driver)
	}
}

func schemeOf(address string) (scheme, rest string) {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return "ipmi", address // an address without one is IPMI's
	}
	return strings.ToLower(scheme), rest
}

// driverOf is the driver of a scheme: "redfish+http" is redfish over HTTP.
func driverOf(scheme string) string {
	name, _, _ := strings.Cut(scheme, "+")
	return name
}

// bmcHost is a name as the bare metal operator takes it: no _ and no dot at the end.
var bmcHost = regexp.MustCompile(`^(([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9\-]{0,61}[a-zA-Z0-9])\.)*([A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9\-]{0,61}[A-Za-z0-9])$`)

// bmcURL reads an address as the bare metal operator does, and returns its scheme or what to
// correct (openshift/baremetal-operator: pkg/hardwareutils/bmc/access.go GetParsedURL, checkDNSValid).
func bmcURL(address string) (scheme, problem string) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		if _, _, bad := net.SplitHostPort(address); strings.Contains(address, ":") && bad != nil {
			return "", bmcProblem(address)
		}
		u, err = &url.URL{Scheme: "ipmi", Host: address}, nil
	case u.Opaque != "":
		u, err = url.Parse(strings.Replace(address, ":", "://", 1))
	case u.Scheme == "" && u.Hostname() == "":
		u, err = url.Parse("ipmi://" + address)
	}
	if err != nil {
		return "", bmcProblem(address)
	}
	if strings.Count(u.Host, ":") > 1 && !strings.Contains(u.Host, "[") { // a part of the address would be the port
		return "", bmcProblem(address)
	}
	if host := u.Hostname(); host != "" && net.ParseIP(host) == nil && !bmcHost.MatchString(host) {
		return "", bmcProblem(address)
	}
	return u.Scheme, ""
}

// bmcProblem says what is wrong with an address that cannot be read.
func bmcProblem(address string) string {
	_, rest := schemeOf(address)
	host, _, _ := strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	_, bad := strconv.ParseUint(port, 10, 16)
	switch {
	case strings.ContainsAny(host, " \t"):
		return fmt.Sprintf("%q has a blank; remove it", host)
	case err != nil && strings.Count(host, ":") > 1 && !strings.Contains(host, "["):
		return fmt.Sprintf("an IPv6 address needs brackets; write [%s], and a port behind the bracket", host)
	case port != "" && bad != nil:
		return fmt.Sprintf("the port %q is no number; write %s or %s:443", port, name, name)
	case strings.Contains(name, "_"):
		return fmt.Sprintf("%s has a _, which is refused; write another name or the IP address", name)
	}
	return fmt.Sprintf("%q cannot be read; write SCHEME://HOST:PORT/PATH, and %% in it as %%25", address)
}

func (f *hostArea) bmcs(p plans, list []host) {
	disabled := p.install.get("platform", "baremetal", "provisioningNetwork").text() == "Disabled" && !p.agentBased()
	seen := map[string]string{}
	for _, h := range list {
		n := h.bmc.get("address")
		if n.text() == "" {
			continue
		}
		scheme, problem := bmcURL(n.text())
		if n.userBreaks() {
			problem = "what stands before the @ breaks it; remove it, username and password are fields of bmc"
		}
		if problem != "" {
			add(&f.BMCScheme, n, n.text(), "%s", problem)
			continue
		}
		needsNetwork, known := drivers[driverOf(scheme)]
		switch {
		case !known:
			add(&f.BMCScheme, n, scheme, "no driver is for %s://; write redfish-virtualmedia://ADDRESS/redfish/v1/Systems/1 or the one of this vendor", scheme)
		case disabled && needsNetwork:
			add(&f.BMCNetwork, n, scheme, "%s:// boots over the provisioning network, which is Disabled; write a scheme with virtualmedia, or "+
				"provisioningNetwork: Managed", scheme)
		}
		if host := hostOf(n.text()); looksLikeAddress(host) {
			add(&f.BMCScheme, n, host, "%q is no address; correct it", host)
		}
		f.driverOfRelease(p, n, driverOf(scheme))
		if driverOf(scheme) == "redfish-uefihttp" && strings.EqualFold(h.bootMode.text(), "legacy") { // openstack/ironic: RedfishHttpsBoot
			add(&f.BMCScheme, n, h.title(), "%s boots with UEFI only, and bootMode is legacy; write UEFI, or redfish-virtualmedia", scheme)
		}
		if strings.Contains(n.text(), "/redfish/v1/Managers/") {
			add(&f.BMCScheme, n, "path of a Manager", "the path leads to the BMC itself; write the one of the server: /redfish/v1/Systems/...")
		}
		if v := h.bmc.get("disableCertificateVerification"); v.yes() {
			add(&f.BMCInsecure, v, h.title(), "the password goes to whoever answers at %s; give the BMC a certificate of a CA, or accept this for a "+
				"network of its own", hostPort(n.text()))
		}
		id := endpoint(n.text())
		if other, again := seen[id]; again {
			add(&f.BMCTwice, n, id, "%s is the BMC of %s, too", hostPort(n.text()), other)
		}
		seen[id] = h.title()
	}
}

// endpoint is what a BMC address leads to, in one spelling: host, port and system.
func endpoint(address string) string {
	scheme, rest := schemeOf(address)
	u, err := url.Parse("x://" + rest)
	if err != nil {
		return strings.ToLower(address)
	}
	port := u.Port()
	if port == "" {
		port = "443"
		switch driver := driverOf(scheme); {
		case driver == "ipmi" || driver == "libvirt":
			port = "623"
		case strings.HasSuffix(scheme, "+http"):
			port = "80"
		}
	}
	return strings.ToLower(net.JoinHostPort(u.Hostname(), port)) + path.Clean("/"+u.Path)
}

func hostPort(address string) string {
	_, rest := schemeOf(address)
	rest, _, _ = strings.Cut(rest, "/")
	return rest
}

// count: validateHostsCount of platform baremetal; of an agent-based installation
// pkg/asset/agent/manifests/nmstateconfig.go and installconfig.go.
func (f *hostArea) count(p plans, list []host) {
	c := p.install
	want := map[string]int64{"master": 3, "worker": workersOf(c), "arbiter": 0}
	for role, path := range map[string]string{"master": "controlPlane", "arbiter": "arbiter"} {
		if n, ok := c.get(path, "replicas").number(); ok {
			want[role] = n
		}
	}
	have := map[string]int64{}
	for _, h := range list {
		have[h.role.text()]++
	}
	total := want["master"] + want["worker"] + want["arbiter"]
	if len(list) == 0 {
		return
	}
	if !p.agentBased() {
		if n := p.install.get("platform", "baremetal", "hosts"); int64(len(list)) < total {
			add(&f.Count, n, strconv.Itoa(len(list))+" hosts", "hosts listed: %d, asked for: %d (masters: %d, workers: %d); list them or "+
				"lower replicas", len(list), total, want["master"], want["worker"])
		} else if minor, known := minorOf(p.release); !known || minor >= 10 {
			f.roles(n, list, want)
		}
		return
	}
	where := p.agent.get("hosts")
	if !where.there() {
		where = p.install.get("platform", "baremetal", "hosts")
	}
	for _, role := range []string{"master", "arbiter", "worker"} {
		if have[role] > want[role] {
			add(&f.Count, where, role, "hosts with the role %s: %d, asked for in install-config: %d; lower one or "+
				"raise the other", role, have[role], want[role])
		}
	}
	if int64(len(list)) > total {
		add(&f.Count, where, "hosts", "hosts listed: %d, asked for in install-config: %d; raise replicas", len(list), total)
	} else if int64(len(list)) < total {
		add(&f.Fewer, where, "hosts", "hosts listed: %d, asked for: %d; the others have to boot the same ISO and get names and "+
			"addresses by DHCP", len(list), total)
	}
}

// roles: validateHostsCount counts the hosts of each role from 4.10 on. A host without a role
// gets the first one that lacks hosts.
func (f *hostArea) roles(at node, list []host, want map[string]int64) {
	have, order := map[string]int64{}, []string{"master", "arbiter", "worker"}
	for _, h := range list {
		if role := h.role.text(); slices.Contains(order, role) {
			have[role]++
			continue
		}
		if i := slices.IndexFunc(order, func(role string) bool { return have[role] < want[role] }); i >= 0 {
			have[order[i]]++
		}
	}
	for _, role := range order {
		if have[role] < want[role] {
			add(&f.Count, at, role, "hosts with the role %s: %d, asked for: %d; change the role of a host, or lower replicas", role, have[role], want[role])
		}
	}
}
