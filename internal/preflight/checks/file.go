package checks

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// fileArea is the area plan-file: fields and values of install-config and agent-config that openshift-install refuses or ignores.
type fileArea struct {
	Ignored     problems // fields and values of install-config that the installer does not know or use, and continues
	Refused     problems // fields of agent-config that it does not know: it stops
	Twice       problems // fields that are there twice
	Missing     problems // fields that have to be there
	Unsupported problems // values that the installer refuses
	Removed     problems // network types that the release no longer has
	Leaving     problems // those of which only the release tells whether it has them
}

var fileChecks = check.Area("plan-file", needs, readFile, check.Fields[fileArea]{
	"plan-field-ignored":        func(f *fileArea) *problems { return &f.Ignored },
	"plan-field-refused":        func(f *fileArea) *problems { return &f.Refused },
	"plan-field-twice":          func(f *fileArea) *problems { return &f.Twice },
	"plan-field-missing":        func(f *fileArea) *problems { return &f.Missing },
	"plan-value-unsupported":    func(f *fileArea) *problems { return &f.Unsupported },
	"plan-network-type-removed": func(f *fileArea) *problems { return &f.Removed },
	"plan-network-type-old":     func(f *fileArea) *problems { return &f.Leaving },
})

func readFile(ctx context.Context, w *facts.World) (fileArea, error) {
	var f fileArea
	p, err := read(ctx, w)
	if err != nil {
		return f, err
	}
	f.fields(p)
	if p.install.there() {
		f.required(p)
		f.values(p)
		f.pools(p)
		f.removed(p)
		f.withoutEffect(p)
		f.capabilities(p)
		f.featureGates(p)
		f.features(p)
	}
	f.vcenters(p)
	f.clusterManifests(p)
	if p.agent.there() {
		f.agent(p.agent)
	}
	return f, nil
}

// fields looks for what the installer does not know. install-config is read again without
// the unknown fields (pkg/asset/installconfig/installconfigbase.go LoadFromFile), agent-config
// is refused (pkg/asset/agent/agentconfig/agent_config.go Load).
func (f *fileArea) fields(p plans) {
	for _, doc := range []struct {
		root  node
		known *keys
		to    *problems
		what  string
	}{
		{p.install, installKeys, &f.Ignored, "the installer does not know this field and ignores it"},
		{p.agent, agentKeys, &f.Refused, "the installer does not know this field and refuses the file"},
	} {
		if !doc.root.there() || doc.root.doc.from != nil { // of cluster-manifests, the files are judged
			continue
		}
		doc.known.unknown(doc.root, func(n node, siblings []string) {
			hint := "remove it"
			key := n.path[strings.LastIndexByte(n.path, '.')+1:]
			if s := suggest.Nearest(key, siblings); s != "" {
				hint = "write " + s
			}
			add(doc.to, n, n.path, "%s; %s", doc.what, hint)
		})
		doc.known.wrong(doc.root, f.unreadable)
		twice, _ := doc.root.doc.object.Content["twice"].([]any)
		for _, v := range twice {
			m, _ := v.(map[string]any)
			n := node{doc.root.doc, evidence.String(m, "path"), ""}
			add(&f.Twice, n, n.path, "this field is there twice in one block; keep one")
		}
	}
}

func (f *fileArea) unreadable(n node, want form) {
	add(&f.Unsupported, n, n.path, "the installer cannot read it: it has to be %s", want)
}

// required: pkg/types/validation/installconfig.go ValidateInstallConfig.
func (f *fileArea) required(p plans) {
	c := p.install
	for _, path := range [][]string{{"apiVersion"}, {"baseDomain"}, {"metadata", "name"}, {"platform"}, {"pullSecret"}} {
		n := c.get(path...)
		if n.text() == "" && !(path[0] == "platform" && hasPlatform(n)) {
			add(&f.Missing, n, n.path, "%s has to be set", n.path)
		}
	}
	f.hostPrefixes(c)
	metal := c.get("platform", "baremetal")
	if !metal.there() {
		return
	}
	if p.agentBased() {
		return // names, MACs and BMCs of install-config are not used then
	}
	if len(metal.get("hosts").items()) == 0 {
		add(&f.Missing, metal.get("hosts"), metal.get("hosts").path, "bare metal hosts are missing")
	}
	for _, h := range metal.get("hosts").items() {
		for _, path := range [][]string{{"name"}, {"bootMACAddress"}, {"bmc", "address"}, {"bmc", "username"}, {"bmc", "password"}} {
			if n := h.get(path...); n.text() == "" {
				add(&f.Missing, n, n.path, "each host needs %s", strings.Join(path, "."))
			}
		}
	}
}

