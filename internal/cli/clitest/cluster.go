package clitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
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

// Cluster is an API server in memory: the healthy base of the fixtures, with the
// changes of a script. It takes the writes of a repair, dry runs too.
type Cluster struct {
	Mu      sync.Mutex
	Objects map[string]Object // "resource/namespace/name"
	kinds   map[evidence.Resource]string
	version int
	Denied  map[string]int // resource -> status
	Down    bool
	Written []string
	Logs    map[string]string                       // pod -> what its log has behind its first line
	texts   map[string][]byte                       // pod/container -> what its log is, instead of that
	Answers func(w http.ResponseWriter, pod string) // what a pod answers through the API server
	After   map[string][]Change                     // "write" or "finished" -> what happens then
}

// Change is what happens in the cluster by somebody else's hand.
type Change struct {
	At    string         `json:"at"`    // resource/name, resource/namespace/name
	As    string         `json:"as"`    // first make a copy of this name; the patch is for it
	Patch map[string]any `json:"patch"` // JSON merge patch
	Deny  string         `json:"deny"`  // this resource cannot be read any more
	Down  bool           `json:"down"`  // nothing answers

	Log   string `json:"log"`   // this pod's log
	Lines string `json:"lines"` // has these lines from now on
}

// Now is the present of the base.
var Now = time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)

// NewCluster serves the healthy base.
func NewCluster() (*Cluster, error) {
	files, err := fixture.Base("ocp-4.20-baremetal")
	if err != nil {
		return nil, err
	}
	c, from, err := serve(files)
	if err != nil {
		return nil, err
	}
	return c, c.putAll(from, false)
}

// ClusterOf serves what a fixture has: its objects, with the Secrets, and the logs of its pods.
// What no API has, as consoles, answers of probes and files of hosts, it has not.
func ClusterOf(files fs.FS) (*Cluster, error) {
	c, from, err := serve(files)
	if err != nil {
		return nil, err
	}
	if err := c.putAll(from, true); err != nil {
		return nil, err
	}
	texts, err := from.Texts(context.Background(), evidence.TextQuery{Kind: evidence.ContainerLog})
	if err != nil {
		return c, nil // it has none
	}
	c.texts = map[string][]byte{}
	for _, text := range texts {
		body, err := text.Open(context.Background())
		if err != nil {
			return nil, err
		}
		raw, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		if err := body.Close(); err != nil {
			return nil, err
		}
		c.texts[fmt.Sprintf("%s/%s/%t", text.Pod, text.Container, text.Previous)] = raw
	}
	return c, nil
}

func serve(files fs.FS) (*Cluster, *archive.Source, error) {
	from, err := archive.FS(files, "base")
	if err != nil {
		return nil, nil, err
	}
	return &Cluster{Objects: map[string]Object{}, kinds: map[evidence.Resource]string{}, Denied: map[string]int{}, After: map[string][]Change{},
		Logs: map[string]string{}}, from, nil
}

// putAll takes the objects of an archive that anything of the program reads.
func (c *Cluster) putAll(from *archive.Source, secrets bool) error {
	needs := append(facts.Needs(all.All()), evidence.Objects(evidence.Resource{Group: "operator.openshift.io", Name: "etcds"}, ""),
		evidence.Objects(evidence.Resource{Name: "configmaps"}, ""), evidence.Objects(evidence.PodDisruptionBudgets, ""),
		evidence.Objects(evidence.MachineHealthChecks, ""))
	for _, n := range needs {
		r := n.Resource
		if r.Name == "" || r.Cluster != "" || r.Name == "secrets" && !secrets || strings.HasSuffix(r.Group, "rollcall.dev") || c.kinds[r] != "" {
			continue
		}
		c.kinds[r] = strings.TrimSuffix(r.Name, "s")      // a list of them is that of a kind of this name
		list, _ := from.List(context.Background(), r, "") // what the archive lacks this cluster does not have
		for _, o := range list {
			content := Clone(o.Content)
			if kind, _ := content["kind"].(string); kind != "" {
				c.kinds[r] = kind
			}
			c.Put(r.Name, content)
		}
	}
	return nil
}

