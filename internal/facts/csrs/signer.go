package csrs

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/asn1"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The span in which a request may ask for the life of its certificate: the API
// server refuses less (kubernetes/kubernetes:pkg/apis/certificates/validation
// validateCertificateSigningRequest), and the signer gives no more by default
// (pkg/controller/certificates/signer/config, ClusterSigningDuration). A kubelet
// asks for none.
const (
	minLifetime = 10 * time.Minute
	maxLifetime = 365 * 24 * time.Hour
)

var (
	oidOrganization     = asn1.ObjectIdentifier{2, 5, 4, 10}
	oidCommonName       = asn1.ObjectIdentifier{2, 5, 4, 3}
	oidSubjectAltName   = asn1.ObjectIdentifier{2, 5, 29, 17}
	oidExtensionRequest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 14}
)

// The tags of a name in a subjectAltName that a kubelet asks for (RFC 5280, 4.2.1.6).
const (
	tagDNS = 2
	tagIP  = 7
)

// SignerRules holds a request against the rules of the signer that it is for
// (kubernetes/kubernetes:pkg/apis/certificates/helpers.go ValidateKubeletClientCSR,
// ValidateKubeletServingCSR, as pkg/controller/certificates/signer/signer.go uses
// them) and of the API server, and against what a kubelet sends
// (pkg/kubelet/certificate/kubelet.go). It is stricter than the machine approver,
// whose own rules Judge repeats: that one admits further organizations and usages
// in a serving request.
//
// A request that cannot be read fails the first rule. One of another kind fails too.
func SignerRules(r Request) []Check {
	s := &signing{r: r}
	block, err := onlyBlock(r.raw)
	s.must("form", "spec.request is one PEM block CERTIFICATE REQUEST and nothing else", err)
	if err != nil {
		return s.checks
	}
	p, err := x509.ParseCertificateRequest(block)
	s.must("request", "the request can be read", err)
	if err != nil {
		return s.checks
	}
	s.must("encoding", "it is encoded in the one way that every parser reads alike", checkEncoding(block))
	// The key first: to verify the signature of an RSA key of 100,000 bits takes seconds.
	weak := checkKey(p.PublicKey)
	s.must("key", "its key is one that a kubelet makes: on P-256, and not of a small number", weak)
	if weak == nil {
		s.must("signature", "it is signed with its own key, and not with SHA-1", checkSignature(p))
	}
	s.must("organization", "the only organization is system:nodes", same(p.Subject.Organization, []string{openshift.NodesGroup}))
	s.must("common-name", "the common name is system:node: and a name", s.commonName(p.Subject.CommonName))
	s.must("subject", "its subject is one organization and one common name", checkSubject(p.RawSubject, p.Subject.Organization, p.Subject.CommonName))
	s.must("attributes", "it asks for nothing but a certificate", checkAttributes(p.RawTBSCertificateRequest))
	s.must("names", s.namesRule(), s.names(p))
	s.must("usages", "usages are exactly those of a kubelet "+string(r.Kind), s.usages())
	s.must("requester", s.requesterRule(), s.requester(p.Subject.CommonName))
	s.must("groups", "the requester's groups are exactly those of such a requester", s.groups())
	s.must("lifetime", "it asks for no odd lifetime", s.lifetime())
	return s.checks
}

type signing struct {
	r      Request
	checks []Check
}

func (s *signing) must(name, rule string, err error) {
	c := Check{Name: name, Rule: rule, Result: Passed}
	if err != nil {
		c.Result, c.Detail = Refused, err.Error()
	}
	s.checks = append(s.checks, c)
}

// onlyBlock returns the content of the one PEM block that a text consists of. Parsers
// differ in what they skip before, in and after a block, so the text must be what an
// encoder writes.
func onlyBlock(raw []byte) ([]byte, error) {
	block, rest := pem.Decode(raw)
	switch {
	case block == nil || block.Type != "CERTIFICATE REQUEST":
		return nil, errNoBlock
	case len(block.Headers) > 0:
		return nil, errors.New("the PEM block has headers")
	case len(bytes.Trim(rest, pemBlanks)) > 0:
		return nil, fmt.Errorf("%d bytes follow the PEM block", len(rest))
	case !bytes.Equal(bytes.Trim(pem.EncodeToMemory(block), pemBlanks), bytes.Trim(raw, pemBlanks)):
		return nil, errors.New("there is more than the PEM block, or it is not encoded as usual")
	}
	return block.Bytes, nil
}

// pemBlanks may stand around a block. Other blanks are some only to some parsers.
const pemBlanks = " \t\r\n"

var errNoBlock = errors.New("spec.request holds no PEM block CERTIFICATE REQUEST")

