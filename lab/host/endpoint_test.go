package host

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"
)

// authority signs certificates for a test.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, at time.Time) *authority {
	a := &authority{t: t}
	a.key = newKey(t)
	a.cert = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "test-ca"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, a.key, at)
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) sign(tmpl *x509.Certificate, key *ecdsa.PrivateKey, at time.Time) *x509.Certificate {
	a.t.Helper()
	tmpl.SerialNumber, tmpl.NotBefore, tmpl.NotAfter = big.NewInt(1), at.Add(-time.Hour), at.Add(time.Hour)
	parent := a.cert
	if parent == nil {
		parent = tmpl
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.t.Fatal(err)
	}
	return cert
}

func (a *authority) pair(tmpl *x509.Certificate, at time.Time) *tls.Certificate {
	key := newKey(a.t)
	return &tls.Certificate{Certificate: [][]byte{a.sign(tmpl, key, at).Raw}, PrivateKey: key}
}

func (a *authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

func TestEndpoint(t *testing.T) {
	k, client, _ := testKubelet(t)
	at := time.Now()
	k.h.now = time.Now
	k.h.state.KubeletPort = 0
	ca, stranger := newAuthority(t, at), newAuthority(t, at)
	if err := k.h.disk.write(kubeletCAPath, ca.pem(), 0o644); err != nil {
		t.Fatal(err)
	}
	client.PrependReactor("create", "subjectaccessreviews", func(a clienttesting.Action) (bool, runtime.Object, error) {
		r := a.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
		r.Status.Allowed = r.Spec.User == "system:kube-apiserver" && r.Spec.ResourceAttributes.Resource == "nodes"
		return true, r, nil
	})
	var serving atomic.Pointer[tls.Certificate]
	if err := k.listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.serveEndpoint(ctx, serving.Load) }()
	t.Cleanup(func() { cancel(); <-done })
	user := func(a *authority, name string) *tls.Certificate {
		return a.pair(&x509.Certificate{Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}, at)
	}
	get := func(path string, cert *tls.Certificate) (int, string, error) {
		roots := x509.NewCertPool()
		roots.AddCert(ca.cert)
		cfg := &tls.Config{RootCAs: roots}
		if cert != nil {
			cfg.Certificates = []tls.Certificate{*cert}
		}
		tr := &http.Transport{TLSClientConfig: cfg}
		defer tr.CloseIdleConnections()
		resp, err := (&http.Client{Transport: tr}).Get("https://" + k.listener.Addr().String() + path)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(body), nil
	}

	if _, _, err := get("/healthz", nil); err == nil || !strings.Contains(err.Error(), "tls: internal error") {
		t.Errorf("without a serving certificate: %v", err)
	}
	serving.Store(ca.pair(&x509.Certificate{Subject: pkix.Name{CommonName: "system:node:control0"}, IPAddresses: []net.IP{net.ParseIP("127.0.0.1")}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}, at))
	if err := os.WriteFile(k.h.daemonLogPath(), []byte("I0304 05:06:07.000000 1 a.go:1] one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.unit.log("started")
	api := user(ca, "system:kube-apiserver")
	logs := "/containerLogs/" + daemonNamespace + "/machine-config-daemon-abcde/" + daemonContainer
	for _, c := range []struct {
		name, path string
		cert       *tls.Certificate
		status     int
		body       string
	}{
		{"anonymous", "/healthz", nil, 401, "Unauthorized\n"},
		{"other CA", "/healthz", user(stranger, "system:kube-apiserver"), 401, "Unauthorized\n"},
		{"other user", logs, user(ca, "system:node:control1"), 403, "Forbidden (user=system:node:control1, verb=get, resource=nodes, subresource=proxy)\n"},
		{"healthz", "/healthz", api, 200, "ok"},
		{"log", logs, api, 200, "I0304 05:06:07.000000 1 a.go:1] one\n"},
		{"follow", logs + "?follow=true", api, 400, "follow is not served by this host\n"},
		{"previous", logs + "?previous=true", api, 400, "previous terminated container \"machine-config-daemon\" in pod \"machine-config-daemon-abcde\" not found\n"},
		{"unknown pod", "/containerLogs/a/b/c", api, 404, "pod \"b_a\" does not exist\n"},
		{"bad number", logs + "?tailLines=-1", api, 400, "tailLines \"-1\" is not a number from 0\n"},
		{"journal of another unit", "/logs/journal?unit=crio", api, 200, "-- No entries --\n"},
		{"journal outside", "/logs/journal?unit=../machine-config-daemon", api, 400, "invalid unit name\n"},
	} {
		status, body, err := get(c.path, c.cert)
		if err != nil || status != c.status || body != c.body {
			t.Errorf("%s: %d %q, %v; want %d %q", c.name, status, body, err, c.status, c.body)
		}
	}
	if _, body, err := get("/logs/journal?units=kubelet.service", api); err != nil || !strings.Contains(body, "control0 kubenswrapper[") || !strings.Contains(body, "]: started\n") {
		t.Errorf("journal is %q, %v", body, err)
	}
}

func TestWriteLog(t *testing.T) {
	name := filepath.Join(t.TempDir(), "log")
	text := "before any time\nI0304 05:00:00.000000       1 a.go:1] one\n  continued\nE0304 05:00:30.500000       1 a.go:2] two\n"
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 4, 5, 1, 0, 0, time.UTC)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[3] += "\n"
	for label, c := range map[string]struct {
		opts logOptions
		want string
	}{
		"all":        {logOptions{tail: -1}, text},
		"none":       {logOptions{tail: 0}, ""},
		"tail":       {logOptions{tail: 2}, lines[2] + lines[3]},
		"tail long":  {logOptions{tail: 9}, text},
		"since":      {logOptions{tail: -1, since: time.Date(2026, 3, 4, 5, 0, 10, 0, time.UTC)}, lines[3]},
		"limit":      {logOptions{tail: -1, limit: 6}, "before"},
		"timestamps": {logOptions{tail: 2, timestamps: true}, "2026-03-04T05:00:00Z " + lines[2] + "2026-03-04T05:00:30.5Z " + lines[3]},
	} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := writeLog(&b, f, c.opts); err != nil || b.String() != c.want {
			t.Errorf("%s: %q, %v; want %q", label, b.String(), err, c.want)
		}
		f.Close()
	}
}

// TestLineTime: klog writes no year. A file of January may begin in December.
func TestLineTime(t *testing.T) {
	newYear := time.Date(2027, 1, 1, 0, 30, 0, 0, time.UTC)
	for line, want := range map[string]string{
		"I0101 00:10:00.000000  1 a.go:1] b": "2027-01-01T00:10:00Z",
		"W1230 00:10:00.000000  1 a.go:1] b": "2026-12-30T00:10:00Z",
		"I0101 00:31:00.000000  1 a.go:1] b": "2027-01-01T00:31:00Z", // written while the file is read
		"I0229 00:10:00.000000  1 a.go:1] b": "",                     // neither year has it
		"after":                              "",
	} {
		got, ok := lineTime(line, newYear)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v %v, want %q", line, got, ok, want)
		}
	}
}

func TestPortIsKeptOverBoots(t *testing.T) {
	k, _, _ := testKubelet(t)
	k.h.state.KubeletPort = 0
	var ports []int
	for range 2 {
		if err := k.listen(t.Context()); err != nil {
			t.Fatal(err)
		}
		ports = append(ports, k.h.snapshot().KubeletPort)
		k.listener.Close()
	}
	if ports[0] == 0 || len(slices.Compact(ports)) != 1 {
		t.Errorf("ports %v", ports)
	}
}
