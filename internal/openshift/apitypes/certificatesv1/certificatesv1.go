// Package certificatesv1 has of k8s.io/api/certificates/v1 what the facts read, with the
// names and tags of the originals (kubernetes/api:certificates/v1/types.go).
package certificatesv1

import (
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"
)

// CertificateSigningRequest is a request for a certificate.
type CertificateSigningRequest struct {
	metav1.TypeMeta   `json:""`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              CertificateSigningRequestSpec   `json:"spec"`
	Status            CertificateSigningRequestStatus `json:"status,omitempty"`
}

// CertificateSigningRequestSpec is what is asked for, and by whom.
type CertificateSigningRequestSpec struct {
	Request           []byte                `json:"request"`
	SignerName        string                `json:"signerName"`
	ExpirationSeconds *int32                `json:"expirationSeconds,omitempty"`
	Usages            []KeyUsage            `json:"usages,omitempty"`
	Username          string                `json:"username,omitempty"`
	UID               string                `json:"uid,omitempty"`
	Groups            []string              `json:"groups,omitempty"`
	Extra             map[string]ExtraValue `json:"extra,omitempty"`
}

// ExtraValue is what the authenticator adds of whoever asks.
type ExtraValue []string

// CertificateSigningRequestStatus is what was answered.
type CertificateSigningRequestStatus struct {
	Conditions  []CertificateSigningRequestCondition `json:"conditions,omitempty"`
	Certificate []byte                               `json:"certificate,omitempty"`
}

// CertificateSigningRequestCondition is one answer.
type CertificateSigningRequestCondition struct {
	Type               RequestConditionType   `json:"type"`
	Status             corev1.ConditionStatus `json:"status"`
	Reason             string                 `json:"reason,omitempty"`
	Message            string                 `json:"message,omitempty"`
	LastUpdateTime     metav1.Time            `json:"lastUpdateTime,omitempty"`
	LastTransitionTime metav1.Time            `json:"lastTransitionTime,omitempty"`
}

// KeyUsage is what a key may be used for.
type KeyUsage string

// The usages of kubelets' certificates.
const (
	UsageDigitalSignature KeyUsage = "digital signature"
	UsageKeyEncipherment  KeyUsage = "key encipherment"
	UsageClientAuth       KeyUsage = "client auth"
	UsageServerAuth       KeyUsage = "server auth"
)

// RequestConditionType is the type of an answer.
type RequestConditionType string

// The answers.
const (
	CertificateApproved RequestConditionType = "Approved"
	CertificateDenied   RequestConditionType = "Denied"
	CertificateFailed   RequestConditionType = "Failed"
)

// The signers of clients' and of kubelets' certificates.
const (
	KubeAPIServerClientSignerName        = "kubernetes.io/kube-apiserver-client"
	KubeAPIServerClientKubeletSignerName = "kubernetes.io/kube-apiserver-client-kubelet"
	KubeletServingSignerName             = "kubernetes.io/kubelet-serving"
)
