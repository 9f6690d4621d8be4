package pointers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/certs"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func issue(t *testing.T, cn string, by *pair, names ...string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: cn}, DNSNames: names,
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(4e9, 0), BasicConstraintsValid: true, IsCA: by == nil, KeyUsage: x509.KeyUsageCertSign}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return pair{cert, key}
}

func pointer(url string, ca *pair) string {
	security := ""
	if ca != nil {
		text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
		security = fmt.Sprintf(`,"security":{"tls":{"certificateAuthorities":[{"source":"data:text/plain;charset=utf-8;base64,%s"}]}}`, base64.StdEncoding.EncodeToString(text))
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":%q}]}%s}}`, url, security))
}

func secret(name, userData string) evidence.Object {
	return evidence.Object{Resource: evidence.Secrets, Namespace: "openshift-machine-api", Name: name,
		Content: map[string]any{"data": map[string]any{"userData": userData}}}
}

func TestLook(t *testing.T) {
	now, old := issue(t, "root-ca", nil), issue(t, "root-ca", nil)
	newest := issue(t, "machine-config-server-ca", nil)
	leaf, next := issue(t, "mcs", &now, "api-int.a.example.com"), issue(t, "mcs", &newest, "api-int.a.example.com")
	one := certs.Serving{Chain: []*x509.Certificate{leaf.cert}, Kept: []*x509.Certificate{leaf.cert}}
	waits := certs.Serving{Chain: []*x509.Certificate{leaf.cert}, Kept: []*x509.Certificate{next.cert}}
	const good = "https://api-int.a.example.com:22623/config/worker"
	tests := []struct {
		name                string
		userData            string
		serving             certs.Serving
		outdated, uncovered bool
		says                string // of the error
	}{
		{"fits", pointer(good, &now), one, false, false, ""},
		{"another key under the same name", pointer(good, &old), one, true, false, ""},
		{"fits what the server shows after a restart", pointer(good, &newest), waits, false, false, ""},
		{"fits what it shows until then", pointer(good, &now), waits, false, false, ""},
		{"no authority of its own", pointer(good, nil), one, false, false, ""},
		{"another host", pointer("https://api.a.example.com:22623/config/worker", &now), one, false, true, ""},
		{"both wrong", pointer("https://api.a.example.com:22623/config/worker", &old), one, true, true, ""},
		{"leads to a web server", pointer("https://files.example.com/worker.ign", &old), one, false, false, ""},
		{"elided", "[redacted by the collector, 1704 bytes]", one, false, false, "not read"},
		{"metadata only", "", one, false, false, "not read"},
		{"no base64", "%%%", one, false, false, "decode userData"},
		{"no JSON", base64.StdEncoding.EncodeToString([]byte("#cloud-config")), one, false, false, "Ignition"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := pointers{givers: map[string][]secretUser{"worker-user-data": {{"a-worker", "userData", true}, {"b-worker", "userData", false}}}}
			err := f.compare(secret("worker-user-data", tt.userData), tt.serving, nil)
			if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Fatalf("error %v, want one that says %q", err, tt.says)
			}
			if got := len(f.outdated) > 0; got != tt.outdated {
				t.Errorf("outdated %t, want %t", got, tt.outdated)
			}
			if got := len(f.uncovered) > 0; got != tt.uncovered {
				t.Errorf("uncovered %t, want %t", got, tt.uncovered)
			}
			if got := len(f.refusing) == 1 && len(f.sets) == 1; got != (tt.outdated || tt.uncovered) {
				t.Errorf("refusing %q of %q", f.refusing, f.sets)
			}
		})
	}
}

// TestUnknown: what one pointer leaves open does not hide what another one shows.
func TestUnknown(t *testing.T) {
	f := pointers{outdated: []string{"worker-user-data"}}
	p := f.fields(nil, unread("worker-user-data-managed"))
	if _, err := p.Outdated.Get(); err != nil {
		t.Error("an outdated pointer was seen, and is called unknown")
	}
	_, err := p.Uncovered.Get()
	if u, ok := evidence.AsUnavailable(err); !ok || u.Supply.Kind != evidence.SupplySecrets {
		t.Errorf("the address of one was not read: %v", err)
	}
}

// TestServingUnknown: without the server's certificate nothing is compared.
func TestServingUnknown(t *testing.T) {
	var f pointers
	dark := &evidence.Unavailable{Need: evidence.Objects(evidence.MCSProbes, ""), Why: evidence.Unreachable}
	ca := issue(t, "root-ca", nil)
	if err := f.compare(secret("a", pointer("https://a/config/worker", &ca)), certs.Serving{}, dark); err == nil || len(f.outdated) > 0 {
		t.Errorf("error %v, outdated %v", err, f.outdated)
	}
}

func TestUserDataOf(t *testing.T) {
	set := func(field string) evidence.Object {
		return evidence.Object{Content: map[string]any{"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"providerSpec": map[string]any{
			"value": map[string]any{field: map[string]any{"name": "worker-user-data"}}}}}}}}
	}
	for field, want := range map[string]string{"userData": "worker-user-data", "userDataSecret": "worker-user-data", "image": ""} {
		if got, by := userDataOf(set(field)); got != want || want != "" && by != field {
			t.Errorf("%s: %q in %q, want %q", field, got, by, want)
		}
	}
}

// FuzzParse: foreign userData is read without a panic.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"ignition":{"config":{"merge":[{"source":"https://[::1]:22623/config/worker"}]},"security":{"tls":{"certificateAuthorities":[{"source":"data:,QQ=="}]}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, err := parse(base64.StdEncoding.EncodeToString(raw))
		if err == nil && len(c.Names) != len(c.Authorities) {
			t.Error("authorities without names")
		}
	})
}
