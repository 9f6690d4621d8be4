package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/certificate"
)

// servingManager is the real manager of the kubelet's serving certificate with
// the template of k8s.io/kubernetes:pkg/kubelet/certificate/kubelet.go
// newGetTemplateFn: the node's identity, its name and its address. It files a
// request of signer kubernetes.io/kubelet-serving if the store has no valid
// certificate, and waits for somebody to approve it.
func (k *kubelet) servingManager() (certificate.Manager, error) {
	dir := k.h.disk.hostPath(pkiPath)
	store, err := certificate.NewFileStore("kubelet-server", dir, dir, "", "")
	if err != nil {
		return nil, err
	}
	return certificate.NewManager(&certificate.Config{
		ClientsetFn: func(*tls.Certificate) (kubernetes.Interface, error) { return k.client, nil },
		GetTemplate: func() *x509.CertificateRequest {
			return &x509.CertificateRequest{
				Subject:     pkix.Name{CommonName: "system:node:" + k.h.cfg.Name, Organization: []string{"system:nodes"}},
				DNSNames:    []string{k.h.cfg.Name},
				IPAddresses: []net.IP{net.ParseIP(k.h.cfg.Address)},
			}
		},
		SignerName:       certificatesv1.KubeletServingSignerName,
		GetUsages:        certificate.DefaultKubeletServingGetUsages,
		CertificateStore: store,
		Name:             "kubelet-server",
	})
}

// serve runs the kubelet's endpoint with the serving certificate, once there
// is one, until the boot ends.
func (k *kubelet) serve(ctx context.Context) {
	m, err := k.servingManager()
	if err != nil {
		k.h.log.Error("make serving certificate manager", "error", err)
		return
	}
	m.Start()
	defer m.Stop()
	k.serveEndpoint(ctx, m.Current)
}
