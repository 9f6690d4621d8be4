// Package csrtest makes certificate requests for tests: real PKCS #10 requests in
// CertificateSigningRequest objects, as a kubelet files them and as an attacker would.
package csrtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Noon is the time of these tests; requests are made a minute before it.
var Noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// Request is a request before it is signed and encoded.
type Request struct {
	API      certificatesv1.CertificateSigningRequest
	Template x509.CertificateRequest
	Key      crypto.Signer
	DER      func([]byte) []byte // changes the encoded request; nil leaves it
	PEM      func([]byte) []byte // changes the text of spec.request; nil leaves it
}

// Key returns a new key.
func Key() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // the system has no randomness
	}
	return key
}

// Client is the first request of a kubelet, by the node bootstrapper.
func Client(node string) *Request {
	return &Request{Key: Key(),
		Template: x509.CertificateRequest{Subject: pkix.Name{CommonName: openshift.NodeUserPrefix + node, Organization: []string{openshift.NodesGroup}}},
		API: certificatesv1.CertificateSigningRequest{
			TypeMeta: metav1.TypeMeta{APIVersion: "certificates.k8s.io/v1", Kind: "CertificateSigningRequest"},
			ObjectMeta: metav1.ObjectMeta{Name: "csr-" + node, UID: "client-" + node,
				CreationTimestamp: metav1.NewTime(Noon.Add(-time.Minute))},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName, Username: openshift.NodeBootstrapper,
				Groups: slices.Clone(csrs.BootstrapperGroups), Usages: []certificatesv1.KeyUsage{"digital signature", "client auth"}}}}
}

// Serving is the request of a Node's kubelet for the certificate that it serves.
func Serving(node string, ips ...string) *Request {
	r := Client(node)
	r.API.Name, r.API.UID = "csr-s-"+node, "serving-"+node
	r.API.Spec.SignerName, r.API.Spec.Username = certificatesv1.KubeletServingSignerName, openshift.NodeUserPrefix+node
	r.API.Spec.Groups = []string{openshift.NodesGroup, csrs.Authenticated}
	r.API.Spec.Usages = []certificatesv1.KeyUsage{"digital signature", "server auth"}
	r.Template.DNSNames = []string{node}
	for _, ip := range ips {
		r.Template.IPAddresses = append(r.Template.IPAddresses, net.ParseIP(ip))
	}
	return r
}

// Named gives the object another name and UID.
func (r *Request) Named(name string) *Request {
	r.API.Name, r.API.UID = name, "uid-"+name
	return r
}

// At moves the request's creation.
func (r *Request) At(t time.Time) *Request {
	r.API.CreationTimestamp = metav1.NewTime(t)
	return r
}

// Answered adds a condition.
func (r *Request) Answered(kind certificatesv1.RequestConditionType, reason string) *Request {
	r.API.Status.Conditions = append(r.API.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: kind, Status: "True", Reason: reason, LastTransitionTime: r.API.CreationTimestamp})
	return r
}

// Issued is approved for the reason, with a certificate that is none.
func (r *Request) Issued(reason string) *Request {
	r.Answered(certificatesv1.CertificateApproved, reason)
	r.API.Status.Certificate = []byte("issued")
	return r
}

// Build signs and encodes the request. It fails where the standard library refuses to
// make such a request.
func (r *Request) Build() (*certificatesv1.CertificateSigningRequest, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &r.Template, r.Key)
	if err != nil {
		return nil, fmt.Errorf("make request %s: %w", r.API.Name, err)
	}
	if r.DER != nil {
		der = r.DER(der)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	if r.PEM != nil {
		text = r.PEM(text)
	}
	api := r.API
	api.Spec.Request = text
	return &api, nil
}

// Object is the request as the API shows it.
func (r *Request) Object() (map[string]any, error) {
	api, err := r.Build()
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(api)
	if err != nil {
		return nil, err
	}
	var o map[string]any
	return o, json.Unmarshal(raw, &o)
}
