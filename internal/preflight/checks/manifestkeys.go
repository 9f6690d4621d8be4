package checks

import "strings"

// metadataKeys are the fields of metadata (k8s.io/apimachinery:pkg/apis/meta/v1/types.go ObjectMeta).
const metadataKeys = `
PATH: name generateName namespace selfLink uid resourceVersion generation# creationTimestamp@ deletionTimestamp@ deletionGracePeriodSeconds# labels{text} annotations{text} finalizers[]
PATH.ownerReferences.*: apiVersion kind name uid controller? blockOwnerDeletion?
PATH.managedFields.*: manager operation apiVersion time@ fieldsType fieldsV1+ subresource
`

// objectKeys are the fields of an object, with those of its metadata at a path.
func objectKeys(metadata, text string) *keys {
	return parseKeys(strings.ReplaceAll(metadataKeys, "PATH", metadata) + text)
}

// manifestKeys are the fields of the files of cluster-manifests that the installer reads
// strictly (openshift/assisted-service:api/v1beta1/infraenv_types.go,
// api/hiveextension/v1beta1/agentclusterinstall_types.go; openshift/hive:apis/hive/v1, until 2026).
// What controllers write (status) and the platforms of clouds have more fields in later
// releases; other ones are not judged there. NMStateConfig is not read strictly.
var manifestKeys = map[string]*keys{
	"agent-cluster-install.yaml": objectKeys("metadata", `
: apiVersion! kind! spec status
spec: imageSetRef clusterDeploymentRef clusterMetadata manifestsConfigMapRef manifestsConfigMapRefs networking sshPublicKey ntpSources[] provisionRequirements controlPlane compute arbiter apiVIP apiVIPs[] ingressVIP ingressVIPs[] holdInstallation? ignitionEndpoint diskEncryption proxy platformType external mastersSchedulable? mirrorRegistryRef loadBalancer
spec.networking: machineNetwork clusterNetwork serviceNetwork[] networkType userManagedNetworking?
spec.networking.machineNetwork.*: cidr
spec.networking.clusterNetwork.*: cidr hostPrefix#
spec.provisionRequirements: controlPlaneAgents# workerAgents# arbiterAgents#
spec.controlPlane: name hyperthreading
spec.arbiter: name hyperthreading
spec.compute.*: name hyperthreading
spec.proxy: httpProxy httpsProxy noProxy
spec.external: platformName cloudControllerManager
spec.loadBalancer: type
spec.imageSetRef: name
spec.clusterDeploymentRef: name
spec.manifestsConfigMapRef: name
spec.manifestsConfigMapRefs.*: name
spec.mirrorRegistryRef: name namespace
spec.ignitionEndpoint: url caCertificateReference
spec.ignitionEndpoint.caCertificateReference: namespace name
spec.diskEncryption: enableOn mode tangServers
`+clusterMetadataKeys+`
status+: controlPlaneAgentsDiscovered# controlPlaneAgentsReady# workerAgentsDiscovered# workerAgentsReady# connectivityMajorityGroups apiVIP apiVIPs[] ingressVIP ingressVIPs[] userManagedNetworking? platformType validationsInfo
status.validationsInfo+:
status.progress+: totalPercentage#
status.machineNetwork.*: cidr
status.debugInfo+: eventsURL logsURL state stateInfo
status.conditions.*+: type status lastProbeTime@ lastTransitionTime@ reason message
`),
	"cluster-deployment.yaml": objectKeys("metadata", `
: apiVersion! kind! spec status
spec: clusterName baseDomain platform pullSecretRef preserveOnDelete? controlPlaneConfig ingress certificateBundles manageDNS? clusterMetadata installed? provisioning clusterInstallRef clusterPoolRef powerState hibernateAfter~ installAttemptsLimit# boundServiceAccountSigningKeySecretRef discardLocalSshKey? machineManagement{}
spec.clusterInstallRef: group version kind name
spec.pullSecretRef: name
spec.boundServiceAccountSigningKeySecretRef: name
spec.clusterPoolRef: namespace poolName claimName claimedTimestamp@ clusterDeploymentCustomization
spec.clusterPoolRef.clusterDeploymentCustomization: name
spec.platform+: agentBareMetal
spec.platform.agentBareMetal: agentSelector
spec.platform.baremetal: libvirtSSHPrivateKeySecretRef
spec.platform.baremetal.libvirtSSHPrivateKeySecretRef: name
spec.platform.none:
spec.controlPlaneConfig: servingCertificates apiURLOverride apiServerIPOverride
spec.controlPlaneConfig.servingCertificates: default
spec.controlPlaneConfig.servingCertificates.additional.*: name domain
spec.ingress.*: name domain servingCertificate namespaceSelector routeSelector httpErrorCodePages
spec.ingress.*.httpErrorCodePages: name
spec.certificateBundles.*: name generate? certificateSecretRef
spec.certificateBundles.*.certificateSecretRef: name
spec.provisioning: releaseImage installerImageOverride sshKnownHosts[] installConfigSecretRef imageSetRef manifestsConfigMapRef manifestsSecretRef sshPrivateKeySecretRef
spec.provisioning.installConfigSecretRef: name
spec.provisioning.imageSetRef: name
spec.provisioning.manifestsConfigMapRef: name
spec.provisioning.manifestsSecretRef: name
spec.provisioning.sshPrivateKeySecretRef: name
spec.provisioning.installerEnv.*: name value valueFrom{}
`+selectorKeys("spec.platform.agentBareMetal.agentSelector")+selectorKeys("spec.ingress.*.namespaceSelector")+selectorKeys("spec.ingress.*.routeSelector")+clusterMetadataKeys+`
status+: installRestarts# apiURL webConsoleURL installerImage installVersion cliImage installStartedTimestamp@ installedTimestamp@ powerState
status.conditions.*+: type status lastProbeTime@ lastTransitionTime@ reason message
status.certificateBundles.*+: name generated?
status.provisionRef: name
status.platformStatus+:
`),
	"cluster-image-set.yaml": objectKeys("metadata", `
: apiVersion! kind! spec status
spec: releaseImage
status+:
`),
	"infraenv.yaml": objectKeys("metadata", `
: apiVersion! kind! spec status
spec: proxy additionalNTPSources[] ntpSources[] sshAuthorizedKey pullSecretRef agentLabels{text} nmStateConfigLabelSelector approvedMACAddressConfigMapLabelSelector clusterRef ignitionConfigOverride cpuArchitecture ipxeScriptType kernelArguments additionalTrustBundle osImageVersion mirrorRegistryRef imageType agentApproval networkDiscoveryDelaySeconds#
spec.proxy: httpProxy httpsProxy noProxy
spec.clusterRef: name namespace
spec.kernelArguments.*: operation value
spec.pullSecretRef: name
spec.mirrorRegistryRef: name namespace
spec.agentApproval: autoApprove?
`+selectorKeys("spec.nmStateConfigLabelSelector")+selectorKeys("spec.approvedMACAddressConfigMapLabelSelector")+selectorKeys("status.agentLabelSelector")+`
status+: isoDownloadURL createdTime@
status.conditions.*+: type status reason message lastHeartbeatTime@ lastTransitionTime@
status.debugInfo+: eventsURL staticNetworkDownloadURL
status.bootArtifacts+: initrd rootfs kernel ipxeScript discoveryIgnitionURL
`),
	"pull-secret.yaml": objectKeys("metadata", `
: apiVersion! kind! data{} stringData{text} type immutable?
`),
}

const clusterMetadataKeys = `
spec.clusterMetadata: clusterID infraID adminKubeconfigSecretRef adminPasswordSecretRef
spec.clusterMetadata.adminKubeconfigSecretRef: name
spec.clusterMetadata.adminPasswordSecretRef: name
spec.clusterMetadata.platform+:
`

// selectorKeys are the fields of a label selector (k8s.io/apimachinery:pkg/apis/meta/v1/types.go).
func selectorKeys(path string) string {
	return strings.ReplaceAll(`
PATH: matchLabels{text} matchExpressions
PATH.matchExpressions.*: key operator values[]
`, "PATH", path)
}

// nmStateKeys are those of nmstateconfig.yaml, of which other fields are ignored.
var nmStateKeys = objectKeys("documents.*.metadata", `
: documents
documents.*: apiVersion kind metadata spec
documents.*.spec: interfaces config+
documents.*.spec.interfaces.*: name macAddress
`).onlyWords()
