package live

import (
	"context"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Reached says what became of the client's own first request, which every other
// read of the source depends on.
type Reached struct {
	OK           bool   // a usable answer of a Kubernetes API
	Unauthorized bool   // the API does not accept the credentials
	Detail       string // what happened otherwise, without secrets
}

// Reach asks the API what it serves, as every list does first, and remembers the
// answer. The error is the caller's own context's.
func (s *Source) Reach(ctx context.Context) (Reached, error) {
	_, err := s.discovery(ctx)
	if err == nil {
		return Reached{OK: true}, nil
	}
	u, ok := evidence.AsUnavailable(err)
	if !ok {
		return Reached{}, fmt.Errorf("ask what the API serves: %w", err)
	}
	r := Reached{Detail: u.Detail, Unauthorized: u.Why == evidence.Forbidden && strings.HasPrefix(u.Detail, notAccepted)}
	// A 403 is an answer: the API works and knows who asks.
	r.OK = u.Why == evidence.Forbidden && !r.Unauthorized
	return r, nil
}
