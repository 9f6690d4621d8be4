package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience bounds how long the requests of a client are waited for in vain, one after the other and side
// by side: a command sends many, and each may take its whole time. Beyond the bound a request is still sent,
// for what is asked for next may be answered, and each gets half of the time of the one before. An answer
// halves what was waited, and a while without a request begins it anew: a program that runs for days waits again.
//
// The time of one request, which the methods take, is the client's; below zero there is no bound.
type patience struct {
	mu   sync.Mutex
	vain time.Duration // since the last answer
	more int           // requests in vain beyond the bound
	end  time.Time     // of the newest request that was waited for in vain
}

// within is how long the next request may take of the time that it would have.
func (p *patience) within(d, request time.Duration, now time.Time) time.Duration {
	if request < 0 {
		return d
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.end) > most(request) {
		p.vain, p.more = 0, 0
	}
	if p.vain < most(request) {
		return d
	}
	short := max(request/8>>min(p.more, 10), request/100)
	if d < 0 {
		return short
	}
	return min(d, short)
}

func most(request time.Duration) time.Duration { return request + request/2 }

// patienceKey is the key in a context of the patience that its clients have in common.
type patienceKey struct{}

// patiences are those of one command, by the host of the server.
type patiences struct {
	mu sync.Mutex
	of map[string]*patience
}

// WithPatience returns a context in which all clients of one server wait in vain together, and not each
// for itself: that of a command.
func WithPatience(ctx context.Context) context.Context {
	return context.WithValue(ctx, patienceKey{}, &patiences{of: map[string]*patience{}})
}

// patienceWith is what the request's context shares, else the client's own.
func (t protected) patienceWith(req *http.Request) *patience {
	all, ok := req.Context().Value(patienceKey{}).(*patiences)
	if !ok {
		return t.patience
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	p := all.of[req.URL.Host]
	if p == nil {
		p = &patience{}
		all.of[req.URL.Host] = p
	}
	return p
}

// answered notes that a whole answer came. Half of what was waited in vain stays: a server that answers
// some requests and lets others hang takes no longer in all.
func (p *patience) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.vain, p.more = p.vain/2, 0
}

// failed notes that nothing came of a request. Time in which several were waited for counts once.
func (p *patience) failed(request time.Duration, began, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.vain >= most(request) {
		p.more++
	}
	if p.end.After(began) {
		began = p.end
	}
	if now.After(began) {
		p.vain += now.Sub(began)
		p.end = now
	}
}

// timeoutError is the end of a request's time.
type timeoutError struct{ within time.Duration }

// Error implements error.
func (e timeoutError) Error() string { return fmt.Sprintf("no whole answer within %v", e.within) }

// Is makes it the error of a context whose time is over.
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Timeout makes it one of net.Error's timeouts.
func (timeoutError) Timeout() bool { return true }

// Temporary completes net.Error.
func (timeoutError) Temporary() bool { return false }

// closedError is a connection that ended without an answer. It hides the error below from client-go, which
// sends such a request ten times, each a second later.
type closedError struct{ text string }

// Error implements error.
func (e *closedError) Error() string { return e.text }

// ended is err, or a closedError where the server ended the connection.
func ended(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNRESET):
		return &closedError{"the server reset the connection and gave no answer"}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed idle connection"):
		return &closedError{"the server closed the connection and gave no answer (EOF)"}
	}
	return err
}

// once sends a request, and a second time where the server closed the connection and nothing can have
// been changed: a load balancer that is restarted does that.
func (t protected) once(req *http.Request) (*http.Response, error) {
	resp, err := t.next.RoundTrip(req)
	if err == nil {
		return resp, nil
	}
	var closed *closedError
	if err = ended(err); errors.As(err, &closed) && req.Method == http.MethodGet && req.Context().Err() == nil {
		resp, err = t.next.RoundTrip(req)
		if err != nil {
			return nil, ended(err)
		}
	}
	return resp, err
}
