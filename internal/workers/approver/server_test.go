package approver

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
)

// server is an API server in memory, as far as an approver asks one: versions of
// objects, tests of JSON patches, watches, conflicts.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	version int
	objects map[string]map[string]any // by path
	watches []chan []byte
	asked   []string                           // "METHOD path"
	meddle  func(req *http.Request) (code int) // answers instead; 0 does not
	before  func(s *server, req *http.Request) // called with the lock held, before a write
	patched map[string]int                     // approvals that were kept, by request
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{objects: map[string]map[string]any{}, patched: map[string]int{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	s.put("/apis/config.openshift.io/v1/infrastructures/cluster", map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "Infrastructure",
		"metadata": map[string]any{"name": "cluster"}, "status": map[string]any{"apiServerURL": "https://api.c.example.com:6443"}})
	s.put("/apis/config.openshift.io/v1/networks/cluster", map[string]any{"apiVersion": "config.openshift.io/v1", "kind": "Network",
		"metadata": map[string]any{"name": "cluster"}, "status": map[string]any{"serviceNetwork": []any{"172.30.0.0/16"},
			"clusterNetwork": []any{map[string]any{"cidr": "10.128.0.0/14"}}}})
	for _, n := range csrtest.Nodes() {
		ready := "False"
		if n.Ready {
			ready = "True"
		}
		var addresses []any
		for _, a := range n.Addresses {
			addresses = append(addresses, map[string]any{"type": "InternalIP", "address": a})
		}
		s.put("/api/v1/nodes/"+n.Name, map[string]any{"apiVersion": "v1", "kind": "Node",
			"metadata": map[string]any{"name": n.Name, "creationTimestamp": n.Created.Format(time.RFC3339)},
			"status":   map[string]any{"addresses": addresses, "conditions": []any{map[string]any{"type": "Ready", "status": ready}}}})
		s.put("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+n.Name, map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
			"metadata": map[string]any{"name": n.Name, "namespace": "kube-node-lease"}, "spec": map[string]any{"renewTime": n.Renewed.Format("2006-01-02T15:04:05.000000Z07:00")}})
	}
	return s
}

func (s *server) config() *rest.Config { return &rest.Config{Host: s.URL, QPS: -1} }

const csrPath = "/apis/certificates.k8s.io/v1/certificatesigningrequests/"

// put stores an object, as a new version.
func (s *server) put(path string, o map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(path, o)
}

func (s *server) store(path string, o map[string]any) {
	typ := "MODIFIED"
	if s.objects[path] == nil {
		typ = "ADDED"
	}
	s.version++
	o["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
	s.objects[path] = o
	if strings.HasPrefix(path, csrPath) {
		s.tell(typ, o)
	}
}

func (s *server) tell(typ string, o map[string]any) {
	raw, _ := json.Marshal(map[string]any{"type": typ, "object": o})
	for _, w := range s.watches {
		select {
		case w <- raw:
		default: // a slow watcher misses it, as one does whose watch ended
		}
	}
}

// file stores requests as their objects.
func (s *server) file(t *testing.T, requests ...*csrtest.Request) {
	t.Helper()
	for _, r := range requests {
		o, err := r.Object()
		if err != nil {
			t.Fatal(err)
		}
		s.put(csrPath+r.API.Name, o)
	}
}

func (s *server) remove(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, path)
}

// approvedBy is the reason with which a request is approved, "" where it is not.
func (s *server) approvedBy(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := json.Marshal(s.objects[csrPath+name])
	var c certificatesv1.CertificateSigningRequest
	_ = json.Unmarshal(raw, &c)
	for _, one := range c.Status.Conditions {
		if one.Type == certificatesv1.CertificateApproved {
			return one.Reason
		}
	}
	return ""
}

func (s *server) approvals() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, times := range s.patched {
		n += times
	}
	return n
}

// under lists objects whose path begins so.
func (s *server) under(prefix string) []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.list(prefix)
}

