// Package wire tells how far a question to a server came and at which step it
// ended. It is shared by everything that asks servers without a credential.
package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Witness notes how far a probe came. Its callbacks run on goroutines of the
// transport, some of them after a timeout has ended the probe.
type Witness struct {
	mu      sync.Mutex
	stage   probe.Stage
	address string
	chain   []*x509.Certificate
}

// Watch returns the context for the request.
func (w *Witness) Watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, w.trace())
}

func (w *Witness) trace() *httptrace.ClientTrace {
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

// SawChain is to be the TLS configuration's VerifyConnection.
func (w *Witness) SawChain(state tls.ConnectionState) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.chain = state.PeerCertificates
	return nil
}

// maxChain bounds what is kept of a chain that a hostile server may make long.
const maxChain = 10

// Seen is what a Witness noted.
type Seen struct {
	Stage   probe.Stage
	Address string              // ip:port that the connection went to
	Chain   []*x509.Certificate // as served, leaf first, bounded; not verified
}

// PEM returns the served certificates.
func (s Seen) PEM() []string {
	var list []string
	for _, c := range s.Chain {
		list = append(list, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	}
	return list
}

// Seen returns what was noted so far.
func (w *Witness) Seen() Seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Seen{Stage: w.stage, Address: w.address, Chain: w.chain[:min(len(w.chain), maxChain)]}
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

// Classify says at which step a probe failed.
func Classify(err error, stage probe.Stage) probe.ErrorClass {
	var dns *net.DNSError
	var wait net.Error
	switch {
	case errors.As(err, &dns):
		return probe.ErrDNS
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &wait) && wait.Timeout():
		return probe.ErrTimeout
	case isErrno(err, refusedErrnos):
		return probe.ErrRefused
	case isErrno(err, noRouteErrnos):
		return probe.ErrNoRoute
	case brokenTLS(err):
		return probe.ErrTLS
	case closedByPeer(err):
		return probe.ErrClosed
	case stage == probe.StageTLS && strings.Contains(err.Error(), "malformed HTTP"):
		return probe.ErrHTTP
	case stage == probe.StageConnected:
		return probe.ErrTLS
	}
	return probe.ErrOther
}