func Clone(o map[string]any) Object {
	raw, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out Object
	if err := json.Unmarshal(raw, &out); err != nil {
		panic(err)
	}
	return out
}

func (c *Cluster) Put(resource string, o Object) {
	c.version++
	meta, _ := o["metadata"].(Object)
	if meta["uid"] == nil {
		meta["uid"] = fmt.Sprintf("uid-%d", c.version)
	}
	meta["resourceVersion"] = strconv.Itoa(c.version)
	ns, _ := meta["namespace"].(string)
	name, _ := meta["name"].(string)
	c.Objects[resource+"/"+ns+"/"+name] = o
}

// happen makes changes.
func (c *Cluster) Happen(list []Change) error {
	for _, x := range list {
		c.Down = c.Down || x.Down
		if x.Deny != "" {
			c.Denied[x.Deny] = http.StatusForbidden
		}
		if x.Log != "" {
			c.Logs[x.Log] = x.Lines
		}
		if x.At == "" {
			continue
		}
		key := x.At
		if strings.Count(key, "/") == 1 {
			key = strings.Replace(key, "/", "//", 1)
		}
		o, ok := c.Objects[key]
		if !ok {
			return fmt.Errorf("there is no %s", x.At)
		}
		if x.As != "" {
			o = Clone(o)
			o["metadata"] = Object{"name": x.As, "annotations": o["metadata"].(Object)["annotations"], "creationTimestamp": "2026-03-01T11:00:00Z"}
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
		var next Object
		if err := json.Unmarshal(is, &next); err != nil {
			return err
		}
		c.Put(strings.Split(key, "/")[0], next)
	}
	return nil
}

type apiPath struct{ group, version, namespace, Resource, name, sub string }

func ParseAPIPath(path string) apiPath {
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
	a.Resource, a.name, a.sub = p[0], p[1], p[2]
	return a
}

func (c *Cluster) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	if c.Down {
		panic(http.ErrAbortHandler) // closes the connection
	}
	a := ParseAPIPath(q.URL.Path)
	code, answer := http.StatusOK, c.discovery(q.URL.Path, a)
	switch {
	case answer != nil:
	case c.Denied[a.Resource] != 0:
		code = c.Denied[a.Resource]
	case strings.HasSuffix(q.URL.Path, "/selfsubjectaccessreviews"):
		answer = Object{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": Object{"allowed": true}}
	case q.Method == http.MethodGet && a.name == "":
		answer = c.list(q, a)
	case a.sub == "proxy" && c.Answers != nil:
		c.Answers(w, a.name)
		return
	case a.sub == "log" && c.texts != nil:
		raw, ok := c.texts[fmt.Sprintf("%s/%s/%s", a.name, q.URL.Query().Get("container"), q.URL.Query().Get("previous"))]
		if !ok {
			code, answer = http.StatusNotFound, nil
			break
		}
		_, _ = w.Write(raw) // a client that went away is part of the tests
		return
	case a.sub == "log":
		fmt.Fprintln(w, "I0301 08:00:00.000001       1 start.go:38] Version: v4.20.6")
		fmt.Fprint(w, c.Logs[a.name])
		return
	case q.Method == http.MethodGet:
		answer = c.Objects[a.Resource+"/"+a.namespace+"/"+a.name]
	default:
		code, answer = c.write(q, a)
	}
	if answer == nil {
		reason := map[int]string{http.StatusForbidden: "Forbidden"}[code]
		if code == http.StatusOK {
			code, reason = http.StatusNotFound, "NotFound"
		}
		answer = Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": a.Resource + " is " + reason}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // a client that went away is part of the tests
}

func (c *Cluster) discovery(path string, a apiPath) Object {
	if path == "/api" {
		return Object{"kind": "APIVersions", "versions": []string{"v1"}}
	}
	if a.Resource != "" {
		return nil
	}
	groups, resources := map[string]Object{}, []Object{}
	for r, kind := range c.kinds {
		version := c.versionOf(r)
		v := Object{"groupVersion": r.Group + "/" + version, "version": version}
		if r.Group != "" {
			groups[r.Group] = Object{"name": r.Group, "versions": []Object{v}, "preferredVersion": v}
		}
		if r.Group == a.group && version == a.version {
			resources = append(resources, Object{"name": r.Name, "kind": kind, "namespaced": c.namespaced(r.Name), "verbs": []string{"list", "get"}})
		}
	}
	if path == "/apis" {
		return Object{"kind": "APIGroupList", "apiVersion": "v1", "groups": slices.Collect(maps.Values(groups))}
	}
	version := strings.TrimPrefix(a.group+"/"+a.version, "/")
	return Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
}

func (c *Cluster) versionOf(r evidence.Resource) string {
	switch r.Group {
	case "machine.openshift.io", "cluster.x-k8s.io":
		return "v1beta1"
	case "metal3.io":
		return "v1alpha1"
	}
	return "v1"
}

func (c *Cluster) namespaced(resource string) bool {
	for key := range c.Objects {
		if strings.HasPrefix(key, resource+"/") {
			return !strings.HasPrefix(key, resource+"//")
		}
	}
	return true
}

func (c *Cluster) list(q *http.Request, a apiPath) Object {
	kind := ""
	for r, k := range c.kinds {
		if r.Name == a.Resource && r.Group == a.group {
			kind = k
		}
	}
	if kind == "" {
		return nil
	}
	items := []Object{}
	metadata := strings.Contains(q.Header.Get("Accept"), "PartialObjectMetadataList")
	for _, key := range slices.Sorted(maps.Keys(c.Objects)) {
		if !strings.HasPrefix(key, a.Resource+"/"+a.namespace) || a.namespace != "" && !strings.HasPrefix(key, a.Resource+"/"+a.namespace+"/") {
			continue
		}
		o := c.Objects[key]
		if metadata {
			o = Object{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": o["metadata"]}
		}
		items = append(items, o)
	}
	if metadata {
		return Object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": Object{}, "items": items}
	}
	version := strings.TrimPrefix(a.group+"/"+a.version, "/")
	return Object{"kind": kind + "List", "apiVersion": version, "metadata": Object{}, "items": items}
}

func (c *Cluster) write(q *http.Request, a apiPath) (int, Object) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return http.StatusBadRequest, nil
	}
	var next Object
	key := a.Resource + "/" + a.namespace + "/" + a.name
	switch q.Method {
	case http.MethodPatch:
		patch, err := jsonpatch.DecodePatch(body)
		if err != nil || c.Objects[key] == nil {
			return http.StatusBadRequest, nil
		}
		was, _ := json.Marshal(c.Objects[key])
		is, err := patch.Apply(was)
		if err != nil {
			return http.StatusUnprocessableEntity, Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid", "code": 422}
		}
		body = is
	case http.MethodPut:
		if c.Objects[key] == nil {
			return http.StatusNotFound, nil
		}
	case http.MethodPost:
	case http.MethodDelete:
		was := c.Objects[key]
		var options struct{ DryRun []string }
		if len(body) > 0 && json.Unmarshal(body, &options) != nil {
			return http.StatusBadRequest, nil
		}
		if was != nil && len(options.DryRun) == 0 && q.URL.Query().Get("dryRun") == "" {
			delete(c.Objects, key)
			c.Written = append(c.Written, q.Method+" "+a.Resource+"/"+a.name)
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
	c.Put(a.Resource, next)
	c.Written = append(c.Written, q.Method+" "+a.Resource+"/"+a.name)
	event := "write"
	if a.Resource == "configmaps" {
		event = ""
		if bytes.Contains(body, []byte("all steps are done")) {
			event = "finished"
		}
	}
	list := c.After[event]
	delete(c.After, event)
	if err := c.Happen(list); err != nil {
		panic(err)
	}
	return http.StatusOK, next
}
