package openshift

// Ports of hosts.
const (
	// APIPort is the port of every master's API server and of the addresses in front of them
	// (openshift/installer:pkg/asset/manifests, Infrastructure.status.apiServerURL).
	APIPort = 6443
	// MCSPort is the TLS port of the machine config server
	// (openshift/machine-config-operator:pkg/server/api.go SecurePort).
	MCSPort = 22623
	// KubeletPort is the port of a kubelet where its Node does not report another one
	// (kubernetes/kubernetes:pkg/cluster/ports/ports.go KubeletPort).
	KubeletPort = 10250
)
