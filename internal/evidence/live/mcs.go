package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence/probe"
)

// askPool sends one question. It makes a connection of its own, without a
// credential, a proxy, a redirect or a cookie; what the server serves as its
// certificate is recorded and not trusted.
func (s *Source) askPool(ctx context.Context, q probe.MCSAnswer) probe.MCSAnswer {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ProbeTimeout)
	defer cancel()
	w := &witness{}
	transport := &http.Transport{
		Proxy: nil, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 64 << 10,
		TLSClientConfig: &tls.Config{
			MinVersion:         tls.VersionTLS10, // old or odd: the wish is to see it, not to trust it
			InsecureSkipVerify: true,             //nolint:gosec // only to look at the certificate; no credential is sent
			VerifyConnection:   w.sawChain,
		},
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	address := net.JoinHostPort(q.Host, strconv.Itoa(q.Port))
	q.At = s.opts.Now()
	began := time.Now()
	req, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, w.trace()), http.MethodHead,
		(&url.URL{Scheme: "https", Host: address, Path: "/config/" + q.Pool, RawPath: pathOf(q.Pool)}).String(), nil)
	if err != nil {
		q.ErrorClass, q.Error = probe.ErrOther, clip(err.Error())
		return q
	}
	req.Header = http.Header{"Accept": {probe.MCSAccept}, "User-Agent": {"rollcall"}}
	resp, err := client.Do(req)
	q.Millis = time.Since(began).Milliseconds()
	w.tell(&q)
	if err != nil {
		var link *url.Error
		if errors.As(err, &link) {
			err = link.Err
		}
		q.ErrorClass, q.Error = classify(err, q.Stage), clip(err.Error())
		return q
	}
	_ = resp.Body.Close() // the answer to a HEAD has no body
	q.Stage, q.Status, q.Server = probe.StageAnswered, resp.StatusCode, clip(resp.Header.Get("Server"))
	return q
}

// witness notes how far a probe came. Its callbacks run on goroutines of the
// transport, some of them after a timeout has ended the probe.
type witness struct {
	mu      sync.Mutex
	stage   probe.Stage
	address string
	chain   []*x509.Certificate
}

func (w *witness) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		ConnectDone: func(_, address string, err error) {
			if err != nil {
				return
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.stage, w.address = probe.StageConnected, address
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				return
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.stage = probe.StageTLS
		},
	}
}

func (w *witness) sawChain(state tls.ConnectionState) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chain = state.PeerCertificates
	return nil
}

// maxChain bounds what is kept of a chain that a hostile server may make long.
const maxChain = 10

func (w *witness) tell(q *probe.MCSAnswer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q.Stage, q.Address = w.stage, w.address
	for _, c := range w.chain[:min(len(w.chain), maxChain)] {
		q.Chain = append(q.Chain, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	}
}

// The errors of connect(2). Windows has numbers of its own for them (winsock2.h).
var (
	refusedErrnos = []syscall.Errno{syscall.ECONNREFUSED, 10061}
	noRouteErrnos = []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EADDRNOTAVAIL, 10051, 10065}
	closedErrnos  = []syscall.Errno{syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, 10053, 10054}
)

func isErrno(err error, list []syscall.Errno) bool {
	var n syscall.Errno
	return errors.As(err, &n) && slices.Contains(list, n)
}

// brokenTLS reports whether one of the sides ended the TLS session, or the
// server does not speak TLS. An alert reaches the caller as a net.OpError of the
// operation "remote error" or "local error" (crypto/tls conn.go).
func brokenTLS(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	return errors.As(err, &record) || errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error")
}

func closedByPeer(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || isErrno(err, closedErrnos)
}
