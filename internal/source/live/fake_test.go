package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// fakeAPI speaks as much of a Kubernetes API as a Source uses: discovery in both
// forms, lists in pages as JSON and protobuf, metadata-only lists, and access
// reviews. Everything else is in handle, by path.
type fakeAPI struct {
	typed    map[string][]runtime.Object // built-in objects by list path
	custom   map[string][]map[string]any // custom resources by list path
	kinds    map[string]string           // list path -> kind, for empty lists and discovery
	handle   map[string]http.HandlerFunc // by path; wins over everything
	denied   func(verb, resource, subresource, namespace string) bool
	legacy   bool // no aggregated discovery
	jsonOnly bool

	mu   sync.Mutex
	seen []*http.Request
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		typed: map[string][]runtime.Object{}, custom: map[string][]map[string]any{}, handle: map[string]http.HandlerFunc{},
		kinds: map[string]string{
			"/api/v1/nodes": "Node", "/api/v1/pods": "Pod", "/api/v1/secrets": "Secret", "/api/v1/configmaps": "ConfigMap",
			"/apis/apps/v1/daemonsets":                                      "DaemonSet",
			"/apis/machineconfiguration.openshift.io/v1/machineconfigpools": "MachineConfigPool",
			"/apis/config.openshift.io/v1/infrastructures":                  "Infrastructure",
			"/apis/metal3.io/v1alpha1/baremetalhosts":                       "BareMetalHost",
			"/apis/machine.openshift.io/v1beta1/machines":                   "Machine",
			"/apis/cluster.x-k8s.io/v1beta1/machines":                       "Machine",
		},
	}
}

func (f *fakeAPI) start(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return server
}

// source starts the API and returns a source over it.
func (f *fakeAPI) source(t testing.TB, opts Options) *Source {
	t.Helper()
	return sourceOf(t, f.start(t).URL, opts)
}

func sourceOf(t testing.TB, host string, opts Options) *Source {
	t.Helper()
	opts.RetryPause = cmp.Or(opts.RetryPause, time.Millisecond)
	opts.Vantage = cmp.Or(opts.Vantage, "bastion")
	opts.Now = func() time.Time { return epoch }
	s, err := New(&rest.Config{Host: host, BearerToken: "very-secret-token"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// requests returns the paths, with queries, of what was asked below a prefix.
func (f *fakeAPI) requests(prefix string) []*http.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*http.Request
	for _, r := range f.seen {
		if strings.HasPrefix(r.URL.Path, prefix) {
			list = append(list, r)
		}
	}
	return list
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.seen = append(f.seen, r)
	f.mu.Unlock()
	if h := f.handle[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	switch {
	case r.URL.Path == "/api" || r.URL.Path == "/apis":
		f.discovery(w, r)
	case r.URL.Path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		f.review(w, r)
	case f.legacy && f.resources(w, r):
	default:
		f.list(w, r)
	}
}

func answerJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // a client that went away is the test's business
}

func answerStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	answerJSON(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	})
}

// gvr splits a list path of f.kinds.
func gvr(path string) schema.GroupVersionResource {
	p := strings.Split(strings.Trim(path, "/"), "/")
	if p[0] == "api" {
		return schema.GroupVersionResource{Version: p[1], Resource: p[2]}
	}
	return schema.GroupVersionResource{Group: p[1], Version: p[2], Resource: p[3]}
}

func (f *fakeAPI) paths() []string {
	var list []string
	for p := range f.kinds {
		list = append(list, p)
	}
	slices.Sort(list)
	return list
}

func clusterScoped(resource string) bool {
	return slices.Contains([]string{"nodes", "machineconfigpools", "infrastructures"}, resource)
}

func (f *fakeAPI) discovery(w http.ResponseWriter, r *http.Request) {
	core := r.URL.Path == "/api"
	groups := map[string]*apidiscoveryv2.APIGroupDiscovery{}
	legacy := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	var order []string
	for _, p := range f.paths() {
		res := gvr(p)
		if (res.Group == "") != core {
			continue
		}
		if groups[res.Group] == nil {
			order = append(order, res.Group)
			groups[res.Group] = &apidiscoveryv2.APIGroupDiscovery{
				ObjectMeta: metav1.ObjectMeta{Name: res.Group},
				Versions:   []apidiscoveryv2.APIVersionDiscovery{{Version: res.Version, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent}},
			}
			v := metav1.GroupVersionForDiscovery{GroupVersion: res.GroupVersion().String(), Version: res.Version}
			legacy.Groups = append(legacy.Groups, metav1.APIGroup{Name: res.Group, PreferredVersion: v, Versions: []metav1.GroupVersionForDiscovery{v}})
		}
		one := apidiscoveryv2.APIResourceDiscovery{
			Resource: res.Resource, Scope: apidiscoveryv2.ScopeNamespace, Verbs: []string{"list"},
			ResponseKind: &metav1.GroupVersionKind{Group: res.Group, Version: res.Version, Kind: f.kinds[p]},
		}
		if clusterScoped(res.Resource) {
			one.Scope = apidiscoveryv2.ScopeCluster
		}
		v := &groups[res.Group].Versions[0]
		v.Resources = append(v.Resources, one)
	}
	if f.legacy && core {
		answerJSON(w, 200, metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
		return
	}
	if f.legacy {
		answerJSON(w, 200, legacy)
		return
	}
	list := apidiscoveryv2.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}}
	for _, name := range order {
		list.Items = append(list.Items, *groups[name])
	}
	w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	_ = json.NewEncoder(w).Encode(list)
}

