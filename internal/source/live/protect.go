package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// ErrRedirect says that the API answered with a redirection. No API server
// redirects what is asked here, and client-go adds the bearer token to whatever
// host a redirection names.
var ErrRedirect = errors.New("the API redirects to another place, which is not followed")

// Limits bound what a client waits for and takes.
type Limits struct {
	Answer  int64         // bytes of one answer after decompression; 0 is 256 MiB
	Request time.Duration // of one request, its answer included; 0 is 30 s
}

// Protect returns a copy of cfg whose clients - typed, dynamic, and those of exec -
// follow no redirection, take no answer beyond the limits and give up a request
// in time. It works below the clients, in the transport, because the clients of
// exec make their own http.Client. An upgraded connection (exec) has no end of
// its own: there the caller's context bounds the time, and the caller the bytes.
func Protect(cfg *rest.Config, l Limits) *rest.Config {
	orDefault(&l.Answer, int64(maxAnswer))
	orDefault(&l.Request, 30*time.Second)
	cfg = rest.CopyConfig(cfg)
	cfg.Timeout = 0 // the transport's bound covers the body, too, and not what is upgraded
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return protected{next, l} })
	return cfg
}

type protected struct {
	next http.RoundTripper
	l    Limits
}

// WrappedRoundTripper lets client-go find the transport below.
func (t protected) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t protected) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithTimeoutCause(req.Context(), t.l.Request, fmt.Errorf("no whole answer within %v", t.l.Request))
	resp, err := t.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cancel()
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		context.AfterFunc(ctx, cancel) // the context was for the handshake; the connection lives on without it
		return resp, nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		cancel()
		return nil, errors.Join(fmt.Errorf("%s %s: %w (%s)", req.Method, req.URL.Path, ErrRedirect, resp.Status), resp.Body.Close())
	}
	resp.Body = &endedBody{boundedBody{resp.Body, t.l.Answer, t.l.Answer, newAllowance(t.l.Answer + 1)}, cancel}
	return resp, nil
}

// endedBody releases its request's context when it is closed.
type endedBody struct {
	boundedBody
	cancel context.CancelFunc
}

// Close implements io.Closer.
func (b *endedBody) Close() error {
	defer b.cancel()
	return b.boundedBody.Close()
}

var _ io.ReadCloser = (*endedBody)(nil)
