package csrs

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
)

// filed is a request as somebody makes it: what its PKCS #10 part asks for, with
// which key, how it is encoded, and its API object.
type filed struct {
	template x509.CertificateRequest
	key      crypto.Signer
	der      func(der []byte) []byte
	text     func(pem []byte) []byte
	object   func(*certificatesv1.CertificateSigningRequestSpec)
}

func (f *filed) request(t *testing.T, kind Kind) Request {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &f.template, f.key)
	if err != nil {
		t.Fatal(err)
	}
	if f.der != nil {
		der = f.der(der)
	}
	raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	if f.text != nil {
		raw = f.text(raw)
	}
	return ask(t, kind, "panda", func(c *certificatesv1.CertificateSigningRequest) {
		c.Spec.Request = raw
		if f.object != nil {
			f.object(&c.Spec)
		}
	})
}

func subject(rdns ...pkix.RelativeDistinguishedNameSET) func(*testing.T, *filed) {
	return func(t *testing.T, f *filed) { f.template.RawSubject = mustMarshal(t, pkix.RDNSequence(rdns)) }
}

func rdn(oid asn1.ObjectIdentifier, value string) pkix.RelativeDistinguishedNameSET {
	return pkix.RelativeDistinguishedNameSET{{Type: oid, Value: value}}
}

func mustMarshal(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := asn1.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func object(edit func(*certificatesv1.CertificateSigningRequestSpec)) func(*testing.T, *filed) {
	return func(_ *testing.T, f *filed) { f.object = edit }
}

func text(edit func([]byte) []byte) func(*testing.T, *filed) {
	return func(_ *testing.T, f *filed) { f.text = edit }
}

func template(edit func(*x509.CertificateRequest)) func(*testing.T, *filed) {
	return func(_ *testing.T, f *filed) { edit(&f.template) }
}

func usages(list ...certificatesv1.KeyUsage) func(*testing.T, *filed) {
	return object(func(s *certificatesv1.CertificateSigningRequestSpec) { s.Usages = list })
}

func groups(list ...string) func(*testing.T, *filed) {
	return object(func(s *certificatesv1.CertificateSigningRequestSpec) { s.Groups = list })
}

func user(name string) func(*testing.T, *filed) {
	return object(func(s *certificatesv1.CertificateSigningRequestSpec) { s.Username = name })
}

func lifetime(seconds int32) func(*testing.T, *filed) {
	return object(func(s *certificatesv1.CertificateSigningRequestSpec) { s.ExpirationSeconds = &seconds })
}

func signedBy(key func(*testing.T) crypto.Signer, algorithm x509.SignatureAlgorithm) func(*testing.T, *filed) {
	return func(t *testing.T, f *filed) { f.key, f.template.SignatureAlgorithm = key(t), algorithm }
}

func extension(oid asn1.ObjectIdentifier, value func(*testing.T) []byte) func(*testing.T, *filed) {
	return func(t *testing.T, f *filed) {
		f.template.ExtraExtensions = append(f.template.ExtraExtensions, pkix.Extension{Id: oid, Value: value(t)})
	}
}

// altName is a subjectAltName of one name of a kind.
func altName(tag int, compound bool, value []byte) func(*testing.T) []byte {
	return func(t *testing.T) []byte {
		return mustMarshal(t, []asn1.RawValue{
			{Class: asn1.ClassContextSpecific, Tag: tagDNS, Bytes: []byte("panda")},
			{Class: asn1.ClassContextSpecific, Tag: tag, IsCompound: compound, Bytes: value}})
	}
}

// resign replaces what is signed and signs it again: for what crypto/x509 does not write.
func resign(attributes string, version int) func(*testing.T, *filed) {
	return func(t *testing.T, f *filed) {
		key := ecKey(t).(*ecdsa.PrivateKey)
		f.key = key
		f.der = func(der []byte) []byte {
			var have struct {
				Body struct {
					Version      int
					Subject, Key asn1.RawValue
					Attributes   []asn1.RawValue `asn1:"tag:0"`
				}
				Algorithm pkix.AlgorithmIdentifier
				Signature asn1.BitString
			}
			if _, err := asn1.Unmarshal(der, &have); err != nil {
				t.Fatal(err)
			}
			have.Body.Version = version
			type attribute struct {
				ID     asn1.ObjectIdentifier
				Values []asn1.RawValue `asn1:"set"`
			}
			no := asn1.RawValue{FullBytes: mustMarshal(t, []pkix.Extension{})}
			ca := asn1.RawValue{FullBytes: mustMarshal(t, []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Value: []byte{0x30, 3, 1, 1, 0xff}}})}
			secret := asn1.RawValue{FullBytes: mustMarshal(t, "secret")}
			for _, a := range map[string][]attribute{
				"password":   {{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 7}, []asn1.RawValue{secret}}},
				"two values": {{oidExtensionRequest, []asn1.RawValue{no, ca}}},
				"two lists":  {{oidExtensionRequest, []asn1.RawValue{no}}, {oidExtensionRequest, []asn1.RawValue{no}}},
			}[attributes] {
				have.Body.Attributes = append(have.Body.Attributes, asn1.RawValue{FullBytes: mustMarshal(t, a)})
			}
			sum := sha256.Sum256(mustMarshal(t, have.Body))
			signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
			if err != nil {
				t.Fatal(err)
			}
			have.Signature = asn1.BitString{Bytes: signature, BitLength: len(signature) * 8}
			return mustMarshal(t, have)
		}
	}
}

