package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Throttle makes a user of AddUser ask through a front of the API server, on the API's
// loopback address, which has no room for some of the user's requests: it answers as
// priority and fairness does to who is over the limit
// (k8s.io/apiserver:pkg/server/filters/priority-and-fairness.go tooManyRequests). The
// server itself never refuses what is the only request of its level, so that a limit of
// nothing would let every second one pass.
func (l *Lab) Throttle(ctx context.Context, user string, full func(*http.Request) bool) error {
	front, err := l.front(full)
	if err != nil {
		return fmt.Errorf("throttle %s: %w", user, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(l.net.API(), "0"))
	if err != nil {
		return fmt.Errorf("throttle %s: %w", user, err)
	}
	l.hosts.Go(func() {
		stop := context.AfterFunc(ctx, func() { front.Close() })
		defer stop()
		if err := front.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
			l.log.Warn("serve the front of the API", "user", user, "err", err)
		}
	})
	path := l.opts.Dir.KubeconfigOf(user)
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return fmt.Errorf("throttle %s: %w", user, err)
	}
	for _, c := range config.Clusters {
		c.Server = "https://" + listener.Addr().String()
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("throttle %s: %w", user, err)
	}
	return os.WriteFile(path, data, 0o600)
}

// front passes requests on with the credential that they come with.
func (l *Lab) front(full func(*http.Request) bool) (*http.Server, error) {
	upstream, err := url.Parse(l.net.APIURL())
	if err != nil {
		return nil, err
	}
	transport, err := rest.TransportFor(&rest.Config{Host: l.net.APIURL(), TLSClientConfig: rest.TLSClientConfig{CAData: l.pki.KubeAPISigner.Cert}})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(l.pki.KubeAPI.Cert, l.pki.KubeAPI.Key)
	if err != nil {
		return nil, err
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) }, Transport: transport, FlushInterval: -1}
	return &http.Server{
		ReadHeaderTimeout: 30 * time.Second,
		TLSConfig:         &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if full(r) {
				w.Header().Set("Retry-After", "1")
				http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
				return
			}
			forward.ServeHTTP(w, r)
		}),
	}, nil
}
