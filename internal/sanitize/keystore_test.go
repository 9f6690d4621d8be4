package sanitize

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"math/big"
	mathrand "math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestBinaryKeys holds that keys without PEM around them are hidden, in the spellings
// of base64 that ConfigMaps, logs and Ignition have, and that what is public stays.
func TestBinaryKeys(t *testing.T) {
	must := func(raw []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	small, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a"}}
	unhex := func(v string) []byte { return must(hex.DecodeString(v)) }
	secret := map[string][]byte{
		"PKCS#1":          x509.MarshalPKCS1PrivateKey(small),
		"PKCS#8 of RSA":   must(x509.MarshalPKCS8PrivateKey(small)),
		"PKCS#8 of EC":    must(x509.MarshalPKCS8PrivateKey(curve)),
		"PKCS#8 of ed":    must(x509.MarshalPKCS8PrivateKey(edwards)),
		"SEC 1":           must(x509.MarshalECPrivateKey(curve)),
		"PKCS#8, PBES2":   append(unhex("308204ea301c06092a864886f70d01050d300f"), bytes.Repeat([]byte{7}, 60)...),
		"PKCS#12":         append(unhex("30820a4102010330820a0706092a864886f70d010701a08209f8"), bytes.Repeat([]byte{9}, 60)...),
		"a store of Java": append(unhex("feedfeed0000000200000001"), bytes.Repeat([]byte{5}, 60)...),
	}
	public := map[string][]byte{
		"certificate":         must(x509.CreateCertificate(rand.Reader, template, template, &curve.PublicKey, curve)),
		"request":             must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, curve)),
		"public key":          must(x509.MarshalPKIXPublicKey(&curve.PublicKey)),
		"public key of RSA":   must(x509.MarshalPKIXPublicKey(&small.PublicKey)),
		"public key, PKCS#1":  x509.MarshalPKCS1PublicKey(&small.PublicKey),
		"gzip of plain text":  zipped(t, strings.Repeat("nothing to see here, move along. ", 20)),
		"a text":              []byte(strings.Repeat("nothing to see here, move along. ", 4)),
		"bytes of a protobuf": bytes.Repeat([]byte{0x0a, 0x02, 0x30, 0x01, 0x02, 0x01}, 20),
	}
	s := sanitizer(t, "salt")
	spell := func(raw []byte) map[string]string {
		text := base64.StdEncoding.EncodeToString(raw)
		var wrapped strings.Builder
		for i := 0; i < len(text); i += 64 {
			wrapped.WriteString(text[i:min(i+64, len(text))] + "\n")
		}
		return map[string]string{
			"plain": text, "in a sentence": "loaded " + text + " from disk", "behind a path": "file:/etc/keys/" + text,
			"of the URL's alphabet": base64.URLEncoding.EncodeToString(raw), "wrapped": "keystore: |\n" + wrapped.String(),
		}
	}
	for name, raw := range secret {
		for how, text := range spell(raw) {
			core := base64.StdEncoding.EncodeToString(raw)[20:50]
			if how == "of the URL's alphabet" {
				core = text[20:50]
			}
			if out := s.Text(text); strings.Contains(out, core) {
				t.Errorf("%s, %s, is not hidden: %.90s", name, how, out)
			}
		}
	}
	for name, raw := range public {
		for how, text := range spell(raw) {
			if out := s.Text(text); out != text {
				t.Errorf("%s, %s, is hidden: %.90s", name, how, out)
			}
		}
	}
}

// TestPublicKeyOverLines holds that public keys stay whatever their numbers are: the first
// line of one in 20 is less mixed than base64 is elsewhere.
func TestPublicKeyOverLines(t *testing.T) {
	r := mathrand.NewChaCha8([32]byte{7})
	s := sanitizer(t, "salt")
	modulus := make([]byte, 256)
	for n := range 400 {
		if _, err := r.Read(modulus); err != nil {
			t.Fatal(err)
		}
		modulus[0] |= 0x80
		key := &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: 65537}
		raw, err := x509.MarshalPKIXPublicKey(key)
		if n%2 == 1 {
			raw, err = x509.MarshalPKCS1PublicKey(key), nil
		}
		if err != nil {
			t.Fatal(err)
		}
		text := base64.StdEncoding.EncodeToString(raw)
		for _, width := range []int{64, 70, 76} {
			var b strings.Builder
			b.WriteString("keystore: |\n")
			for line := range slices.Chunk([]byte(text), width) {
				b.WriteString("  " + string(line) + "\n")
			}
			if out := s.Text(b.String()); out != b.String() {
				t.Fatalf("key %d in lines of %d is hidden:\n%s\n%s", n, width, b.String(), out)
			}
		}
	}
}

// TestGzipInBase64 holds that secrets in gzip in base64 are hidden, as cloud-init's
// user data and Ignition's compressed sources carry them.
func TestGzipInBase64(t *testing.T) {
	s := sanitizer(t, "salt")
	for _, text := range []string{
		`{"auths":{"quay.io":{"auth":"b3BlbnNoaWZ0OnBsYW50ZWQtcHVsbC1zZWNyZXQ="}}}`,
		"#cloud-config\npassword: planted-calvin-1\n" + strings.Repeat("x: y\n", 50),
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAplanted\n-----END RSA PRIVATE KEY-----\n",
	} {
		packed := base64.StdEncoding.EncodeToString(zipped(t, text))
		if out := s.Text("content: " + packed); strings.Contains(out, packed[10:40]) {
			t.Errorf("not hidden: %.60q as %.80s", text, out)
		}
	}
}

// TestGzipIsBounded holds that what is too much to be looked at is hidden unseen, and
// that the second time hides no more.
func TestGzipIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("much of one thing after the other")
	}
	plain := func(seed, n int) string {
		var b strings.Builder
		r := mathrand.New(mathrand.NewPCG(1, uint64(seed)))
		for b.Len() < n {
			b.WriteString(strconv.FormatUint(uint64(r.Uint32()), 10) + " ")
		}
		return base64.StdEncoding.EncodeToString(zipped(t, b.String()))
	}
	blank := base64.StdEncoding.EncodeToString(zipped(t, strings.Repeat("nothing ", 1<<17)))
	late := base64.StdEncoding.EncodeToString(zipped(t, strings.Repeat("nothing ", 1<<17)+`{"auths":{"q":{"auth":"aHVudGVyMg=="}}}`))
	var many []string
	for i := range 7 {
		many = append(many, plain(i, maxInflated/5))
	}
	for name, c := range map[string]struct {
		text    string
		hidden  int
		visible string
	}{
		"little":           {plain(1, 1000), 0, plain(1, 1000)},
		"a bomb":           {"x: " + blank + " end", 1, "x: "},
		"behind the limit": {late, 1, ""},
		"many bombs":       {strings.Repeat(blank+" ", 13), 13, ""},
		"many":             {strings.Join(many, " "), 3, many[3]},
	} {
		once := sanitizer(t, "a").Text(c.text)
		if n := strings.Count(once, redactedPrefix); n != c.hidden || !strings.Contains(once, c.visible) {
			t.Errorf("%s: %d are hidden, not %d", name, n, c.hidden)
		}
		if twice := sanitizer(t, "b").Text(once); twice != once {
			t.Errorf("%s: sanitising twice changes it", name)
		}
	}
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
