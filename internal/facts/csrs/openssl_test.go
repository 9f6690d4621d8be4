package csrs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	crand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"

	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/tools/sample"
)

// generator makes serving requests in which each part is at random as a kubelet's or another.
type generator struct {
	*rand.Rand
	t    *testing.T
	keys []crypto.Signer
}

func (g *generator) oneIn(n int) bool { return g.IntN(n) == 0 }

// names are the encoded names of a SAN extension.
func (g *generator) names() []asn1.RawValue {
	add := func(tag int, raw string) asn1.RawValue {
		return asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: tag, Bytes: []byte(raw)}
	}
	all := []asn1.RawValue{add(2, "panda"), add(7, "\xc0\x00\x02\x07")}
	odd := []asn1.RawValue{
		add(2, "panda.example.com"), add(2, "*.example.com"), add(2, "panda\x00.example.com"), add(2, ""), add(2, "p\xc3\xa4nda"), add(2, "panda, DNS:api"), add(2, "PANDA"),
		add(7, "\x20\x01\x0d\xb8"+strings.Repeat("\x00", 11)+"\x07"), add(7, strings.Repeat("\x00", 10)+"\xff\xff\xc0\x00\x02\x08"), add(7, "\xc0\x00\x02"),
		add(7, "\xc0\x00\x02\x07\xff\xff\xff\x00"), add(7, ""), add(1, "panda@example.com"), add(1, ""), add(6, "spiffe://example.com/panda"), add(6, "x"),
		{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true, Bytes: mustMarshal(g.t, pkix.Name{CommonName: "x"}.ToRDNSequence())}, add(8, "\x2a\x03"),
		{Class: asn1.ClassContextSpecific, Tag: 0, IsCompound: true, Bytes: []byte("\x06\x02\x2a\x03\xa0\x03\x0c\x01x")}, {Class: asn1.ClassUniversal, Tag: asn1.TagUTF8String, Bytes: []byte("panda")},
		{Class: asn1.ClassContextSpecific, Tag: 2, IsCompound: true, Bytes: []byte("\x16\x05panda")},
	}
	for range g.IntN(3) {
		if g.oneIn(2) {
			all = append(all, odd[g.IntN(len(odd))])
		} else {
			all = append(all, add(7, string([]byte{198, 51, 100, byte(g.IntN(256))})))
		}
	}
	g.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// attributes are those of a request: as a rule one request for one extension.
func (g *generator) attributes() []asn1.RawValue {
	san := func() pkix.Extension {
		return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Critical: g.oneIn(4), Value: mustMarshal(g.t, g.names())}
	}
	extensions := []pkix.Extension{san()}
	more := []pkix.Extension{
		{Id: asn1.ObjectIdentifier{2, 5, 29, 15}, Critical: true, Value: mustMarshal(g.t, asn1.BitString{Bytes: []byte{0x06}, BitLength: 7})},
		{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Value: mustMarshal(g.t, []asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 2}})},
		{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Value: mustMarshal(g.t, []asn1.ObjectIdentifier{{2, 5, 29, 37, 0}})},
		{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Critical: true, Value: []byte{0x30, 0x03, 0x01, 0x01, 0xff}},
		{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: []byte{0x05, 0x00}}, san(),
	}
	if g.oneIn(4) {
		extensions = append(extensions, more[g.IntN(len(more))])
	}
	if g.oneIn(30) {
		extensions = nil
	}
	set := func(v ...any) asn1.RawValue {
		var all []byte
		for _, one := range v {
			all = append(all, mustMarshal(g.t, one)...)
		}
		return asn1.RawValue{Tag: asn1.TagSet, IsCompound: true, Bytes: all}
	}
	attribute := func(id asn1.ObjectIdentifier, values asn1.RawValue) asn1.RawValue {
		return asn1.RawValue{FullBytes: mustMarshal(g.t, struct {
			ID     asn1.ObjectIdentifier
			Values asn1.RawValue
		}{id, values})}
	}
	microsoft := asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 311, 2, 1, 14} // OpenSSL reads extensions from it, too
	switch second := []pkix.Extension{san()}; g.IntN(14) {
	case 0:
		return []asn1.RawValue{attribute(oidExtensionRequest, set(extensions)), attribute(oidExtensionRequest, set(second))}
	case 1:
		return []asn1.RawValue{attribute(oidExtensionRequest, set(extensions, second))}
	case 2:
		return []asn1.RawValue{attribute(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 7}, set("password")), attribute(oidExtensionRequest, set(extensions))}
	case 3:
		return []asn1.RawValue{attribute(microsoft, set(second)), attribute(oidExtensionRequest, set(extensions))}
	case 4:
		return []asn1.RawValue{attribute(microsoft, set(extensions))}
	}
	return []asn1.RawValue{attribute(oidExtensionRequest, set(extensions))}
}

