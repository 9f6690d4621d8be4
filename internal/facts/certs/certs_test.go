package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"
)

type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate; a nil parent makes it a CA of its own.
func issue(t *testing.T, cn string, parent *issued, names []string, ips ...string) issued {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: cn}, DNSNames: names,
		NotBefore: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2036, 1, 1, 0, 0, 0, 0, time.UTC),
		BasicConstraintsValid: true, IsCA: len(names) == 0 && len(ips) == 0, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	for _, ip := range ips {
		template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
	}
	by, byKey := template, key
	if parent != nil {
		by, byKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by, &key.PublicKey, byKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return issued{cert, key}
}

func TestChainSignedBy(t *testing.T) {
	root, other := issue(t, "root-ca", nil, nil), issue(t, "root-ca", nil, nil) // the same name, another key
	middle := issue(t, "middle", &root, nil)
	leaf := issue(t, "mcs", &root, []string{"api-int.lark.example.com"})
	deep := issue(t, "mcs", &middle, []string{"api-int.lark.example.com"})
	list := func(c ...issued) []*x509.Certificate {
		var out []*x509.Certificate
		for _, i := range c {
			out = append(out, i.cert)
		}
		return out
	}
	tests := []struct {
		name               string
		chain, authorities []*x509.Certificate
		want               bool
	}{
		{"by its authority", list(leaf), list(root), true},
		{"by one of several", list(leaf), list(other, root), true},
		{"by an authority of the same name", list(leaf), list(other), false},
		{"through an intermediate that came with it", list(deep, middle), list(root), true},
		{"intermediate missing", list(deep), list(root), false},
		{"intermediate is trusted", list(deep), list(middle), true},
		{"the authority itself is served", list(root), list(root), true},
		{"no chain", nil, list(root), false},
		{"no authority", list(leaf), nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ChainSignedBy(tt.chain, tt.authorities); got != tt.want {
				t.Errorf("ChainSignedBy = %t, want %t", got, tt.want)
			}
		})
	}
}

func TestCoversAndNames(t *testing.T) {
	leaf := issue(t, "api-int.by-common-name.example.com", nil, []string{"api-int.lark.example.com"}, "192.0.2.5", "2001:db8::5").cert
	for host, want := range map[string]bool{
		"api-int.lark.example.com": true, "API-INT.lark.example.com": true, "api.lark.example.com": false,
		"192.0.2.5": true, "192.0.2.6": false, "2001:db8::5": true, "api-int.by-common-name.example.com": false,
	} {
		if got, known := Covers(leaf, host); got != want || !known {
			t.Errorf("Covers(%s) = %t, want %t", host, got, want)
		}
	}
	if got, want := Names(leaf), []string{"api-int.lark.example.com", "192.0.2.5", "2001:db8::5"}; !slices.Equal(got, want) {
		t.Errorf("Names = %v, want %v", got, want)
	}
}

func TestParseBundle(t *testing.T) {
	root := issue(t, "root-ca", nil, nil)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.cert.Raw})
	other := pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: []byte{1}})
	if got, err := ParseBundle(slices.Concat(block, other, []byte("# a comment\n"), block)); err != nil || len(got) != 2 {
		t.Errorf("two certificates with other text between: %d, %v", len(got), err)
	}
	for name, text := range map[string][]byte{
		"empty": nil, "no certificate": other, "damaged": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte{0x30, 1}}),
	} {
		if _, err := ParseBundle(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"https://api-int.lark.example.com:6443": "api-int.lark.example.com", "https://[2001:db8::5]:6443": "2001:db8::5",
		"https://api-int.lark.example.com/": "api-int.lark.example.com", "api-int:6443": "api-int", "": "",
	} {
		if got := hostOf(url); got != want {
			t.Errorf("hostOf(%q) = %q, want %q", url, got, want)
		}
	}
}
