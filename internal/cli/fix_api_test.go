package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// fixCluster is an API server in memory: the healthy base of the fixtures, with the
// changes of a script. It takes the writes of a repair, dry runs too.
type fixCluster struct {
	mu      sync.Mutex
	objects map[string]object // "resource/namespace/name"
	kinds   map[evidence.Resource]string
	version int
	denied  map[string]int // resource -> status
	down    bool
	written []string
	answers func(w http.ResponseWriter, pod string) // what a pod answers through the API server
	after   map[string][]change                     // "write" or "finished" -> what happens then
}

// change is what happens in the cluster by somebody else's hand.
type change struct {
	At    string         `json:"at"`    // resource/name, resource/namespace/name
	As    string         `json:"as"`    // first make a copy of this name; the patch is for it
	Patch map[string]any `json:"patch"` // JSON merge patch
	Deny  string         `json:"deny"`  // this resource cannot be read any more
	Down  bool           `json:"down"`  // nothing answers
}

// fixNow is the present of the base.
var fixNow = time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)

func newFixCluster() (*fixCluster, error) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		return nil, err
	}
	from, err := archive.FS(files, "base")
	if err != nil {
		return nil, err
	}
	c := &fixCluster{objects: map[string]object{}, kinds: map[evidence.Resource]string{}, denied: map[string]int{}, after: map[string][]change{}}
	needs := append(facts.Needs(all.All()), evidence.Objects(evidence.Resource{Group: "operator.openshift.io", Name: "etcds"}, ""),
		evidence.Objects(evidence.Resource{Name: "configmaps"}, ""))
	for _, n := range needs {
		r := n.Resource
		if r.Name == "" || r.Cluster != "" || r.Name == "secrets" || strings.HasSuffix(r.Group, "rollcall.dev") || c.kinds[r] != "" {
			continue
		}
		c.kinds[r] = "Some" + r.Name
		list, _ := from.List(context.Background(), r, "") // what the archive lacks this cluster does not have
		for _, o := range list {
			content := clone(o.Content)
			if kind, _ := content["kind"].(string); kind != "" {
				c.kinds[r] = kind
			}
			c.put(r.Name, content)
		}
	}
	return c, nil
}

func clone(o map[string]any) object {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

func (c *fixCluster) put(resource string, o object) {
	c.version++
	meta, _ := o["metadata"].(object)
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", c.version)
	}
	meta["resourceVersion"] = strconv.Itoa(c.version)
	ns, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	c.objects[resource+"/"+ns+"/"+name] = o
}

// happen makes changes.
func (c *fixCluster) happen(list []change) error {
	for _, x := range list {
		c.down = c.down || x.Down
		if x.Deny != "" {
			c.denied[x.Deny] = http.StatusForbidden
		}
		if x.At == "" {
			continue
		}
		key := x.At
		if strings.Count(key, "/") == 1 {
			key = strings.Replace(key, "/", "//", 1)
		}
		o, ok := c.objects[key]
		if !ok {
			return fmt.Errorf("there is no %s", x.At)
		}
		if x.As != "" {
			o = clone(o)
			o["metadata"] = object{"name": x.As, "annotations": o["metadata"].(object)["annotations"], "creationTimestamp": "2026-03-01T11:00:00Z"}
		}
		was, err := json.Marshal(o)
		if err != nil {
			return err
		}
		patch, err := json.Marshal(x.Patch)
		if err != nil {
			return err
		}
		is, err := jsonpatch.MergePatch(was, patch)
		if err != nil {
			return err
		}
		var next object
		if err := json.Unmarshal(is, &next); err != nil {
			return err
		}
		c.put(strings.Split(key, "/")[0], next)
	}
	return nil
}

type apiPath struct{ group, version, namespace, resource, name, sub string }

func parseAPIPath(path string) apiPath {
	p := strings.Split(strings.Trim(path, "/"), "/")
	var a apiPath
	switch {
	case p[0] == "api" && len(p) > 1:
		a.version, p = p[1], p[2:]
	case p[0] == "apis" && len(p) > 2:
		a.group, a.version, p = p[1], p[2], p[3:]
	default:
		return a
	}
	if len(p) > 2 && p[0] == "namespaces" {
		a.namespace, p = p[1], p[2:]
	}
	p = append(p, "", "", "")
	a.resource, a.name, a.sub = p[0], p[1], p[2]
	return a
}

