package bmc

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

const (
	root     = "/redfish/v1"
	sessions = root + "/SessionService/Sessions"
	maxBody  = 64 << 10
)

// ServeHTTP answers one request.
func (b *BMC) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	user, _, _ := r.BasicAuth()
	if b.cfg.Gauge != nil {
		b.cfg.Gauge.enter()
		defer b.cfg.Gauge.leave()
	}
	rec := &recorder{ResponseWriter: w, status: http.StatusOK}
	defer func() {
		b.remember(Request{Method: r.Method, Path: path, User: user, Agent: r.UserAgent(), Status: rec.status})
	}()

	b.mu.Lock()
	trouble, gone := b.trouble, b.trouble.GoneAfter > 0 && len(b.requests) >= b.trouble.GoneAfter
	b.mu.Unlock()
	if gone {
		panic(http.ErrAbortHandler) // the server closes the connection
	}
	if trouble.Delay > 0 {
		select {
		case <-time.After(trouble.Delay):
		case <-r.Context().Done():
			return
		}
	}
	rec.Header().Set("OData-Version", "4.0")
	if early := trouble.Late && r.Header.Get("Authorization") == ""; !early && trouble.spoil(rec, r) {
		return
	}
	switch {
	case trouble.Unavailable:
		fail(rec, http.StatusServiceUnavailable, "ServiceTemporarilyUnavailable", "The service is temporarily unavailable.  Retry in 30 seconds.")
	case r.Method == http.MethodPost && path == sessions:
		b.login(rec, r)
	case path == "/redfish" || path == root:
		b.read(rec, path)
	case !b.authenticated(r):
		rec.Header().Set("WWW-Authenticate", `Basic realm="BMC"`)
		fail(rec, http.StatusUnauthorized, "NoValidSession", "There is no valid session established with the implementation.")
	case (trouble.Forbidden || trouble.forbids(path)) && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		fail(rec, http.StatusForbidden, "InsufficientPrivilege", "There are insufficient privileges for the account or credentials associated with "+
			"the current session to perform the requested operation.")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		b.read(rec, path)
	case r.Method == http.MethodDelete && strings.HasPrefix(path, sessions+"/"):
		b.logout(rec, path)
	case trouble.ReadOnly:
		fail(rec, http.StatusForbidden, "InsufficientPrivilege", "There are insufficient privileges for the account or credentials associated with "+
			"the current session to perform the requested operation.")
	case b.cfg.Tree != nil:
		fail(rec, http.StatusMethodNotAllowed, "OperationNotAllowed", "The HTTP method is not allowed on this resource.")
	default:
		b.write(rec, r, path)
	}
}

type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// authenticated accepts basic authentication or a session's token.
func (b *BMC) authenticated(r *http.Request) bool {
	if token := r.Header.Get("X-Auth-Token"); token != "" {
		b.mu.Lock()
		defer b.mu.Unlock()
		_, ok := b.sessions[token]
		return ok
	}
	user, pass, ok := r.BasicAuth()
	return ok && b.check(user, pass)
}

// check counts refused logins and locks the account after too many.
func (b *BMC) check(user, pass string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.trouble.Locked || b.locked {
		return false
	}
	// Both are compared, always and wholly, so that the time tells nothing.
	right := subtle.ConstantTimeCompare([]byte(user), []byte(b.cfg.User)) &
		subtle.ConstantTimeCompare([]byte(pass), []byte(b.cfg.Pass))
	if right == 1 {
		b.failures = 0
		return true
	}
	b.failures++
	b.locked = b.cfg.MaxFailures > 0 && b.failures >= b.cfg.MaxFailures
	return false
}

func (b *BMC) login(w http.ResponseWriter, r *http.Request) {
	var body struct{ UserName, Password string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		fail(w, http.StatusBadRequest, "MalformedJSON", "The request body submitted was malformed JSON and could not be parsed by the receiving service.")
		return
	}
	if !b.check(body.UserName, body.Password) {
		fail(w, http.StatusUnauthorized, "ResourceAtUriUnauthorized", fmt.Sprintf("While accessing the resource at %s, the service received an "+
			"authorization error unauthorized.", sessions))
		return
	}
	var raw [16]byte
	if _, err := rand.Read(raw[:]); err != nil {
		fail(w, http.StatusInternalServerError, "InternalError", "The request failed due to an internal service error.  The service is still operational.")
		return
	}
	token := hex.EncodeToString(raw[:])
	b.mu.Lock()
	b.nextID++
	id := fmt.Sprint(b.nextID)
	path := sessions + "/" + id
	b.sessions[token] = path
	b.mu.Unlock()
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", path)
	answer(w, http.StatusCreated, object("Session.v1_3_0.Session", path, id, "User Session", fields{"UserName": body.UserName}))
}

func (b *BMC) logout(w http.ResponseWriter, path string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for token, at := range b.sessions {
		if at == path {
			delete(b.sessions, token)
			w.WriteHeader(http.StatusNoContent)
			return
		}
	}
	notFound(w, path)
}

func (b *BMC) read(w http.ResponseWriter, path string) {
	if b.cfg.Tree != nil {
		b.captured(w, path)
		return
	}
	b.mu.Lock()
	tree, half := b.tree(), b.trouble.Half
	b.mu.Unlock()
	resource, ok := tree[path]
	switch {
	case !ok:
		notFound(w, path)
	case half:
		raw, err := json.Marshal(resource)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(raw[:len(raw)/2]) //nolint:errcheck // who asked has gone
	default:
		answer(w, http.StatusOK, resource)
	}
}

func answer(w http.ResponseWriter, status int, body any) {
	data, err := json.Marshal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(data, '\n')) //nolint:errcheck // who asked has gone
}

// fail answers with an error as Redfish writes them; id is a message of the
// Base registry (DMTF DSP8011).
func fail(w http.ResponseWriter, status int, id, message string) {
	id = "Base.1.8." + id
	answer(w, status, fields{"error": fields{
		"code": id, "message": message,
		"@Message.ExtendedInfo": []fields{{"@odata.type": "#Message.v1_1_1.Message", "MessageId": id, "Message": message, "Severity": "Critical"}},
	}})
}

func notFound(w http.ResponseWriter, path string) {
	fail(w, http.StatusNotFound, "ResourceMissingAtURI", fmt.Sprintf("The resource at the URI %s was not found.", path))
}
