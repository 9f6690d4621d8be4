package approver

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
)

// authority signs the certificates of kubelets.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key := csrtest.Key()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kube-csr-signer"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: csrtest.Noon.Add(-100 * time.Hour), NotAfter: csrtest.Noon.Add(100 * time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))}
}

// kubelet serves a certificate on an address of this machine, whatever is dialed.
type kubelet struct {
	address string
	dialed  []string
}

func (k *kubelet) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	k.dialed = append(k.dialed, address)
	return (&net.Dialer{}).DialContext(ctx, network, k.address)
}

func serve(t *testing.T, a *authority, template *x509.Certificate) *kubelet {
	t.Helper()
	key := csrtest.Key()
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).Handshake()
			_ = c.Close()
		}
	}()
	return &kubelet{address: l.Addr().String()}
}

// TestRenewal holds the renewals to the cases of the machine approver
// (openshift/cluster-machine-approver@a9edd695:pkg/controller/csr_check_test.go
// TestAuthorizeServingRenewal, TestGetServingCert) and to the inventory's addresses. Without
// the renewal the request is refused: another key was approved for the host within the hour.
func TestRenewal(t *testing.T) {
	tests := []struct {
		name   string
		serves func(*x509.Certificate)
		asks   func(*csrtest.Request)
		ca     bool // another CA signed what is served
		want   bool
	}{
		{name: "all good", want: true},
		{name: "expired", serves: func(c *x509.Certificate) { c.NotAfter = csrtest.Noon.Add(-time.Minute) }},
		{name: "not yet valid", serves: func(c *x509.Certificate) { c.NotBefore = csrtest.Noon.Add(time.Minute) }},
		{name: "SAN list differs", serves: func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.ParseIP("192.0.2.99")} }},
		{name: "a name more", serves: func(c *x509.Certificate) { c.DNSNames = append(c.DNSNames, "koala.example") }},
		{name: "unknown certificate", ca: true},
		{name: "Unexpected CN", serves: func(c *x509.Certificate) { c.Subject.CommonName = "system:node:otter" }},
		{name: "not of the node", serves: func(c *x509.Certificate) { c.DNSNames = []string{"otter"} }},
		{name: "client certificate only", serves: func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth} }},
		{name: "the same as served, and not the inventory's", serves: func(c *x509.Certificate) { c.IPAddresses = append(c.IPAddresses, net.ParseIP("192.0.2.5")) },
			asks: func(r *csrtest.Request) {
				r.Template.IPAddresses = append(r.Template.IPAddresses, net.ParseIP("192.0.2.5"))
			}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			known := newAuthority(t)
			by := known
			if tt.ca {
				by = newAuthority(t)
			}
			template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "system:node:koala", Organization: []string{"system:nodes"}},
				DNSNames: []string{"koala"}, IPAddresses: []net.IP{net.ParseIP("192.0.2.22")}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
				KeyUsage: x509.KeyUsageDigitalSignature, NotBefore: csrtest.Noon.Add(-time.Hour), NotAfter: csrtest.Noon.Add(time.Hour)}
			if tt.serves != nil {
				tt.serves(template)
			}
			k := serve(t, by, template)
			s := newServer(t)
			s.put("/api/v1/namespaces/openshift-config-managed/configmaps/csr-controller-ca", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "csr-controller-ca", "namespace": "openshift-config-managed"}, "data": map[string]any{kubeletCAKey: known.pem}})
			r := csrtest.Serving("koala", "192.0.2.22")
			if tt.asks != nil {
				tt.asks(r)
			}
			s.file(t, csrtest.Serving("koala", "192.0.2.22").Named("before").Issued("NodeCSRApprove").At(csrtest.Noon.Add(-30*time.Minute)), r)
			a, log := replica(t, s, func(c *Config) { c.Dial = k })
			must(t, a)
			if got := s.approvedBy("csr-s-koala") == csr.Reason; got != tt.want {
				t.Errorf("approved %t, want %t\n%s", got, tt.want, log)
			}
			if len(k.dialed) != 1 && tt.name != "the same as served, and not the inventory's" || len(k.dialed) > 0 && k.dialed[0] != "192.0.2.22:10250" {
				t.Errorf("dialed %v, want the inventory's address", k.dialed)
			}
			if tt.want && !strings.Contains(log.String(), "reason=renewal") {
				t.Errorf("the log does not say that it is a renewal:\n%s", log)
			}
		})
	}
}

// TestRenewalUnknown: no CA, no kubelet that answers, or renewals off.
func TestRenewalUnknown(t *testing.T) {
	known := newAuthority(t)
	for _, tt := range []struct {
		name string
		edit func(*server, *Config)
	}{
		{"no CA", func(_ *server, c *Config) { c.Dial = &kubelet{address: "127.0.0.1:1"} }},
		{"no kubelet", func(s *server, c *Config) {
			c.Dial = &kubelet{address: "127.0.0.1:1"}
			s.put("/api/v1/namespaces/openshift-config-managed/configmaps/csr-controller-ca", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": map[string]any{"name": "csr-controller-ca", "namespace": "openshift-config-managed"}, "data": map[string]any{kubeletCAKey: known.pem}})
		}},
		{"off", func(_ *server, c *Config) { c.Dial, c.Approve.Renewal = &kubelet{address: "127.0.0.1:1"}, false }},
	} {
		s := newServer(t)
		s.file(t, csrtest.Serving("koala", "192.0.2.22").Named("before").Issued("NodeCSRApprove").At(csrtest.Noon.Add(-30*time.Minute)), csrtest.Serving("koala", "192.0.2.22"))
		a, log := replica(t, s, func(c *Config) { tt.edit(s, c) })
		must(t, a)
		if s.approvals() != 0 {
			t.Errorf("%s: approved\n%s", tt.name, log)
		}
	}
}

func TestKindsOff(t *testing.T) {
	s := newServer(t)
	s.file(t, csrtest.Client("panda"), csrtest.Serving("koala", "192.0.2.22"))
	a, _ := replica(t, s, func(c *Config) { c.Approve = Kinds{Serving: true} })
	must(t, a)
	if s.approvedBy("csr-panda") != "" || s.approvedBy("csr-s-koala") == "" {
		t.Errorf("client %q, serving %q", s.approvedBy("csr-panda"), s.approvedBy("csr-s-koala"))
	}
}