// resources answers /api/v1 and /apis/GROUP/VERSION as a server without
// aggregated discovery does.
func (f *fakeAPI) resources(w http.ResponseWriter, r *http.Request) bool {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}}
	for _, p := range f.paths() {
		res := gvr(p)
		if strings.TrimSuffix(p, "/"+res.Resource) == r.URL.Path {
			list.GroupVersion = res.GroupVersion().String()
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Resource, Kind: f.kinds[p], Namespaced: !clusterScoped(res.Resource), Verbs: []string{"list"}})
		}
	}
	if len(list.APIResources) == 0 {
		return false
	}
	answerJSON(w, 200, list)
	return true
}

func (f *fakeAPI) review(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Spec struct{ ResourceAttributes map[string]string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		answerStatus(w, 400, metav1.StatusReasonBadRequest, err.Error())
		return
	}
	a := q.Spec.ResourceAttributes
	allowed := f.denied == nil || !f.denied(a["verb"], a["resource"], a["subresource"], a["namespace"])
	answerJSON(w, 201, map[string]any{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": map[string]any{"allowed": allowed}})
}

// list answers one page. The continue token is the offset of the next one.
func (f *fakeAPI) list(w http.ResponseWriter, r *http.Request) {
	path, namespace := r.URL.Path, ""
	if i := strings.Index(path, "/namespaces/"); i >= 0 {
		p := strings.Split(path[i+len("/namespaces/"):], "/")
		namespace, path = p[0], path[:i]+"/"+strings.Join(p[1:], "/")
	}
	kind := f.kinds[path]
	if kind == "" {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	res := gvr(path)
	if f.denied != nil && f.denied("list", res.Resource, "", namespace) {
		answerStatus(w, 403, metav1.StatusReasonForbidden, `User "eve" cannot list resource`)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	if typed, ok := f.typed[path]; ok {
		typed = slices.DeleteFunc(slices.Clone(typed), func(o runtime.Object) bool {
			m, _ := meta.Accessor(o)
			return namespace != "" && m.GetNamespace() != namespace
		})
		to := min(from+limit, len(typed))
		f.typedPage(w, r, res.GroupVersion().WithKind(kind), typed[from:to], nextToken(to, len(typed)))
		return
	}
	items := slices.DeleteFunc(slices.Clone(f.custom[path]), func(o map[string]any) bool {
		m := o["metadata"].(map[string]any)
		return namespace != "" && m["namespace"] != namespace
	})
	to := min(from+limit, len(items))
	answerJSON(w, 200, map[string]any{
		"apiVersion": res.GroupVersion().String(), "kind": kind + "List", "items": items[from:to],
		"metadata": map[string]any{"continue": nextToken(to, len(items))},
	})
}

func nextToken(to, all int) string {
	if to >= all {
		return ""
	}
	return strconv.Itoa(to)
}

func (f *fakeAPI) typedPage(w http.ResponseWriter, r *http.Request, kind schema.GroupVersionKind, items []runtime.Object, next string) {
	accept := r.Header.Get("Accept")
	var list runtime.Object
	if strings.Contains(accept, "as=PartialObjectMetadataList") {
		part := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{Continue: next}}
		for _, o := range items {
			m, _ := meta.Accessor(o)
			one := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
				Name: m.GetName(), Namespace: m.GetNamespace(), Annotations: m.GetAnnotations(), CreationTimestamp: m.GetCreationTimestamp()}}
			part.Items = append(part.Items, one)
		}
		kind, list = metav1.SchemeGroupVersion.WithKind("PartialObjectMetadataList"), part
		kind.Group = "meta.k8s.io"
	} else {
		kind.Kind += "List"
		made, err := scheme.New(kind)
		if err != nil {
			panic(err)
		}
		list = made
		if err := meta.SetList(list, items); err != nil {
			panic(err)
		}
		about, _ := meta.ListAccessor(list)
		about.SetContinue(next)
	}
	list.GetObjectKind().SetGroupVersionKind(kind)
	media := mediaJSON
	if strings.HasPrefix(accept, mediaProto) && !f.jsonOnly {
		media = mediaProto
	}
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), media)
	w.Header().Set("Content-Type", media)
	if err := info.Serializer.Encode(list, w); err != nil {
		panic(err)
	}
}

// secret and pods of the tests.
func secretNamed(namespace, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{
			"openshift.io/token-secret.value":         "planted-token",
			"auth.openshift.io/certificate-not-after": "2027-01-01T00:00:00Z",
		}},
		Type: corev1.SecretTypeTLS, Data: map[string][]byte{"tls.key": []byte("planted-key"), "tls.crt": []byte("certificate")},
	}
}

func pool(name string) map[string]any {
	return map[string]any{"apiVersion": "machineconfiguration.openshift.io/v1", "kind": "MachineConfigPool",
		"metadata": map[string]any{"name": name, "managedFields": []any{map[string]any{"manager": "x"}}},
		"status":   map[string]any{"machineCount": 3, "ratio": 0.5}}
}

func numbered(n int, produce func(i int) runtime.Object) []runtime.Object {
	list := make([]runtime.Object, n)
	for i := range list {
		list[i] = produce(i)
	}
	return list
}

func podName(i int) string { return fmt.Sprintf("pod-%05d", i) }
