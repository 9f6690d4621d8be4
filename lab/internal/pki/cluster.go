package pki

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"
)

// BootstrapperNamespace and Bootstrapper name the ServiceAccount as which a new
// host asks for its first certificate.
const (
	BootstrapperNamespace = "openshift-machine-config-operator"
	Bootstrapper          = "system:serviceaccount:" + BootstrapperNamespace + ":node-bootstrapper"
)

// Cluster is everything that the servers of one lab need.
type Cluster struct {
	Root             Pair // CN root-ca: signs the machine config server's certificate
	MCS              Pair
	KubeAPISigner    Pair // signs the API server's certificate
	KubeAPI          Pair
	KubeletSigner    Pair // signs the kubelets' certificates, through the controller manager
	KubeletBootstrap Pair // signs Bootstrapper's certificate and nothing else
	NodeBootstrapper Pair // what the first masters ask with
	AdminSigner      Pair
	Admin            Pair // system:admin in system:masters
	ControlSigner    Pair
	ControllerMgr    Pair
	ToKubeletSigner  Pair // signs the API server's client certificate for kubelets
	ToKubelet        Pair
	EtcdSigner       Pair
	Etcd             Pair
	EtcdClient       Pair
	ServiceAccount   Pair
}

// Hosts names what the servers of the lab are reached by.
type Hosts struct {
	API  []string // names and addresses of the API server
	MCS  []string // names and addresses in the machine config server's certificate
	Etcd []string
}

// NewCluster makes all pairs. Names follow openshift/installer:pkg/asset/tls
// (root-ca, kubelet-signer, kubelet-bootstrap-kubeconfig-signer,
// admin-kubeconfig-signer, kube-control-plane-signer,
// kube-apiserver-to-kubelet-signer, kube-apiserver-lb-signer).
func NewCluster(h Hosts) (*Cluster, error) {
	var c Cluster
	for _, ca := range []struct {
		to   *Pair
		cn   string
		life time.Duration
	}{
		{&c.Root, "root-ca", TenYears},
		{&c.KubeAPISigner, "kube-apiserver-lb-signer", TenYears},
		{&c.KubeletSigner, "kubelet-signer", OneDay},
		{&c.KubeletBootstrap, "kubelet-bootstrap-kubeconfig-signer", TenYears},
		{&c.AdminSigner, "admin-kubeconfig-signer", TenYears},
		{&c.ControlSigner, "kube-control-plane-signer", OneYear},
		{&c.ToKubeletSigner, "kube-apiserver-to-kubelet-signer", OneYear},
		{&c.EtcdSigner, "etcd-signer", 5 * OneYear},
	} {
		pair, err := NewCA(Name{CN: ca.cn, OU: []string{"openshift"}}, ca.life)
		if err != nil {
			return nil, err
		}
		*ca.to = pair
	}
	if err := c.leaves(h); err != nil {
		return nil, err
	}
	return &c, nil
}

func (c *Cluster) leaves(h Hosts) error {
	saGroups := []string{"system:serviceaccounts:" + BootstrapperNamespace, "system:serviceaccounts"}
	for _, leaf := range []struct {
		to   *Pair
		make func() (Pair, error)
	}{
		{&c.MCS, func() (Pair, error) { return c.Root.Server(Name{CN: "system:machine-config-server"}, h.MCS, TenYears) }},
		{&c.KubeAPI, func() (Pair, error) { return c.KubeAPISigner.Server(Name{CN: h.API[0]}, h.API, OneYear) }},
		{&c.NodeBootstrapper, func() (Pair, error) {
			return c.KubeletBootstrap.Client(Name{CN: Bootstrapper, O: saGroups}, TenYears)
		}},
		{&c.Admin, func() (Pair, error) {
			return c.AdminSigner.Client(Name{CN: "system:admin", O: []string{"system:masters"}}, TenYears)
		}},
		{&c.ControllerMgr, func() (Pair, error) {
			return c.ControlSigner.Client(Name{CN: "system:kube-controller-manager"}, OneYear)
		}},
		{&c.ToKubelet, func() (Pair, error) {
			return c.ToKubeletSigner.Client(Name{CN: "system:kube-apiserver", O: []string{"kube-master"}}, OneYear)
		}},
		{&c.Etcd, func() (Pair, error) { return c.EtcdSigner.Peer(Name{CN: "etcd"}, h.Etcd, 3*OneYear) }},
		{&c.EtcdClient, func() (Pair, error) { return c.EtcdSigner.Client(Name{CN: "etcd-client"}, 3*OneYear) }},
		{&c.ServiceAccount, func() (Pair, error) { return NewCA(Name{CN: "service-account"}, OneYear) }},
	} {
		pair, err := leaf.make()
		if err != nil {
			return fmt.Errorf("make certificates: %w", err)
		}
		*leaf.to = pair
	}
	return nil
}

// ClientCA is the bundle of authorities whose client certificates the API
// server accepts.
func (c *Cluster) ClientCA() []byte {
	return slices.Concat(c.AdminSigner.Cert, c.KubeletSigner.Cert, c.KubeletBootstrap.Cert, c.ControlSigner.Cert, c.ToKubeletSigner.Cert)
}

// Save writes all pairs to a file that Load reads.
func (c *Cluster) Save(path string) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode certificates: %w", err)
	}
	return os.WriteFile(path, data, 0o600)
}

// Load reads the pairs of a lab that continues.
func Load(path string) (*Cluster, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	var c Cluster
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("read certificates of %s: %w", path, err)
	}
	return &c, nil
}