// rsaKey makes one key for all tests: it takes long.
func rsaKey(bits int) func(*testing.T) crypto.Signer {
	once := sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, bits) })
	return func(t *testing.T) crypto.Signer {
		key, err := once()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
}

// numbered is the key on P-256 of a number, and negative of the order less that number.
func numbered(n int64) func(*testing.T) crypto.Signer {
	return func(t *testing.T) crypto.Signer {
		number := big.NewInt(n)
		if n < 0 {
			number.Add(number, elliptic.P256().Params().N)
		}
		key, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), number.FillBytes(make([]byte, 32)))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
}

func curve(c elliptic.Curve) func(*testing.T) crypto.Signer {
	return func(t *testing.T) crypto.Signer {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
}

func edKey(t *testing.T) crypto.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func encoded(edit func(der []byte) []byte) func(*testing.T, *filed) {
	return func(_ *testing.T, f *filed) { f.der = edit }
}

// deviation is one thing that is not as a kubelet asks; rule is the rule that it
// breaks, "" where it breaks none.
type deviation struct {
	name string
	edit func(*testing.T, *filed)
	rule string
}

// common are deviations of requests of both kinds.
var common = []deviation{
	{"nothing", func(*testing.T, *filed) {}, ""},
	{"blanks around the block", text(func(b []byte) []byte { return slices.Concat([]byte("\n"), b, []byte("\n \n")) }), ""},
	{"lifetime of a day", lifetime(86400), ""},

	{"empty", text(func([]byte) []byte { return nil }), "form"},
	{"no PEM", text(func([]byte) []byte { return []byte("-----BEGIN??\n") }), "form"},
	{"DER without PEM", text(func(b []byte) []byte { block, _ := pem.Decode(b); return block.Bytes }), "form"},
	{"a certificate's block", text(func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("CERTIFICATE REQUEST"), []byte("CERTIFICATE"))
	}), "form"},
	{"a block of the old name", text(func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("CERTIFICATE REQUEST"), []byte("NEW CERTIFICATE REQUEST"))
	}), "form"},
	{"two blocks", text(func(b []byte) []byte { return slices.Concat(b, b) }), "form"},
	{"text before", text(func(b []byte) []byte { return slices.Concat([]byte("Certificate Request:\n"), b) }), "form"},
	{"text after", text(func(b []byte) []byte { return slices.Concat(b, []byte("x")) }), "form"},
	{"a broken block before", text(func(b []byte) []byte {
		return slices.Concat([]byte("-----BEGIN CERTIFICATE REQUEST-----\n????\n-----END CERTIFICATE REQUEST-----\n"), b)
	}), "form"},
	{"a key before", text(func(b []byte) []byte {
		return slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: []byte("x")}), b)
	}), "form"},
	{"a header", text(func(b []byte) []byte {
		block, _ := pem.Decode(b)
		block.Headers = map[string]string{"Proc-Type": "4,ENCRYPTED"}
		return pem.EncodeToMemory(block)
	}), "form"},
	{"lines of another length", text(func(b []byte) []byte { return bytes.Replace(b, []byte("\n"), []byte("\n\n"), 2) }), "form"},

	{"bytes after the request", encoded(func(der []byte) []byte { return append(der, 0) }), "request"},
	{"cut", encoded(func(der []byte) []byte { return der[:len(der)-1] }), "request"},
	{"another signature", encoded(func(der []byte) []byte { der[len(der)-1] ^= 1; return der }), "signature"},
	{"another name than was signed", encoded(func(der []byte) []byte { return bytes.Replace(der, []byte("panda"), []byte("koala"), 1) }), "signature"},
	{"signed with SHA-1", signedBy(curve(elliptic.P256()), x509.ECDSAWithSHA1), "signature"},
	{"RSA of 2048 bits", signedBy(rsaKey(2048), 0), "key"},
	{"RSA of 1024 bits", signedBy(rsaKey(1024), 0), "key"},
	{"on P-384", signedBy(curve(elliptic.P384()), 0), "key"},
	{"on P-224", signedBy(curve(elliptic.P224()), 0), "key"},
	{"Ed25519", signedBy(edKey, 0), "key"},
	{"the key 1", signedBy(numbered(1), 0), "key"},
	{"the key 1000", signedBy(numbered(1000), 0), "key"},
	{"the key 1001", signedBy(numbered(1001), 0), ""},
	{"the order less 1", signedBy(numbered(-1), 0), "key"},
	{"the order less 999", signedBy(numbered(-999), 0), "key"},

	{"two common names", subject(rdn(oidOrganization, openshift.NodesGroup), rdn(oidCommonName, "system:admin"), rdn(oidCommonName, openshift.NodeUserPrefix+"panda")), "subject"},
	{"two common names in one", subject(rdn(oidOrganization, openshift.NodesGroup),
		slices.Concat(rdn(oidCommonName, openshift.NodeUserPrefix+"koala"), rdn(oidCommonName, openshift.NodeUserPrefix+"panda"))), "subject"},
	{"no common name", subject(rdn(oidOrganization, openshift.NodesGroup)), "subject"},
	{"an organizational unit", subject(rdn(oidOrganization, openshift.NodesGroup), rdn(asn1.ObjectIdentifier{2, 5, 4, 11}, "x"), rdn(oidCommonName, openshift.NodeUserPrefix+"panda")), "subject"},
	{"a user's UID", subject(rdn(oidOrganization, openshift.NodesGroup), rdn(asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 57683, 2}, "0"), rdn(oidCommonName, openshift.NodeUserPrefix+"panda")), "subject"},
	{"an email address in the subject", subject(rdn(oidOrganization, openshift.NodesGroup), rdn(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1}, "a@b.c"), rdn(oidCommonName, openshift.NodeUserPrefix+"panda")), "subject"},
	{"no organization", template(func(p *x509.CertificateRequest) { p.Subject.Organization = nil }), "organization"},
	{"masters", template(func(p *x509.CertificateRequest) { p.Subject.Organization = []string{"system:masters"} }), "organization"},
	{"masters as well", template(func(p *x509.CertificateRequest) {
		p.Subject.Organization = []string{openshift.NodesGroup, "system:masters"}
	}), "organization"},
	{"masters first", template(func(p *x509.CertificateRequest) {
		p.Subject.Organization = []string{"system:masters", openshift.NodesGroup}
	}), "organization"},
	{"the organization twice", template(func(p *x509.CertificateRequest) {
		p.Subject.Organization = []string{openshift.NodesGroup, openshift.NodesGroup}
	}), "organization"},
	{"the organization in capitals", template(func(p *x509.CertificateRequest) { p.Subject.Organization = []string{"System:Nodes"} }), "organization"},
	{"an administrator", template(func(p *x509.CertificateRequest) { p.Subject.CommonName = "system:admin" }), "common-name"},
	{"only the prefix", template(func(p *x509.CertificateRequest) { p.Subject.CommonName = openshift.NodeUserPrefix }), "common-name"},
	{"blank before the prefix", template(func(p *x509.CertificateRequest) { p.Subject.CommonName = " " + openshift.NodeUserPrefix + "panda" }), "common-name"},

	{"a password", resign("password", 0), "attributes"},
	{"two lists of extensions", resign("two lists", 0), "attributes"},
	{"two values of one list", resign("two values", 0), "attributes"},
	{"version 2", resign("", 1), "attributes"},
	{"to be an authority", extension(asn1.ObjectIdentifier{2, 5, 29, 19}, func(*testing.T) []byte { return []byte{0x30, 3, 1, 1, 0xff} }), "names"},
	{"key usages", extension(asn1.ObjectIdentifier{2, 5, 29, 15}, func(*testing.T) []byte { return []byte{3, 2, 2, 4} }), "names"},
	{"extended key usages", extension(asn1.ObjectIdentifier{2, 5, 29, 37}, func(t *testing.T) []byte {
		return mustMarshal(t, []asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 1}})
	}), "names"},
	{"an unknown extension", extension(asn1.ObjectIdentifier{1, 2, 3}, func(*testing.T) []byte { return []byte{5, 0} }), "names"},
	{"an email name", template(func(p *x509.CertificateRequest) { p.EmailAddresses = []string{"a@b.c"} }), "names"},
	{"a URI", template(func(p *x509.CertificateRequest) { p.URIs = []*url.URL{{Scheme: "spiffe", Host: "x", Path: "/y"}} }), "names"},
	{"another kind of name", extension(oidSubjectAltName, altName(0, true, []byte{6, 1, 42, 0xa0, 2, 5, 0})), "names"},
	{"a registered ID", extension(oidSubjectAltName, altName(8, false, []byte{42})), "names"},
	{"a directory name", extension(oidSubjectAltName, altName(4, true, []byte{0x30, 0})), "names"},

	{"no usages", usages(), "usages"},
	{"both authentications", usages("digital signature", "client auth", "server auth"), "usages"},
	{"only one usage", usages("digital signature"), "usages"},
	{"to sign certificates", usages("digital signature", "cert sign", "client auth"), "usages"},
	{"any usage", usages("any"), "usages"},
	{"signing in other words", usages("signing", "client auth", "server auth"), "usages"},

	{"nobody", user(""), "requester"},
	{"a person", user("kube:admin"), "requester"},
	{"an administrator asks", user("system:admin"), "requester"},
	{"another node", user(openshift.NodeUserPrefix + "koala"), "requester"},
	{"another service account", user("system:serviceaccount:default:node-bootstrapper"), "requester"},
	{"no groups", groups(), "groups"},
	{"of masters", groups("system:masters", Authenticated), "groups"},
	{"of masters as well", groups(append(slices.Clone(BootstrapperGroups), openshift.NodesGroup, "system:masters")...), "groups"},
	{"not authenticated", groups(openshift.NodesGroup, "system:serviceaccounts"), "groups"},

	{"lifetime of nothing", lifetime(0), "lifetime"},
	{"lifetime below zero", lifetime(-1), "lifetime"},
	{"lifetime of less than ten minutes", lifetime(599), "lifetime"},
	{"lifetime of ten years", lifetime(315360000), "lifetime"},
}

