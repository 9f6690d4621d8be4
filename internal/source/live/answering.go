package live

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// enoughSilence is how many lists are waited for in vain before no other is asked for.
const maxUnanswered = 8

// answering notices an API server that takes requests and answers none, as one does
// whose etcd has lost its quorum: what it serves it knows by itself, and every list
// waits. To wait for each of a hundred lists would take minutes and show nothing new.
type answering struct {
	answered atomic.Bool  // a list was answered, be it with an error
	waited   atomic.Int32 // lists whose time ran out
}

// note remembers how the request for a list ended.
func (q *answering) note(caller, asked context.Context, err error) {
	switch {
	case err == nil || asked.Err() == nil && !errors.Is(err, context.DeadlineExceeded):
		q.answered.Store(true)
	case caller.Err() == nil && !errors.Is(asked.Err(), context.Canceled):
		q.waited.Add(1)
	}
}

// notAsked returns why a list is not requested, nil if it is.
func (s *Source) notAsked(need evidence.Need) error {
	if s.answering.answered.Load() || s.answering.waited.Load() < maxUnanswered {
		return nil
	}
	return &evidence.Unavailable{Need: need, Why: evidence.Unreachable, Detail: fmt.Sprintf(
		"%s: not asked: none of the first %d lists was answered within %v", s.host, maxUnanswered, s.opts.RequestTimeout)}
}
