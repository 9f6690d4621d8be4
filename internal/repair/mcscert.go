package repair

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// mcsValidity is how long the certificate of the machine config server and its CA are valid
// (openshift/oc: pkg/cli/admin/ocpcertificates/regeneratemco/command.go).
const mcsValidity = 10 * 365 * 24 * time.Hour

// infrastructureReads are the fields that the names of the certificate come from.
func infrastructureReads() []string {
	return []string{"/status/apiServerInternalURI", "/status/platformStatus"}
}

// serverNames are the names and addresses that hosts ask the machine config server by: the
// host of api-int, and the internal addresses of the platform
// (rotatecerts.go getServerIPsFromInfra).
func serverNames(infra Object) ([]string, error) {
	u, err := url.Parse(stringAt(infra, "status", "apiServerInternalURI"))
	if err != nil || u.Hostname() == "" {
		return nil, errors.New("the object Infrastructure has no apiServerInternalURI")
	}
	list := []string{u.Hostname()}
	for _, platform := range []string{"baremetal", "ovirt", "openstack", "vsphere", "nutanix"} {
		v, _ := fieldAt(infra, pointer("status", "platformStatus", platform, "apiServerInternalIPs"))
		ips, _ := v.([]any)
		for _, ip := range ips {
			if s, _ := ip.(string); s != "" {
				list = append(list, s)
			}
		}
		if one := stringAt(infra, "status", "platformStatus", platform, "apiServerInternalIP"); one != "" && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list, nil
}

// pair is a certificate with its key, in PEM.
type pair struct{ cert, key string }

// checkServer refuses a pair with which a host would not be served: another key, not valid
// now, a name missing, or signed by a CA that the pointers do not trust.
func (p pair) checkServer(names []string, bundle string, now time.Time) error {
	c, err := tls.X509KeyPair([]byte(p.cert), []byte(p.key))
	if err != nil {
		return errors.New("the certificate and the key are not a pair")
	}
	leaf, err := x509.ParseCertificate(c.Certificate[0])
	if err != nil {
		return errors.New("the certificate cannot be parsed")
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(bundle)) {
		return errors.New("the bundle of the CA has no certificate")
	}
	between := x509.NewCertPool()
	for _, der := range c.Certificate[1:] {
		if one, err := x509.ParseCertificate(der); err == nil {
			between.AddCert(one)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}); err != nil {
		return fmt.Errorf("it is not accepted with the CA of the pointers: %w", err)
	}
	for _, n := range names {
		if err := leaf.VerifyHostname(n); err != nil {
			return fmt.Errorf("it is not for %s", n)
		}
	}
	return nil
}

// newKey makes the private key of a certificate.
func newKey() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}

// newCA makes a self-signed CA.
func newCA(newKey func() (*rsa.PrivateKey, error), now time.Time) (pair, error) {
	key, err := newKey()
	if err != nil {
		return pair{}, err
	}
	id := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: fmt.Sprintf("%s_%s@%d", openshift.MachineConfigNamespace, openshift.MCSCA, now.Unix())},
		NotBefore: now.Add(-time.Second), NotAfter: now.Add(mcsValidity), SubjectKeyId: id[:20],
		KeyUsage: x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	return signed(template, template, key, key)
}

// issue makes a serving certificate that the CA signs. The addresses are in it as names, too,
// as the product writes them.
func (p pair) issue(newKey func() (*rsa.PrivateKey, error), names []string, now time.Time) (pair, error) {
	c, err := tls.X509KeyPair([]byte(p.cert), []byte(p.key))
	if err != nil {
		return pair{}, errors.New("the CA and its key are not a pair")
	}
	ca, err := x509.ParseCertificate(c.Certificate[0])
	switch {
	case err != nil:
		return pair{}, errors.New("the CA cannot be parsed")
	case !ca.IsCA || now.Before(ca.NotBefore) || now.After(ca.NotAfter):
		return pair{}, errors.New("the CA certificate is missing or not valid now")
	}
	key, err := newKey()
	if err != nil {
		return pair{}, err
	}
	end := now.Add(mcsValidity)
	if end.After(ca.NotAfter) {
		end = ca.NotAfter
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-time.Second), NotAfter: end, DNSNames: names, AuthorityKeyId: ca.SubjectKeyId,
		KeyUsage: x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		}
	}
	leaf, err := signed(template, ca, key, c.PrivateKey)
	leaf.cert += strings.TrimSpace(p.cert) + "\n"
	return leaf, err
}

func signed(template, parent *x509.Certificate, key *rsa.PrivateKey, by any) (pair, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return pair{}, fmt.Errorf("make serial number: %w", err)
	}
	template.SerialNumber = serial
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		return pair{}, fmt.Errorf("sign certificate: %w", err)
	}
	raw := x509.MarshalPKCS1PrivateKey(key)
	return pair{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: raw})),
	}, nil
}
