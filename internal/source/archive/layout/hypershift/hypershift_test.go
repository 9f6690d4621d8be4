package hypershift_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/hypershift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout/layouttest"
)

func TestHyperShiftDump(t *testing.T) {
	const dump = `
-- output/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --
metadata: {name: version}
spec: {clusterID: management}
-- output/namespaces/clusters-a/core/pods.yaml --
apiVersion: v1
items:
- kind: Pod
  metadata: {name: ignition-server-1, namespace: clusters-a}
kind: PodList
-- output/namespaces/clusters-a/core/pods/logs/ignition-server-1-ignition-server.log --
token not found
-- output/hostedcluster-a/cluster-scoped-resources/config.openshift.io/clusterversions/version.yaml --
metadata: {name: version}
spec: {clusterID: hosted}
-- output/hostedcluster-a/cluster-scoped-resources/core/nodes/w1.yaml --
metadata: {name: w1}
`
	s := layouttest.Open(t, dump)
	d, err := s.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if d.Kind != hypershift.Kind || len(d.Notes) != 1 || d.Notes[0].Need != "hosted cluster a" || d.Notes[0].State != evidence.Missing {
		t.Errorf("it is %q with %+v, want a dump that leaves out hosted cluster a", d.Kind, d.Notes)
	}
	list, err := s.List(t.Context(), evidence.ClusterVersions, "")
	if err != nil || len(list) != 1 || evidence.String(list[0].Content, "spec", "clusterID") != "management" {
		t.Errorf("the cluster is %v, %v, want the management cluster", list, err)
	}
	if _, err := s.List(t.Context(), evidence.Nodes, ""); layouttest.Why(t, err) != evidence.NotCollected {
		t.Errorf("hosted nodes are mixed in: %v", err)
	}
	texts, err := s.Texts(t.Context(), evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: "clusters-a", Container: "ignition-server"})
	if err != nil || len(texts) != 1 || texts[0].Pod != "ignition-server-1" {
		t.Errorf("the ignition server's log is %v, %v", texts, err)
	}
	_, hosted, _ := strings.Cut(dump, "kind: PodList\n")
	_, hosted, _ = strings.Cut(hosted, "token not found\n")
	if got := layouttest.Names(t, layouttest.Open(t, hosted), evidence.Nodes, ""); !slices.Equal(got, []string{"w1"}) {
		t.Errorf("a hosted cluster's tree alone gives %v", got)
	}
}
