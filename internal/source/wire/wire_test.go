package wire_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// dial wraps an error as the net package and net/http do.
func dial(op string, err error) error {
	return fmt.Errorf(`Get "https://api.example.com:6443/readyz": %w`, &net.OpError{Op: op, Net: "tcp", Err: err})
}

func errno(n syscall.Errno) error { return dial("dial", os.NewSyscallError("connect", n)) }

type timeout struct{}

func (timeout) Error() string   { return "i/o timeout" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func TestClassify(t *testing.T) {
	tests := []struct {
		name  string
		err   error
		stage probe.Stage
		want  probe.ErrorClass
	}{
		{"no such name", dial("dial", &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}), probe.StageNone, probe.ErrDNS},
		{"a name server that is silent", dial("dial", &net.DNSError{Err: "i/o timeout", IsTimeout: true}), probe.StageNone, probe.ErrDNS},
		{"refused", errno(syscall.ECONNREFUSED), probe.StageNone, probe.ErrRefused},
		{"refused, on Windows", errno(10061), probe.StageNone, probe.ErrRefused},
		{"no route to the host", errno(syscall.EHOSTUNREACH), probe.StageNone, probe.ErrNoRoute},
		{"no route to the network", errno(syscall.ENETUNREACH), probe.StageNone, probe.ErrNoRoute},
		{"no route, on Windows", errno(10065), probe.StageNone, probe.ErrNoRoute},
		{"the run's time is over", fmt.Errorf("ask: %w", context.DeadlineExceeded), probe.StageConnected, probe.ErrTimeout},
		{"no answer to SYN", dial("dial", timeout{}), probe.StageNone, probe.ErrTimeout},
		{"silent after the connection", dial("read", timeout{}), probe.StageTLS, probe.ErrTimeout},
		{"reset", dial("read", os.NewSyscallError("read", syscall.ECONNRESET)), probe.StageTLS, probe.ErrClosed},
		{"closed at once", io.EOF, probe.StageConnected, probe.ErrClosed},
		{"closed in the middle", io.ErrUnexpectedEOF, probe.StageTLS, probe.ErrClosed},
		{"an alert of the server", dial("remote error", errors.New("tls: internal error")), probe.StageConnected, probe.ErrTLS},
		{"an alert of ours", dial("local error", errors.New("tls: bad record MAC")), probe.StageConnected, probe.ErrTLS},
		{"no TLS at all", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, probe.StageConnected, probe.ErrTLS},
		{"what TLS sends is no HTTP", errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0"`), probe.StageTLS, probe.ErrHTTP},
		{"something else after the connection", errors.New("tls: handshake failure"), probe.StageConnected, probe.ErrTLS},
		{"something else before it", errors.New("proxyconnect: no"), probe.StageNone, probe.ErrOther},
		{"something else after TLS", errors.New("http2: GOAWAY"), probe.StageTLS, probe.ErrOther},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wire.Classify(tt.err, tt.stage); got != tt.want {
				t.Errorf("Classify(%v, %q) = %q, want %q", tt.err, tt.stage, got, tt.want)
			}
		})
	}
}

// ask sends one request with a witness and without verification, as probes do.
func ask(t *testing.T, url string) (wire.Seen, error) {
	t.Helper()
	var w wire.Witness
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: w.SawChain}} //nolint:gosec // what a probe looks at
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(w.Watch(t.Context()), http.MethodHead, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: transport, Timeout: 10 * time.Second}).Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	return w.Seen(), err
}

func TestWitness(t *testing.T) {
	t.Run("nothing listens", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		seen, err := ask(t, "https://"+address)
		if seen.Stage != probe.StageNone || seen.Address != "" || len(seen.Chain) > 0 || wire.Classify(err, seen.Stage) != probe.ErrRefused {
			t.Errorf("%+v, %v", seen, err)
		}
	})
	t.Run("no TLS there", func(t *testing.T) {
		s := httptest.NewServer(http.NotFoundHandler())
		defer s.Close()
		seen, err := ask(t, strings.Replace(s.URL, "http:", "https:", 1))
		if seen.Stage != probe.StageConnected || seen.Address != s.Listener.Addr().String() || wire.Classify(err, seen.Stage) != probe.ErrTLS {
			t.Errorf("%+v, %v is %s", seen, err, wire.Classify(err, seen.Stage))
		}
	})
	t.Run("accepts and closes", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		done.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_ = c.Close()
			}
		})
		seen, err := ask(t, "https://"+l.Addr().String())
		if seen.Stage != probe.StageConnected || wire.Classify(err, seen.Stage) != probe.ErrClosed {
			t.Errorf("%+v, %v is %s", seen, err, wire.Classify(err, seen.Stage))
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		done.Wait()
	})
	t.Run("a certificate that nobody knows", func(t *testing.T) {
		s := httptest.NewTLSServer(http.NotFoundHandler())
		defer s.Close()
		seen, err := ask(t, s.URL)
		if err != nil || seen.Stage != probe.StageTLS || len(seen.Chain) != 1 || !seen.Chain[0].Equal(s.Certificate()) {
			t.Errorf("%+v, %v", seen, err)
		}
		if pem := seen.PEM(); len(pem) != 1 || !strings.HasPrefix(pem[0], "-----BEGIN CERTIFICATE-----") {
			t.Errorf("PEM %q", pem)
		}
	})
}

// TestLongChain: a hostile server does not decide how much is kept.
func TestLongChain(t *testing.T) {
	var w wire.Witness
	if err := w.SawChain(tls.ConnectionState{PeerCertificates: make([]*x509.Certificate, 500)}); err != nil {
		t.Fatal(err)
	}
	if n := len(w.Seen().Chain); n != 10 {
		t.Errorf("%d certificates kept", n)
	}
	if pem := (wire.Seen{}).PEM(); len(pem) != 0 {
		t.Errorf("PEM of nothing: %q", pem)
	}
}