var ofClients = []deviation{
	{"old usages", usages("key encipherment", "digital signature", "client auth"), ""},
	{"groups in another order", groups(BootstrapperGroups[2], BootstrapperGroups[1], BootstrapperGroups[0]), ""},
	{"a DNS name", template(func(p *x509.CertificateRequest) { p.DNSNames = []string{"panda"} }), "names"},
	{"an address", template(func(p *x509.CertificateRequest) { p.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)} }), "names"},
	{"an empty list of names", extension(oidSubjectAltName, func(*testing.T) []byte { return []byte{0x30, 0} }), "names"},
	{"a server's usages", usages("digital signature", "server auth"), "usages"},
	{"a usage twice", usages("digital signature", "digital signature", "client auth"), "usages"},
	{"a usage twice in place of another", usages("client auth", "client auth"), "usages"},
	{"of the node itself", user(openshift.NodeUserPrefix + "panda"), "requester"},
	{"one group less", groups(BootstrapperGroups[:2]...), "groups"},
	{"one group more", groups(append(slices.Clone(BootstrapperGroups), "x")...), "groups"},
	{"a node's groups", groups(openshift.NodesGroup, Authenticated), "groups"},
}

var ofServers = []deviation{
	{"old usages", usages("server auth", "key encipherment", "digital signature"), ""},
	{"only an address", template(func(p *x509.CertificateRequest) { p.DNSNames = nil }), ""},
	{"only a name", template(func(p *x509.CertificateRequest) { p.IPAddresses = nil }), ""},
	{"no names and addresses", template(func(p *x509.CertificateRequest) { p.DNSNames, p.IPAddresses = nil, nil }), "names"},
	{"a client's usages", usages("digital signature", "client auth"), "usages"},
	// The machine approver admits these: three usages, among them the needed two.
	{"client authentication as well", usages("digital signature", "server auth", "client auth"), "usages"},
	{"code signing as well", usages("digital signature", "server auth", "code signing"), "usages"},
	{"a usage twice", usages("digital signature", "server auth", "server auth"), "usages"},
	{"of the bootstrapper", user(openshift.NodeBootstrapper), "requester"},
	{"one group less", groups(openshift.NodesGroup), "groups"},
	{"one group more", groups(openshift.NodesGroup, Authenticated, "x"), "groups"},
	{"the bootstrapper's groups", groups(BootstrapperGroups...), "groups"},
}

