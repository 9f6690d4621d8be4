package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// when says at which side of a write the tool is killed.
type when int

const (
	never when = iota
	before
	after
)

// proxy stands between the tool and the API server.
type proxy struct {
	server *httptest.Server
	config string // path of the kubeconfig that leads through the proxy

	mu     sync.Mutex
	kill   when
	at     int // which write of the process, counted from 1
	seen   int
	victim *os.Process
	writes []string // method and path of every write that reached the API server
}

// arm makes the proxy kill the next process at its n-th write.
func (p *proxy) arm(k when, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kill, p.at, p.seen, p.victim = k, n, 0, nil
}

func (p *proxy) watch(victim *os.Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.victim = victim
}

// write notes a write and reports whether the tool dies at this point.
func (p *proxy) write(r *http.Request, side when) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if side == before {
		p.seen++
	} else {
		p.writes = append(p.writes, r.Method+" "+r.URL.Path)
	}
	if p.kill != side || p.seen != p.at || p.victim == nil {
		return false
	}
	p.kill = never
	_ = p.victim.Kill() // SIGKILL: nothing in the process gets a chance to tidy up
	return true
}

// written returns the writes that reached the API server so far.
func (p *proxy) written() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.writes...)
}

// isWrite: questions that are asked with POST change nothing, and a dry run is a question.
func isWrite(r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || r.URL.Query().Get("dryRun") != "" {
		return false
	}
	return !strings.Contains(r.URL.Path, "selfsubject") && !strings.HasSuffix(r.URL.Path, "/exec")
}

// newProxy returns a proxy to the lab's API server with its own certificate. It
// authenticates to the API server as the lab's administrator.
func newProxy(t *testing.T, kubeconfig string) *proxy {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{}
	forward := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport:     transport,
		FlushInterval: -1,
		ModifyResponse: func(r *http.Response) error {
			if isWrite(r.Request) && p.write(r.Request, after) {
				return http.ErrAbortHandler
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	p.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isWrite(r) && p.write(r, before) {
			panic(http.ErrAbortHandler)
		}
		forward.ServeHTTP(w, r)
	}))
	p.server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	p.server.StartTLS()
	t.Cleanup(p.server.Close)
	p.config = writeKubeconfig(t, p.server.URL, p.server.Certificate())
	return p
}

func writeKubeconfig(t *testing.T, server string, cert *x509.Certificate) string {
	t.Helper()
	cfg := clientcmdapi.NewConfig()
	cfg.Clusters["lab"] = &clientcmdapi.Cluster{Server: server,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})}
	cfg.AuthInfos["admin"] = &clientcmdapi.AuthInfo{}
	cfg.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "admin"}
	cfg.CurrentContext = "lab"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*cfg, path); err != nil {
		t.Fatal(err)
	}
	return path
}
