// Package workloads computes where the chain from a Deployment to a running pod is
// broken: the controller manager makes a ReplicaSet of a Deployment and pods of a
// ReplicaSet, the scheduler gives a pod its node, the kubelet starts it.
//
// Invariants:
//   - Each link is told from the objects alone, so an archive is enough
//     (kubernetes/kubernetes:pkg/controller/deployment, pkg/controller/replicaset, pkg/scheduler).
//   - A pod that admission refused is no pod that the controller manager forgot:
//     the ReplicaSet's condition ReplicaFailure tells them apart.
//   - A pod that does not fit on any node is no pod that the scheduler forgot: its
//     condition PodScheduled tells them apart.
package workloads

import (
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{Metal3Fact(), operatorFact(), StalledFact(), SchedulerFact()}
}