func (c *fixCluster) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		panic(http.ErrAbortHandler) // closes the connection
	}
	a := parseAPIPath(q.URL.Path)
	code, answer := http.StatusOK, c.discovery(q.URL.Path, a)
	switch {
	case answer != nil:
	case c.denied[a.resource] != 0:
		code = c.denied[a.resource]
	case strings.HasSuffix(q.URL.Path, "/selfsubjectaccessreviews"):
		answer = object{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": object{"allowed": true}}
	case q.Method == http.MethodGet && a.name == "":
		answer = c.list(q, a)
	case a.sub == "proxy" && c.answers != nil:
		c.answers(w, a.name)
		return
	case a.sub == "log":
		fmt.Fprintln(w, "I0301 08:00:00.000001       1 start.go:38] Version: v4.20.6")
		return
	case q.Method == http.MethodGet:
		answer = c.objects[a.resource+"/"+a.namespace+"/"+a.name]
	default:
		code, answer = c.write(q, a)
	}
	if answer == nil {
		reason := map[int]string{http.StatusForbidden: "Forbidden"}[code]
		if code == http.StatusOK {
			code, reason = http.StatusNotFound, "NotFound"
		}
		answer = object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": a.resource + " is " + reason}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // a client that went away is part of the tests
}

func (c *fixCluster) discovery(path string, a apiPath) object {
	if path == "/api" {
		return object{"kind": "APIVersions", "versions": []string{"v1"}}
	}
	if a.resource != "" {
		return nil
	}
	groups, resources := map[string]object{}, []object{}
	for r, kind := range c.kinds {
		version := c.versionOf(r)
		v := object{"groupVersion": r.Group + "/" + version, "version": version}
		if r.Group != "" {
			groups[r.Group] = object{"name": r.Group, "versions": []object{v}, "preferredVersion": v}
		}
		if r.Group == a.group && version == a.version {
			resources = append(resources, object{"name": r.Name, "kind": kind, "namespaced": c.namespaced(r.Name), "verbs": []string{"list", "get"}})
		}
	}
	if path == "/apis" {
		return object{"kind": "APIGroupList", "apiVersion": "v1", "groups": slices.Collect(maps.Values(groups))}
	}
	version := strings.TrimPrefix(a.group+"/"+a.version, "/")
	return object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
}

func (c *fixCluster) versionOf(r evidence.Resource) string {
	switch r.Group {
	case "machine.openshift.io", "cluster.x-k8s.io":
		return "v1beta1"
	case "metal3.io":
		return "v1alpha1"
	}
	return "v1"
}

func (c *fixCluster) namespaced(resource string) bool {
	for key := range c.objects {
		if strings.HasPrefix(key, resource+"/") {
			return !strings.HasPrefix(key, resource+"//")
		}
	}
	return true
}

func (c *fixCluster) list(q *http.Request, a apiPath) object {
	kind := ""
	for r, k := range c.kinds {
		if r.Name == a.resource && r.Group == a.group {
			kind = k
		}
	}
	if kind == "" {
		return nil
	}
	items := []object{}
	metadata := strings.Contains(q.Header.Get("Accept"), "PartialObjectMetadataList")
	for _, key := range slices.Sorted(maps.Keys(c.objects)) {
		if !strings.HasPrefix(key, a.resource+"/"+a.namespace) || a.namespace != "" && !strings.HasPrefix(key, a.resource+"/"+a.namespace+"/") {
			continue
		}
		o := c.objects[key]
		if metadata {
			o = object{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o["metadata"]}
		}
		items = append(items, o)
	}
	if metadata {
		return object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": object{}, "items": items}
	}
	version := strings.TrimPrefix(a.group+"/"+a.version, "/")
	return object{"kind": kind + "List", "apiVersion": version, "metadata": object{}, "items": items}
}

func (c *fixCluster) write(q *http.Request, a apiPath) (int, object) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	var next object
	key := a.resource + "/" + a.namespace + "/" + a.name
	switch q.Method {
	case http.MethodPatch:
		patch, err := jsonpatch.DecodePatch(body)
		if err != nil || c.objects[key] == nil {
			return http.StatusBadRequest, nil
		}
		was, _ := json.Marshal(c.objects[key])
		is, err := patch.Apply(was)
		if err != nil {
			return http.StatusUnprocessableEntity, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}
		}
		body = is
	case http.MethodPost:
	case http.MethodDelete:
		was := c.objects[key]
		if was != nil {
			delete(c.objects, key)
			c.written = append(c.written, q.Method+" "+a.resource+"/"+a.name)
		}
		return http.StatusOK, was
	default:
		return http.StatusMethodNotAllowed, nil
	}
	if err := json.Unmarshal(body, &next); err != nil {
		return http.StatusBadRequest, nil
	}
	if q.URL.Query().Get("dryRun") != "" {
		return http.StatusOK, next
	}
	c.put(a.resource, next)
	c.written = append(c.written, q.Method+" "+a.resource+"/"+a.name)
	event := "write"
	if a.resource == "configmaps" {
		event = ""
		if bytes.Contains(body, []byte("all steps are done")) {
			event = "finished"
		}
	}
	list := c.after[event]
	delete(c.after, event)
	if err := c.happen(list); err != nil {
		panic(err)
	}
	return http.StatusOK, next
}
