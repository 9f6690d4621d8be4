package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fixture"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

// servedKinds are the kinds that the two APIs of the test serve.
var servedKinds = []struct {
	group, version, resource, kind string
	namespaced                     bool
}{
	{"", "v1", "nodes", "Node", false}, {"", "v1", "pods", "Pod", true}, {"", "v1", "secrets", "Secret", true},
	{"", "v1", "events", "Event", true}, {"", "v1", "configmaps", "ConfigMap", true},
	{"apps", "v1", "deployments", "Deployment", true}, {"coordination.k8s.io", "v1", "leases", "Lease", true},
	{"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", false},
	{"config.openshift.io", "v1", "clusterversions", "ClusterVersion", false}, {"config.openshift.io", "v1", "infrastructures", "Infrastructure", false},
	{"config.openshift.io", "v1", "clusteroperators", "ClusterOperator", false}, {"config.openshift.io", "v1", "networks", "Network", false},
	{"hypershift.openshift.io", "v1beta1", "hostedclusters", "HostedCluster", true}, {"hypershift.openshift.io", "v1beta1", "nodepools", "NodePool", true},
	{"cluster.x-k8s.io", "v1beta1", "machines", "Machine", true},
	{"capi-provider.agent-install.openshift.io", "v1beta1", "agentmachines", "AgentMachine", true},
	{"agent-install.openshift.io", "v1beta1", "agents", "Agent", true},
}

const hostedCredential = "hosted-bearer-7f3a1c"

// archiveAPI serves what an archive holds as a Kubernetes API does.
type archiveAPI struct {
	from   *archive.Source
	only   func(group string) bool
	secret func(http.ResponseWriter, *http.Request)      // GET of one Secret
	before func(http.ResponseWriter, *http.Request) bool // answers instead, where it returns true

	mu     sync.Mutex
	gets   []string // paths of Secrets that were read one by one
	asked  []string // rights that were asked for
	denied string   // the resource that no one may read
	tokens []string
}

func (a *archiveAPI) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	a.mu.Lock()
	if token := q.Header.Get("Authorization"); !slices.Contains(a.tokens, token) {
		a.tokens = append(a.tokens, token)
	}
	a.mu.Unlock()
	if a.before != nil && a.before(w, q) {
		return
	}
	if parts := strings.Split(q.URL.Path, "/"); len(parts) == 7 && parts[5] == "secrets" {
		a.mu.Lock()
		a.gets = append(a.gets, q.URL.Path)
		a.mu.Unlock()
		a.secret(w, q)
		return
	}
	answer := a.answer(q)
	if q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "/selfsubjectaccessreviews") {
		answer = a.review(q)
	}
	w.Header().Set("Content-Type", "application/json")
	if answer == nil {
		w.WriteHeader(http.StatusNotFound)
		answer = clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
	}
	_ = json.NewEncoder(w).Encode(answer) // a client that went away is part of the tests
}

// review answers whether a right is there.
func (a *archiveAPI) review(q *http.Request) clitest.Object {
	var body struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource, Subresource, Namespace, Name string }
		}
	}
	_ = json.NewDecoder(q.Body).Decode(&body) // what is not decoded is missing from asked
	r := body.Spec.ResourceAttributes
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, strings.Join([]string{r.Verb, r.Resource, r.Subresource, r.Namespace, r.Name}, " "))
	return clitest.Object{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": clitest.Object{"allowed": r.Resource != a.denied}}
}

func (a *archiveAPI) answer(q *http.Request) clitest.Object {
	if q.URL.Path == "/api" {
		return clitest.Object{"kind": "APIVersions", "versions": []string{"v1"}}
	}
	groups := []clitest.Object{}
	for _, k := range servedKinds {
		base, version := "/api/v1", k.version
		if k.group != "" {
			base, version = "/apis/"+k.group+"/"+k.version, k.group+"/"+k.version
		}
		if k.group != "" && !a.only(k.group) {
			continue
		}
		v := clitest.Object{"groupVersion": version, "version": k.version}
		groups = append(groups, clitest.Object{"name": k.group, "versions": []clitest.Object{v}, "preferredVersion": v})
		switch {
		case q.URL.Path == base:
			return a.resources(version, k.group)
		case q.URL.Path == base+"/"+k.resource:
			return a.list(q, evidence.Resource{Group: k.group, Name: k.resource}, "", version, k.kind)
		case strings.HasPrefix(q.URL.Path, base+"/namespaces/") && strings.Contains(q.URL.Path, "/"+k.resource+"/"):
			return a.one(q, evidence.Resource{Group: k.group, Name: k.resource}, version, k.kind)
		case strings.HasPrefix(q.URL.Path, base+"/namespaces/") && strings.HasSuffix(q.URL.Path, "/"+k.resource):
			ns := strings.Split(strings.TrimPrefix(q.URL.Path, base+"/namespaces/"), "/")[0]
			return a.list(q, evidence.Resource{Group: k.group, Name: k.resource}, ns, version, k.kind)
		}
	}
	if q.URL.Path == "/apis" {
		return clitest.Object{"kind": "APIGroupList", "apiVersion": "v1", "groups": slices.CompactFunc(named(groups), func(x, y clitest.Object) bool { return x["name"] == y["name"] })}
	}
	return nil
}

