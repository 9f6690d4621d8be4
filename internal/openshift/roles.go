package openshift

// Labels of Nodes with their roles (kubernetes/kubernetes:
// cmd/kubeadm/app/constants/constants.go LabelNodeRoleControlPlane;
// openshift/machine-config-operator:pkg/controller/node/node_controller.go
// ControlPlaneLabel). The nodes of the control plane have both.
const (
	NodeRolePrefix    = "node-role.kubernetes.io/"
	MasterLabel       = NodeRolePrefix + "master"
	ControlPlaneLabel = NodeRolePrefix + "control-plane"
)

// What the API server writes of who asks, in the field extra (kubernetes/kubernetes:staging/src/k8s.io/apiserver/
// pkg/authentication/user/user.go CredentialIDKey, and of a certificate pkg/authentication/request/x509/x509.go, from 1.32;
// pkg/authentication/serviceaccount/util.go PodNameKey, PodUIDKey).
const (
	CredentialExtra       = "authentication.kubernetes.io/credential-id"
	CertificateCredential = "X509SHA256="
	PodExtras             = "authentication.kubernetes.io/pod-" // they begin so
)

// Users and groups of hosts at the API.
const (
	// NodeUserPrefix begins the user of a kubelet, NodesGroup is their group
	// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/authentication/user/user.go
	// NodesGroup; pkg/auth/nodeidentifier/default.go nodeUserNamePrefix).
	NodeUserPrefix = "system:node:"
	NodesGroup     = "system:nodes"
	// MastersGroup may do everything
	// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/authentication/user/user.go
	// SystemPrivilegedGroup).
	MastersGroup = "system:masters"
	// NodeBootstrapper asks for the first certificate of a kubelet, with the token that
	// Ignition configs carry (openshift/cluster-machine-approver:pkg/controller/csr_check.go
	// nodeBootstrapperUsername; openshift/machine-config-operator:
	// manifests/machineconfigserver/node-bootstrapper-sa.yaml).
	NodeBootstrapper = "system:serviceaccount:" + MachineConfigNamespace + ":node-bootstrapper"
	// MultusUserPrefix and OVNUserPrefix begin the users with which the network plugins of a
	// host ask for their certificates (openshift/ovn-kubernetes:
	// go-controller/pkg/csrapprover/approver.go).
	MultusUserPrefix = "system:multus:"
	OVNUserPrefix    = "system:ovn-node:"
)
