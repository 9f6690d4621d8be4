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

// TestCannotPass: what the API refuses as invalid comes again each time; what another object holds may be let go.
func TestCannotPass(t *testing.T) {
	for message, want := range map[string]bool{
		`Failed to resync 4.16.3 because: ControllerConfig.machineconfiguration.openshift.io "machine-config-controller" is invalid: spec.infra: Required value`:  true,
		`Deployment.apps "router-default" is invalid: spec.selector: Invalid value: field is immutable`:                                                           true,
		`Service "router" is invalid: spec.clusterIPs: Invalid value: []string{"172.30.0.9"}: failed to allocate IP 172.30.0.9: provided IP is already allocated`: false,
		`the certificate is invalid`: false,
		`error MachineConfigPool master is not ready, retrying. Status: (pool degraded: true total: 3, ready 2)`: false,
		"": false,
	} {
		if got := CannotPass(message); got != want {
			t.Errorf("%q: %t", message, got)
		}
	}
}