// named leaves out the core group, which has no name.
func named(groups []clitest.Object) []clitest.Object {
	return slices.DeleteFunc(groups, func(g clitest.Object) bool { return g["name"] == "" })
}

func (a *archiveAPI) resources(version, group string) clitest.Object {
	list := []clitest.Object{}
	for _, k := range servedKinds {
		if k.group == group {
			list = append(list, clitest.Object{"name": k.resource, "kind": k.kind, "namespaced": k.namespaced, "verbs": []string{"list", "get"}})
		}
	}
	return clitest.Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": list}
}

// one is the answer to a GET of one object of a namespace, nil where there is none.
func (a *archiveAPI) one(q *http.Request, r evidence.Resource, version, kind string) clitest.Object {
	parts := strings.Split(q.URL.Path, "/")
	name, ns := parts[len(parts)-1], parts[len(parts)-3]
	list, _ := a.from.List(q.Context(), r, ns) // what the archive lacks this cluster does not have
	for _, o := range list {
		if o.Name == name {
			content := clitest.Object{"kind": kind, "apiVersion": version}
			maps.Copy(content, o.Content)
			return content
		}
	}
	return nil
}

func (a *archiveAPI) list(q *http.Request, r evidence.Resource, ns, version, kind string) clitest.Object {
	list, _ := a.from.List(q.Context(), r, ns) // what the archive lacks this cluster does not have
	items := []clitest.Object{}
	metadata := strings.Contains(q.Header.Get("Accept"), "PartialObjectMetadataList")
	for _, o := range list {
		content := clitest.Object{"kind": kind, "apiVersion": version}
		for k, v := range o.Content {
			if !metadata || k == "metadata" {
				content[k] = v
			}
		}
		if metadata {
			content["kind"], content["apiVersion"] = "PartialObjectMetadata", "meta.k8s.io/v1"
		}
		items = append(items, content)
	}
	if metadata {
		return clitest.Object{"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": clitest.Object{}, "items": items}
	}
	return clitest.Object{"kind": kind + "List", "apiVersion": version, "metadata": clitest.Object{}, "items": items}
}

// pair are the APIs of a management cluster and of its hosted cluster.
type pair struct {
	management, hosted *archiveAPI
	kubeconfig         string // of the management cluster
	user               string // of the hosted cluster's kubeconfig, in YAML
	handler            http.Handler
	server             *httptest.Server
}

func newPair(t *testing.T) *pair { return pairOf(t, "ocp-4.18-hosted-agent", "prod") }

// pairOf serves a base of a hosted cluster.
func pairOf(t *testing.T, base, name string) *pair {
	t.Helper()
	files, err := fixture.Base(base)
	if err != nil {
		t.Fatal(err)
	}
	source, err := archive.FS(files, "pair")
	if err != nil {
		t.Fatal(err)
	}
	nested, ok := source.Nested(name)
	if !ok {
		t.Fatal("the base has no tree of the hosted cluster")
	}
	management := func(group string) bool { return group != "config.openshift.io" && group != "certificates.k8s.io" }
	p := &pair{user: "{token: " + hostedCredential + "}",
		management: &archiveAPI{from: source, only: management},
		hosted:     &archiveAPI{from: nested, only: func(g string) bool { return !management(g) || g == "coordination.k8s.io" || g == "apps" }}}
	p.handler = p.hosted
	p.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) { p.handler.ServeHTTP(w, q) }))
	t.Cleanup(p.server.Close)
	p.management.secret = func(w http.ResponseWriter, _ *http.Request) {
		ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
		config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"+
			"clusters: [{name: c, cluster: {server: '%s', certificate-authority-data: %s}}]\nusers: [{name: u, user: %s}]\n",
			p.server.URL, base64.StdEncoding.EncodeToString(ca), p.user)
		_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Secret", "apiVersion": "v1", "data": clitest.Object{"kubeconfig": []byte(config)}})
	}
	front := httptest.NewTLSServer(p.management)
	t.Cleanup(front.Close)
	p.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '" + front.URL + "', certificate-authority-data: " +
		base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw})) + "}}]\n" +
		"contexts: [{name: mgmt, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {token: management-bearer}}]\ncurrent-context: mgmt\n"
	if err := os.WriteFile(p.kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return p
}