func hasPlatform(n node) bool {
	m, _ := n.v.(map[string]any)
	return slices.ContainsFunc(sorted(m), func(name string) bool { return m[name] != nil })
}

// hostPrefixes: validateClusterNetwork. There is no default where a network is written, and
// network types of others may do without.
func (f *fileArea) hostPrefixes(c node) {
	if t := c.get("networking", "networkType").text(); t != "" && t != "OVNKubernetes" && t != "OpenShiftSDN" {
		return
	}
	for _, n := range c.get("networking").first("clusterNetwork", "clusterNetworks").items() {
		prefix, length := n.get("hostPrefix"), n.get("hostSubnetLength")
		if v, ok := prefix.number(); ok && v != 0 {
			continue
		}
		if v, ok := length.number(); ok && v != 0 {
			continue
		}
		add(&f.Missing, prefix, prefix.path, "hostPrefix has to be set where a cluster network is written; write 23, and 64 for IPv6")
	}
}

// oneOf adds a value that is none of those that are allowed. An empty one is the default.
func (f *fileArea) oneOf(n node, allowed ...string) {
	if v := n.text(); v != "" && !slices.Contains(allowed, v) {
		add(&f.Unsupported, n, n.path, "%q is not supported; write one of %s", v, strings.Join(allowed, ", "))
	}
}

// onPremise are the platforms without a cloud's load balancer and DNS.
var onPremise = []string{"baremetal", "none", "external", "vsphere", "nutanix", "openstack", "ovirt", "libvirt"}

// platforms that openshift-install knows, newest release and older ones.
var platforms = []string{"alibabacloud", "aws", "azure", "baremetal", "external", "gcp", "ibmcloud", "libvirt", "none", "nutanix", "openstack", "ovirt",
	"powervc", "powervs", "vsphere"}

// agentPlatforms are those of an agent-based installation (pkg/asset/agent/common.go
// SupportedInstallerPlatforms).
var agentPlatforms = []string{"baremetal", "vsphere", "none", "external", "nutanix"}

// platformOf returns the platform's name, "" where there is not exactly one.
func platformOf(c node) string {
	m, _ := c.get("platform").v.(map[string]any)
	name := ""
	for k := range m {
		if name != "" {
			return ""
		}
		name = strings.ToLower(k)
	}
	return name
}

// oldVersions of install-config.yaml are read as v1 (openshift/installer:
// pkg/types/conversion/installconfig.go ConvertInstallConfig).
var oldVersions = []string{"v1beta3", "v1beta4"}

// values: enumerations and what excludes each other.
func (f *fileArea) values(p plans) {
	c := p.install
	if v := c.get("apiVersion"); !slices.Contains(oldVersions, v.text()) {
		f.oneOf(v, "v1")
	}
	f.oneOf(c.get("publish"), "External", "Internal", "Mixed")
	f.oneOf(c.get("additionalTrustBundlePolicy"), "Proxyonly", "Always")
	m, _ := c.get("platform").v.(map[string]any)
	for _, name := range sorted(m) {
		n := c.get("platform", name)
		name := strings.ToLower(name)
		switch {
		case !slices.Contains(platforms, name):
			add(&f.Unsupported, n, n.path, "%q is no platform; write one of %s", name, strings.Join(platforms, ", "))
		case len(m) > 1:
			add(&f.Unsupported, n, n.path, "only one platform can be set, there are %s; remove the others", strings.Join(sorted(m), ", "))
		case p.agentBased() && !slices.Contains(agentPlatforms, name):
			add(&f.Unsupported, n, n.path, "an agent-based installation has no platform %q; write one of %s", name, strings.Join(agentPlatforms, ", "))
		}
	}
	platform := platformOf(c)
	if v := c.get("publish"); v.text() != "" && v.text() != "External" && slices.Contains(onPremise, platform) {
		add(&f.Unsupported, v, v.path, "%s is not possible on platform %s; write External or remove the field", v.text(), platform)
	}
	if v := c.get("credentialsMode"); v.text() != "" && slices.Contains([]string{"baremetal", "none", "external", "vsphere", "openstack"}, platform) {
		add(&f.Unsupported, v, v.path, "credentialsMode cannot be set on platform %s; remove it", platform)
	}
	if v := c.get("networking", "clusterNetworkMTU"); v.there() && v.text() != "0" && platform != "aws" && platform != "" {
		add(&f.Unsupported, v, v.path, "clusterNetworkMTU can be set on AWS only; remove it, and set the MTU with a manifest of the Cluster Network Operator")
	}
	metal := c.get("platform", "baremetal")
	f.oneOf(metal.get("provisioningNetwork"), "Managed", "Unmanaged", "Disabled")
	f.oneOf(metal.get("loadBalancer", "type"), "OpenShiftManagedDefault", "UserManaged")
	if n := metal.get("loadBalancer"); n.there() && n.get("type").text() == "" {
		add(&f.Missing, n.get("type"), n.path+".type", "a load balancer needs its type; write UserManaged, or remove loadBalancer")
	}
	for _, h := range metal.get("hosts").items() {
		f.oneOf(h.get("bootMode"), "UEFI", "UEFISecureBoot", "legacy")
		f.oneOf(h.get("role"), "master", "worker", "arbiter")
		if driver, _ := schemeOf(h.get("bmc", "address").text()); h.get("bootMode").text() == "UEFISecureBoot" &&
			slices.Contains([]string{"", "ipmi", "libvirt"}, driverOf(driver)) && h.get("bmc", "address").text() != "" {
			add(&f.Unsupported, h.get("bootMode"), h.get("bootMode").path, "IPMI cannot switch Secure Boot on; write an address of Redfish, or UEFI")
		}
	}
}

