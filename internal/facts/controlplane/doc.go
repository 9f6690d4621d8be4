// Package controlplane computes facts about the control plane as a whole: how
// many of its nodes joined, whether a controller manager leads, what operators and
// the ClusterVersion say.
//
// Invariants:
//   - A ClusterOperator is read line by line; its message is never matched whole.
//   - A condition that is normal while a cluster installs is a fact like any
//     other: the catalog says how long it may last.
package controlplane

import (
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{NodesFact(), ManagerFact(), OperatorFact(), ResourceFact(), VersionFact()}
}