// diagnose runs the command; the clock is that of the archive.
func (p *pair) diagnose(t *testing.T, args ...string) (out, errs string, code cmdutil.ExitCode) {
	t.Helper()
	return p.run(t, append([]string{"diagnose", "--now", "2026-03-01T12:00:30Z"}, args...)...)
}

func (p *pair) run(t *testing.T, args ...string) (out, errs string, code cmdutil.ExitCode) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	args = append([]string{"rollcall", args[0], "--kubeconfig", p.kubeconfig}, args[1:]...)
	code = Main(context.Background(), args, cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &stdout, Err: &stderr,
		Getenv: func(string) string { return "" }, Clock: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC) }})
	for _, secret := range []string{hostedCredential, "management-bearer", "6b1f0f0e-5d0a", "0d9f3c11-1111"} {
		if strings.Contains(stdout.String()+stderr.String(), secret) {
			t.Errorf("%q is on the screen", secret)
		}
	}
	return stdout.String(), stderr.String(), code
}

// TestHosted reads both clusters: the credential comes from one Secret, goes to the
// hosted API only, and is nowhere to be seen.
func TestHosted(t *testing.T) {
	p := newPair(t)
	out, errs, _ := p.diagnose(t, "--hosted", "clusters/prod", "--read-secrets", "clusters-prod", "-o", "json")
	var d struct {
		Cluster  struct{ Hosted, Version string }
		Hosts    []struct{ Name string }
		Roots    []struct{ Fault string }
		Findings []struct{ Fault, Outcome, Reason string }
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v\n%s", err, errs)
	}
	if d.Cluster.Hosted != "clusters/prod" || d.Cluster.Version != "4.18.21" || len(d.Hosts) != 2 || len(d.Roots) != 0 {
		t.Errorf("the answer is of %+v with hosts %v and roots %v", d.Cluster, d.Hosts, d.Roots)
	}
	for _, f := range d.Findings {
		if slices.Contains([]string{"user-data-outdated", "ignition-endpoint-name", "hosted-api-unreachable", "agent-not-found"}, f.Fault) && f.Outcome != "absent" {
			t.Errorf("%s is %s: %s", f.Fault, f.Outcome, f.Reason)
		}
	}
	if want := []string{"/api/v1/namespaces/clusters/secrets/prod-admin-kubeconfig"}; !slices.Equal(p.management.gets, want) {
		t.Errorf("Secrets that were read: %v, want %v", p.management.gets, want)
	}
	if !slices.Equal(p.hosted.tokens, []string{"Bearer " + hostedCredential}) || !slices.Equal(p.management.tokens, []string{"Bearer management-bearer"}) {
		t.Errorf("credentials were mixed up: hosted got %v, management got %v", p.hosted.tokens, p.management.tokens)
	}
}

// TestHostedNotReadable: what is in the way of the hosted API is the answer.
func TestHostedNotReadable(t *testing.T) {
	denied := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "secrets is forbidden"})
	}
	tests := map[string]struct {
		change func(*pair)
		args   []string
		code   cmdutil.ExitCode
		says   string
	}{
		"forbidden Secret": {func(p *pair) { p.management.secret = denied }, nil, cmdutil.ExitUndecided, "there is no credential for the hosted cluster"},
		"hangs": {func(p *pair) {
			p.handler = http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
		}, []string{"--request-timeout", "300ms"}, cmdutil.ExitFault, "does not answer"},
		"dead": {func(p *pair) { p.server.CloseClientConnections(); p.server.Listener.Close() }, nil, cmdutil.ExitFault, "does not answer"},
		"refused": {func(p *pair) {
			p.handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })
		}, nil, cmdutil.ExitFault, "does not accept the credential"},
		"runs a program": {func(p *pair) { p.user = "{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/false}}" }, nil,
			cmdutil.ExitUndecided, "it names a program to run"},
		"reads a file": {func(p *pair) { p.user = "{tokenFile: /etc/passwd}" }, nil, cmdutil.ExitUndecided, "it names files of this machine"},
		"no kubeconfig": {func(p *pair) {
			p.management.secret = func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Secret", "apiVersion": "v1", "data": clitest.Object{"kubeconfig": []byte("{]")}})
			}
		}, nil, cmdutil.ExitUndecided, "cannot be read as a kubeconfig"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			tt.change(p)
			began := time.Now()
			out, errs, code := p.diagnose(t, append(tt.args, "--hosted", "clusters/prod", "-o", "wide")...)
			if code != tt.code || !strings.Contains(strings.Join(strings.Fields(out), " "), tt.says) {
				t.Errorf("exit code %d, want %d and %q\n%s%s", code, tt.code, tt.says, out, errs)
			}
			if took := time.Since(began); took > 14*time.Second { // 15 s is the default for one request
				t.Errorf("it took %v: --request-timeout is not that of the hosted cluster", took)
			}
		})
	}
}

