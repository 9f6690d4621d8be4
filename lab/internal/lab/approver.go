package lab

import (
	"context"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// approve does what the approvers of an installation do: it approves every
// pending request, whoever asks for whatever name, while it is alive. That is
// the product's behavior
// (openshift/installer:data/data/bootstrap/files/usr/local/bin/approve-csr.sh;
// openshift/assisted-installer:src/assisted_installer_controller ApproveCsrs)
// and no model for anybody. The second one ends when all hosts have joined.
func (l *Lab) approve(ctx context.Context) error {
	l.mu.Lock()
	alive := l.approves
	l.mu.Unlock()
	if !alive {
		return nil
	}
	list, err := l.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list requests: %w", err)
	}
	for _, csr := range list.Items {
		if len(csr.Status.Conditions) > 0 {
			continue
		}
		csr.Status.Conditions = append(csr.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
			Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue,
			// The words of `oc adm certificate approve`, which approve-csr.sh runs.
			Reason: "KubectlApprove", Message: "This CSR was approved by kubectl certificate approve.",
			LastUpdateTime: metav1.NewTime(time.Now()),
		})
		if _, err := l.kube.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, csr.Name, &csr, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("approve %s: %w", csr.Name, err)
		}
		l.log.Info("approved, as the installer does", "csr", csr.Name, "by", csr.Spec.Username)
	}
	return nil
}

// awaitServingCertificates waits until each registered master has asked for and
// got a serving certificate, which the bootstrap host still approves.
func (l *Lab) awaitServingCertificates(ctx context.Context) error {
	return l.await(ctx, time.Minute, "the first masters have no serving certificates", func(ctx context.Context) (bool, error) {
		nodes, err := l.nodes(ctx)
		if err != nil {
			return false, err
		}
		list, err := l.kube.CertificatesV1().CertificateSigningRequests().List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		have := map[string]bool{}
		for _, csr := range list.Items {
			if csr.Spec.SignerName == certificatesv1.KubeletServingSignerName && len(csr.Status.Certificate) > 0 {
				have[csr.Spec.Username] = true
			}
		}
		for _, node := range nodes {
			if !have["system:node:"+node.Name] || !ready(&node) {
				return false, nil
			}
		}
		return true, nil
	})
}
