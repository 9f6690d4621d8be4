package checks

// releaseFields are fields of a file that preflight knows and the types behind installerFields do
// not have: another release of the installer reads them.
type releaseFields struct {
	file   string // as in installerFields
	fields string // as parseKeys reads them
	source string // where they are declared, and why the types do not have them

	// replaces says that the types have the field, in another form. That of this table applies.
	replaces bool
}

// otherReleases are the fields of earlier and later releases: of install-config until 4.21, of
// cluster-manifests until 2026. The types are those of 4.19. A field that they get must leave this
// table (TestOtherReleases).
var otherReleases = []releaseFields{
	{
		file: "install-config.yaml",
		fields: `
: osImageStream
imageDigestSources.*: sourcePolicy
platform: powervc+
`,
		source: "openshift/installer: pkg/types/installconfig.go, after 4.19",
	},
	{
		file: "install-config.yaml",
		fields: `
platform: alibabacloud+ kubevirt+ libvirt+
`,
		source: "openshift/installer: pkg/types/installconfig.go, before 4.19",
	},
	{
		file: "install-config.yaml",
		fields: `
controlPlane: diskSetup+ management{}
controlPlane.fencing.credentials.*: certificateVerification
arbiter: diskSetup+ management{}
arbiter.fencing.credentials.*: certificateVerification
compute.*: diskSetup+ management{}
compute.*.fencing.credentials.*: certificateVerification
`,
		source: "openshift/installer: pkg/types/machinepools.go, after 4.19",
	},
	{
		file: "install-config.yaml",
		fields: `
platform.baremetal: bmcVerifyCA dnsRecordsType
`,
		source: "openshift/installer: pkg/types/baremetal/platform.go, after 4.19",
	},
	{
		file: "install-config.yaml",
		fields: `
platform.baremetal: bootstrapHostIP dnsVIP
`,
		source: "openshift/installer: pkg/types/baremetal/platform.go, before 4.19: the old name of bootstrapProvisioningIP, and a VIP that was removed",
	},
	{
		file: "agent-cluster-install.yaml",
		fields: `
spec: ntpSources[]
spec.arbiter: name hyperthreading
spec.loadBalancer: type
spec.mirrorRegistryRef: name namespace
spec.provisionRequirements: arbiterAgents#
`,
		source: "openshift/assisted-service: api/hiveextension/v1beta1/agentclusterinstall_types.go, not in the version that the installer 4.19 requires",
	},
	{
		file: "cluster-deployment.yaml",
		fields: `
spec: discardLocalSshKey? machineManagement{}
`,
		source: "openshift/hive: apis/hive/v1/clusterdeployment_types.go, not in the version that the installer 4.19 requires",
	},
	{
		file: "cluster-deployment.yaml",
		fields: `
spec.provisioning.installerEnv.*: valueFrom{}
`,
		source:   "kubernetes/api: core/v1/types.go EnvVarSource, to which later releases of Kubernetes add fields",
		replaces: true,
	},
	{
		file: "infraenv.yaml",
		fields: `
spec: ntpSources[] imageType networkDiscoveryDelaySeconds#
spec.mirrorRegistryRef: name namespace
spec.agentApproval: autoApprove?
spec.approvedMACAddressConfigMapLabelSelector: matchLabels{text}
spec.approvedMACAddressConfigMapLabelSelector.matchExpressions.*: key operator values[]
status.bootArtifacts: discoveryIgnitionURL
`,
		source: "openshift/assisted-service: api/v1beta1/infraenv_types.go, not in the version that the installer 4.19 requires",
	},
}

// installKeys and agentKeys are the fields of the two files.
var installKeys, agentKeys = keysOf("install-config.yaml"), keysOf("agent-config.yaml")

// manifestKeys are the fields of the files of cluster-manifests that the installer reads
// strictly. What controllers write (status) and the platforms of clouds have more fields in later
// releases; other ones are not judged there.
var manifestKeys = map[string]*keys{
	"agent-cluster-install.yaml": keysOf("agent-cluster-install.yaml"),
	"cluster-deployment.yaml":    keysOf("cluster-deployment.yaml"),
	"cluster-image-set.yaml":     keysOf("cluster-image-set.yaml"),
	"infraenv.yaml":              keysOf("infraenv.yaml"),
	"pull-secret.yaml":           keysOf("pull-secret.yaml"),
}

// nmStateKeys are those of nmstateconfig.yaml, which is not read strictly: other fields are ignored.
var nmStateKeys = keysOf("nmstateconfig.yaml").onlyWords()

// keysOf are the fields of a file: those of the installer's types and those of other releases.
func keysOf(file string) *keys {
	text := installerFields[file]
	for _, other := range otherReleases {
		if other.file == file {
			text += other.fields
		}
	}
	return parseKeys(text)
}
