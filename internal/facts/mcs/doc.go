// Package mcs holds the facts about the machine config server: what it was
// asked, what it answered, whether it runs, and what the booting host says of it.
//
// Invariants:
//   - Only requests that carry Ignition's Accept header count as a host's. Any
//     other client gets the oldest spec version, which can fail on a healthy pool
//     (openshift/machine-config-operator:pkg/server/api.go
//     detectSpecVersionFromAcceptHeader).
//   - Failures count only while they last: a success of the same pool after them
//     ends the count.
//   - A console says nothing about a host whose console was not given.
package mcs

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// logs selects the machine config servers' logs.
var logs = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MachineConfigNamespace, Container: openshift.MachineConfigServer}

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{requestsFact, serverLogFact, answerFact, workloadFact, ignitionFact, hostRequestsFact}
}
