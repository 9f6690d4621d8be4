package hosted

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// TestAdmitted: an old refusal is over when all pods of the Deployment run, and of its newest
// ReplicaSet.
func TestAdmitted(t *testing.T) {
	event := object(t, "e", "involvedObject: {kind: ReplicaSet, name: network-node-identity-7f8d9c6b5}")
	tests := []struct {
		name, of, deployment string
		want                 bool
	}{
		{"all run", "network-node-identity", "spec: {replicas: 2}\nstatus: {updatedReplicas: 2, availableReplicas: 2}", true},
		{"the new ones are refused, old ones run", "network-node-identity", "spec: {replicas: 2}\nstatus: {updatedReplicas: 0, availableReplicas: 2}", false},
		{"one is missing", "network-node-identity", "spec: {replicas: 2}\nstatus: {updatedReplicas: 2, availableReplicas: 1}", false},
		{"scaled to zero", "network-node-identity", "spec: {replicas: 0}\nstatus: {}", false},
		{"a change was not seen yet", "network-node-identity", "metadata: {generation: 3}\nspec: {replicas: 1}\nstatus: {observedGeneration: 2, updatedReplicas: 1, availableReplicas: 1}", false},
		{"another Deployment", "network-node", "spec: {replicas: 1}\nstatus: {updatedReplicas: 1, availableReplicas: 1}", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := object(t, tt.of, tt.deployment)
			if got := admitted(event, []evidence.Object{o}); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
