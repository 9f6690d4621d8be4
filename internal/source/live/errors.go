package live

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Access is one thing that the API must allow: a verb on a resource.
type Access struct {
	Verb        string
	Resource    evidence.Resource
	Subresource string
	Namespace   string // "" is cluster-scoped or all namespaces
	Name        string // of one object; "" is all of them
}

// String renders the access as RBAC rules name it: "get pods/log in namespace x".
func (a Access) String() string {
	s := a.Verb + " " + a.resource()
	if a.Namespace != "" {
		s += " in namespace " + a.Namespace
	}
	return s
}

func (a Access) resource() string {
	s := a.Resource.Name
	if a.Subresource != "" {
		s += "/" + a.Subresource
	}
	if a.Resource.Group != "" {
		s += "." + a.Resource.Group
	}
	return s
}

func (a Access) supply() evidence.Supply {
	return evidence.Supply{Kind: evidence.SupplyRole, Verb: a.Verb, Resource: a.resource(), Namespace: a.Namespace}
}

// errGarbage is the error of an answer that no API server gives: HTML of a proxy,
// a cut document, an object of another kind.
var errGarbage = errors.New("not an answer of a Kubernetes API")

func garbage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errGarbage, fmt.Sprintf(format, args...))
}

// unavailable turns the failure of a request into an *evidence.Unavailable for a
// need. asked is the context of the request, ctx the caller's: a caller that
// canceled gets its own error back.
func (s *Source) unavailable(ctx, asked context.Context, need evidence.Need, a Access, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s: %w", a, ctx.Err())
	}
	if _, ok := evidence.AsUnavailable(err); ok {
		return err
	}
	if at, ok := asked.Deadline(); ok && (!time.Now().Before(at) || rateLimited(err)) {
		err = limitOf(asked)
	}
	u := &evidence.Unavailable{Need: need, Why: evidence.Unreachable, Detail: s.happened(err)}
	switch {
	case apierrors.IsForbidden(err):
		u.Why = evidence.Forbidden
		u.Detail = "missing right: " + a.String()
		u.Supply = a.supply()
	case apierrors.IsUnauthorized(err):
		u.Why = evidence.Forbidden
		u.Detail = fmt.Sprintf("%s, so no one may %s", notAccepted, a)
		u.Supply = evidence.Supply{Kind: evidence.SupplyLogin}
	case throttled(err):
		u.Supply = evidence.Supply{Kind: evidence.SupplyAgain}
	}
	return u
}

// notAccepted begins the detail of every 401.
const notAccepted = "the API does not accept the credentials (401)"

// rateLimited reports whether client-go's rate limit gave a request up before the end of
// its time.
func rateLimited(err error) bool {
	return strings.Contains(err.Error(), "would exceed context deadline")
}

// happened says in one line why a request had no usable answer.
func (s *Source) happened(err error) string {
	var link *url.Error
	if errors.As(err, &link) {
		err = link.Err // the URL is long and the host is said anyway
	}
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return s.host + ": no answer in time"
	case errors.As(err, &status):
		code := int(status.Status().Code)
		return fmt.Sprintf("%s: %d %s: %s", s.host, code, http.StatusText(code), wire.Clip(status.Status().Message))
	}
	return s.host + ": " + wire.Clip(err.Error())
}

// passing reports whether another try is worthwhile: the connection was refused or
// broke, a load balancer had no backend, the API server shed load or failed. A timeout
// is not: it has cost enough already.
func passing(asked context.Context, err error) bool {
	if err == nil || asked.Err() != nil || errors.Is(err, errGarbage) || errors.Is(err, kube.ErrTooMuch) || errors.Is(err, kube.ErrRedirect) {
		return false
	}
	var wait net.Error
	if errors.As(err, &wait) && wait.Timeout() {
		return false // such as that of the TLS handshake, which ends before the request's own
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return refusal(err)
	}
	var unverified x509.UnknownAuthorityError
	var link *url.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &link) && !errors.As(err, &unverified)
}
