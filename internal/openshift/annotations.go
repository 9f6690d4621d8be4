package openshift

// Annotations of Nodes by the machine-config-daemon and its controller
// (openshift/machine-config-operator:pkg/daemon/constants/constants.go
// CurrentMachineConfigAnnotationKey, DesiredMachineConfigAnnotationKey,
// MachineConfigDaemonStateAnnotationKey, MachineConfigDaemonReasonAnnotationKey).
const (
	CurrentConfigAnnotation = MachineConfigGroup + "/currentConfig"
	DesiredConfigAnnotation = MachineConfigGroup + "/desiredConfig"
	ConfigStateAnnotation   = MachineConfigGroup + "/state"
	ConfigReasonAnnotation  = MachineConfigGroup + "/reason"
)

// Annotations of Nodes by which the daemon asks the controller to drain them
// (openshift/machine-config-operator:pkg/daemon/constants/constants.go
// DesiredDrainerAnnotationKey, LastAppliedDrainerAnnotationKey).
const (
	DesiredDrainAnnotation = MachineConfigGroup + "/desiredDrain"
	LastDrainAnnotation    = MachineConfigGroup + "/lastAppliedDrain"
)

// Annotations and labels of MachineConfigs.
const (
	// GeneratedByControllerAnnotation is the commit of the controller that made it,
	// ReleaseVersionAnnotation its release, ConfigRoleLabel the pool that it is for
	// (openshift/machine-config-operator:pkg/controller/common/constants.go
	// GeneratedByControllerVersionAnnotationKey, ReleaseImageVersionAnnotationKey,
	// MachineConfigRoleLabel).
	GeneratedByControllerAnnotation = MachineConfigGroup + "/generated-by-controller-version"
	ReleaseVersionAnnotation        = MachineConfigGroup + "/release-image-version"
	ConfigRoleLabel                 = MachineConfigGroup + "/role"
)

// Annotations and labels by which Machines, their hosts and their Nodes refer to each other.
const (
	// MachineOnNodeAnnotation is the Machine of a Node, NAMESPACE/NAME
	// (openshift/machine-api-operator:pkg/controller/nodelink/nodelink_controller.go
	// machineAnnotationKey).
	MachineOnNodeAnnotation = MachineGroup + "/machine"
	// MachineRoleLabel is the role of a Machine (openshift/machine-api-operator:pkg/util/util.go;
	// the installer sets it in pkg/asset/machines/baremetal/machines.go).
	MachineRoleLabel = MachineGroup + "/cluster-api-machine-role"
	// MachineTypeLabel is what the installer sets next to it, to the same value (openshift/installer:
	// pkg/asset/machines/baremetal/machines.go).
	MachineTypeLabel = MachineGroup + "/cluster-api-machine-type"
	// InstanceStateAnnotation is the state of a Machine's host as its provider sees it
	// (openshift/machine-api-operator:pkg/controller/machine/controller.go
	// MachineInstanceStateAnnotationName).
	InstanceStateAnnotation = MachineGroup + "/instance-state"
	// HostRoleLabel is the role of a BareMetalHost that the installer made
	// (openshift/installer:pkg/asset/machines/baremetal/hosts.go).
	HostRoleLabel = "installer.openshift.io/role"
	// HostOnMachineAnnotation is the BareMetalHost of a Machine, NAMESPACE/NAME
	// (openshift/cluster-api-provider-baremetal:pkg/cloud/baremetal/actuators/machine/actuator.go
	// HostAnnotation).
	HostOnMachineAnnotation = Metal3Group + "/BareMetalHost"
	// ClusterAPIMachineAnnotation is the Machine of the Cluster API on a Node of a hosted
	// cluster (kubernetes-sigs/cluster-api:api/core/v1beta1/machine_types.go MachineAnnotation).
	ClusterAPIMachineAnnotation = ClusterAPIGroup + "/machine"
	// NodePoolKey is an annotation of Machines and Secrets ("ns/name") and a label of Nodes
	// ("name") (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go
	// nodePoolAnnotation, api/hypershift/v1beta1/nodepool_types.go NodePoolLabel).
	NodePoolKey = HyperShiftGroup + "/nodePool"
)

// Labels and annotations of assisted installations.
const (
	// HostOfInfraEnvLabel is the BareMetalHost that booted the image of an InfraEnv
	// (openshift/assisted-service:internal/controller/controllers/bmh_agent_controller.go).
	HostOfInfraEnvLabel = AgentInstallGroup + "/bmh"
	// InstallConfigOverridesAnnotation has settings of install-config as JSON
	// (openshift/assisted-service:internal/controller/controllers/clusterdeployments_controller.go
	// InstallConfigOverrides).
	InstallConfigOverridesAnnotation = AgentInstallGroup + "/install-config-overrides"
)

// Annotations of HyperShift's NodePools and of the Secrets with their tokens
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go
// nodePoolAnnotationCurrentConfigVersion, TokenSecretAnnotation,
// TokenSecretTokenGenerationTime, TokenSecretIgnitionReachedAnnotation,
// TokenSecretNodePoolUpgradeType; api/hypershift/v1beta1/nodepool_types.go
// IgnitionServerTokenExpirationTimestampAnnotation).
const (
	NodePoolConfigAnnotation   = HyperShiftGroup + "/nodePoolCurrentConfigVersion"
	TokenSecretAnnotation      = HyperShiftGroup + "/ignition-config"
	TokenGeneratedAnnotation   = HyperShiftGroup + "/last-token-generation-time"
	TokenExpiresAnnotation     = HyperShiftGroup + "/ignition-token-expiration-timestamp"
	IgnitionReachedAnnotation  = HyperShiftGroup + "/ignition-reached"
	TokenUpgradeTypeAnnotation = HyperShiftGroup + "/node-pool-upgrade-type"
)

// Annotations of HostedClusters (openshift/hypershift:
// api/hypershift/v1beta1/hostedcluster_types.go DisableMachineManagement,
// PodSecurityAdmissionLabelOverrideAnnotation).
const (
	DisableMachinesAnnotation = HyperShiftGroup + "/disable-machine-management"
	PodSecurityAnnotation     = HyperShiftGroup + "/pod-security-admission-label-override"
)

// Annotations of Secrets with certificates that an operator rotates
// (openshift/library-go:pkg/operator/certrotation/annotations.go).
const (
	CertificateNotBeforeAnnotation = "auth.openshift.io/certificate-not-before"
	CertificateNotAfterAnnotation  = "auth.openshift.io/certificate-not-after"
	CertificateIssuerAnnotation    = "auth.openshift.io/certificate-issuer"
)

// Annotations, labels and taints of Kubernetes.
const (
	// MirrorPodAnnotation is on the pods that a kubelet reports of its static pods
	// (kubernetes/api:core/v1/annotation_key_constants.go MirrorPodAnnotationKey).
	MirrorPodAnnotation = "kubernetes.io/config.mirror"
	// LastAppliedAnnotation has the whole object that `kubectl apply` wrote last
	// (kubernetes/api:core/v1/annotation_key_constants.go LastAppliedConfigAnnotation).
	LastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"
	// UninitializedTaint is on a Node until a cloud provider has looked at it
	// (kubernetes/cloud-provider:api/well_known_taints.go TaintExternalCloudProvider).
	UninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized"
	// NameLabel and ManagedByLabel are recommended for what a program makes
	// (kubernetes/website:content/en/docs/concepts/overview/working-with-objects/common-labels.md).
	NameLabel      = "app.kubernetes.io/name"
	ManagedByLabel = "app.kubernetes.io/managed-by"
)