// withoutEffect: values that the installer does not refuse and then does not use as they are
// written (pkg/asset/manifests/topologies.go determineCPUPartitioning;
// pkg/asset/ignition/bootstrap/bootstrap_in_place.go verifyBootstrapInPlace).
func (f *fileArea) withoutEffect(p plans) {
	c := p.install
	if n := c.get("cpuPartitioningMode"); n.text() != "" && n.text() != "None" && n.text() != "AllNodes" {
		add(&f.Ignored, n, n.path, "the installer takes %q as None; write one of None, AllNodes", n.text())
	}
	place := c.get("bootstrapInPlace")
	if !place.there() || p.agentBased() {
		return
	}
	missing := ""
	if n, _ := c.get("controlPlane", "replicas").number(); n != 1 {
		missing = "controlPlane.replicas: 1"
	} else if place.get("installationDisk").text() == "" {
		missing = "installationDisk"
	}
	if missing != "" {
		add(&f.Ignored, place, place.path, "create single-node-ignition-config refuses it without %s, and no other command uses it; write that, or "+
			"remove bootstrapInPlace", missing)
	}
}

// pools: names, counts and architectures (validateControlPlane, validateCompute; of an
// agent-based installation pkg/asset/agent/installconfig.go).
func (f *fileArea) pools(p plans) {
	c := p.install
	control := c.get("controlPlane")
	pools := append([]node{control, c.get("arbiter")}, c.get("compute").items()...)
	names := map[string]bool{}
	for i, pool := range pools {
		f.oneOf(pool.get("architecture"), "amd64", "arm64", "ppc64le", "s390x")
		f.oneOf(pool.get("hyperthreading"), "Enabled", "Disabled")
		n := pool.get("replicas")
		count, ok := n.number()
		switch {
		case count < 0:
			add(&f.Unsupported, n, n.path, "%d is less than 0", count)
		case i < 2 && ok && count == 0:
			add(&f.Unsupported, n, n.path, "the number has to be at least 1")
		}
		if i < 2 {
			continue
		}
		f.oneOf(pool.get("name"), "worker", "edge")
		if name := pool.get("name"); name.text() == "" {
			add(&f.Missing, name, name.path, "each compute pool needs its name; write worker")
		} else {
			if names[name.text()] {
				add(&f.Unsupported, name, name.path, "a second pool has the name %q; join the two", name.text())
			}
			names[name.text()] = true
		}
		if a, b := control.get("architecture").text(), pool.get("architecture"); a != "" && b.text() != "" && a != b.text() &&
			slices.Contains(onPremise, platformOf(c)) {
			add(&f.Unsupported, b, b.path, "%s: workers of another architecture than the control plane (%s) can only be added after the installation, "+
				"with a multi-architecture release", b.text(), a)
		}
	}
	if p.agentBased() {
		f.agentPools(c)
		return
	}
	minor, known := minorOf(p.release)
	if n := control.get("replicas"); twoMasters(c) && (!known || minor >= 19) {
		add(&f.Unsupported, n, n.path, "2 control-plane hosts need an arbiter, or fencing with a credential for each; write 3 or 1")
	}
}

