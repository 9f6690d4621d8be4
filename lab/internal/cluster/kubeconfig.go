package cluster

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Credential is what a kubeconfig authenticates with: a certificate or a token.
type Credential struct {
	Cert, Key []byte
	Token     string
}

// Kubeconfig writes a kubeconfig for one user with everything embedded.
func Kubeconfig(server string, ca []byte, c Credential) ([]byte, error) {
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["lab"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	cfg.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificateData: c.Cert, ClientKeyData: c.Key, Token: c.Token}
	cfg.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "user"}
	cfg.CurrentContext = "lab"
	data, err := clientcmd.Write(*cfg)
	if err != nil {
		return nil, fmt.Errorf("write kubeconfig: %w", err)
	}
	return data, nil
}

// holdsLease says whether somebody holds the lease.
func holdsLease(ctx context.Context, c kubernetes.Interface, namespace, name string) error {
	lease, err := c.CoordinationV1().Leases(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		return errors.New("nobody holds the lease " + name)
	}
	return nil
}

// FreeLease takes a leader lease from a process that has ended, as it does
// itself when it is stopped in order. Its successor would wait until the lease
// runs out.
func FreeLease(ctx context.Context, c kubernetes.Interface, namespace, name string) error {
	leases := c.CoordinationV1().Leases(namespace)
	_, err := leases.Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"holderIdentity":""}}`), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("free lease %s: %w", name, err)
	}
	return nil
}

// auditPolicy records who wrote what, without bodies: enough to see in a test
// which writes a repair made.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  verbs: [get, list, watch]
- level: None
  resources:
  - {group: coordination.k8s.io}
  - {group: events.k8s.io}
  - {group: "", resources: [events]}
- level: Metadata
`
