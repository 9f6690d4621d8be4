package seed

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// Where the lab's hosted cluster is.
const (
	HostedNamespace    = "clusters"
	HostedName         = "guest"
	HostedControlPlane = "clusters-guest" // openshift/hypershift:hypershift-operator/controllers/manifests/manifests.go
	HostedPool         = "guest"
)

// Hosted is what the manifests of a hosted cluster are rendered with.
type Hosted struct {
	Values
	Guest        *pki.Cluster // certificates of the hosted cluster
	IgnitionCA   pki.Pair
	Ignition     pki.Pair // the ignition server's serving certificate
	Address      string   // nodePort.address of the ignition service
	NodePort     int
	Release      string // in a registry that cannot be reached
	Token        string
	Admin        []byte // system:admin's kubeconfig of the hosted cluster
	Bootstrapper []byte // the node-bootstrapper's
	Replicas     int
	// First says that no worker has joined yet: nothing runs in the hosted
	// cluster, and its network is not rendered.
	First bool
	// Unfit says that the cluster-network-operator's pods in the control
	// plane's namespace lack what the level restricted asks for.
	Unfit bool
}

// Endpoint is status.ignitionEndpoint of the HostedCluster.
func (h Hosted) Endpoint() string { return fmt.Sprintf("%s:%d", h.Address, h.NodePort) }

// Config is what the NodePool's machines are rendered from besides the release.
// It is one MachineConfig, as the control plane operator's core config for SSH
// (openshift/hypershift:control-plane-operator/controllers/hostedcontrolplane/ignition).
func (h Hosted) Config(extra string) string {
	return `apiVersion: machineconfiguration.openshift.io/v1
kind: MachineConfig
metadata:
  labels: {machineconfiguration.openshift.io/role: worker}
  name: 99-worker-ssh
spec:
  config:
    ignition: {version: 3.2.0}
    passwd: {users: [{name: core}]}
` + extra
}

// Hash names the secrets of a config, as the product does but over less
// (openshift/hypershift:support/util/util.go HashSimple).
func (h Hosted) Hash(extra string) string { return hash(h.Config(extra) + h.Version + "pull-secret") }

func hash(in any) string {
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%v", in)
	return fmt.Sprintf("%08x", sum.Sum32())
}

// HostedPointer is the value of a user-data Secret
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go ignConfig).
func HostedPointer(ca []byte, token, endpoint, hash string) ([]byte, error) {
	b64 := base64.StdEncoding.EncodeToString
	header := func(name, value string) map[string]string { return map[string]string{"name": name, "value": value} }
	return json.Marshal(map[string]any{"ignition": map[string]any{
		"version":  "3.2.0",
		"security": map[string]any{"tls": map[string]any{"certificateAuthorities": []any{map[string]string{"source": "data:text/plain;base64," + b64(ca)}}}},
		"config": map[string]any{"merge": []any{map[string]any{
			"source": "https://" + endpoint + "/ignition",
			"httpHeaders": []any{
				header("Authorization", "Bearer "+b64([]byte(token))), header("NodePool", HostedNamespace+"/"+HostedPool),
				header("TargetConfigVersionHash", hash),
			},
		}}},
	}})
}

// HostedToken is a token Secret as the NodePool controller makes it
// (openshift/hypershift:hypershift-operator/controllers/nodepool/nodepool_controller.go reconcileTokenSecret).
func (h Hosted) HostedToken(extra string) (string, error) {
	config, err := compress([]byte(h.Config(extra)))
	if err != nil {
		return "", err
	}
	return execute("hosted-token", map[string]any{
		"V": h, "Hash": h.Hash(extra), "Config": config, "PullSecretHash": hash([]byte(h.PullSecret)), "ConfigurationHash": hash("configuration"),
	})
}

// compress is openshift/hypershift:support/util/util.go CompressAndEncode.
func compress(in []byte) (string, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(in); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}

// ConfigurationHash is that of the HostedCluster's configuration.
func (h Hosted) ConfigurationHash() string { return hash("configuration") }

// ManagementYAML is what HyperShift has made in the management cluster.
func (h Hosted) ManagementYAML() (string, error) { return execute("hosted-management", h) }

// ClusterYAML is what is in the hosted cluster when its control plane stands.
func (h Hosted) ClusterYAML() (string, error) { return execute("hosted-cluster", h) }