// TestSignerRules breaks one rule at a time.
func TestSignerRules(t *testing.T) {
	for kind, list := range map[Kind][]deviation{Client: slices.Concat(common, ofClients), Serving: slices.Concat(common, ofServers)} {
		for _, tt := range list {
			t.Run(string(kind)+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				f := &filed{key: ecKey(t), template: x509.CertificateRequest{Subject: pkix.Name{CommonName: openshift.NodeUserPrefix + "panda", Organization: []string{openshift.NodesGroup}}}}
				if kind == Serving {
					f.template.DNSNames, f.template.IPAddresses = []string{"panda"}, []net.IP{net.IPv4(192, 0, 2, 21)}
				}
				tt.edit(t, f)
				r := f.request(t, kind)
				var refused []string
				for _, c := range SignerRules(r) {
					if c.Result != Passed {
						refused = append(refused, c.Name)
						if c.Rule == "" || c.Detail == "" && c.Name != "requester" {
							t.Errorf("rule %s does not say what it saw: %+v", c.Name, c)
						}
					}
				}
				if tt.rule != "signature" && slices.Contains(refused, "signature") {
					t.Error("the test's own request is not signed")
				}
				if tt.rule == "" && len(refused) > 0 || tt.rule != "" && !slices.Contains(refused, tt.rule) {
					t.Errorf("refused by %v, want %q (%s)", refused, tt.rule, r.Broken)
				}
			})
		}
	}
}

