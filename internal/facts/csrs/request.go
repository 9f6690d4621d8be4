package csrs

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Authenticated is the group of everyone whom the API server knows
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/authentication/user/user.go
// AllAuthenticated).
const Authenticated = "system:authenticated"

// BootstrapperGroups are the exact groups of the node bootstrapper, sorted
// (openshift/cluster-machine-approver:pkg/controller/csr_check.go nodeBootstrapperGroups).
var BootstrapperGroups = []string{
	Authenticated,
	"system:serviceaccounts",
	"system:serviceaccounts:" + openshift.MachineConfigNamespace,
}

// Kind is what a request is for.
type Kind string

// The kinds of request. Network requests are those of the network plugins'
// per-node certificates, which another approver answers
// (openshift/ovn-kubernetes:go-controller/pkg/csrapprover/approver.go).
const (
	Client  Kind = "client"
	Serving Kind = "serving"
	Network Kind = "network"
	Other   Kind = "other"
)

// State is the state of a request.
type State string

// The states. Issued is approved and signed; Approved waits for the signer.
const (
	Pending  State = "pending"
	Approved State = "approved"
	Issued   State = "issued"
	Denied   State = "denied"
	Failed   State = "failed"
)

// Mark is one condition of a request: who set it, with which words and when.
type Mark struct {
	Reason  string
	Message string
	At      time.Time // zero where the condition carries no time
}

// Request is one certificate signing request, decoded.
type Request struct {
	Name      string
	UID       string
	Created   time.Time
	Signer    string
	Requester string
	Groups    []string
	Usages    []string
	Lifetime  *time.Duration // that is asked for; nil leaves it to the signer
	Kind      Kind
	NodeName  string // the node that is asked for: what follows "system:node:" in the common name, for a serving request in the requester

	// From the PKCS #10 request. They are empty where Broken says why it could not be read.
	CN            string
	Organisations []string
	DNSNames      []string
	IPs           []string
	Emails        []string
	URIs          []string
	KeyDigest     string // SHA-256 of the public key (SubjectPublicKeyInfo), hex
	Broken        string
	raw           []byte // spec.request, for SignerRules

	State       State
	Approval    Mark
	Denial      Mark
	Failure     Mark
	Certificate *x509.Certificate // issued; nil if there is none or it could not be read
	// Certified are the common names of all certificates that were issued for it: a signer may write several.
	Certified []string
	// Credentials are those certificates as the API server names them where one is used, and Until is when the last of them expires.
	Credentials []string
	Until       time.Time
	Leaving     bool // it is being deleted
	// Used is the credential with which it was made, "" where the API server did not say; Pod is the pod whose token it
	// was made with.
	Used, Pod string
	Loc       evidence.Locator
}

// Open reports whether somebody still waits for the request.
func (r Request) Open() bool { return r.State == Pending || r.State == Approved }

// Renews reports whether a node asks for its own next client certificate. Such
// requests are approved by the controller manager, not by the machine approver
// (kubernetes/kubernetes:pkg/controller/certificates/approver/sarapprove.go).
func (r Request) Renews() bool {
	return r.Kind == Client && strings.HasPrefix(r.Requester, openshift.NodeUserPrefix) && r.Requester == r.CN
}

// SameContent reports whether two reads of a request have the same content: what is asked for, of which signer, and by whom.
func (r Request) SameContent(o Request) bool {
	return bytes.Equal(r.raw, o.raw) && r.Signer == o.Signer && r.Requester == o.Requester && slices.Equal(r.Groups, o.Groups) &&
		slices.Equal(r.Usages, o.Usages)
}

// parse decodes a CertificateSigningRequest. A request whose PKCS #10 part cannot
// be read is returned with Broken set: that it waits is still known.
func parse(o evidence.Object) (Request, error) {
	csr, err := evidence.Decode[certificatesv1.CertificateSigningRequest](o)
	if err != nil {
		return Request{}, fmt.Errorf("decode request %s: %w", o.Name, err)
	}
	r := FromAPI(&csr)
	r.Name, r.Loc = o.Name, o.Loc
	return r, nil
}

