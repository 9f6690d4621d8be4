package plan

import (
	"maps"
	"slices"
	"strings"
)

// keys is the tree of fields that the installer knows. A nil tree is open: what is below is
// not judged (other platforms, manifests, nmstate documents, which nmstate itself judges).
type keys struct{ fields map[string]*keys }

// parseKeys reads lines "a.b: c d e+", which give the fields of a block; "+" behind a field
// leaves it open, "*" is each element of a list or each name of a map.
func parseKeys(text string) *keys {
	root := &keys{fields: map[string]*keys{}}
	for line := range strings.Lines(text) {
		path, names, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		at := root
		for part := range strings.SplitSeq(path, ".") {
			if part == "" {
				continue
			}
			if at.fields[part] == nil {
				at.fields[part] = &keys{fields: map[string]*keys{}}
			}
			at = at.fields[part]
		}
		for name := range strings.FieldsSeq(names) {
			if open, is := strings.CutSuffix(name, "+"); is {
				at.fields[open] = nil
			} else if at.fields[name] == nil {
				at.fields[name] = &keys{fields: map[string]*keys{}}
			}
		}
	}
	return root
}

// unknown calls report for each field that the tree does not have, with those that it has
// there. The JSON decoder of the installer does not mind the case of letters
// (sigs.k8s.io/yaml): neither does this.
func (k *keys) unknown(n node, report func(n node, siblings []string)) {
	if k == nil || len(k.fields) == 0 {
		return
	}
	if each := k.fields["*"]; each != nil {
		for _, item := range n.items() {
			each.unknown(item, report)
		}
		return
	}
	m, _ := n.v.(map[string]any)
	for _, name := range sorted(m) {
		below, ok := k.fields[name]
		if !ok {
			known := slices.Sorted(maps.Keys(k.fields))
			i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, name) })
			if i < 0 {
				report(n.get(name), known)
				continue
			}
			below = k.fields[known[i]]
		}
		below.unknown(n.get(name), report)
	}
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// installKeys are the fields of install-config of all releases until 4.21, with the deprecated
// ones (openshift/installer: pkg/types/installconfig.go, machinepools.go,
// baremetal/platform.go, conversion/installconfig.go).
var installKeys = parseKeys(`
: apiVersion kind metadata+ additionalTrustBundle additionalTrustBundlePolicy sshKey baseDomain networking controlPlane arbiter compute platform pullSecret proxy imageContentSources imageDigestSources publish operatorPublishingStrategy+ fips cpuPartitioningMode credentialsMode bootstrapInPlace capabilities featureSet featureGates osImageStream
networking: networkType machineNetwork clusterNetwork serviceNetwork clusterNetworkMTU ovnKubernetesConfig+ machineCIDR type serviceCIDR clusterNetworks
networking.machineNetwork.*: cidr
networking.clusterNetwork.*: cidr hostPrefix hostSubnetLength
controlPlane: name replicas platform+ hyperthreading architecture diskSetup+ fencing+ management+
arbiter: name replicas platform+ hyperthreading architecture diskSetup+ fencing+ management+
compute.*: name replicas platform+ hyperthreading architecture diskSetup+ fencing+ management+
proxy: httpProxy httpsProxy noProxy
imageContentSources.*: source mirrors
imageDigestSources.*: source mirrors sourcePolicy
bootstrapInPlace: installationDisk
capabilities: baselineCapabilitySet additionalEnabledCapabilities
platform: alibabacloud+ aws+ azure+ baremetal external+ gcp+ ibmcloud+ libvirt+ none nutanix+ openstack+ ovirt+ powervc+ powervs+ vsphere+ kubevirt+
platform.baremetal: libvirtURI clusterProvisioningIP provisioningHostIP bootstrapProvisioningIP bootstrapHostIP externalBridge externalMACAddress provisioningNetwork provisioningBridge provisioningMACAddress provisioningNetworkInterface provisioningNetworkCIDR provisioningDHCPExternal provisioningDHCPRange hosts defaultMachinePlatform+ apiVIP apiVIPs ingressVIP ingressVIPs dnsVIP bootstrapOSImage clusterOSImage bootstrapExternalStaticIP bootstrapExternalStaticGateway bootstrapExternalStaticDNS loadBalancer additionalNTPServers bmcVerifyCA dnsRecordsType
platform.baremetal.loadBalancer: type
platform.baremetal.hosts.*: name bmc role bootMACAddress hardwareProfile rootDeviceHints bootMode networkConfig+
platform.baremetal.hosts.*.bmc: username password address disableCertificateVerification
platform.baremetal.hosts.*.rootDeviceHints: deviceName hctl model vendor serialNumber minSizeGigabytes wwn wwnWithExtension wwnVendorExtension rotational
`)

// agentKeys are those of agent-config (pkg/types/agent/agent_config_type.go).
var agentKeys = parseKeys(`
: apiVersion kind metadata+ additionalNTPSources rendezvousIP bootArtifactsBaseURL hosts minimalISO
hosts.*: hostname role rootDeviceHints interfaces networkConfig+ bmc
hosts.*.interfaces.*: name macAddress
hosts.*.bmc: username password address disableCertificateVerification
hosts.*.rootDeviceHints: deviceName hctl model vendor serialNumber minSizeGigabytes wwn wwnWithExtension wwnVendorExtension rotational
`)