func (s *server) list(prefix string) []map[string]any {
	var paths []string
	for p := range s.objects {
		if strings.HasPrefix(p, prefix) {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	items := []map[string]any{}
	for _, p := range paths {
		items = append(items, s.objects[p])
	}
	return items
}

// ServeHTTP implements http.Handler.
func (s *server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, req.Method+" "+req.URL.Path)
	meddle := s.meddle
	s.mu.Unlock()
	if meddle != nil {
		if code := meddle(req); code != 0 {
			fail(w, code)
			return
		}
	}
	if req.URL.Query().Get("watch") != "" {
		s.watch(w, req)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := req.URL.Path
	if s.before != nil && req.Method != http.MethodGet {
		s.before(s, req)
	}
	switch req.Method {
	case http.MethodGet:
		s.get(w, path)
	case http.MethodPost, http.MethodPut:
		s.write(w, req, path)
	case http.MethodPatch:
		s.patch(w, req, path)
	default:
		fail(w, 405)
	}
}

func (s *server) get(w http.ResponseWriter, path string) {
	if o := s.objects[path]; o != nil {
		answer(w, o)
		return
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	last := parts[len(parts)-1]
	kinds := map[string]string{"certificatesigningrequests": "CertificateSigningRequestList", "nodes": "NodeList", "leases": "LeaseList",
		"infrastructures": "InfrastructureList", "networks": "NetworkList"}
	if kind, is := kinds[last]; is {
		group := strings.Join(parts[1:min(3, len(parts)-1)], "/")
		answer(w, map[string]any{"apiVersion": group, "kind": kind, "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)}, "items": s.list(path + "/")})
		return
	}
	fail(w, 404)
}

func (s *server) write(w http.ResponseWriter, req *http.Request, path string) {
	var o map[string]any
	if err := json.NewDecoder(req.Body).Decode(&o); err != nil {
		fail(w, 400)
		return
	}
	meta := o["metadata"].(map[string]any)
	if req.Method == http.MethodPost {
		path += "/" + fmt.Sprint(meta["name"])
		if s.objects[path] != nil {
			fail(w, 409, "AlreadyExists")
			return
		}
	} else if have := s.objects[path]; have == nil {
		fail(w, 404)
		return
	} else if have["metadata"].(map[string]any)["resourceVersion"] != meta["resourceVersion"] {
		fail(w, 409)
		return
	}
	s.store(path, o)
	answer(w, o)
}

func (s *server) patch(w http.ResponseWriter, req *http.Request, path string) {
	path, isApproval := strings.CutSuffix(path, "/approval")
	have := s.objects[path]
	if have == nil || !isApproval {
		fail(w, 404)
		return
	}
	var raw json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&raw); err != nil {
		fail(w, 400)
		return
	}
	p, err := jsonpatch.DecodePatch(raw)
	if err != nil {
		fail(w, 400)
		return
	}
	old, _ := json.Marshal(have)
	changed, err := p.Apply(old)
	if err != nil { // apiserver: endpoints/handlers/patch.go answers 422 where a test fails
		fail(w, 422)
		return
	}
	var o map[string]any
	if json.Unmarshal(changed, &o) != nil {
		fail(w, 400)
		return
	}
	if req.URL.Query().Get("dryRun") == "" {
		for _, c := range o["status"].(map[string]any)["conditions"].([]any) {
			if c := c.(map[string]any); c["lastTransitionTime"] == nil {
				c["lastTransitionTime"] = csrtest.Noon.Format(time.RFC3339)
			}
		}
		s.store(path, o)
		s.patched[path]++
	}
	answer(w, o)
}

func (s *server) watch(w http.ResponseWriter, req *http.Request) {
	ch := make(chan []byte, 10000)
	s.mu.Lock()
	for _, o := range s.list(csrPath) {
		raw, _ := json.Marshal(map[string]any{"type": "ADDED", "object": o})
		ch <- raw
	}
	s.watches = append(s.watches, ch)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.(http.Flusher).Flush()
	for {
		select {
		case <-req.Context().Done():
			return
		case raw, open := <-ch:
			if !open {
				return
			}
			if _, err := w.Write(append(raw, '\n')); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

// gone ends all watches as an API server does whose history does not reach back so far.
func (s *server) gone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	raw, _ := json.Marshal(map[string]any{"type": "ERROR", "object": map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure",
		"reason": "Expired", "code": 410, "message": "too old resource version"}})
	for _, w := range s.watches {
		w <- raw
		close(w)
	}
	s.watches = nil
}

func answer(w http.ResponseWriter, o any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(o)
}

func fail(w http.ResponseWriter, code int, reason ...string) {
	reasons := map[int]string{403: "Forbidden", 404: "NotFound", 409: "Conflict", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}
	word := reasons[code]
	if len(reason) > 0 {
		word = reason[0]
	}
	w.Header().Set("Content-Type", "application/json")
	if code == 429 {
		w.Header().Set("Retry-After", "0")
	}
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": word, "code": code, "message": word})
}

func newHTTP(s *server) *httptest.Server { return httptest.NewServer(s) }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
