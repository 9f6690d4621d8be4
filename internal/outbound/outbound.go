// Package outbound makes the connections and clients of every server that is not the Kubernetes API,
// which internal/kube asks: BMCs, name and time servers, registries, the rendezvous host, machine config
// servers, kubelets, the ignition endpoint.
//
// Invariants:
//   - No other package makes one (internal/tools/walls holds it).
//   - A client follows no redirection: a credential is for one server.
//   - An answer has an end in bytes, its headers too, and is not unpacked on the way. A connection that
//     is made has an end in time, by its context or by a bound.
//   - Nothing is asked through a proxy unless a caller says so.
package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// connectTime bounds a connection for which the caller gives no time.
	connectTime = 30 * time.Second
	// maxAnswer bounds the body of an answer for which the caller gives no bound.
	maxAnswer = 64 << 20
	// maxHeader bounds the headers of an answer.
	maxHeader = 64 << 10
)

// ErrTooMuch is in the chain of an error about an answer beyond its bound.
var ErrTooMuch = errors.New("more was sent than is read")

// Dialer returns what connects within a time; 0 is 30 s. A context may end it before.
func Dialer(within time.Duration) *net.Dialer {
	return &net.Dialer{Timeout: cmp.Or(within, connectTime)}
}

// Dial connects to an address within 30 s, or as long as the context lasts.
func Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return Dialer(0).DialContext(ctx, network, address)
}

// Resolver returns a resolver that speaks DNS itself, over connections that dial makes.
func Resolver(dial func(ctx context.Context, network, address string) (net.Conn, error)) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: dial}
}

// TLS is a client's connection over another one, which stays the caller's to close. The handshake is made.
func TLS(ctx context.Context, over net.Conn, config *tls.Config) (*tls.Conn, error) {
	conn := tls.Client(over, config)
	return conn, conn.HandshakeContext(ctx)
}

// Options are how an HTTP client differs from the others. The zero value makes one connection for each
// request, without a proxy.
type Options struct {
	TLS *tls.Config
	// Dial connects; nil: Dial.
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	Proxy     func(*http.Request) (*url.URL, error) // nil: none
	Answer    int64                                 // bytes of the body of one answer; 0 is 64 MiB
	Handshake time.Duration                         // of TLS; 0: as long as the request's context lasts
	Headers   time.Duration                         // from the request to the headers of its answer; 0: as long as the context lasts
	Request   time.Duration                         // of a request with its answer; 0: as long as its context lasts
	Reuse     bool                                  // one connection, which further requests use
}

// HTTP returns a client.
func HTTP(o Options) *http.Client {
	t := &http.Transport{
		TLSClientConfig: o.TLS, DialContext: o.Dial, Proxy: o.Proxy, TLSHandshakeTimeout: o.Handshake, ResponseHeaderTimeout: o.Headers,
		DisableCompression: true, MaxResponseHeaderBytes: maxHeader, DisableKeepAlives: !o.Reuse,
	}
	if o.Dial == nil {
		t.DialContext = Dial
	}
	if o.Reuse {
		t.MaxConnsPerHost = 1
	}
	return &http.Client{
		Transport:     bounded{t, cmp.Or(o.Answer, maxAnswer)},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       o.Request,
	}
}

// bounded bounds the bodies of answers.
type bounded struct {
	*http.Transport
	most int64
}

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := b.Transport.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	resp.Body = &body{resp.Body, b.most, b.most}
	return resp, nil
}

// body is the body of an answer, up to a bound.
type body struct {
	io.ReadCloser
	left, most int64
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: the answer has more than %d bytes", ErrTooMuch, b.most)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
