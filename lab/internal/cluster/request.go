package cluster

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Request is a request for a certificate with a new key, as node clients file it.
type Request struct {
	Name    string // empty: the API server makes one of "csr-"
	Signer  string
	CN, O   string
	DNS     []string
	IPs     []net.IP
	Expires time.Duration // zero: what the signer gives
}

// File files the request as client.
func (r Request) File(ctx context.Context, client kubernetes.Interface) (*certificatesv1.CertificateSigningRequest, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key for %s: %w", r.CN, err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: r.CN, Organization: []string{r.O}}, DNSNames: r.DNS, IPAddresses: r.IPs,
	}, key)
	if err != nil {
		return nil, fmt.Errorf("make request for %s: %w", r.CN, err)
	}
	usage := certificatesv1.UsageClientAuth
	if r.Signer == certificatesv1.KubeletServingSignerName {
		usage = certificatesv1.UsageServerAuth
	}
	obj := &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: r.Name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: r.Signer,
			Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, usage},
		},
	}
	if r.Name == "" {
		obj.GenerateName = "csr-"
	}
	if r.Expires > 0 {
		seconds := int32(r.Expires / time.Second)
		obj.Spec.ExpirationSeconds = &seconds
	}
	made, err := client.CertificatesV1().CertificateSigningRequests().Create(ctx, obj, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("file a request for %s of %s: %w", r.Signer, r.CN, err)
	}
	return made, nil
}
