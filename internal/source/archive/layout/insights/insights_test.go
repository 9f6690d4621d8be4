package insights_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/insights"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
)

const insightsTree = `
-- insights-operator/gathers.json --
{"status_reports": []}
-- config/id --
1b2c
-- config/version.json --
{"metadata": {"name": "version"}, "spec": {"clusterID": "c-1"}}
-- config/node/worker1.json --
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "worker1", "creationTimestamp": "2026-01-02T10:00:00Z"}}
-- config/node/logs/worker1.log --
E0102 10:00:00.000000 1 kubelet.go:1] certificate has expired
-- config/clusteroperator/dns.json --
{"metadata": {"name": "dns"}}
-- config/clusteroperator/operator.openshift.io/etcd/cluster.json --
{"apiVersion": "operator.openshift.io/v1", "kind": "Etcd", "name": "cluster", "spec": {"managementState": "Managed"}}
-- config/certificatesigningrequests/csr-1.json --
{"metadata": {"name": "csr-1"}}
-- config/pod/openshift-etcd/etcd-1.json --
{"metadata": {"name": "etcd-1", "namespace": "openshift-etcd"}}
-- config/pod/openshift-etcd/logs/etcd-1/etcd_previous.log --
one line
-- machinesets/openshift-machine-api/workers.json --
{"metadata": {"name": "workers", "namespace": "openshift-machine-api"}}
-- events/openshift-etcd.json --
{"items": [{"namespace": "openshift-etcd", "reason": "x"}]}
`

func TestInsights(t *testing.T) {
	s := layouttest.Open(t, insightsTree)
	layouttest.IsKind(t, s, insights.Kind, "2026-01-02T10:00:00Z")
	for r, want := range map[evidence.Resource]string{
		evidence.ClusterVersions: "version", evidence.Nodes: "worker1", evidence.ClusterOperators: "dns",
		evidence.MachineSets: "openshift-machine-api/workers",
	} {
		if got := layouttest.Names(t, s, r, ""); !slices.Equal(got, []string{want}) {
			t.Errorf("%s are %v, want %s", r, got, want)
		}
	}
	if _, err := s.List(t.Context(), evidence.EtcdOperators, ""); layouttest.Why(t, err) != evidence.NotCollected {
		t.Errorf("an operator's own resource is %v, want not collected: Insights keeps its name and spec only", err)
	}
	for _, r := range []evidence.Resource{evidence.CSRs, evidence.Pods} {
		list, err := s.List(t.Context(), r, "")
		if len(list) != 0 || layouttest.Why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(), "only") {
			t.Errorf("List(%s) = %d objects, %v; want none, because the others would read as absent", r, len(list), err)
		}
	}
	if _, err := s.List(t.Context(), evidence.BareMetalHosts, ""); layouttest.Why(t, err) != evidence.NotCollected || !strings.Contains(err.Error(),
		"no BareMetalHosts") {
		t.Errorf("the error is %v, want that Insights never has them", err)
	}
	if _, err := s.List(t.Context(), evidence.Events, ""); layouttest.Why(t, err) != evidence.NotCollected {
		t.Errorf("events without an object are %v, want not collected", err)
	}
	if got := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.Journal, Unit: "kubelet", Host: "worker1"}); !strings.Contains(got, "has expired") {
		t.Errorf("the kubelet's lines are %q", got)
	}
	if got := layouttest.Lines(t, s, evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "openshift-etcd", Container: "etcd"}); got != "one line\n" {
		t.Errorf("the log is %q", got)
	}
}

// TestInsightsWithoutEndings: until 4.4 the names in an Insights archive had no ending, and
// of the Nodes only those were kept that were not Ready.
func TestInsightsWithoutEndings(t *testing.T) {
	s := layouttest.Open(t, `
-- config/id --
1b2c
-- config/version --
{"kind": "ClusterVersion", "metadata": {"name": "version", "creationTimestamp": "2020-01-02T10:00:00Z"}}
-- config/clusteroperator/dns --
{"kind": "ClusterOperator", "metadata": {"name": "dns"}}
-- config/node/worker1.example.com --
{"kind": "Node", "metadata": {"name": "worker1.example.com"}}
-- config/metrics --
# HELP up
`)
	layouttest.IsKind(t, s, insights.Kind, "2020-01-02T10:00:00Z")
	for r, want := range map[evidence.Resource]string{evidence.ClusterVersions: "version", evidence.ClusterOperators: "dns"} {
		if got := layouttest.Names(t, s, r, ""); !slices.Equal(got, []string{want}) {
			t.Errorf("%s are %v, want %s", r, got, want)
		}
	}
	if list, err := s.List(t.Context(), evidence.Nodes, ""); len(list) != 0 || !strings.Contains(err.Error(), "not Ready") {
		t.Errorf("nodes are %d, %v; want none, because those that are Ready were not kept", len(list), err)
	}
}

// TestGathered: an Insights archive that holds fewer objects than Insights gathered is not
// the whole, as is one in which a function failed.
func TestGathered(t *testing.T) {
	const node = "-- config/version.json --\n{\"apiVersion\":\"config.openshift.io/v1\",\"kind\":\"ClusterVersion\",\"metadata\":{\"name\":\"version\"}}\n" +
		"-- config/node/w1.json --\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"w1\"}}\n"
	report := func(more string) string {
		return "-- insights-operator/gathers.json --\n{\"status_reports\":[{\"name\":\"clusterconfig/nodes\"," + more + "}]}\n"
	}
	for name, c := range map[string]struct{ tree, want string }{
		"all":            {node + report(`"records_count":1`), ""},
		"fewer":          {node + report(`"records_count":6`), "Insights gathered 6 nodes, and 1 of them are in the archive"},
		"an error":       {node + report(`"records_count":1,"errors":["timed out"]`), "could not gather all nodes: timed out"},
		"it panicked":    {node + report(`"records_count":1,"panic":"nil map"`), "could not gather all nodes: nil map"},
		"it is not said": {node, ""},
	} {
		list, err := layouttest.Open(t, c.tree).List(t.Context(), evidence.Nodes, "")
		u, unavailable := evidence.AsUnavailable(err)
		if len(list) != 1 || unavailable != (c.want != "") || unavailable && !strings.Contains(u.Detail, c.want) {
			t.Errorf("%s: %d nodes, %v, want %q", name, len(list), err, c.want)
		}
	}
}
