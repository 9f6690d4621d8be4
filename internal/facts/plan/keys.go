package plan

import (
	"maps"
	"slices"
	"strings"
)

// keys is the tree of fields that the installer knows. A nil tree is open: what is below is
// not judged (other platforms, manifests, nmstate documents, which nmstate itself judges).
type keys struct {
	fields map[string]*keys
	form   form
	open   bool // it has fields that are not listed
}

// form is what a value is decoded into. A word takes a number, too, as the installer's decoder
// does (sigs.k8s.io/yaml: yaml.go convertToJSONableObject), and nothing else becomes another.
type form string

const (
	word      form = "a text"
	onlyWord  form = "a text, and no number" // in a block that the decoder fills on its own (metav1.TypeMeta)
	number    form = "a number without quotes"
	yesNo     form = "true or false without quotes"
	listForm  form = "a list"
	blockForm form = "a block of fields"
)

// forms are the signs behind the name of a field.
var forms = map[string]form{"?": yesNo, "#": number, "[]": listForm, "{}": blockForm, "!": onlyWord}

// parseKeys reads lines "a.b: c d e+", which give the fields of a block. Behind a field, "+"
// leaves it open, "?" is for true or false, "#" for a number, "[]" for a list of words and "{}"
// for a block with any fields; "*" is each element of a list.
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
			if at.form = blockForm; part == "*" {
				at.form = listForm
			}
			if at.fields[part] == nil {
				at.fields[part] = &keys{fields: map[string]*keys{}}
			}
			at = at.fields[part]
		}
		at.form = blockForm
		for name := range strings.FieldsSeq(names) {
			at.field(name)
		}
	}
	return root
}

func (k *keys) field(name string) {
	if open, is := strings.CutSuffix(name, "+"); is {
		k.fields[open] = nil
		return
	}
	f := &keys{fields: map[string]*keys{}, form: word}
	for sign, of := range forms {
		if bare, is := strings.CutSuffix(name, sign); is {
			name, f.form, f.open = bare, of, true
		}
	}
	if k.fields[name] == nil {
		k.fields[name] = f
	}
}

// wrong reports the values that the installer's decoder cannot take: a word where a list has
// to be. Nothing is judged below one.
func (k *keys) wrong(n node, report func(n node, want form)) {
	if k == nil || !n.there() {
		return
	}
	switch v := n.v.(type) {
	case map[string]any:
		if k.form != blockForm {
			report(n, k.form)
			return
		}
		for _, name := range sorted(v) {
			if below, ok := k.below(name); ok {
				below.wrong(n.get(name), report)
			}
		}
	case []any:
		if k.form != listForm {
			report(n, k.form)
			return
		}
		each := k.fields["*"]
		if each == nil {
			each = &keys{form: word}
		}
		for _, item := range n.items() {
			each.wrong(item, report)
		}
	default:
		if !k.form.takes(v) {
			report(n, k.form)
		}
	}
}

func (f form) takes(v any) bool {
	_, isBool := v.(bool)
	_, isText := v.(string)
	switch f {
	case yesNo:
		return isBool
	case number:
		_, isInt := v.(int64)
		return isInt
	case word:
		return true
	case onlyWord:
		return isText
	}
	return false
}

// below is what is known of a field, in any letters.
func (k *keys) below(name string) (*keys, bool) {
	if below, ok := k.fields[name]; ok {
		return below, true
	}
	known := slices.Sorted(maps.Keys(k.fields))
	i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, name) })
	if i < 0 {
		return nil, false
	}
	return k.fields[known[i]], true
}

// unknown calls report for each field that the tree does not have, with those that it has
// there. The JSON decoder of the installer does not mind the case of letters
// (sigs.k8s.io/yaml): neither does this.
func (k *keys) unknown(n node, report func(n node, siblings []string)) {
	if k == nil || k.open || len(k.fields) == 0 {
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
		below, ok := k.below(name)
		if !ok {
			report(n.get(name), slices.Sorted(maps.Keys(k.fields)))
			continue
		}
		below.unknown(n.get(name), report)
	}
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

// installKeys are the fields of install-config of all releases until 4.21, with the deprecated
// ones (openshift/installer: pkg/types/installconfig.go, machinepools.go,
// baremetal/platform.go, conversion/installconfig.go).
var installKeys = parseKeys(`
: apiVersion! kind! metadata{} additionalTrustBundle additionalTrustBundlePolicy sshKey baseDomain networking controlPlane arbiter compute platform pullSecret proxy imageContentSources imageDigestSources publish operatorPublishingStrategy{} fips? cpuPartitioningMode credentialsMode bootstrapInPlace capabilities featureSet featureGates[] osImageStream
metadata: name namespace labels{} annotations{}
networking: networkType machineNetwork clusterNetwork serviceNetwork[] clusterNetworkMTU# ovnKubernetesConfig{} machineCIDR type serviceCIDR clusterNetworks+
networking.machineNetwork.*: cidr
networking.clusterNetwork.*: cidr hostPrefix# hostSubnetLength#
controlPlane: name replicas# platform{} hyperthreading architecture diskSetup+ fencing{} management{}
arbiter: name replicas# platform{} hyperthreading architecture diskSetup+ fencing{} management{}
compute.*: name replicas# platform{} hyperthreading architecture diskSetup+ fencing{} management{}
proxy: httpProxy httpsProxy noProxy
imageContentSources.*: source mirrors[]
imageDigestSources.*: source mirrors[] sourcePolicy
bootstrapInPlace: installationDisk
capabilities: baselineCapabilitySet additionalEnabledCapabilities[]
platform: alibabacloud+ aws+ azure+ baremetal external+ gcp+ ibmcloud+ libvirt+ none{} nutanix+ openstack+ ovirt+ powervc+ powervs+ vsphere+ kubevirt+
platform.baremetal: libvirtURI clusterProvisioningIP provisioningHostIP bootstrapProvisioningIP bootstrapHostIP externalBridge externalMACAddress provisioningNetwork provisioningBridge provisioningMACAddress provisioningNetworkInterface provisioningNetworkCIDR provisioningDHCPExternal? provisioningDHCPRange hosts defaultMachinePlatform+ apiVIP apiVIPs[] ingressVIP ingressVIPs[] dnsVIP bootstrapOSImage clusterOSImage bootstrapExternalStaticIP bootstrapExternalStaticGateway bootstrapExternalStaticDNS loadBalancer additionalNTPServers[] bmcVerifyCA dnsRecordsType
platform.baremetal.loadBalancer: type
platform.baremetal.hosts.*: name bmc role bootMACAddress hardwareProfile rootDeviceHints bootMode networkConfig+
platform.baremetal.hosts.*.bmc: username password address disableCertificateVerification?
platform.baremetal.hosts.*.rootDeviceHints: deviceName hctl model vendor serialNumber minSizeGigabytes# wwn wwnWithExtension wwnVendorExtension rotational?
`)

// agentKeys are those of agent-config (pkg/types/agent/agent_config_type.go).
var agentKeys = parseKeys(`
: apiVersion! kind! metadata{} additionalNTPSources[] rendezvousIP bootArtifactsBaseURL hosts minimalISO?
metadata: name namespace labels{} annotations{}
hosts.*: hostname role rootDeviceHints interfaces networkConfig+ bmc
hosts.*.interfaces.*: name macAddress
hosts.*.bmc: username password address disableCertificateVerification?
hosts.*.rootDeviceHints: deviceName hctl model vendor serialNumber minSizeGigabytes# wwn wwnWithExtension wwnVendorExtension rotational?
`)
