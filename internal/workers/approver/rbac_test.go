package approver

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/rollcall-project/rollcall/internal/csr/csrtest"
	"github.com/rollcall-project/rollcall/internal/kube"
)

const rbacPage = "../../../docs/approver/rbac.yaml"

// permission is one thing that the manifest allows: a verb on a resource, in a namespace
// and by name where it is bound to them.
type permission struct{ verb, group, resource, namespace, name string }

func manifest(t *testing.T) map[permission]bool {
	t.Helper()
	raw, err := os.ReadFile(rbacPage)
	if err != nil {
		t.Fatal(err)
	}
	all := map[permission]bool{}
	for _, doc := range strings.Split(string(raw), "\n---\n") {
		var role rbacv1.Role // a ClusterRole has the same rules
		if err := yaml.Unmarshal([]byte(doc), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			names := rule.ResourceNames
			if len(names) == 0 {
				names = []string{""}
			}
			for _, verb := range rule.Verbs {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						for _, name := range names {
							all[permission{verb, group, resource, role.Namespace, name}] = true
						}
					}
				}
			}
		}
	}
	return all
}

// asPermission is what a request of the approver takes.
func asPermission(asked string) permission {
	method, path, _ := strings.Cut(asked, " ")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	var p permission
	if parts[0] == "api" {
		parts = parts[2:]
	} else {
		p.group, parts = parts[1], parts[3:]
	}
	if parts[0] == "namespaces" {
		p.namespace, parts = parts[1], parts[2:]
	}
	p.resource = parts[0]
	if len(parts) > 1 {
		p.name = parts[1]
	}
	if len(parts) > 2 {
		p.resource += "/" + parts[2]
	}
	p.verb = map[string]string{http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch"}[method]
	if method == http.MethodGet && p.name == "" {
		p.verb = "list"
	}
	return p
}

// TestRBAC: the manifest in docs allows what the approver asks for, and nothing else. What
// is only for other inventories and for signers is named here.
func TestRBAC(t *testing.T) {
	allowed := manifest(t)
	unused := map[permission]bool{
		{"watch", "certificates.k8s.io", "certificatesigningrequests", "", ""}:                           true, // is a list in the path
		{"approve", "certificates.k8s.io", "signers", "", "kubernetes.io/kube-apiserver-client-kubelet"}: true, // asked by admission
		{"approve", "certificates.k8s.io", "signers", "", "kubernetes.io/kubelet-serving"}:               true,
		{"list", "metal3.io", "baremetalhosts", "openshift-machine-api", ""}:                             true, // --inventory cluster
		{"list", "agent-install.openshift.io", "agents", "", ""}:                                         true, // --inventory cluster
		{"get", "", "configmaps", "rollcall-approver", "hosts"}:                                          true, // --inventory configmap
	}
	s := newServer(t)
	s.put("/api/v1/namespaces/rollcall-approver/configmaps/switch", map[string]any{"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "switch", "namespace": "rollcall-approver"}, "data": map[string]any{switchKey: "true"}})
	s.file(t, csrtest.Client("panda"), csrtest.Serving("koala", "192.0.2.22"),
		csrtest.Serving("otter", "192.0.2.23").At(csrtest.Noon.Add(-2*time.Minute)))
	a, log := replica(t, s, func(c *Config) {
		withLease("a")(c)
		c.Lease.Namespace, c.Switch = "rollcall-approver", kube.Ref{Version: "v1", Resource: "configmaps", Namespace: "rollcall-approver", Name: "switch"}
		c.Dial = &kubelet{address: "127.0.0.1:1"}
	})
	stop := start(t, a)
	if !eventually(func() bool { return s.approvals() == 2 }) {
		t.Fatalf("%d approvals:\n%s", s.approvals(), log)
	}
	time.Sleep(2 * quick.Retry) // a renewal of the lease
	stop()
	used := map[permission]bool{}
	s.mu.Lock()
	asked := slices.Clone(s.asked)
	s.mu.Unlock()
	for _, one := range asked {
		p := asPermission(one)
		free := p
		free.name = ""
		anywhere := free
		anywhere.namespace = ""
		switch {
		case allowed[p]:
			used[p] = true
		case allowed[free]:
			used[free] = true
		case allowed[anywhere]:
			used[anywhere] = true
		default:
			t.Errorf("%s is not allowed by %s: %+v", one, rbacPage, p)
		}
	}
	for p := range allowed {
		if !used[p] && !unused[p] {
			t.Errorf("%s allows %s, which nothing asks for", rbacPage, fmt.Sprintf("%+v", p))
		}
	}
	for _, bad := range []string{"secrets", "*"} {
		for p := range allowed {
			if p.resource == bad || p.verb == bad || p.group == bad || p.verb == "delete" || p.verb == "escalate" || p.verb == "bind" {
				t.Errorf("%s allows %+v", rbacPage, p)
			}
		}
	}
}
