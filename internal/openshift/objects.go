package openshift

// Static pods of the control plane: also the names of their containers, of their
// ClusterOperators, and of the leases of those that elect a leader
// (bindata/assets/config/defaultconfig.yaml of their operators). etcd's is plainly "etcd".
const (
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Scheduler         = "kube-scheduler"
)

// Workloads of the machine-config-operator: also the names of their containers and the
// value of their label k8s-app (openshift/machine-config-operator:
// manifests/machineconfigdaemon/daemonset.yaml, manifests/machineconfigserver/daemonset.yaml,
// manifests/machineconfigcontroller/deployment.yaml).
const (
	MachineConfigDaemon     = "machine-config-daemon"
	MachineConfigServer     = "machine-config-server"
	MachineConfigController = "machine-config-controller"
)

// MachineApproverContainer is the container of the cluster machine approver
// (openshift/cluster-machine-approver:manifests/04-deployment.yaml).
const MachineApproverContainer = "machine-approver-controller"

// The Secret with the certificate of the machine config server, and the CA that signs it (a
// Secret and a ConfigMap), in MachineConfigNamespace (openshift/machine-config-operator:
// pkg/controller/common/constants.go MachineConfigServerTLSSecretName,
// MachineConfigServerCAName).
const (
	MCSCertificate = "machine-config-server-tls"
	MCSCA          = "machine-config-server-ca"
)

// ConfigMaps that the installer makes in SystemNamespace.
const (
	// InstallConfigMap has install-config.yaml without its secrets, under the key
	// install-config (openshift/installer:pkg/asset/manifests/operators.go).
	InstallConfigMap = "cluster-config-v1"
	// RootCAMap has the CA of the machine config server (openshift/installer:
	// data/data/manifests/bootkube/kube-system-configmap-root-ca.yaml.template).
	RootCAMap = "root-ca"
)
