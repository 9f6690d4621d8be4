package lab

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
)

// syncRequests lets the network plugin of each Node ask for its certificate, and
// decides on what waits: on the platform None a person approves the requests of
// kubelets that he knows of, and network-node-identity those of the network
// plugin.
func (h *Hosted) syncRequests(ctx context.Context) error {
	list, err := h.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list requests of the hosted cluster: %w", err)
	}
	identity, err := h.identityRuns(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for i := range list.Items {
		req := &list.Items[i]
		name := CommonName(req)
		if node, ok := strings.CutPrefix(name, ovnPrefix); ok {
			if len(req.Status.Certificate) > 0 {
				h.mu.Lock()
				h.network[node] = true
				h.mu.Unlock()
			}
			if identity && req.Spec.Username == "system:node:"+node && !h.isHeld(node) {
				errs = append(errs, h.approve(ctx, req, "AutoApproved", fmt.Sprintf("Auto-approved CSR %q", req.Name)))
			}
			continue
		}
		h.mu.Lock()
		known := h.expected[strings.TrimPrefix(name, "system:node:")]
		h.mu.Unlock()
		if known && strings.HasPrefix(name, "system:node:") {
			errs = append(errs, h.approve(ctx, req, "KubectlApprove", "This CSR was approved by kubectl certificate approve."))
		}
	}
	nodes, err := h.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes of the hosted cluster: %w", err)
	}
	for _, node := range nodes.Items {
		if h.asked[node.Name] || !h.lab.hostRuns(node.Name) {
			continue // it has its certificate, or will; that of a day is not renewed here
		}
		if err := h.askForOVN(ctx, node.Name); err != nil {
			errs = append(errs, err)
			continue
		}
		h.asked[node.Name] = true
	}
	return errors.Join(errs...)
}

func (h *Hosted) isHeld(node string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held[node]
}

const ovnPrefix = "system:ovn-node:"

func (h *Hosted) approve(ctx context.Context, req *certificatesv1.CertificateSigningRequest, reason, message string) error {
	if len(req.Status.Conditions) > 0 {
		return nil
	}
	req.Status.Conditions = append(req.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: reason, Message: message,
	})
	if _, err := h.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, req.Name, req, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("approve %s: %w", req.Name, err)
	}
	return nil
}

// askForOVN is ovnkube-node's request for its certificate, made with the kubelet's
// credential (openshift/cluster-network-operator:bindata/network/ovn-kubernetes/common/008-script-lib.yaml,
// ovn-org/ovn-kubernetes:go-controller/pkg/util/kube.go StartNodeCertificateManager).
func (h *Hosted) askForOVN(ctx context.Context, node string) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", filepath.Join(h.lab.Disk(node), "var", "lib", "kubelet", "kubeconfig"))
	if err != nil {
		return fmt.Errorf("ask for %s%s: %w", ovnPrefix, node, err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	_, err = cluster.Request{
		Signer: certificatesv1.KubeAPIServerClientSignerName, CN: ovnPrefix + node, O: "system:ovn-nodes", Expires: 24 * time.Hour,
	}.File(ctx, client)
	return err
}

// CommonName is whom a request asks a certificate for; empty where it is none.
func CommonName(req *certificatesv1.CertificateSigningRequest) string {
	block, _ := pem.Decode(req.Spec.Request)
	if block == nil {
		return ""
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return ""
	}
	return parsed.Subject.CommonName
}
