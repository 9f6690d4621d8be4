// Package pki makes the certificate authorities and certificates of a lab
// cluster, with the names and lives that the product's own have where a
// diagnosis looks at them. Nothing here is reused between two labs.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"
)

const (
	// TenYears is the life of the root CA, of the machine config server's
	// certificate and of the first masters' bootstrap certificate
	// (openshift/installer:pkg/asset/tls/tls.go ValidityTenYears).
	TenYears = 10 * 365 * 24 * time.Hour
	// OneDay is the life of the first kubelet signer of a new cluster
	// (openshift/installer:pkg/asset/tls/kubelet.go ValidityOneDay).
	OneDay = 24 * time.Hour
	// OneYear is the life of the other signers.
	OneYear = 365 * 24 * time.Hour
)

// Pair is a certificate with its key, in PEM.
type Pair struct {
	Cert, Key []byte

	cert *x509.Certificate
	key  crypto.Signer
}

// UnmarshalJSON reads a pair and parses it.
func (p *Pair) UnmarshalJSON(data []byte) error {
	var in struct{ Cert, Key []byte }
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	pair, err := Parse(in.Cert, in.Key)
	*p = pair
	return err
}

// Parse makes a pair of PEM that this package wrote.
func Parse(certPEM, keyPEM []byte) (Pair, error) {
	c, _ := pem.Decode(certPEM)
	k, _ := pem.Decode(keyPEM)
	if c == nil || k == nil {
		return Pair{}, errors.New("parse certificate and key: no PEM")
	}
	cert, err := x509.ParseCertificate(c.Bytes)
	if err != nil {
		return Pair{}, err
	}
	key, err := x509.ParsePKCS1PrivateKey(k.Bytes)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Cert: certPEM, Key: keyPEM, cert: cert, key: key}, nil
}

// Name is a subject.
type Name struct {
	CN string
	O  []string
	OU []string
}

// NewCA makes a self-signed authority that lives from one minute ago.
func NewCA(name Name, life time.Duration) (Pair, error) {
	template := &x509.Certificate{
		Subject:               subject(name),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	return Pair{}.sign(template, life)
}

// Client issues a client certificate.
func (ca Pair) Client(name Name, life time.Duration) (Pair, error) {
	return ca.sign(&x509.Certificate{
		Subject:     subject(name),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, life)
}

// ClientUntil issues a client certificate that began a month before it ends.
func (ca Pair) ClientUntil(name Name, end time.Time) (Pair, error) {
	const life = 30 * 24 * time.Hour
	return ca.sign(&x509.Certificate{
		Subject: subject(name), NotBefore: end.Add(-life),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, life)
}

// KubeletUntil is ClientUntil with a key as a kubelet makes one, which it keeps for its next request
// (kubernetes/kubernetes:pkg/kubelet/certificate/bootstrap/bootstrap.go LoadClientConfig, requestNodeCertificate).
func (ca Pair) KubeletUntil(name Name, end time.Time) (Pair, error) {
	p, err := ca.ClientUntil(name, end)
	if err != nil {
		return Pair{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, fmt.Errorf("make key of %s: %w", name.CN, err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode key of %s: %w", name.CN, err)
	}
	der, err := x509.CreateCertificate(rand.Reader, p.cert, ca.cert, key.Public(), ca.key)
	if err != nil {
		return Pair{}, fmt.Errorf("sign %s: %w", name.CN, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw}),
		cert: cert,
		key:  key,
	}, nil
}

// Server issues a serving certificate for names and addresses. An address is
// also given as a DNS name, as the installer does for the machine config
// server (openshift/installer:pkg/asset/tls/mcscertkey.go Generate).
func (ca Pair) Server(name Name, hosts []string, life time.Duration) (Pair, error) {
	template := &x509.Certificate{
		Subject:     subject(name),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    hosts,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	return ca.sign(template, life)
}

// Peer issues a certificate that is good for serving and for asking, as etcd's
// members use.
func (ca Pair) Peer(name Name, hosts []string, life time.Duration) (Pair, error) {
	template := &x509.Certificate{
		Subject:     subject(name),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, h)
	}
	return ca.sign(template, life)
}

// Again issues from with a new key and another time to live: a certificate of
// ca that is the same but for that.
func (ca Pair) Again(from Pair, notBefore, notAfter time.Time) (Pair, error) {
	t := &x509.Certificate{
		Subject: from.cert.Subject, KeyUsage: from.cert.KeyUsage, ExtKeyUsage: from.cert.ExtKeyUsage,
		DNSNames: from.cert.DNSNames, IPAddresses: from.cert.IPAddresses,
		BasicConstraintsValid: from.cert.BasicConstraintsValid, IsCA: from.cert.IsCA,
		NotBefore: notBefore,
	}
	return ca.sign(t, notAfter.Sub(notBefore))
}

// sign fills in what all certificates share and signs with ca, or with the new
// key itself where ca is empty. A certificate lives from one minute ago unless
// template says otherwise.
func (ca Pair) sign(template *x509.Certificate, life time.Duration) (Pair, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return Pair{}, fmt.Errorf("make key of %s: %w", template.Subject.CommonName, err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 62))
	if err != nil {
		return Pair{}, err
	}
	template.SerialNumber = serial
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Minute)
	}
	template.NotAfter = template.NotBefore.Add(life)
	parent, signer := template, crypto.Signer(key)
	if ca.cert != nil {
		parent, signer = ca.cert, ca.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return Pair{}, fmt.Errorf("sign %s: %w", template.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return Pair{}, err
	}
	return Pair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		cert: cert,
		key:  key,
	}, nil
}

// PublicKey returns the pair's public key in PEM, as an API server wants it to
// verify service account tokens.
func (p Pair) PublicKey() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.key.Public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// NotBefore says when the certificate begins.
func (p Pair) NotBefore() time.Time { return p.cert.NotBefore }

// NotAfter says when the certificate expires.
func (p Pair) NotAfter() time.Time { return p.cert.NotAfter }

func subject(n Name) pkix.Name {
	return pkix.Name{CommonName: n.CN, Organization: n.O, OrganizationalUnit: n.OU}
}
