package kube

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// TestPatienceOfACommand: a server that answers nothing cannot keep a command for a hundred times the time
// of one request, and what is asked for afterwards, and answered, is still read.
func TestPatienceOfACommand(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, "/x") {
			select {
			case <-stop:
			case <-req.Context().Done():
			}
			return
		}
		says(rw, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"y"}}`)
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	const request = 500 * time.Millisecond
	c, err := New(&rest.Config{Host: server.URL, QPS: -1, Timeout: request}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for range 30 {
		if _, err := c.Get(t.Context(), node("x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the error is %v", err)
		}
	}
	if took := time.Since(began); took > 4*request {
		t.Errorf("30 requests in vain took %v", took)
	}
	for range 4 { // each answer halves what was waited
		if _, err := c.Get(t.Context(), node("y")); err != nil {
			t.Errorf("what is answered was not read: %v", err)
		}
	}
	if c.patienceLeft(t) != request {
		t.Error("a few answers do not begin it anew")
	}
}

func (c *Client) patienceLeft(t *testing.T) time.Duration {
	t.Helper()
	for rt := c.http.Transport; ; {
		if p, ok := rt.(protected); ok {
			return p.patience.within(p.l.Request, p.l.Patience, time.Now())
		}
		below, ok := rt.(interface{ WrappedRoundTripper() http.RoundTripper })
		if !ok {
			t.Fatal("the client has no patience")
		}
		rt = below.WrappedRoundTripper()
	}
}

func TestPatience(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return now.Add(time.Duration(s * float64(time.Second))) }
	const request = 8 * time.Second
	p := &patience{}
	want := func(when float64, d time.Duration) {
		t.Helper()
		if got := p.within(request, request, at(when)); got != d {
			t.Errorf("at %v: %v, want %v", when, got, d)
		}
	}
	want(0, 8*time.Second)
	for range 16 { // side by side
		p.failed(request, at(0), at(8))
	}
	want(8, 8*time.Second)
	p.failed(request, at(8), at(12))
	want(12, time.Second)
	p.failed(request, at(12), at(13))
	want(13, time.Second/2)
	for range 20 {
		p.failed(request, at(13), at(13.1))
	}
	want(14, 80*time.Millisecond)
	want(13.1+12.1, 8*time.Second) // nothing was asked for a while
	p.failed(request, at(30), at(50))
	want(50, time.Second)
	p.answered()
	want(50, 8*time.Second)
	p.failed(request, at(50), at(1000))
	if got := p.within(time.Second, NoLimit, at(1000)); got != time.Second {
		t.Errorf("without a bound: %v", got)
	}
}

// TestPatienceIsShared: clients of one command and one server wait together, those of another server for themselves.
func TestPatienceIsShared(t *testing.T) {
	stop := make(chan struct{})
	hang := func(_ http.ResponseWriter, req *http.Request) {
		select {
		case <-stop:
		case <-req.Context().Done():
		}
	}
	server := httptest.NewServer(http.HandlerFunc(hang))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(stop) })
	const request = 300 * time.Millisecond
	ctx := WithPatience(t.Context())
	began := time.Now()
	for range 10 {
		c, err := New(&rest.Config{Host: server.URL, QPS: -1, Timeout: request}, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Get(ctx, node("x")); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("the error is %v", err)
		}
	}
	if took := time.Since(began); took > 4*request {
		t.Errorf("10 clients waited %v in vain", took)
	}
	other := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		time.Sleep(request / 2)
		says(rw, `{"apiVersion":"v1","kind":"Node","metadata":{"name":"y"}}`)
	}))
	t.Cleanup(other.Close)
	c, err := New(&rest.Config{Host: other.URL, QPS: -1, Timeout: request}, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(ctx, node("y")); err != nil {
		t.Errorf("the other server was not waited for: %v", err)
	}
}

// TestClosedConnection: a server that closes each connection is asked twice, and not ten times with a
// second between them.
func TestClosedConnection(t *testing.T) {
	var n atomic.Int64
	k := answering(t, func(http.ResponseWriter, *http.Request) {
		n.Add(1)
		panic(http.ErrAbortHandler)
	})
	began := time.Now()
	_, err := k.Get(t.Context(), node("x"))
	if err == nil || !strings.Contains(err.Error(), "gave no answer") {
		t.Errorf("the error is %v", err)
	}
	if n.Load() > 2*2 || time.Since(began) > 3*time.Second { // the transport itself asks again on a connection that it kept
		t.Errorf("asked %d times in %v", n.Load(), time.Since(began))
	}
	n.Store(0)
	if _, err := k.Patch(t.Context(), node("x"), "", []byte("[]"), false); err == nil || n.Load() > 1 {
		t.Errorf("a write was sent %d times: %v", n.Load(), err)
	}
}
