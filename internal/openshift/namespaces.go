package openshift

// Namespaces of the operators that join hosts, and of what they run.
const (
	// MachineConfigNamespace has the machine-config-operator, its controller, server and
	// daemon (openshift/machine-config-operator:pkg/controller/common/constants.go MCONamespace).
	MachineConfigNamespace = "openshift-machine-config-operator"
	// MachineAPINamespace has Machines, BareMetalHosts and metal3
	// (openshift/machine-config-operator:pkg/controller/common/constants.go MachineAPINamespace;
	// openshift/cluster-baremetal-operator:controllers/provisioning_controller.go ComponentNamespace).
	MachineAPINamespace = "openshift-machine-api"
	// MachineApproverNamespace has the cluster machine approver, its lease and its switch
	// (openshift/cluster-machine-approver:manifests/04-deployment.yaml).
	MachineApproverNamespace = "openshift-cluster-machine-approver"
)

// Namespaces of the control plane's static pods: TargetNamespace of their operators
// (pkg/operator/operatorclient/interfaces.go in openshift/cluster-etcd-operator,
// cluster-kube-apiserver-operator, cluster-kube-controller-manager-operator and
// cluster-kube-scheduler-operator).
const (
	EtcdNamespace              = "openshift-etcd"
	APIServerNamespace         = "openshift-kube-apiserver"
	ControllerManagerNamespace = "openshift-kube-controller-manager"
	SchedulerNamespace         = "openshift-kube-scheduler"
)

// Namespaces of the network.
const (
	// OVNNamespace has ovnkube-node, MultusNamespace multus
	// (openshift/cluster-network-operator:bindata/network/ovn-kubernetes,
	// bindata/network/multus/multus.yaml).
	OVNNamespace    = "openshift-ovn-kubernetes"
	SDNNamespace    = "openshift-sdn" // up to 4.16: bindata/network/openshift-sdn
	MultusNamespace = "openshift-multus"
	// NodeIdentityNamespace has network-node-identity, whose webhook admits the Nodes' own
	// changes (openshift/cluster-network-operator:bindata/network/node-identity).
	NodeIdentityNamespace = "openshift-network-node-identity"
	// NetworkDiagnosticsNamespace has network-check-target, with which the cluster tests its
	// own network (openshift/cluster-network-operator:bindata/network-diagnostics/000-ns.yaml).
	NetworkDiagnosticsNamespace = "openshift-network-diagnostics"
	// OnPremNamespace has keepalived, haproxy and coredns of platform baremetal
	// (openshift/machine-config-operator:templates/common/on-prem/files/keepalived.yaml;
	// pkg/controller/template/render.go onPremPlatformShortName).
	OnPremNamespace = "openshift-kni-infra"
	// IngressOperatorNamespace has the IngressControllers
	// (openshift/cluster-ingress-operator:pkg/operator/controller/names.go DefaultOperatorNamespace).
	IngressOperatorNamespace = "openshift-ingress-operator"
)

// Namespaces that are not of one component.
const (
	// ConfigManagedNamespace has what operators publish for others, such as the CA of the
	// kubelets' certificates (openshift/cluster-kube-apiserver-operator:
	// pkg/operator/operatorclient/interfaces.go MachineSpecifiedGlobalConfigNamespace).
	ConfigManagedNamespace = "openshift-config-managed"
	// SystemNamespace has the installer's ConfigMaps and the leases of Kubernetes' own
	// controllers (kubernetes/apimachinery:pkg/apis/meta/v1/types.go NamespaceSystem). Its UID
	// identifies a cluster.
	SystemNamespace = "kube-system"
)