// TestHostedNamed: a wrong name is answered with those that there are.
func TestHostedNamed(t *testing.T) {
	p := newPair(t)
	for want, args := range map[string][]string{
		"there are: clusters/prod":            {"--hosted", "clusters/prd"},
		"write it as NAMESPACE/NAME":          {"--hosted", "prod"},
		"needs --hosted":                      {"--hosted-kubeconfig", "x"},
		"with --from nothing is asked of one": {"--from", "x", "--hosted-kubeconfig", "x"},
	} {
		if out, errs, code := p.diagnose(t, args...); code != cmdutil.ExitFailed || !strings.Contains(strings.Join(strings.Fields(errs), " "), want) {
			t.Errorf("%v: exit code %d, want an error with %q: %s%s", args, code, want, out, errs)
		}
	}
}

// TestHostedRights: each API is asked for what is read of it, under the real names, and
// the hosted one with its own credential.
func TestHostedRights(t *testing.T) {
	p := newPair(t)
	p.management.denied = "nodepools"
	out, errs, code := p.run(t, "can-i", "--hosted", "clusters/prod")
	for _, want := range []string{"no management: list nodepools.hypershift.openshift.io in clusters ", "yes list nodes ", "yes management: get secrets prod-admin-kubeconfig in clusters "} {
		if code != cmdutil.ExitFailed || !strings.Contains(strings.Join(strings.Fields(out), " ")+" ", want) {
			t.Errorf("exit code %d, want %q\n%s%s", code, want, out, errs)
		}
	}
	for right, of := range map[string]*archiveAPI{
		"list pods  clusters-prod ": p.management, "list hostedclusters   ": p.management, "get secrets  clusters prod-admin-kubeconfig": p.management,
		"get pods log clusters-prod ": p.management, "list nodes   ": p.hosted, "list certificatesigningrequests   ": p.hosted,
	} {
		other := p.management
		if of == p.management {
			other = p.hosted
		}
		if !slices.Contains(of.asked, right) || slices.Contains(other.asked, right) {
			t.Errorf("%q: management was asked %q\nhosted was asked %q", right, p.management.asked, p.hosted.asked)
		}
	}
	if strings.Contains(out, "<") || !slices.Equal(p.hosted.tokens, []string{"Bearer " + hostedCredential}) || !slices.Equal(p.management.tokens, []string{"Bearer management-bearer"}) {
		t.Errorf("hosted got %v, management got %v\n%s", p.hosted.tokens, p.management.tokens, out)
	}
}

// TestHostedRightsAlone: without --hosted nothing of a management cluster is asked for,
// and without a credential the hosted cluster is not, which is said.
func TestHostedRightsAlone(t *testing.T) {
	p := newPair(t)
	if out, errs, code := p.run(t, "can-i"); code != cmdutil.ExitOK || strings.Contains(out, "hypershift") || strings.Contains(out, "<") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	p.user = "{tokenFile: /etc/passwd}"
	out, errs, code := p.run(t, "can-i", "--hosted", "clusters/prod")
	if code != cmdutil.ExitFailed || !strings.Contains(strings.Join(strings.Fields(out), " "), "? read clusters/prod: there is no credential for the hosted cluster") || strings.Contains(out, "list nodes") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	for want, args := range map[string][]string{
		"there are: clusters/prod":   {"can-i", "--hosted", "clusters/prd"},
		"write it as NAMESPACE/NAME": {"can-i", "--hosted", "prod"},
		"is not for --hosted":        {"can-i", "--hosted", "clusters/prod", "--probe-from", "node/a"},
	} {
		if out, errs, code := p.run(t, args...); code != cmdutil.ExitFailed || !strings.Contains(strings.Join(strings.Fields(errs), " "), want) {
			t.Errorf("%v: exit code %d, want an error with %q: %s%s", args, code, want, out, errs)
		}
	}
}
