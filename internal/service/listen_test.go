package service

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"github.com/rollcall-project/rollcall/internal/kube"
)

// listen serves a site until the test ends, and returns its address.
func listen(t *testing.T, site Site) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Listen(ctx, l, site) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func metrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "some_gauge", Help: "Some."}))
	return r
}

// fetch gets a URL without following a redirection.
func fetch(t *testing.T, c *http.Client, url string, change ...func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(req)
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := own.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body) + resp.Header.Get("Location")
}

func TestListen(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	t.Run("served", func(t *testing.T) {
		at := "http://" + listen(t, Site{Metrics: metrics(), Ready: func() error { return errors.New("not yet") }, Home: "/page",
			Pages: map[string]http.Handler{"/page": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "a page") }),
				"/defect": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret") })}})
		for path, want := range map[string]struct {
			code int
			text string
		}{"/healthz": {200, "ok"}, "/readyz": {503, "not yet"}, "/metrics": {200, "some_gauge 0"}, "/page": {200, "a page"}, "/": {302, "/page"},
			"/else": {404, ""}, "/defect": {500, "a value of type string"}, "/debug/pprof/": {404, ""}} {
			if code, body := fetch(t, client, at+path); code != want.code || !strings.Contains(body, want.text) {
				t.Errorf("%s: %d %.200s", path, code, body)
			}
		}
	})
}

// TestLocal: a name that an attacker makes lead here is refused.
func TestLocal(t *testing.T) {
	at := listen(t, Site{Metrics: metrics(), Ready: func() error { return nil }, Local: true})
	for host, want := range map[string]int{at: 200, "localhost:1": 200, "[::1]:1": 200, "rebound.example.com": 421, "rebound.example.com:80": 421, "": 200} {
		if code, _ := fetch(t, http.DefaultClient, "http://"+at+"/metrics", func(r *http.Request) { r.Host = host }); code != want {
			t.Errorf("%q: %d, want %d", host, code, want)
		}
	}
}

// reviewer answers reviews as an API server does: the token of a user is his name.
type reviewer struct {
	away  bool
	asked int
	may   map[string]string // user -> the one path
}

func (r *reviewer) Create(_ context.Context, ref kube.Ref, o kube.Object, dryRun bool) (kube.Object, error) {
	r.asked++
	spec := o["spec"].(map[string]any)
	switch {
	case r.away:
		return nil, errors.New("connection refused, said the server about " + spec["token"].(string))
	case dryRun:
		return nil, errors.New("a review is never a dry run")
	case ref.Resource == "tokenreviews":
		name := spec["token"].(string)
		if _, known := r.may[name]; !known {
			return kube.Object{"status": map[string]any{"authenticated": false}}, nil
		}
		return kube.Object{"status": map[string]any{"authenticated": true, "user": map[string]any{"username": name, "groups": []any{"system:authenticated"}}}}, nil
	}
	what := spec["nonResourceAttributes"].(map[string]any)
	user := spec["user"].(string)
	allowed := what["verb"] == "get" && what["path"] == r.may[user] && len(spec["groups"].([]any)) == 1
	return kube.Object{"status": map[string]any{"allowed": allowed}}, nil
}

// TestAccess: who has no token, a wrong one or no right reads nothing but health; who may reads for a minute after one
// review, and for some more while the API server is away.
func TestAccess(t *testing.T) {
	api := &reviewer{may: map[string]string{"prometheus": "/metrics", "nobody": ""}}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	access := NewAccess(api, func() time.Time { return now })
	at := "http://" + listen(t, Site{Metrics: metrics(), Ready: func() error { return nil }, Access: access,
		Pages: map[string]http.Handler{"/page": http.NotFoundHandler()}})
	bearer := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	step := func(name, path string, want int, change ...func(*http.Request)) {
		t.Helper()
		code, body := fetch(t, http.DefaultClient, at+path, change...)
		if code != want {
			t.Errorf("%s: %d, want %d: %s", name, code, want, body)
		}
		if code != http.StatusOK && (strings.Contains(body, "prometheus") || strings.Contains(body, "stranger")) {
			t.Errorf("%s: the answer quotes the token: %s", name, body)
		}
	}
	step("health", "/healthz", 200)
	step("ready", "/readyz", 200)
	step("no token", "/metrics", 401)
	step("no token, a page", "/page", 401)
	step("unknown token", "/metrics", 401, bearer("stranger"))
	step("too long", "/metrics", 401, bearer(strings.Repeat("x", mostToken+1)))
	step("no right", "/metrics", 403, bearer("nobody"))
	step("allowed", "/metrics", 200, bearer("prometheus"))
	step("another path", "/page", 403, bearer("prometheus"))
	step("as a browser", "/metrics", 200, func(r *http.Request) { r.SetBasicAuth("me", "prometheus") })
	asked := api.asked
	step("again", "/metrics", 200, bearer("prometheus"))
	if api.asked != asked {
		t.Error("a second review within a minute")
	}
	api.away = true
	now = now.Add(10 * time.Minute)
	step("the API is away", "/metrics", 200, bearer("prometheus"))
	step("the API is away, a stranger", "/metrics", 503, bearer("stranger"))
	now = now.Add(graceFor)
	step("the API is away for long", "/metrics", 503, bearer("prometheus"))
	api.away, api.may = false, map[string]string{}
	step("revoked", "/metrics", 401, bearer("prometheus"))
	api.may = map[string]string{}
	for i := range 3 * mostGrants {
		access.grant([32]byte{byte(i), byte(i >> 8)})
	}
	if n := len(access.granted); n > mostGrants {
		t.Errorf("%d grants are remembered", n)
	}
}

// writeCertificate makes a certificate for a name.
func writeCertificate(t *testing.T, dir, name string, changed time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{keyFile: {Type: "PRIVATE KEY", Bytes: private}, certFile: {Type: "CERTIFICATE", Bytes: der}} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTLS: the certificate is the newest of the directory, and the last good one where a newer cannot be read.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	if _, err := TLS(dir); err == nil {
		t.Error("no certificate, and no error")
	}
	noon := time.Now().Add(-time.Hour)
	writeCertificate(t, dir, "first", noon)
	config, err := TLS(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := listen(t, Site{Metrics: metrics(), Ready: func() error { return nil }, TLS: config})
	served := func() string {
		conn, err := tls.Dial("tcp", at, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
	}
	if got := served(); got != "first" {
		t.Error(got)
	}
	writeCertificate(t, dir, "second", noon.Add(time.Minute))
	if got := served(); got != "second" {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(dir, certFile), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := served(); got != "second" {
		t.Error(got)
	}
}
