package etcd

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/factstest"
)

// TestBeginning: the ClusterOperator's Degraded began with another controller's trouble
// two hours before the member was lost. Its time is not the member's.
func TestBeginning(t *testing.T) {
	const union = `-- delete:cluster-scoped-resources/operator.openshift.io/etcds/cluster.yaml --
-- patch:cluster-scoped-resources/config.openshift.io/clusteroperators/etcd.yaml --
status:
  conditions:
  - {type: Available, status: "True", reason: AsExpected, lastTransitionTime: "2026-03-01T08:38:00Z", message: "EtcdMembersAvailable: 2 of 3 members are available, cp-c.finch.example.net is unhealthy"}
  - {type: Degraded, status: "True", reason: "ClusterMemberController_SyncError::EtcdMembers_UnhealthyMembers", lastTransitionTime: "2026-03-01T09:20:00Z", message: "ClusterMemberControllerDegraded: context deadline exceeded\nEtcdMembersDegraded: 2 of 3 members are available, cp-c.finch.example.net is unhealthy"}
`
	e := factstest.Fields[Etcd](t, factstest.World(t, "ocp-4.14-none", union), Fact(), factstest.Cluster())
	if since, err := e.Since.Get(); err == nil {
		t.Errorf("began at %s, which the union does not show", since)
	}
	if want := time.Date(2026, 3, 1, 9, 20, 0, 0, time.UTC); !e.ReportedSince.Value().Equal(want) {
		t.Errorf("reported since %v, want %s", e.ReportedSince, want)
	}
	if !e.Degraded.Value() || len(e.Unhealthy.Value()) != 1 {
		t.Errorf("degraded %v, unhealthy %v", e.Degraded, e.Unhealthy)
	}
}
