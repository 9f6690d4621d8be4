package scale

import (
	"context"
	"fmt"
	"net"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// askedAgain is how often a host whose request no one approves asks: a kubelet
// files the next request a quarter of an hour after the one before
// (kubernetes/kubernetes:pkg/kubelet/certificate/bootstrap/bootstrap.go).
const askedAgain = 3

// makeRequests files the kubelet's requests in the requester's name. Those of
// hosts that joined are approved, and signed by the controller manager.
func (c *Cluster) makeRequests(ctx context.Context, w worker) error {
	switch {
	case w.fate == noAddresses:
		for range askedAgain {
			if _, err := c.request(ctx, w, certificatesv1.KubeAPIServerClientKubeletSignerName); err != nil {
				return err
			}
		}
	case w.fate == joined && w.young:
		for _, signer := range []string{certificatesv1.KubeAPIServerClientKubeletSignerName, certificatesv1.KubeletServingSignerName} {
			made, err := c.request(ctx, w, signer)
			if err != nil {
				return err
			}
			if err := c.approve(ctx, made.Name); err != nil {
				return fmt.Errorf("approve %s: %w", made.Name, err)
			}
		}
	}
	return nil
}

// approve approves a request in the machine approver's words. The lab's own one
// may be quicker.
func (c *Cluster) approve(ctx context.Context, name string) error {
	client := c.core.CertificatesV1().CertificateSigningRequests()
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		made, err := client.Get(ctx, name, metav1.GetOptions{})
		if err != nil || len(made.Status.Conditions) > 0 {
			return err
		}
		// What cluster-machine-approver writes (openshift/cluster-machine-approver:pkg/controller/controller.go approve).
		made.Status.Conditions = append(made.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
			Reason: "NodeCSRApprove", Message: "This CSR was approved by the Node CSR Approver (cluster-machine-approver)",
		})
		_, err = client.UpdateApproval(ctx, name, made, metav1.UpdateOptions{})
		return err
	})
}

func (c *Cluster) request(ctx context.Context, w worker, signer string) (*certificatesv1.CertificateSigningRequest, error) {
	who := rest.ImpersonationConfig{UserName: pki.Bootstrapper, Groups: []string{
		"system:serviceaccounts", "system:serviceaccounts:" + pki.BootstrapperNamespace, "system:authenticated",
	}}
	r := cluster.Request{Signer: signer, CN: "system:node:" + w.name, O: "system:nodes"}
	if signer == certificatesv1.KubeletServingSignerName {
		who = rest.ImpersonationConfig{UserName: "system:node:" + w.name, Groups: []string{"system:nodes", "system:authenticated"}}
		r.DNS, r.IPs = []string{w.name}, []net.IP{net.ParseIP(w.address)}
	}
	cfg := rest.CopyConfig(c.spec.Config)
	cfg.Impersonate = who
	as, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	return r.File(ctx, as)
}
