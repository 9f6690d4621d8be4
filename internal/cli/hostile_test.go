package cli

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
)

// clusterAnswers are discovery and the lists of a cluster that holds one request.
func clusterAnswers(request clitest.Object) map[string]clitest.Object {
	resource := func(name, kind string, namespaced bool) clitest.Object {
		return clitest.Object{"name": name, "kind": kind, "namespaced": namespaced, "verbs": []string{"list", "get"}}
	}
	resources := func(version string, list ...clitest.Object) clitest.Object {
		return clitest.Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": list}
	}
	group := func(name string) clitest.Object {
		v := clitest.Object{"groupVersion": name + "/v1", "version": "v1"}
		return clitest.Object{"name": name, "versions": []clitest.Object{v}, "preferredVersion": v}
	}
	list := func(kind, version string, items ...clitest.Object) clitest.Object {
		return clitest.Object{"kind": kind, "apiVersion": version, "metadata": clitest.Object{}, "items": append([]clitest.Object{}, items...)}
	}
	const certificates, coordination = "certificates.k8s.io", "coordination.k8s.io"
	leases := list("LeaseList", coordination+"/v1")
	return map[string]clitest.Object{
		"/api":                                 {"kind": "APIVersions", "versions": []string{"v1"}},
		"/apis":                                {"kind": "APIGroupList", "apiVersion": "v1", "groups": []clitest.Object{group(certificates), group(coordination)}},
		"/api/v1":                              resources("v1", resource("nodes", "Node", false)),
		"/apis/" + certificates + "/v1":        resources(certificates+"/v1", resource("certificatesigningrequests", "CertificateSigningRequest", false)),
		"/apis/" + coordination + "/v1":        resources(coordination+"/v1", resource("leases", "Lease", true)),
		"/api/v1/nodes":                        list("NodeList", "v1"),
		"/apis/" + coordination + "/v1/leases": leases,
		"/apis/" + coordination + "/v1/namespaces/kube-node-lease/leases":         leases,
		"/apis/" + certificates + "/v1/certificatesigningrequests":                list("CertificateSigningRequestList", certificates+"/v1", request),
		"/apis/" + certificates + "/v1/certificatesigningrequests/csr-\x1b]0;x\a": request,
	}
}

// hostileCluster is an API server that holds one request, of a hostile name.
func hostileCluster(t *testing.T, cn string) (kubeconfig string) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: cn, Organization: []string{"system:nodes"}}}, key)
	if err != nil {
		t.Fatal(err)
	}
	request := clitest.Object{
		"metadata": clitest.Object{"name": "csr-\x1b]0;x\a", "uid": "u\x1b[2J", "creationTimestamp": "2026-05-01T11:59:00Z"},
		"spec": clitest.Object{"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": []string{"digital signature", "client auth"},
			"username": "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
			"groups":   []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		code, answer := http.StatusOK, clusterAnswers(request)[q.URL.Path]
		if answer == nil {
			code, answer = http.StatusNotFound, clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
		}
		w.WriteHeader(code)
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: '" + server.URL + "'}}]\n" +
		"contexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: x\n"
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHostileRequest runs the commands on requests whose names were chosen to fool
// who reads them.
func TestHostileRequest(t *testing.T) {
	home := t.TempDir()
	for _, cn := range []string{"system:node:" + clitest.Hostile, clitest.Hostile, "system:node:Control0"} {
		config := hostileCluster(t, cn)
		for _, words := range [][]string{{"csr", "list"}, {"csr", "explain", "csr-\x1b]0;x\a"}, {"csr", "explain", "csr-\nfake"}, {"csr", "approve", "csr-\x1b]0;x\a"}} {
			var out, errs bytes.Buffer
			io := cmdutil.IO{Cache: shared, In: strings.NewReader(""), Out: &out, Err: &errs,
				Getenv: func(name string) string { return map[string]string{"HOME": home, "LC_ALL": "C.UTF-8"}[name] },
				Clock:  func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }}
			Main(context.Background(), append([]string{"rollcall", "--kubeconfig", config}, words...), io)
			what := strings.Join(words[:2], " ")
			clitest.Harmless(t, what, out.String())
			clitest.Harmless(t, what+" (stderr)", errs.String())
			if what == "csr list" && !strings.Contains(out.String(), `csr-\x1b]0;x\a`) {
				t.Errorf("%s does not show the request: %s%s", what, &out, &errs)
			}
			if what == "csr list" && !strings.Contains(out.String(), `"Control0"`) && !strings.Contains(out.String(), `control0\n\x1b[2K`) {
				t.Errorf("%s does not show the name quoted: %s%s", what, &out, &errs)
			}
			if strings.Contains(out.String(), "is approved.") || strings.Contains(out.String(), "\tyes\t") {
				t.Errorf("%s approves %q: %s", what, cn, &out)
			}
		}
	}
}

// TestHostileText: what a server says.
func TestHostileText(t *testing.T) {
	var out bytes.Buffer
	a := newApp("rollcall", cmdutil.IO{Cache: shared, Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now})
	bad := clitest.Hostile + "\nfake"
	for _, tt := range []struct {
		what  string
		print func() error
	}{
		{"complain", func() error { a.complain(nil, errors.New(bad)); return nil }},
		{"explain", func() error { a.complain(nil, a.explain(t.Context(), "text", bad)); return nil }},
	} {
		out.Reset()
		if err := tt.print(); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if out.Len() == 0 {
			t.Errorf("%s prints nothing", tt.what)
		}
		clitest.Harmless(t, tt.what, out.String())
	}
}
