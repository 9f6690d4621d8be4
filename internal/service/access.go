package service

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Reviewer is what an Access asks of the API: kube.Client has it.
type Reviewer interface {
	Create(ctx context.Context, r kube.Ref, content kube.Object, dryRun bool) (kube.Object, error)
}

// Access decides who may read a path: whose token the API server accepts (TokenReview), and whom its
// authorization allows `get` of that path (SubjectAccessReview of a nonResourceURL), as for the metrics of the
// API server itself. The token comes as a bearer token, or as the password of a browser.
type Access struct {
	api   Reviewer
	now   func() time.Time
	turns chan struct{} // how many reviews run at the same time

	mu      sync.Mutex
	granted map[[sha256.Size]byte]time.Time // digest of token and path -> when it was allowed
}

// Times and bounds of an Access.
const (
	grantFor   = time.Minute      // so long one review counts
	graceFor   = 15 * time.Minute // the same while the API server cannot be asked: its absence is what is to be read here
	reviewTime = 8 * time.Second  // of the two reviews of one request
	mostGrants = 256
	mostTurns  = 8
	mostToken  = 12 << 10 // bytes
)

// NewAccess returns what asks api.
func NewAccess(api Reviewer, now func() time.Time) *Access {
	return &Access{api: api, now: now, turns: make(chan struct{}, mostTurns), granted: map[[sha256.Size]byte]time.Time{}}
}

var (
	errNoToken   = errors.New("a token is needed: as a bearer token, or in a browser as the password, with any user name: oc whoami -t")
	errBadToken  = errors.New("the API server does not accept this token")
	errForbidden = errors.New("not allowed")
	errNotAsked  = errors.New("the API server could not be asked whether this is allowed")
)

// guard serves a path to whom may read it.
func (a *Access) guard(path string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch err := a.check(req.Context(), tokenOf(req), path); {
		case err == nil:
			next.ServeHTTP(w, req)
		case errors.Is(err, errNoToken), errors.Is(err, errBadToken):
			w.Header().Set("WWW-Authenticate", `Basic realm="rollcall: any user name; the password is what oc whoami -t prints", charset="UTF-8"`)
			http.Error(w, err.Error(), http.StatusUnauthorized)
		case errors.Is(err, errForbidden):
			http.Error(w, "not allowed: get of the nonResourceURL "+path, http.StatusForbidden)
		default:
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}

// tokenOf is the token of a request, "" where it has none.
func tokenOf(req *http.Request) string {
	if _, password, ok := req.BasicAuth(); ok {
		return password
	}
	kind, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// check is nil where the owner of a token may read a path.
func (a *Access) check(ctx context.Context, token, path string) error {
	switch {
	case token == "":
		return errNoToken
	case len(token) > mostToken:
		return errBadToken
	}
	key := sha256.Sum256([]byte(path + "\x00" + token))
	age, known := a.age(key)
	if known && age < grantFor {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, reviewTime)
	defer cancel()
	select {
	case a.turns <- struct{}{}:
		defer func() { <-a.turns }()
	case <-ctx.Done():
		return errNotAsked
	}
	err := a.review(ctx, token, path)
	switch {
	case err == nil:
		a.grant(key)
	case errors.Is(err, errNotAsked) && known && age < graceFor:
		return nil
	case !errors.Is(err, errNotAsked):
		a.mu.Lock()
		delete(a.granted, key)
		a.mu.Unlock()
	}
	return err
}

func (a *Access) age(key [sha256.Size]byte) (time.Duration, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at, known := a.granted[key]
	return a.now().Sub(at), known
}

// grant remembers an answer. Where there are too many, those that no longer count go, and then all.
func (a *Access) grant(key [sha256.Size]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if len(a.granted) >= mostGrants {
		maps.DeleteFunc(a.granted, func(_ [sha256.Size]byte, at time.Time) bool { return now.Sub(at) >= graceFor })
	}
	if len(a.granted) >= mostGrants {
		clear(a.granted)
	}
	a.granted[key] = now
}

// review asks the API server whose the token is, and whether he may. What the server writes is in no error: it may
// quote the token.
func (a *Access) review(ctx context.Context, token, path string) error {
	who, err := a.api.Create(ctx, kube.Ref{Group: openshift.AuthenticationGroup, Version: "v1", Resource: "tokenreviews"}, kube.Object{
		"apiVersion": openshift.AuthenticationGroup + "/v1", "kind": "TokenReview", "spec": map[string]any{"token": token}}, false)
	if err != nil {
		return errNotAsked
	}
	if ok, is := evidence.Field(who, "status", "authenticated").(bool); !is || !ok {
		return errBadToken
	}
	user, _ := evidence.Field(who, "status", "user").(map[string]any)
	spec := map[string]any{"nonResourceAttributes": map[string]any{"path": path, "verb": "get"}}
	for field, as := range map[string]string{"username": "user", "uid": "uid", "groups": "groups", "extra": "extra"} {
		if v := user[field]; v != nil {
			spec[as] = v
		}
	}
	may, err := a.api.Create(ctx, kube.Ref{Group: openshift.AuthorizationGroup, Version: "v1", Resource: "subjectaccessreviews"}, kube.Object{
		"apiVersion": openshift.AuthorizationGroup + "/v1", "kind": "SubjectAccessReview", "spec": spec}, false)
	if err != nil {
		return errNotAsked
	}
	if ok, is := evidence.Field(may, "status", "allowed").(bool); !is || !ok {
		return errForbidden
	}
	return nil
}
