package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

const (
	// maxTries bounds how often a request is sent that the API server answers with 429 or
	// 5xx. With the default pause the tries spread over 7.5 s.
	maxTries = 5
	// maxBroken bounds it where there is no answer at all: that an API is unreachable has
	// to be known soon.
	maxBroken = 2
	// maxWait bounds how long one request waits between its tries, also where
	// Retry-After asks for more; so does Options.RequestTimeout.
	maxWait = 30 * time.Second
	// enoughRefusals is how many requests in a row are refused on every try before
	// requests are sent only once: a server that refuses everything has no hurry. So
	// it is after Options.RequestTimeout in which every request was refused.
	enoughRefusals = 8
)

// attempts counts the tries of one request.
type attempts struct {
	s      *Source
	n      int
	waited time.Duration
	later  time.Duration // when the server wants to be asked again, where that is too late
}

// next says after one try whether there is another one, and after which pause. asked is
// the context of the try.
func (t *attempts) next(asked context.Context, err error) (time.Duration, bool) {
	t.n++
	if err == nil {
		t.s.refused.Store(0)
		t.s.refusing.Store(0)
		return 0, false
	}
	now := time.Now()
	t.s.refusing.CompareAndSwap(0, now.UnixNano())
	if !passing(asked, err) {
		return 0, false
	}
	most := maxBroken
	if refusal(err) {
		most = maxTries
	}
	hint := kube.RetryAfter(asked)
	pause := max(hint, t.s.opts.RetryPause<<(t.n-1))
	switch {
	case t.n >= most:
		t.s.refused.Add(1)
		return 0, false
	case t.s.refused.Load() >= enoughRefusals || now.Sub(time.Unix(0, t.s.refusing.Load())) > t.s.opts.RequestTimeout:
		return 0, false
	case t.waited+pause > min(maxWait, t.s.opts.RequestTimeout) || now.Add(pause).After(t.s.deadline):
		t.later = hint
		t.s.refused.Add(1)
		return 0, false
	}
	t.waited += pause
	return pause, true
}

// failed adds to the reason of a failed request how often it was sent.
func (t *attempts) failed(err error) error {
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return err
	}
	named := *u
	if t.n > 1 {
		named.Detail += fmt.Sprintf(" (tried %d times)", t.n)
	}
	if t.later > 0 {
		named.Detail += fmt.Sprintf(" (the server asks to try again in %v)", t.later)
	}
	return &named
}

// refusal reports whether an API server, or what is before it, answered that it cannot
// answer now.
func refusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	switch status.Status().Code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// throttled reports whether an API server has no time now. Of a log no other failure is
// tried again: the kubelet behind it would be waited for each time.
func throttled(err error) bool { return apierrors.IsTooManyRequests(err) }

// pause waits before a further try. False: the caller's time is over.
func (s *Source) pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
