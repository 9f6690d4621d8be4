package message

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// bare are wordings that name what happened and not why: they prove no cause, whatever else has to
// match on the line.
var bare = []string{
	"i/o timeout", "tls handshake timeout", "client.timeout exceeded", "context deadline exceeded", "timed out", "timeout awaiting response headers",
	"connection refused", "connect: connection refused", "getsockopt: connection refused", "connection reset by peer", "no route to host",
	"network is unreachable", "no such host", "server misbehaving", "unauthorized", "forbidden", "not found", "get result: unauthorized",
	"get result: not found", "get result: internal server error", "get result: bad gateway", "get result: service unavailable",
	"get result: gateway timeout", "returned code 401", "returned code 403", "unauthorized: authentication required",
	"certificate signed by unknown authority", "certificate has expired or is not yet valid", "certificate has expired", "certificate_verify_failed",
	"no space left on device", "out of memory", "oomkilled", "unable to connect to the server", "virtual media mount failed for node",
}

// TestBareWordingsProveNothing: a text that names only a symptom yields no proven cause.
func TestBareWordingsProveNothing(t *testing.T) {
	x := builtIn(t)
	for i := range x.rules {
		r := &x.rules[i]
		f, ok := x.catalog.Fault(r.Fault)
		if !ok || r.Shows != fault.ShowsProven || !f.StandsAlone && !f.TextOnly() {
			continue
		}
		if slices.Contains(bare, strings.ToLower(r.Text)) && len(r.Also) == 0 {
			t.Errorf("%s: %q proves %s", r.program, r.Text, r.Fault)
		}
	}
}
