package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// ErrRedirect says that the API answered with a redirection. No API server
// redirects what is asked here.
var ErrRedirect = errors.New("the API redirects to another place, which is not followed")

// NoLimit is for a caller whose context bounds the time of every request, or who has
// bounded the bytes of all of them.
const NoLimit = -1

// Limits bound what a client waits for and takes. etcd bounds an object at 1.5 MiB.
type Limits struct {
	Request time.Duration // of one request, its answer included; 0 is the configuration's timeout, else 20 s
	Watch   time.Duration // of one watch; 0 is 6 min
	Answer  int64         // bytes of one answer after decompression; 0 is 64 MiB
	Page    int64         // of one whose request bounds the answer itself (limit, limitBytes); 0 is Answer
	Run     int64         // bytes of all answers together but logs; 0 is no limit
	RunLogs int64         // of all logs together; 0 is no limit
	// Patience is the Request by which waiting in vain is bounded, where the caller bounds each request; 0 is Request.
	// What a command sends to a server that answers nothing ends within some three of it.
	Patience time.Duration
}

func (l Limits) withDefaults() Limits {
	l.Request = cmp.Or(l.Request, 20*time.Second)
	l.Watch = cmp.Or(l.Watch, 6*time.Minute)
	l.Answer = cmp.Or(l.Answer, 64<<20)
	l.Page = cmp.Or(l.Page, l.Answer)
	l.Run = cmp.Or(l.Run, NoLimit)
	l.RunLogs = cmp.Or(l.RunLogs, NoLimit)
	l.Patience = cmp.Or(l.Patience, l.Request)
	return l
}

// Protect returns a copy of cfg whose clients - those of exec included - follow no
// redirection, take no answer beyond the limits and give up a request in time. It works
// below the clients, in the transport, because the clients of exec make their own
// http.Client. An upgraded connection (exec) has no end of its own: there the caller's
// context bounds the time, and the caller the bytes.
//
// A credential plugin is run outside of it, without a context: New bounds that.
func Protect(cfg *rest.Config, l Limits) *rest.Config {
	cfg, _ = protect(cfg, l)
	return cfg
}

func protect(cfg *rest.Config, l Limits) (*rest.Config, func(http.RoundTripper) http.RoundTripper) {
	cfg = rest.CopyConfig(cfg)
	asked := cfg.Timeout
	if l.Request == 0 { // as the user asked (--request-timeout)
		l.Request = cfg.Timeout
	}
	l = l.withDefaults()
	if cfg.UserAgent == "" {
		cfg.UserAgent = "rollcall"
	}
	cfg.Timeout = 0 // the transport's bound covers the body, too, and not what is upgraded
	run, logs := newAllowance(l.Run), newAllowance(l.RunLogs)
	waits, patience := &waits{most: l.Request}, &patience{}
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return protected{next, l, run, logs, waits, patience} })
	if cfg.ExecProvider == nil {
		return cfg, func(next http.RoundTripper) http.RoundTripper { return next }
	}
	plugin := pluginOf(cfg.ExecProvider)
	cfg.ExecProvider = plugin.marked(cfg.ExecProvider)
	plugin.words.authenticator(cfg)
	return cfg, func(next http.RoundTripper) http.RoundTripper {
		return withPlugin{next, &protected{l: l, patience: patience}, plugin, asked}
	}
}

// protected is the transport of every client.
type protected struct {
	next      http.RoundTripper
	l         Limits
	run, logs *allowance
	waits     *waits
	patience  *patience
}

// WrappedRoundTripper lets client-go find the transport below.
func (t protected) WrappedRoundTripper() http.RoundTripper { return t.next }

// RoundTrip implements http.RoundTripper.
func (t protected) RoundTrip(req *http.Request) (*http.Response, error) {
	if c, ok := req.Context().Value(callKey{}).(*call); ok { // its credential is there
		c.enter()
		defer c.leave()
	}
	query := req.URL.Query()
	run, most, within := t.run, t.l.Page, t.l.Request
	if query.Has("tailLines") { // of a container or a journal
		run = t.logs
	}
	if !query.Has("limit") && !query.Has("limitBytes") {
		most = t.l.Answer
	}
	if query.Has("watch") {
		within = t.l.Watch
	}
	if err := run.err(); err != nil {
		return nil, err
	}
	began, patience := time.Now(), t.patienceWith(req)
	if !query.Has("watch") {
		within = patience.within(within, t.l.Patience, began)
	}
	ctx, cancel := bounded(req.Context(), within)
	resp, err := t.once(req.WithContext(ctx))
	now := time.Now()
	if err != nil {
		cancel()
		if !errors.Is(req.Context().Err(), context.Canceled) {
			patience.failed(t.l.Patience, began, now)
		}
		return nil, err
	}
	noteRetryAfter(req.Context(), resp, now)
	if end, ok := req.Context().Deadline(); !t.waits.may(retryAfter(resp.Header, now), now, end, ok) {
		resp.Header.Del("Retry-After") // client-go waits as long as it is told
	}
	switch {
	case resp.StatusCode == http.StatusSwitchingProtocols:
		context.AfterFunc(ctx, cancel) // the context was for the handshake; the connection lives on without it
		return resp, nil
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		cancel()
		return nil, errors.Join(fmt.Errorf("%s %s: %w (%s)", req.Method, req.URL.Path, ErrRedirect, resp.Status), resp.Body.Close())
	}
	b := &body{ReadCloser: resp.Body, left: most, most: most, run: run, cancel: cancel}
	if !query.Has("watch") {
		b.done = func(err error) {
			switch {
			case errors.Is(req.Context().Err(), context.Canceled):
			case err != nil && !errors.Is(err, io.EOF) || resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests:
				patience.failed(t.l.Patience, began, time.Now())
			default:
				patience.answered()
			}
		}
	}
	resp.Body = b
	return resp, nil
}

// bounded is ctx with an end, where there is a limit.
func bounded(ctx context.Context, within time.Duration) (context.Context, context.CancelFunc) {
	if within < 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, within, timeoutError{within})
}
