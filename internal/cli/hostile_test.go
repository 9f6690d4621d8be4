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

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/repair"
)

// hostile is text that moves the cursor, sets the window's title, begins a line of
// its own and turns the reading direction.
const hostile = "control0\n\x1b[2K\x1b[1Acsr-real\t1m\tclient\tcontrol0\tpending\tyes\tok\u202e\x1b]0;pwn\x07\u009b31m"

// harmless fails where output could do more than be read, or holds a forged line.
func harmless(t *testing.T, what, text string) {
	t.Helper()
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r <= 0x9f || r == '\u202e' {
			t.Errorf("%s prints %U: %q", what, r, text)
			return
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "csr-real") || strings.HasPrefix(line, "fake") {
			t.Errorf("%s prints a line of the stranger: %q", what, text)
		}
	}
}

type object = map[string]any

// clusterAnswers are discovery and the lists of a cluster that holds one request.
func clusterAnswers(request object) map[string]object {
	resource := func(name, kind string, namespaced bool) object {
		return object{"name": name, "kind": kind, "namespaced": namespaced, "verbs": []string{"list", "get"}}
	}
	resources := func(version string, list ...object) object {
		return object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": list}
	}
	group := func(name string) object {
		v := object{"groupVersion": name + "/v1", "version": "v1"}
		return object{"name": name, "versions": []object{v}, "preferredVersion": v}
	}
	list := func(kind, version string, items ...object) object {
		return object{"kind": kind, "apiVersion": version, "metadata": object{}, "items": append([]object{}, items...)}
	}
	const certificates, coordination = "certificates.k8s.io", "coordination.k8s.io"
	leases := list("LeaseList", coordination+"/v1")
	return map[string]object{
		"/api":                                 {"kind": "APIVersions", "versions": []string{"v1"}},
		"/apis":                                {"kind": "APIGroupList", "apiVersion": "v1", "groups": []object{group(certificates), group(coordination)}},
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
	request := object{
		"metadata": object{"name": "csr-\x1b]0;x\a", "uid": "u\x1b[2J", "creationTimestamp": "2026-05-01T11:59:00Z"},
		"spec": object{"request": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			"signerName": "kubernetes.io/kube-apiserver-client-kubelet", "usages": []string{"digital signature", "client auth"},
			"username": "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper",
			"groups":   []string{"system:serviceaccounts", "system:serviceaccounts:openshift-machine-config-operator", "system:authenticated"}},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		code, answer := http.StatusOK, clusterAnswers(request)[q.URL.Path]
		if answer == nil {
			code, answer = http.StatusNotFound, object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}
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
	for _, cn := range []string{"system:node:" + hostile, hostile, "system:node:Control0"} {
		config := hostileCluster(t, cn)
		for _, words := range [][]string{{"csr", "list"}, {"csr", "explain", "csr-\x1b]0;x\a"}, {"csr", "explain", "csr-\nfake"}, {"csr", "approve", "csr-\x1b]0;x\a"}} {
			var out, errs bytes.Buffer
			io := cmdutil.IO{In: strings.NewReader(""), Out: &out, Err: &errs,
				Getenv: func(name string) string { return map[string]string{"HOME": home, "LC_ALL": "C.UTF-8"}[name] },
				Clock:  func() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }}
			Main(context.Background(), append([]string{"rollcall", "--kubeconfig", config}, words...), io)
			what := strings.Join(words[:2], " ")
			harmless(t, what, out.String())
			harmless(t, what+" (stderr)", errs.String())
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

// TestHostileText: what a server, a plan or a journal says.
func TestHostileText(t *testing.T) {
	var out bytes.Buffer
	a := newApp("rollcall", cmdutil.IO{Out: &out, Err: &out, Getenv: func(string) string { return "" }, Clock: time.Now})
	bad := hostile + "\nfake"
	far := errors.New(bad)
	record := repair.Record{Kind: repair.Intent, Step: bad, Note: bad, Write: &repair.Write{Fields: []string{bad}, PreImage: bad, Inverse: bad}}
	for _, tt := range []struct {
		what  string
		print func() error
	}{
		{"complain", func() error { a.complain(nil, far); return nil }},
		{"progress of a step", func() error { say := a.sayStep(); say("1", bad); say("1", bad); return nil }},
		{"a plan", func() error {
			return a.printPlan(&repair.Plan{ID: bad, Title: bad, Context: bad, Notes: []string{bad}, Open: []string{bad},
				Before: repair.Before{For: []fault.Key{{Fault: bad}}, Others: []fault.Key{{Fault: bad}}},
				Steps:  []repair.Step{{ID: bad, Title: bad, RiskText: bad, OC: bad, Inverse: bad, Action: repair.ApproveCSR}}}, bad, bad)
		}},
		{"history", func() error { return a.printHistory(repair.History{ID: bad, Records: []repair.Record{record}}) }},
		{"histories", func() error {
			return a.printHistories([]repair.History{{ID: bad}, {ID: bad, Records: []repair.Record{record}}})
		}},
		{"the end", func() error {
			seen := []repair.Seen{{Key: fault.Key{Fault: bad, Subject: fault.Subject{Kind: fault.Host, Name: bad}}, Title: bad, Note: bad}}
			o := &repair.Outcome{State: repair.PartlyDone, Reason: bad, Still: seen, New: seen, Others: seen, Waiting: seen, Unknown: seen,
				Unread: []string{bad}, Verdict: bad}
			a.complain(nil, a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, &repair.NeedPerson{Cause: far, Left: []string{bad}, Back: []string{"1"}}))
			a.complain(nil, a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, &repair.RolledBack{Cause: far, Steps: []string{"1"}}))
			_ = a.ended(t.Context(), "text", fixRun{verb: "apply", id: "p"}, o, nil)
			return nil
		}},
		{"explain", func() error { a.complain(nil, a.explain(t.Context(), "text", bad)); return nil }},
	} {
		out.Reset()
		if err := tt.print(); err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if out.Len() == 0 {
			t.Errorf("%s prints nothing", tt.what)
		}
		harmless(t, tt.what, out.String())
	}
}

func TestKeyFlag(t *testing.T) {
	good := "sha256:" + strings.Repeat("0a", 32)
	if key, err := keyOf(good, []string{"csr-a"}); err != nil || key != strings.Repeat("0a", 32) {
		t.Errorf("keyOf: %q, %v", key, err)
	}
	if _, err := keyOf(good, []string{"csr-a", "csr-b"}); err == nil {
		t.Error("one key for two requests")
	}
	if _, err := keyOf("sha256:0a0a", []string{"csr-a"}); err == nil {
		t.Error("a shortened key")
	}
}
