package kube

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// retryAfterKey is the key in a request's context of what Retry-After said. client-go
// loses the header where the body is a Status, and does not know its form with a date.
type retryAfterKey struct{}

// WithRetryAfter returns a context in which RetryAfter finds what the answer to a request
// said.
func WithRetryAfter(ctx context.Context) context.Context {
	return context.WithValue(ctx, retryAfterKey{}, new(atomic.Int64))
}

// RetryAfter is how long the server asked to wait in the answer to the last request of
// the context; 0 where it did not.
func RetryAfter(ctx context.Context) time.Duration {
	if hint, ok := ctx.Value(retryAfterKey{}).(*atomic.Int64); ok {
		return time.Duration(hint.Load())
	}
	return 0
}

// noteRetryAfter keeps what an answer says in Retry-After (RFC 9110 10.2.3).
func noteRetryAfter(ctx context.Context, answer *http.Response, now time.Time) {
	if hint, ok := ctx.Value(retryAfterKey{}).(*atomic.Int64); ok {
		hint.Store(int64(retryAfter(answer.Header, now)))
	}
}

// retryAfter reads seconds or a date; a date is seen from the server's own clock, where
// the answer has it.
func retryAfter(h http.Header, now time.Time) time.Duration {
	const longest = 24 * time.Hour
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return min(max(0, time.Duration(seconds)*time.Second), longest)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if there, err := http.ParseTime(h.Get("Date")); err == nil {
		now = there
	}
	return min(max(0, at.Sub(now)), longest)
}

// waits bounds how long a client waits in all because the server asks it to: client-go sends a
// request again up to ten times, each time as late as the answer says.
type waits struct {
	most time.Duration // below zero there is no bound but that of the context

	mu   sync.Mutex
	end  time.Time // of the waits that follow one another
	last time.Time // when the newest of them is over
}

// may reports whether the client may wait for d from now on. Waits between which most has passed
// without one do not belong together: a program that runs for days may wait again.
func (w *waits) may(d time.Duration, now, contextEnd time.Time, bounded bool) bool {
	until := now.Add(d)
	if d > 0 && bounded && until.After(contextEnd) {
		return false
	}
	if d <= 0 || w.most < 0 {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last.IsZero() || now.Sub(w.last) > w.most {
		w.end = now.Add(w.most)
	}
	if until.After(w.end) {
		return false
	}
	w.last = until
	return true
}