// request is a request with these attributes, signed by its key.
func (g *generator) request() []byte {
	type request struct {
		Body      asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}
	key := g.keys[0] // the kubelet's kind
	if g.oneIn(10) {
		key = g.keys[g.IntN(len(g.keys))]
	}
	subject := pkix.Name{CommonName: openshift.NodeUserPrefix + "panda", Organization: []string{openshift.NodesGroup}}
	signed, err := x509.CreateCertificateRequest(crand.Reader, &x509.CertificateRequest{Subject: subject}, key)
	if err != nil {
		g.t.Fatal(err)
	}
	var r request
	var body struct {
		Version    int
		Subject    asn1.RawValue
		PublicKey  asn1.RawValue
		Attributes []asn1.RawValue `asn1:"tag:0,set"`
	}
	if _, err := asn1.Unmarshal(signed, &r); err != nil {
		g.t.Fatal(err)
	}
	if _, err := asn1.Unmarshal(r.Body.FullBytes, &body); err != nil {
		g.t.Fatal(err)
	}
	body.Attributes = g.attributes()
	tbs := mustMarshal(g.t, body)
	hash := crypto.SHA256
	switch curve, _ := key.Public().(*ecdsa.PublicKey); {
	case curve != nil && curve.Curve == elliptic.P384():
		hash = crypto.SHA384
	case curve != nil && curve.Curve == elliptic.P521():
		hash = crypto.SHA512
	}
	digest := tbs
	if _, ok := key.(ed25519.PrivateKey); ok {
		hash = 0
	} else {
		h := hash.New()
		h.Write(tbs)
		digest = h.Sum(nil)
	}
	signature, err := key.Sign(crand.Reader, digest, hash)
	if err != nil {
		g.t.Fatal(err)
	}
	if g.oneIn(25) {
		signature[len(signature)-1] ^= 1
	}
	r.Body, r.Signature = asn1.RawValue{FullBytes: tbs}, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}
	return mustMarshal(g.t, r)
}

var (
	extensionOfOpenSSL = regexp.MustCompile(`(?m)^ {16}(X509v3 [^:\n]+|[\d.]+):`)
	namesOfOpenSSL     = regexp.MustCompile(`(?m)^ {16}X509v3 Subject Alternative Name:.*\n {20}(.*)$`)
)

// TestGeneratedAsOpenSSLReads: of requests at random, what the rules admit has for OpenSSL a good signature, one
// extension, and in it the same names and addresses and no other name.
func TestGeneratedAsOpenSSLReads(t *testing.T) {
	program, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("not compared: openssl is not installed")
	}
	count := 400
	if testing.Short() || !sample.Whole() {
		count = 80
	}
	g := &generator{Rand: rand.New(rand.NewPCG(33, 1)), t: t, keys: []crypto.Signer{ecKey(t)}}
	for _, curve := range []elliptic.Curve{elliptic.P384(), elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, crand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		g.keys = append(g.keys, key)
	}
	for _, bits := range []int{2048, 3072} {
		key, err := rsa.GenerateKey(crand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		g.keys = append(g.keys, key)
	}
	_, edwards, err := ed25519.GenerateKey(crand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	g.keys = append(g.keys, edwards)
	admitted := map[string]int{}
	for i := range count {
		raw := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: g.request()})
		r := ask(t, Serving, "panda", func(c *certificatesv1.CertificateSigningRequest) { c.Spec.Request = raw })
		refused := refusedBy(SignerRules(r))
		run := exec.CommandContext(t.Context(), program, "req", "-noout", "-verify", "-text", "-nameopt", "RFC2253,sep_comma_plus")
		run.Stdin = strings.NewReader(string(raw))
		out, err := run.CombinedOutput()
		if len(refused) > 0 {
			continue
		}
		text := string(out)
		extensions := extensionOfOpenSSL.FindAllStringSubmatch(text, -1)
		names := namesOfOpenSSL.FindStringSubmatch(text)
		switch {
		case err != nil || !strings.Contains(text, "verify OK"):
			t.Errorf("request %d is admitted, OpenSSL: %v\n%s", i, err, text)
		case len(extensions) != 1 || names == nil || strings.Count(text, "Requested Extensions:") != 1:
			t.Errorf("request %d is admitted, OpenSSL reads the extensions %q\n%s", i, extensions, text)
		case !slices.Equal(slices.Sorted(strings.SplitSeq(names[1], ", ")), ours(t, r)):
			t.Errorf("request %d is admitted with %q, OpenSSL reads %q", i, ours(t, r), names[1])
		}
		for _, algorithm := range []string{"P-256", "P-384", "P-521", "RSA", "rsaEncryption", "ED25519"} {
			if strings.Contains(text, "CURVE: "+algorithm) || strings.Contains(text, "Algorithm: "+algorithm) {
				admitted[algorithm]++
			}
		}
		admitted["all"]++
	}
	if admitted["all"] != admitted["P-256"] {
		t.Errorf("a key was admitted that no kubelet makes: %v", admitted)
	}
	if admitted["all"] < count/20 || admitted["all"] > count*9/10 {
		t.Errorf("%d of %d were admitted: %v", admitted["all"], count, admitted)
	}
	t.Logf("%d of %d were admitted: %v", admitted["all"], count, admitted)
}

// ours are the names that the rules read, as OpenSSL prints them.
func ours(t *testing.T, r Request) []string {
	var all []string
	for _, name := range r.DNSNames {
		all = append(all, "DNS:"+name)
	}
	for _, text := range r.IPs {
		ip, err := netip.ParseAddr(text)
		if err != nil {
			t.Errorf("address %q: %v", text, err)
			continue
		}
		if ip.Is4() {
			all = append(all, "IP Address:"+text)
			continue
		}
		var parts []string
		for i := range 8 {
			raw := ip.As16()
			parts = append(parts, fmt.Sprintf("%X", int(raw[2*i])<<8|int(raw[2*i+1])))
		}
		all = append(all, "IP Address:"+strings.Join(parts, ":"))
	}
	slices.Sort(all)
	return append(all, append(r.Emails, r.URIs...)...)
}
