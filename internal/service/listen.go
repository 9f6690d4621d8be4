package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rollcall-project/rollcall/internal/crash"
)

// Site is what a listener serves. Everything is read with GET.
type Site struct {
	Metrics prometheus.Gatherer
	Ready   func() error            // why the program does not work; nil where it does
	Pages   map[string]http.Handler // by path, in addition to /metrics, /healthz and /readyz
	Home    string                  // the page to which / leads; "": none
	Access  *Access                 // who may read /metrics and the pages; nil: whoever reaches the listener
	TLS     *tls.Config             // nil: plain HTTP
	Local   bool                    // only requests for this machine by its own names: a page in a browser can ask for any name
}

// Listen serves a site on l until ctx is done.
func Listen(ctx context.Context, l net.Listener, site Site) error {
	mux := http.NewServeMux()
	guarded := func(path string, h http.Handler) {
		if site.Access != nil {
			h = site.Access.guard(path, h)
		}
		mux.Handle("GET "+path, h)
	}
	guarded("/metrics", promhttp.HandlerFor(site.Metrics, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second}))
	for path, h := range site.Pages {
		guarded(path, h)
	}
	if site.Home != "" {
		mux.Handle("GET /{$}", http.RedirectHandler(site.Home, http.StatusFound))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := site.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	all := reported(mux)
	if site.Local {
		all = onlyLocal(all)
	}
	s := &http.Server{Handler: all, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 1 << 14}
	if site.TLS != nil {
		l = tls.NewListener(l, site.TLS)
	}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	return nil
}

// reported answers a panic with the line that a user can report: net/http would write its values to stderr.
func reported(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		defer func() {
			if defect := recover(); defect != nil {
				http.Error(w, crash.Line("rollcall", defect, debug.Stack()), http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(w, req)
	})
}

// onlyLocal refuses requests that name another host than this machine: the name of an attacker's site can be made to lead
// to 127.0.0.1 after its page was loaded.
func onlyLocal(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name, _, err := net.SplitHostPort(req.Host)
		if err != nil {
			name = req.Host
		}
		if name != "localhost" && !IsLoopback(name) {
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// IsLoopback reports whether a host is an address of this machine that no other reaches.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// The files of a TLS certificate in a directory, as a Secret of type kubernetes.io/tls is mounted.
const (
	certFile = "tls.crt"
	keyFile  = "tls.key"
)

// TLS returns the configuration of a listener with the certificate in a directory. It is read again when its
// file has changed: a certificate of OpenShift's service CA is rotated.
func TLS(dir string) (*tls.Config, error) {
	c := &certificate{dir: dir}
	if _, err := c.newest(nil); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.newest}, nil
}

// certificate is the newest that was read.
type certificate struct {
	dir string

	mu      sync.Mutex
	changed time.Time // of the file that was read
	read    *tls.Certificate
}

// newest returns the certificate of the directory; where it cannot be read any more, the one that was read last.
func (c *certificate) newest(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	path := filepath.Join(c.dir, certFile)
	info, err := os.Stat(path)
	if err == nil && c.read != nil && info.ModTime().Equal(c.changed) {
		return c.read, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(path, filepath.Join(c.dir, keyFile))
	}
	switch {
	case err == nil:
		c.read, c.changed = &pair, info.ModTime()
	case c.read == nil:
		return nil, fmt.Errorf("read the certificate of the listener: %w", err)
	}
	return c.read, nil
}
