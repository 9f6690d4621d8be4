package conditions

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitTakesUnionsApart(t *testing.T) {
	union := []Condition{
		{Type: "Degraded", Status: "True", Reason: "EtcdMembers_UnhealthyMembers::NodeController_MasterNodesReady",
			Message: "EtcdMembersDegraded: 2 of 3 members are available, control2 is unhealthy\nNodeControllerDegraded: The master nodes not ready: node \"control2\" not ready"},
		{Type: "Available", Status: "False", Reason: "RenderConfigFailed", Message: "Cluster not available for []: configmap: not found"},
		{Type: "Progressing", Status: "False", Reason: "AsExpected"},
	}
	want := []Condition{
		{Type: "EtcdMembersDegraded", Status: "True", Reason: "UnhealthyMembers", Message: "2 of 3 members are available, control2 is unhealthy"},
		{Type: "NodeControllerDegraded", Status: "True", Reason: "MasterNodesReady", Message: "The master nodes not ready: node \"control2\" not ready"},
		{Type: "Available", Status: "False", Reason: "RenderConfigFailed", Message: "Cluster not available for []: configmap: not found"},
	}
	if diff := cmp.Diff(want, Split(union)); diff != "" {
		t.Errorf("Split (-want +got):\n%s", diff)
	}
}
