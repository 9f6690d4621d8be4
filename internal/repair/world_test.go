package repair

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// world is an API server in memory: it keeps resourceVersions and uids, enforces
// `test` operations, status subresources, dry runs and preconditions of deletes,
// and tells managers. What controllers, kubelets and daemons would do happens in
// tick, one thing at a time.
type world struct {
	t       *testing.T
	mu      sync.Mutex
	objects map[string]Object // "group/resource/namespace/name"
	version int
	now     time.Time
	writes  []string
	asked   []Access // every request, each once
	frozen  bool     // nothing happens in tick
	sick    bool     // a member of etcd stays unhealthy
	deny    func(verb, key string) int
	before  func(verb, key string) // called unlocked before a write that is not a dry run
	server  *httptest.Server

	diagnosed func(*diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) // changes what Diagnose answers
}

func keyOf(r Ref) string { return r.Group + "/" + r.Resource + "/" + r.Namespace + "/" + r.Name }

func newWorld(t *testing.T) *world {
	w := &world{t: t, objects: map[string]Object{}, now: time.Date(2026, 5, 1, 3, 0, 0, 0, time.UTC)}
	w.server = httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(w.server.Close)
	return w
}

// api is the world's API, which answers for the members of etcd, too.
func (w *world) api() *kube.Client {
	k, err := kube.New(&rest.Config{Host: w.server.URL, QPS: -1}, kube.Limits{})
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

func (w *world) stamp() string { return w.now.Format(time.RFC3339) }

// put creates or replaces an object as someone else than us.
func (w *world) put(r Ref, o Object) {
	w.version++
	meta, _ := o["metadata"].(map[string]any)
	if meta == nil {
		meta = map[string]any{}
		o["metadata"] = meta
	}
	meta["name"] = r.Name
	if r.Namespace != "" {
		meta["namespace"] = r.Namespace
	}
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", w.version)
		meta["creationTimestamp"] = w.stamp()
	}
	meta["resourceVersion"] = fmt.Sprint(w.version)
	w.objects[keyOf(r)] = o
}

func (w *world) get(r Ref) Object {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.objects[keyOf(r)]
}

// edit changes an object in place, as another writer would.
func (w *world) edit(r Ref, manager string, change func(Object)) {
	o := w.objects[keyOf(r)]
	change(o)
	w.version++
	meta := o["metadata"].(map[string]any)
	meta["resourceVersion"] = fmt.Sprint(w.version)
	w.managed(meta, manager, nil)
}

func (w *world) managed(meta map[string]any, manager string, paths []string) {
	owned := map[string]any{}
	for _, p := range paths {
		at := owned
		for _, e := range splitPointer(p) {
			next, _ := at["f:"+e].(map[string]any)
			if next == nil {
				next = map[string]any{}
				at["f:"+e] = next
			}
			at = next
		}
	}
	if paths == nil {
		owned = map[string]any{"f:status": map[string]any{"f:configuration": map[string]any{}}, "f:metadata": map[string]any{"f:annotations": map[string]any{}}}
	}
	list, _ := meta["managedFields"].([]any)
	list = slices.DeleteFunc(slices.Clone(list), func(e any) bool { return e.(map[string]any)["manager"] == manager })
	meta["managedFields"] = append(list, map[string]any{"manager": manager, "time": w.stamp(), "fieldsV1": owned})
}

func status(rw http.ResponseWriter, code int, reason, message string) {
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(code)
	_ = json.NewEncoder(rw).Encode(map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message})
}

// route parses a request's path.
func route(path string) (r Ref, sub string) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if parts[0] == "api" {
		r.Version, parts = parts[1], parts[2:]
	} else {
		r.Group, r.Version, parts = parts[1], parts[2], parts[3:]
	}
	if parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		sub = parts[2]
	}
	return r, sub
}