// checkSignature shows that the requester held the key. CheckSignature itself admits
// SHA-1 in requests.
func checkSignature(p *x509.CertificateRequest) error {
	if p.SignatureAlgorithm == x509.ECDSAWithSHA1 {
		return fmt.Errorf("it is signed with %s", p.SignatureAlgorithm)
	}
	return p.CheckSignature()
}

// checkKey admits what a kubelet makes, and nothing else: a key on P-256 of a number at random
// (kubernetes/client-go: util/certificate/certificate_manager.go generateCSR, in every release of OpenShift 4).
func checkKey(key any) error {
	k, ok := key.(*ecdsa.PublicKey)
	if !ok {
		return fmt.Errorf("key of type %s", strings.TrimPrefix(fmt.Sprintf("%T", key), "*"))
	}
	if k.Curve != elliptic.P256() {
		return fmt.Errorf("key on curve %s", k.Params().Name)
	}
	point, err := k.ECDH()
	if err != nil {
		return fmt.Errorf("key that is no point of the curve: %w", err)
	}
	if smallKeys()[[32]byte(point.Bytes()[1:33])] {
		return errors.New("key of a small number, which anybody can find")
	}
	return nil
}

// smallKeys are the first coordinates of the public keys of 1 to 1,000. That of the curve's order less such a number has the same.
var smallKeys = sync.OnceValue(func() map[[32]byte]bool {
	all := map[[32]byte]bool{}
	for n := uint16(1); n <= 1000; n++ {
		var scalar [32]byte
		binary.BigEndian.PutUint16(scalar[30:], n)
		private, err := ecdh.P256().NewPrivateKey(scalar[:])
		if err != nil {
			panic(err) // a number from 1 to the order is a key
		}
		all[[32]byte(private.PublicKey().Bytes()[1:33])] = true
	}
	return all
})

func (s *signing) namesRule() string {
	if s.r.Kind == Serving {
		return "it asks for DNS names and addresses, at least one, and for no other extension"
	}
	return "a client request asks for no names, addresses or other extensions"
}

func (s *signing) names(p *x509.CertificateRequest) error {
	for _, e := range p.Extensions {
		if !e.Id.Equal(oidSubjectAltName) {
			return fmt.Errorf("it asks for extension %s", e.Id)
		}
		if err := checkAltNames(e.Value); err != nil {
			return err
		}
	}
	switch {
	case s.r.Kind == Serving && len(p.DNSNames)+len(p.IPAddresses) == 0:
		return errors.New("it asks for none")
	case s.r.Kind != Serving && len(p.Extensions) > 0:
		return fmt.Errorf("it asks for %s", list(slices.Concat(s.r.DNSNames, s.r.IPs)))
	}
	return nil
}

func (s *signing) commonName(cn string) error {
	if name, ok := strings.CutPrefix(cn, openshift.NodeUserPrefix); !ok || name == "" {
		return fmt.Errorf("%q", cn)
	}
	return nil
}

// usages compares sets, as the signer does, and refuses repeated ones, as the API
// server does.
func (s *signing) usages() error {
	sets := [][]string{clientUsages, clientUsagesLegacy}
	if s.r.Kind == Serving {
		sets = [][]string{servingUsages, servingUsagesLegacy}
	}
	if !slices.ContainsFunc(sets, func(want []string) bool { return SameSet(s.r.Usages, want) }) {
		return errors.New(list(s.r.Usages))
	}
	return nil
}

func (s *signing) requesterRule() string {
	if s.r.Kind == Serving {
		return "asked for by the node itself"
	}
	return "asked for by the node bootstrapper"
}

func (s *signing) requester(cn string) error {
	ok := s.r.Kind == Client && s.r.Requester == openshift.NodeBootstrapper || s.r.Kind == Serving && s.r.Requester == cn
	if !ok {
		return errors.New(s.r.Requester)
	}
	if s.r.Kind == Client && s.r.Pod != "" { // a kubelet has the token that Ignition wrote, and a pod one of its own
		return fmt.Errorf("%s, with the token of pod %.253q", s.r.Requester, s.r.Pod)
	}
	return nil
}

// groups of a kubelet are those of its client certificate.
func (s *signing) groups() error {
	want := BootstrapperGroups
	if s.r.Kind == Serving {
		want = []string{Authenticated, openshift.NodesGroup}
	}
	return same(sorted(s.r.Groups), want)
}

func same(have, want []string) error {
	if !slices.Equal(have, want) {
		return errors.New(list(have))
	}
	return nil
}

func (s *signing) lifetime() error {
	if s.r.Lifetime == nil {
		return nil
	}
	if d := *s.r.Lifetime; d < minLifetime || d > maxLifetime {
		return fmt.Errorf("%s", d)
	}
	return nil
}