// TestSignerRulesFailClosed: a request that was not read, or is for another signer,
// fulfils no rules.
func TestSignerRulesFailClosed(t *testing.T) {
	good := ask(t, Client, "panda", nil)
	literal := good
	literal.raw = nil
	other := ask(t, Client, "panda", func(c *certificatesv1.CertificateSigningRequest) {
		c.Spec.SignerName = certificatesv1.KubeAPIServerClientSignerName
	})
	for name, r := range map[string]Request{"zero": {}, "without its text": literal, "to another signer": other} {
		if !slices.ContainsFunc(SignerRules(r), func(c Check) bool { return c.Result != Passed }) {
			t.Errorf("%s: every rule holds", name)
		}
	}
}

// TestApproverIsLaxer shows what the machine approver would approve and the signer
// refuses: Judge repeats the one, SignerRules the other.
func TestApproverIsLaxer(t *testing.T) {
	in := with(linked(machineOf("panda"), "panda"))
	for name, edit := range map[string]func(*certificatesv1.CertificateSigningRequest){
		"organizations": func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.Request = pemRequest(t, ecKey(t), openshift.NodeUserPrefix+"panda", []string{openshift.NodesGroup, "system:masters"}, []string{"panda"}, nil)
		},
		"usages": func(c *certificatesv1.CertificateSigningRequest) {
			c.Spec.Usages = []certificatesv1.KeyUsage{"digital signature", "server auth", "client auth"}
		},
	} {
		r := ask(t, Serving, "panda", edit)
		if got := judge(r, in); got.Approves != Passed {
			t.Errorf("%s: the approver %s", name, got.Approves)
		}
		if !slices.ContainsFunc(SignerRules(r), func(c Check) bool {
			return c.Result == Refused && strings.HasPrefix(name, c.Name) || c.Result == Refused && c.Name == "organization"
		}) {
			t.Errorf("%s: the signer's rules hold", name)
		}
	}
}

// FuzzSignerRules: whatever spec.request holds, no rule panics, and nothing passes
// whose signature is not its own.
func FuzzSignerRules(f *testing.F) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: openshift.NodeUserPrefix + "panda", Organization: []string{openshift.NodesGroup}}}, key)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(der)
	f.Fuzz(func(t *testing.T, der []byte) {
		raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
		r := FromAPI(&certificatesv1.CertificateSigningRequest{Spec: certificatesv1.CertificateSigningRequestSpec{
			SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName, Username: openshift.NodeBootstrapper, Groups: BootstrapperGroups,
			Usages: []certificatesv1.KeyUsage{"digital signature", "client auth"}, Request: raw}})
		passed := !slices.ContainsFunc(SignerRules(r), func(c Check) bool { return c.Result != Passed })
		if p, err := x509.ParseCertificateRequest(der); passed && (err != nil || p.CheckSignature() != nil || p.Subject.CommonName != r.CN) {
			t.Errorf("approved what cannot be verified: %v", err)
		}
	})
}
