package csr

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/metav1"

	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// key is one key for all requests of these tests: their content tells them apart.
var key = func() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return key
}()

// asked is a request as somebody makes it: its API object and its PKCS #10 content.
type asked struct {
	api      certificatesv1.CertificateSigningRequest
	template x509.CertificateRequest
	signer   crypto.Signer
}

// request signs and encodes it, as client-go does.
func (a asked) request() csrs.Request {
	der, err := x509.CreateCertificateRequest(rand.Reader, &a.template, a.signer)
	if err != nil {
		panic(err)
	}
	a.api.Spec.Request = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	return csrs.FromAPI(&a.api)
}

func askClient() asked {
	return asked{signer: key,
		template: x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:control0", Organization: []string{"system:nodes"}}},
		api: certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{Name: "csr-a", UID: "a", CreationTimestamp: metav1.NewTime(noon.Add(-time.Minute))},
			Spec: certificatesv1.CertificateSigningRequestSpec{SignerName: "kubernetes.io/kube-apiserver-client-kubelet", Username: openshift.NodeBootstrapper,
				Groups: slices.Clone(csrs.BootstrapperGroups), Usages: []certificatesv1.KeyUsage{"digital signature", "client auth"}}}}
}

func askServing() asked {
	a := askClient()
	a.template.DNSNames, a.template.IPAddresses = []string{"control0"}, []net.IP{net.ParseIP("192.0.2.10")}
	a.api.Name, a.api.UID = "csr-s", "s"
	a.api.Spec.SignerName, a.api.Spec.Username = "kubernetes.io/kubelet-serving", "system:node:control0"
	a.api.Spec.Groups = []string{openshift.NodesGroup, csrs.Authenticated}
	a.api.Spec.Usages = []certificatesv1.KeyUsage{"digital signature", "server auth"}
	return a
}

func clientRequest() csrs.Request { return askClient().request() }

// scene is a request with what it is judged by.
type scene struct {
	asked
	r csrs.Request
	e *Expectation
	p Snapshot
}

// byObject declares the host of a scene by a Machine with another name.
func byObject(s *scene) {
	s.e.Explicit, s.e.Role = false, "worker"
	s.p.Declared = []Declared{{Object: "Machine m-0", Names: []string{"m-0", s.e.Name}, Hostnames: []string{s.e.Name}}}
}

// asOther adds a request for the Machine's own name, with another key.
func asOther(s *scene, state csrs.State) {
	byObject(s)
	s.p.Requests = append(s.p.Requests, csrs.Request{Name: "csr-m", UID: "m", Kind: csrs.Client, Signer: s.r.Signer, State: state, NodeName: "m-0",
		Requester: s.r.Requester, CN: "system:node:m-0", Created: s.e.NotBefore.Add(time.Second), KeyDigest: strings.Repeat("9", 64)})
}

// credential says which certificate was issued, and with which one the serving request was made.
func credential(s *scene, issued, used string) {
	s.p.Requests[0].Credentials, s.r.Used = []string{issued}, used
	s.p.Nodes[0].Created = noon.Add(-30 * time.Minute)
}