// twoMasters: two members of etcd have no majority when one fails. The installer refuses them
// from 4.19 on (validateFencingCredentials).
func twoMasters(c node) bool {
	masters, ok := c.get("controlPlane", "replicas").number()
	arbiter, _ := c.get("arbiter", "replicas").number()
	return ok && masters == 2 && arbiter == 0 && !c.get("controlPlane", "fencing", "credentials").there()
}

// agentPools: validateControlPlaneConfiguration and validateSNOConfiguration.
func (f *fileArea) agentPools(c node) {
	external := c.get("platform", "external") // validatePlatformsByName
	if ccm := external.get("cloudControllerManager"); external.get("platformName").text() == "oci" && ccm.text() != "External" {
		add(&f.Unsupported, ccm, ccm.path, "platform oci needs the cloud controller manager; write cloudControllerManager: External")
	}
	n := c.get("controlPlane", "replicas")
	masters, ok := n.number()
	if !n.there() {
		masters, ok = 3, true
	}
	if !ok {
		return
	}
	if masters > 5 || twoMasters(c) {
		add(&f.Unsupported, n, n.path, "an agent-based installation has 1, 3, 4 or 5 control-plane hosts, or 2 with an arbiter or with fencing; %d "+
			"was written", masters)
	}
	workers := workersOf(c)
	platform := platformOf(c)
	if masters != 1 {
		return
	}
	if workers > 0 {
		w := c.get("compute")
		add(&f.Unsupported, w, w.path, "with one control-plane host there are no workers, and replicas says %d; write replicas: 0", workers)
		return
	}
	if t := c.get("networking", "networkType"); (platform == "none" || platform == "external") && t.text() != "" && t.text() != "OVNKubernetes" {
		add(&f.Unsupported, t, t.path, "a single-node cluster has OVNKubernetes only; %q was written", t.text())
	}
	if platform != "none" && platform != "external" && platform != "" {
		n := c.get("platform", platform)
		add(&f.Unsupported, n, n.path, "with one control-plane host this is a single-node cluster, which has platform none or external. For more hosts "+
			"raise controlPlane.replicas; for one write none: {}")
	}
}

// workersOf counts the workers. Where there is no pool of workers, or it has no count, three
// are meant (pkg/types/defaults/installconfig.go SetInstallConfigDefaults, machinepools.go);
// for an agent-based installation, too.
func workersOf(c node) int64 {
	const meant = 3
	total, named := int64(0), false
	for _, pool := range c.get("compute").items() {
		n, ok := pool.get("replicas").number()
		if pool.get("name").text() == "worker" {
			named = true
			if !pool.get("replicas").there() {
				n, ok = meant, true
			}
		}
		if ok {
			total += n
		}
	}
	if !named {
		total += meant
	}
	return total
}

// agent: pkg/asset/agent/agentconfig.
func (f *fileArea) agent(a node) {
	if n := a.get("apiVersion"); n.text() == "" {
		add(&f.Missing, n, n.path, "apiVersion has to be set; write v1beta1")
	}
	f.oneOf(a.get("apiVersion"), "v1alpha1", "v1beta1")
	for _, h := range a.get("hosts").items() {
		f.oneOf(h.get("role"), "master", "worker", "arbiter")
		interfaces := h.get("interfaces")
		if len(interfaces.items()) == 0 {
			add(&f.Missing, interfaces, interfaces.path, "each host needs at least one interface with its MAC address")
		}
		for _, i := range interfaces.items() {
			if n := i.get("macAddress"); n.text() == "" {
				add(&f.Missing, n, n.path, "each interface needs its MAC address")
			}
		}
	}
}

// removed are values that a later release no longer has. OpenShiftSDN can not be
// chosen for new clusters from 4.15 on (validateNetworking).
func (f *fileArea) removed(p plans) {
	n := p.install.get("networking", "networkType")
	if !strings.EqualFold(n.text(), "OpenShiftSDN") && !strings.EqualFold(n.text(), "Kuryr") {
		return
	}
	minor, ok := minorOf(p.release)
	switch {
	case !ok:
		add(&f.Leaving, n, n.text(), "%s cannot be chosen from 4.15 on; write OVNKubernetes for such a release", n.text())
	case minor >= 15:
		add(&f.Removed, n, n.text(), "%s cannot be chosen from 4.15 on; write OVNKubernetes", n.text())
	}
}