func (w *world) serve(rw http.ResponseWriter, req *http.Request) {
	r, sub := route(req.URL.Path)
	dryRun := req.URL.Query().Get("dryRun") == "All"
	if w.before != nil && req.Method != http.MethodGet && !dryRun {
		w.before(req.Method, keyOf(r))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.deny != nil {
		if code := w.deny(req.Method, keyOf(r)); code != 0 {
			status(rw, code, map[int]string{403: "Forbidden", 500: "InternalError"}[code], "denied by the test")
			return
		}
	}
	w.note(req.Method, r, sub)
	o, ok := w.objects[keyOf(r)]
	switch req.Method {
	case http.MethodGet:
		if r.Name == "" {
			w.list(rw, r)
			return
		}
		if !ok {
			status(rw, 404, "NotFound", keyOf(r)+" not found")
			return
		}
		reply(rw, o)
	case http.MethodPatch:
		w.patch(rw, req, r, sub, o, dryRun)
	case http.MethodPost:
		w.create(rw, req, r, dryRun)
	case http.MethodDelete:
		w.remove(rw, req, r, o, dryRun)
	}
}

func (w *world) note(method string, r Ref, sub string) {
	verb := map[string]string{http.MethodGet: "get", http.MethodPatch: "patch", http.MethodPost: "create", http.MethodDelete: "delete"}[method]
	if verb == "get" && r.Name == "" {
		verb = "list"
	}
	if a := (Access{verb, r, sub}); !slices.Contains(w.asked, a) {
		w.asked = append(w.asked, a)
	}
}

func reply(rw http.ResponseWriter, v any) {
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(v)
}

func (w *world) list(rw http.ResponseWriter, r Ref) {
	items := []any{}
	for _, k := range slices.Sorted(maps.Keys(w.objects)) {
		if strings.HasPrefix(k, keyOf(r)) {
			items = append(items, w.objects[k])
		}
	}
	reply(rw, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": items})
}

func (w *world) patch(rw http.ResponseWriter, req *http.Request, r Ref, sub string, o Object, dryRun bool) {
	if o == nil {
		status(rw, 404, "NotFound", "not found")
		return
	}
	var body json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&body); err != nil {
		status(rw, 400, "BadRequest", err.Error())
		return
	}
	patch, err := jsonpatch.DecodePatch(body)
	if err != nil {
		status(rw, 400, "BadRequest", err.Error())
		return
	}
	doc, _ := json.Marshal(o)
	changed, err := patch.Apply(doc)
	if err != nil {
		status(rw, 422, "Invalid", "the server rejected our request due to an error in our request")
		return
	}
	var next Object
	_ = json.Unmarshal(changed, &next)
	switch old := o["status"]; {
	case sub == "" && r.Resource != "configmaps":
		next["status"] = old
	case sub != "":
		kept := clone(o)
		kept["status"] = next["status"]
		kept["metadata"] = next["metadata"]
		next = kept
	}
	if dryRun {
		reply(rw, next)
		return
	}
	var paths []string
	for _, op := range patch {
		if p, _ := op.Path(); op.Kind() != "test" {
			paths = append(paths, p)
		}
	}
	w.version++
	meta := next["metadata"].(map[string]any)
	meta["resourceVersion"] = fmt.Sprint(w.version)
	w.managed(meta, req.URL.Query().Get("fieldManager"), paths)
	w.objects[keyOf(r)] = next
	w.writes = append(w.writes, "patch "+r.String()+" "+sub)
	reply(rw, next)
}

func clone(o Object) Object {
	raw, _ := json.Marshal(o)
	var out Object
	_ = json.Unmarshal(raw, &out)
	return out
}

func (w *world) create(rw http.ResponseWriter, req *http.Request, r Ref, dryRun bool) {
	var o Object
	if err := json.NewDecoder(req.Body).Decode(&o); err != nil {
		status(rw, 400, "BadRequest", err.Error())
		return
	}
	r.Name = stringAt(o, "metadata", "name")
	if w.objects[keyOf(r)] != nil {
		status(rw, 409, "AlreadyExists", "already exists")
		return
	}
	if dryRun {
		reply(rw, o)
		return
	}
	w.put(r, o)
	w.writes = append(w.writes, "create "+r.String())
	reply(rw, o)
}

func (w *world) remove(rw http.ResponseWriter, req *http.Request, r Ref, o Object, dryRun bool) {
	if o == nil {
		status(rw, 404, "NotFound", "not found")
		return
	}
	var options struct {
		Preconditions struct{ UID, ResourceVersion string }
		DryRun        []string
	}
	_ = json.NewDecoder(req.Body).Decode(&options)
	p := options.Preconditions
	if p.UID != stringAt(o, "metadata", "uid") || p.ResourceVersion != stringAt(o, "metadata", "resourceVersion") {
		status(rw, 409, "Conflict", "the precondition does not hold")
		return
	}
	if !dryRun && len(options.DryRun) == 0 {
		delete(w.objects, keyOf(r))
		w.writes = append(w.writes, "delete "+r.String())
	}
	reply(rw, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success"})
}

// request makes a CertificateSigningRequest as a kubelet does.
func (w *world) request(name, node, signer string, ips ...string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "system:node:" + node, Organization: []string{"system:nodes"}}}
	spec := map[string]any{"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": []any{"digital signature", "client auth"},
		"username": "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
		"groups":   []any{"system:serviceaccounts:openshift-machine-config-operator", "system:serviceaccounts", "system:authenticated"}}
	if signer == "serving" {
		spec["signerName"], spec["usages"] = "kubernetes.io/kubelet-serving", []any{"digital signature", "server auth"}
		spec["username"], spec["groups"] = "system:node:"+node, []any{"system:nodes", "system:authenticated"}
		template.DNSNames = []string{node}
		for _, ip := range ips {
			template.IPAddresses = append(template.IPAddresses, net.ParseIP(ip))
		}
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		w.t.Fatal(err)
	}
	spec["request"] = base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
	w.put(csrRef(name), Object{"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "spec": spec, "status": map[string]any{}})
}
