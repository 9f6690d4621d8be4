package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// listen opens the kubelet's port: the one of the last boot if it is free,
// else any. On a machine it is 10250; on the lab's loopback several hosts may
// share an address.
func (k *kubelet) listen(ctx context.Context) error {
	var lc net.ListenConfig
	want := k.h.snapshot().KubeletPort
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(k.h.cfg.Address, strconv.Itoa(want)))
	if err != nil && want != 0 {
		l, err = lc.Listen(ctx, "tcp", net.JoinHostPort(k.h.cfg.Address, "0"))
	}
	if err != nil {
		return fmt.Errorf("listen for the kubelet: %w", err)
	}
	k.listener = l
	return k.h.update(func(s *State) { s.KubeletPort = l.Addr().(*net.TCPAddr).Port })
}

// errNoServingCert is what the handshake fails with before a certificate was
// issued; the client sees a TLS internal error
// (k8s.io/kubernetes:pkg/kubelet/kubelet.go, serverCertificateManager.Current).
var errNoServingCert = errors.New("no serving certificate available for the kubelet")

// serveEndpoint answers on the listener until ctx ends.
func (k *kubelet) serveEndpoint(ctx context.Context, current func() *tls.Certificate) {
	srv := &http.Server{
		Handler:           k.authenticated(k.routes()),
		ReadHeaderTimeout: 30 * time.Second,
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12,
			// Asked for, and judged per request: an unknown client gets 401
			// from a kubelet, not a failed handshake.
			ClientAuth: tls.RequestClientCert,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				if c := current(); c != nil {
					return c, nil
				}
				return nil, errNoServingCert
			},
		},
		ErrorLog: k.errorLog(),
	}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	if err := srv.ServeTLS(k.listener, "", ""); err != nil && ctx.Err() == nil {
		k.h.log.Error("serve the kubelet's endpoint", "error", err)
	}
}

// routes are the parts of the kubelet's API that show something
// (k8s.io/kubernetes:pkg/kubelet/server/server.go).
func (k *kubelet) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.containerLogs)
	mux.HandleFunc("GET /logs/journal", k.nodeLogs)
	mux.HandleFunc("/exec/{namespace}/{pod}/{container}", k.exec)
	return mux
}

// authenticated lets through clients whose certificate the kubelet's client CA
// signed and whom the API server allows nodes/proxy or nodes/log, as a kubelet
// with webhook authorization does (kubelet.conf of the MCO: anonymous off,
// authorization default).
func (k *kubelet) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client, err := k.verifyClient(r)
		if err != nil {
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
			k.log.errorf("server.go:329", "\"Unable to authenticate the request due to an error\" err=%q", err.Error())
			return
		}
		verb := "get"
		if r.Method == http.MethodPost { // k8s.io/kubernetes:pkg/kubelet/server/auth.go GetRequestAttributes
			verb = "create"
		}
		attr := authorizationv1.ResourceAttributes{Verb: verb, Version: "v1", Resource: "nodes", Name: k.h.cfg.Name, Subresource: "proxy"}
		if len(r.URL.Path) >= 5 && r.URL.Path[:5] == "/logs" {
			attr.Subresource = "log"
		}
		review, err := k.client.AuthorizationV1().SubjectAccessReviews().Create(r.Context(), &authorizationv1.SubjectAccessReview{
			Spec: authorizationv1.SubjectAccessReviewSpec{
				User: client.Subject.CommonName, Groups: append(client.Subject.Organization, "system:authenticated"), ResourceAttributes: &attr,
			},
		}, metav1.CreateOptions{})
		switch {
		case err != nil:
			http.Error(w, fmt.Sprintf("Authorization error (user=%s, verb=%s, resource=nodes, "+
				"subresource=%s)", client.Subject.CommonName, verb, attr.Subresource), http.StatusInternalServerError)
		case !review.Status.Allowed:
			http.Error(w, fmt.Sprintf("Forbidden (user=%s, verb=%s, resource=nodes, "+
				"subresource=%s)", client.Subject.CommonName, verb, attr.Subresource), http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// verifyClient checks the client's certificate against the CA bundle on the
// disk, read again each time because a rotation replaces the file.
func (k *kubelet) verifyClient(r *http.Request) (*x509.Certificate, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, errors.New("no client certificate")
	}
	bundle, err := k.h.disk.read(kubeletCAPath)
	if err != nil && k.h.cfg.KubeletClientCAFile != "" {
		bundle, err = os.ReadFile(k.h.cfg.KubeletClientCAFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read client CA bundle: %w", err)
	}
	roots, inter := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return nil, errors.New("client CA bundle has no certificate")
	}
	chain := r.TLS.PeerCertificates
	for _, c := range chain[1:] {
		inter.AddCert(c)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: inter, CurrentTime: k.h.now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return chain[0], err
}