// FromAPI converts a CertificateSigningRequest.
func FromAPI(csr *certificatesv1.CertificateSigningRequest) Request {
	r := Request{
		Name: csr.Name, UID: string(csr.UID), Created: csr.CreationTimestamp.UTC(),
		Signer: csr.Spec.SignerName, Requester: csr.Spec.Username, Groups: csr.Spec.Groups, raw: csr.Spec.Request,
	}
	if seconds := csr.Spec.ExpirationSeconds; seconds != nil {
		life := time.Duration(*seconds) * time.Second
		r.Lifetime = &life
	}
	r.Leaving = csr.DeletionTimestamp != nil
	r.Used = first(csr.Spec.Extra[openshift.CredentialExtra])
	for _, key := range slices.Sorted(maps.Keys(csr.Spec.Extra)) {
		if r.Pod == "" && strings.HasPrefix(strings.ToLower(key), openshift.PodExtras) {
			r.Pod = cmp.Or(first(csr.Spec.Extra[key]), "without a name")
		}
	}
	for _, u := range csr.Spec.Usages {
		r.Usages = append(r.Usages, string(u))
	}
	if err := r.pkcs10(csr.Spec.Request); err != nil {
		r.Broken = err.Error()
	}
	r.state(csr)
	r.classify()
	return r
}

// pkcs10 reads the request itself, as the approver does (controller.go parseCSR).
func (r *Request) pkcs10(raw []byte) error {
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errNoBlock
	}
	p, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return fmt.Errorf("parse spec.request: %w", err)
	}
	r.CN, r.Organisations = p.Subject.CommonName, p.Subject.Organization
	r.DNSNames, r.Emails = p.DNSNames, p.EmailAddresses
	for _, ip := range p.IPAddresses {
		r.IPs = append(r.IPs, ip.String())
	}
	for _, u := range p.URIs {
		r.URIs = append(r.URIs, u.String())
	}
	sum := sha256.Sum256(p.RawSubjectPublicKeyInfo)
	r.KeyDigest = hex.EncodeToString(sum[:])
	return nil
}

// state folds the conditions. Denied wins: the API server lets no request be both.
func (r *Request) state(csr *certificatesv1.CertificateSigningRequest) {
	r.State = Pending
	for _, c := range csr.Status.Conditions {
		if c.Status == corev1.ConditionFalse { // the API admits only True; empty stood for it before v1
			continue
		}
		m := Mark{Reason: c.Reason, Message: c.Message, At: c.LastTransitionTime.UTC()}
		if m.At.Year() <= 1 {
			m.At = c.LastUpdateTime.UTC()
		}
		if m.At.Year() <= 1 {
			m.At = time.Time{}
		}
		switch c.Type {
		case certificatesv1.CertificateApproved:
			r.Approval = m
			if r.State == Pending {
				r.State = Approved
			}
		case certificatesv1.CertificateDenied:
			r.Denial, r.State = m, Denied
		case certificatesv1.CertificateFailed:
			r.Failure = m
			if r.State != Denied {
				r.State = Failed
			}
		}
	}
	if len(csr.Status.Certificate) > 0 && (r.State == Approved || r.State == Pending) {
		r.State = Issued
	}
	r.certificates(csr.Status.Certificate)
}

// mostCertificates bounds those that one request has; a signer writes one, and its own behind it.
const mostCertificates = 16

// certificates reads what was issued. The first is the one that was asked for.
func (r *Request) certificates(raw []byte) {
	for range mostCertificates {
		block, rest := pem.Decode(raw)
		if block == nil {
			return
		}
		raw = rest
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			continue
		}
		if r.Certificate == nil && r.State == Issued {
			r.Certificate = c
		}
		if c.NotAfter.After(r.Until) {
			r.Until = c.NotAfter
		}
		r.Certified = append(r.Certified, c.Subject.CommonName)
		sum := sha256.Sum256(c.Raw)
		r.Credentials = append(r.Credentials, openshift.CertificateCredential+hex.EncodeToString(sum[:]))
	}
}

// classify tells what the request is for, and for which node.
func (r *Request) classify() {
	switch r.Signer {
	case certificatesv1.KubeAPIServerClientKubeletSignerName:
		r.Kind = Client
		r.NodeName, _ = strings.CutPrefix(r.CN, openshift.NodeUserPrefix)
	case certificatesv1.KubeletServingSignerName:
		r.Kind = Serving
		if name, ok := strings.CutPrefix(r.Requester, openshift.NodeUserPrefix); ok {
			r.NodeName = name
		} else {
			r.NodeName, _ = strings.CutPrefix(r.CN, openshift.NodeUserPrefix)
		}
	default:
		r.Kind = Other
		for _, prefix := range []string{openshift.OVNUserPrefix, openshift.MultusUserPrefix} {
			if name, ok := strings.CutPrefix(r.CN, prefix); ok {
				r.Kind, r.NodeName = Network, name
			}
		}
	}
	if !strings.HasPrefix(r.CN, openshift.NodeUserPrefix) && r.Kind == Client {
		r.NodeName = ""
	}
}

func first(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}
