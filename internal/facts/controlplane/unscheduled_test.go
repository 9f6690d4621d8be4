package controlplane

import "testing"

// TestUnscheduled: what the scheduler says is at the end of an operator's message, and leads.
func TestUnscheduled(t *testing.T) {
	const ports = "1 node(s) didn't have free ports for the requested pod ports, 1 node(s) had taint {node-role.kubernetes.io/master: }, that the pod didn't tolerate"
	for message, want := range map[string]string{
		`Some ingresscontrollers are degraded: ingresscontroller "default" is degraded: DegradedConditions: One or more other status conditions indicate a degraded state: ` +
			`PodsScheduled=False (PodsNotScheduled: Some pods are not scheduled: Pod "router-1" cannot be scheduled: 0/2 nodes are available: ` + ports +
			`. Make sure you have sufficient worker nodes.), DeploymentReplicasAllAvailable=False (DeploymentReplicasNotAvailable: 1/2 of replicas are available)`: "pod router-1 cannot be scheduled: 0/2 nodes are available: " + ports,
		`Pod "router-1" cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: 3 No preemption victims found.`: "pod router-1 cannot be scheduled: 0/3 nodes are available: 3 Insufficient cpu",
		"0/6 nodes are available: 6 node(s) were unschedulable.": "0/6 nodes are available: 6 node(s) were unschedulable",
		"1/2 of replicas are available":                          "",
		"deployment x has 0 of 3 nodes available":                "",
	} {
		if got := unscheduled(message); got != want {
			t.Errorf("%s\n%q, want %q", message, got, want)
		}
	}
}
