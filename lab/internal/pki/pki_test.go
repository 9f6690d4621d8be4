package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestCluster: every certificate is signed by its authority and good for its use, and
// the lives are the product's where a diagnosis looks at them.
func TestCluster(t *testing.T) {
	made, err := NewCluster(Hosts{API: []string{"127.0.0.5", "api.lab.example"}, MCS: []string{"127.0.0.5", "localhost"}, Etcd: []string{"127.0.0.7"}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "pki.json")
	if err := made.Save(path); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path) // what a lab that continues has
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		leaf, by Pair
		use      x509.ExtKeyUsage
		dialled  string
		life     time.Duration
	}{
		{"MCS", c.MCS, c.Root, x509.ExtKeyUsageServerAuth, "127.0.0.5", TenYears},
		{"KubeAPI", c.KubeAPI, c.KubeAPISigner, x509.ExtKeyUsageServerAuth, "api.lab.example", OneYear},
		{"NodeBootstrapper", c.NodeBootstrapper, c.KubeletBootstrap, x509.ExtKeyUsageClientAuth, "", TenYears},
		{"Admin", c.Admin, c.AdminSigner, x509.ExtKeyUsageClientAuth, "", TenYears},
		{"ToKubelet", c.ToKubelet, c.ToKubeletSigner, x509.ExtKeyUsageClientAuth, "", OneYear},
		{"Etcd serves", c.Etcd, c.EtcdSigner, x509.ExtKeyUsageServerAuth, "127.0.0.7", 3 * OneYear},
		{"Etcd asks", c.Etcd, c.EtcdSigner, x509.ExtKeyUsageClientAuth, "", 3 * OneYear},
	} {
		roots := x509.NewCertPool()
		roots.AddCert(tt.by.cert)
		_, err := tt.leaf.cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: tt.dialled, KeyUsages: []x509.ExtKeyUsage{tt.use}})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if life := tt.leaf.NotAfter().Sub(tt.leaf.NotBefore()); life != tt.life {
			t.Errorf("%s lives %v, want %v", tt.name, life, tt.life)
		}
	}
	if life := c.KubeletSigner.NotAfter().Sub(c.KubeletSigner.NotBefore()); life != OneDay {
		t.Errorf("the first kubelet signer lives %v", life)
	}
	// An address is a DNS name as well, as the installer writes it for this server only.
	if !slices.Contains(c.MCS.cert.DNSNames, "127.0.0.5") || slices.Contains(c.Etcd.cert.DNSNames, "127.0.0.7") {
		t.Errorf("DNS names: MCS %v, etcd %v", c.MCS.cert.DNSNames, c.Etcd.cert.DNSNames)
	}
	if !c.Admin.cert.Equal(made.Admin.cert) || string(c.Admin.Key) != string(made.Admin.Key) {
		t.Error("what was loaded is not what was saved")
	}
	bundle, n := c.ClientCA(), 0
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		n++
	}
	if n != 5 {
		t.Errorf("%d authorities of clients", n)
	}
}

// TestTimes: certificates that have expired, or begin in the future, are what troubles
// are made of.
func TestTimes(t *testing.T) {
	ca, err := NewCA(Name{CN: "signer"}, OneYear)
	if err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(-time.Hour).Truncate(time.Second)
	past, err := ca.ClientUntil(Name{CN: "system:node:a", O: []string{"system:nodes"}}, end)
	if err != nil || !past.NotAfter().Equal(end) || !past.NotBefore().Before(end) {
		t.Errorf("ends %v, %v", past.NotAfter(), err)
	}
	kubelet, err := ca.KubeletUntil(Name{CN: "system:node:a", O: []string{"system:nodes"}}, end)
	if err != nil || !kubelet.NotAfter().Equal(end) || !kubelet.NotBefore().Before(end) {
		t.Errorf("ends %v, %v", kubelet.NotAfter(), err)
	}
	if _, err := tls.X509KeyPair(kubelet.Cert, kubelet.Key); err != nil || kubelet.cert.CheckSignatureFrom(ca.cert) != nil ||
		kubelet.cert.PublicKeyAlgorithm != x509.ECDSA {
		t.Errorf("a kubelet's pair: %v, %v", err, kubelet.cert.PublicKeyAlgorithm)
	}
	server, err := ca.Server(Name{CN: "mcs"}, []string{"127.0.0.5"}, OneYear)
	if err != nil {
		t.Fatal(err)
	}
	from, to := time.Now().Add(time.Hour).Truncate(time.Second), time.Now().Add(2*time.Hour).Truncate(time.Second)
	again, err := ca.Again(server, from, to)
	if err != nil {
		t.Fatal(err)
	}
	if !again.NotBefore().Equal(from) || !again.NotAfter().Equal(to) || !slices.Equal(again.cert.DNSNames, server.cert.DNSNames) || again.cert.CheckSignatureFrom(ca.cert) != nil {
		t.Errorf("again %v to %v, names %v", again.NotBefore(), again.NotAfter(), again.cert.DNSNames)
	}
	if string(again.Key) == string(server.Key) {
		t.Error("the key is the old one")
	}
}

func TestParseErrors(t *testing.T) {
	ca, err := NewCA(Name{CN: "a"}, OneDay)
	if err != nil {
		t.Fatal(err)
	}
	wrong := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	for name, pair := range map[string][2][]byte{"nothing": {}, "no key": {ca.Cert, nil}, "no certificate": {wrong, ca.Key}, "no such key": {ca.Cert, wrong}} {
		if _, err := Parse(pair[0], pair[1]); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
