package command

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// answers is an API that answers each path with an object; others with 403.
func answers(t *testing.T, by map[string]clitest.Object) *kube.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer, known := by[q.URL.Path]
		if !known {
			w.WriteHeader(http.StatusForbidden)
			answer = clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Forbidden", "code": 403, "message": "no permission"}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	k, err := kube.New(&rest.Config{Host: server.URL}, kube.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func listOf(kind string, items ...clitest.Object) clitest.Object {
	list := []any{}
	for _, i := range items {
		i["apiVersion"], i["kind"] = "v1", kind
		list = append(list, i)
	}
	return clitest.Object{"apiVersion": "v1", "kind": kind + "List", "metadata": clitest.Object{}, "items": list}
}

// TestBeforeTheFirst: what is checked before a machine is made, and that what could not be read
// is not taken for good.
func TestBeforeTheFirst(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	published := func(strategy clitest.Object) map[string]any {
		return clitest.Object{"spec": clitest.Object{"services": []any{clitest.Object{"service": "Ignition", "servicePublishingStrategy": strategy}}}}
	}
	nodePort := func(address string) map[string]any {
		return published(clitest.Object{"type": "NodePort", "nodePort": clitest.Object{"address": address}})
	}
	node := func(name, address string, ready string) clitest.Object {
		return clitest.Object{"metadata": clitest.Object{"name": name}, "status": clitest.Object{
			"addresses":  []any{clitest.Object{"type": "InternalIP", "address": address}},
			"conditions": []any{clitest.Object{"type": "Ready", "status": ready}},
		}}
	}
	server := func(started string) clitest.Object {
		return clitest.Object{"metadata": clitest.Object{"name": "s", "namespace": "cp", "labels": clitest.Object{"app": "ignition-server"}}, "status": clitest.Object{
			"containerStatuses": []any{clitest.Object{"state": clitest.Object{"running": clitest.Object{"startedAt": started}}}},
		}}
	}
	const nodes, pods, reviews = "/api/v1/nodes", "/api/v1/namespaces/cp/pods", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	may := func(allowed bool) clitest.Object {
		return clitest.Object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": clitest.Object{}, "status": clitest.Object{"allowed": allowed}}
	}
	with := func(path string, o clitest.Object) *kube.Client {
		return answers(t, map[string]clitest.Object{path: o})
	}
	address := func(api *kube.Client, cluster map[string]any) workerCheck {
		return addressCheck(t.Context(), hub{api}, cluster)
	}
	up := func(api *kube.Client) workerCheck {
		return serverCheck(t.Context(), hub{api}, now, workers.Plan{ControlPlane: "cp"})
	}
	one := with(nodes, listOf("Node", node("n1", "192.0.2.1", "True")))
	for _, c := range []struct {
		name  string
		check workerCheck
		word  string
		text  string
	}{
		{"a route", address(one, published(clitest.Object{"type": "Route"})), "passed", "published as Route"},
		{"the address of a node", address(one, nodePort("192.0.2.1")), "warning", "is the address of node n1"},
		{"another address", address(one, nodePort("192.0.2.9")), "passed", "192.0.2.9 is not the address of a node"},
		{"a name", address(one, nodePort("ignition.example.com")), "not checked", "is its owner's"},
		{"Nodes that may not be read", address(answers(t, nil), nodePort("192.0.2.1")), "not checked", "no permission"},
		{"a HostedCluster without it", address(one, clitest.Object{}), "not checked", "does not show it"},
		{"a server that was just started", up(with(pods, listOf("Pod", server("2026-03-01T11:58:00Z")))), "warning", "runs for 2m0s and may still build"},
		{"a server that runs for long", up(with(pods, listOf("Pod", server("2026-03-01T10:00:00Z")))), "passed", "has built what it serves"},
		{"no pod of it", up(with(pods, listOf("Pod"))), "not checked", "none of its pods shows it"},
		{"pods that may not be read", up(answers(t, nil)), "not checked", "no permission"},
		{"the second worker", ingressCheck(t.Context(), one, 1), "passed", "1 Ready, 1 more"},
		{"the first worker", ingressCheck(t.Context(), with(nodes, listOf("Node", node("n1", "192.0.2.1", "False"))), 1), "warning", "wants 2 workers"},
		{"workers that may not be read", ingressCheck(t.Context(), answers(t, nil), 1), "not checked", "no permission"},
		{"all rights", rightsCheck(t.Context(), with(reviews, may(true)), "in the hosted cluster", workers.JoinRights), "passed", "what the plan needs"},
		{"no rights", rightsCheck(t.Context(), with(reviews, may(false)), "in the hosted cluster", rightsFor(workers.Plan{Replaces: map[string]workers.Old{"guest2": {}}})), "failed", "approve serving certificates of kubelets, list pods, evict pods, cordon Nodes, delete Nodes"},
		{"an answer without an answer", rightsCheck(t.Context(), with(reviews, clitest.Object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "metadata": clitest.Object{}}), "in the hosted cluster", workers.JoinRights), "not checked", "did not answer"},
		{"rights that may not be asked for", rightsCheck(t.Context(), answers(t, nil), "in the hosted cluster", workers.JoinRights), "not checked", "no permission"},
	} {
		if c.check.word() != c.word || !strings.Contains(c.check.text, c.text) {
			t.Errorf("%s: %s %q, want %s %q", c.name, c.check.word(), c.check.text, c.word, c.text)
		}
	}
}

// TestWorkerPlanFirst: before the first worker there is no Node, which is no gap.
func TestWorkerPlanFirst(t *testing.T) {
	d := &diagnosis.Diagnosis{}
	for state, want := range map[evidence.State]int{evidence.Read: 0, evidence.Empty: 0, evidence.Partial: 1, evidence.Missing: 1} {
		d.Coverage = []evidence.Coverage{{Need: evidence.Objects(evidence.Nodes, "").String(), State: state}}
		if got := nodeChecks(d, workers.Plan{}); len(got) != want {
			t.Errorf("%s: %+v", state, got)
		}
	}
}
