package openshift

// API groups of OpenShift (openshift/api: GroupName in the register.go of each group's
// package: config/v1, operator/v1, imageregistry/v1, machine/v1beta1,
// machineconfiguration/v1).
const (
	ConfigGroup        = "config.openshift.io"
	OperatorGroup      = "operator.openshift.io"
	ImageRegistryGroup = "imageregistry.operator.openshift.io"
	MachineGroup       = "machine.openshift.io"
	MachineConfigGroup = "machineconfiguration.openshift.io"
)

// API groups of how clusters and their hosts are made.
const (
	// Metal3Group has BareMetalHosts (metal3-io/baremetal-operator:
	// apis/metal3.io/v1alpha1/groupversion_info.go GroupVersion) and OpenShift's Provisioning
	// (openshift/cluster-baremetal-operator:api/v1alpha1/groupversion_info.go GroupVersion).
	Metal3Group = "metal3.io"
	// HyperShiftGroup has HostedClusters and NodePools (openshift/hypershift:
	// api/hypershift/v1beta1/groupversion_info.go GroupVersion).
	HyperShiftGroup = "hypershift.openshift.io"
	// AgentInstallGroup has Agents (openshift/assisted-service:
	// api/v1beta1/groupversion_info.go GroupVersion), AgentClusterInstallGroup what they are
	// installed for (api/hiveextension/v1beta1/groupversion_info.go GroupVersion).
	AgentInstallGroup        = "agent-install.openshift.io"
	AgentClusterInstallGroup = "extensions.hive.openshift.io"
	// AgentProviderGroup has AgentMachines (openshift/cluster-api-provider-agent:
	// api/v1beta1/groupversion_info.go GroupVersion).
	AgentProviderGroup = "capi-provider.agent-install.openshift.io"
	// ClusterAPIGroup has the Machines of a hosted cluster, ClusterAPIProviderGroup those of
	// its provider (kubernetes-sigs/cluster-api:api/core/v1beta1/groupversion_info.go
	// GroupVersion; kubernetes-sigs/cluster-api-provider-kubevirt:
	// api/v1alpha1/groupversion_info.go GroupVersion).
	ClusterAPIGroup         = "cluster.x-k8s.io"
	ClusterAPIProviderGroup = "infrastructure.cluster.x-k8s.io"
)

// API groups of Kubernetes (kubernetes/api: GroupName in the register.go of
// authentication/v1, authorization/v1, certificates/v1, coordination/v1 and events/v1).
const (
	AuthenticationGroup = "authentication.k8s.io"
	AuthorizationGroup  = "authorization.k8s.io"
	CertificatesGroup   = "certificates.k8s.io"
	CoordinationGroup   = "coordination.k8s.io"
	EventsGroup         = "events.k8s.io"
)
