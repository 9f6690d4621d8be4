// Package pools holds the facts about MachineConfigPools, the configs that they
// render, and the daemons that bring nodes to them.
//
// Invariants:
//   - Which config is served follows the server's own rule
//     (openshift/machine-config-operator:pkg/server/cluster_server.go GetConfig).
//   - "Not in the cluster" needs a list of MachineConfigs that could be read, or
//     the daemon's own words; a list that could not be read is unknown.
//   - Messages are matched without regard to case and on the parts that did not
//     change from 4.14 on.
package pools

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// DaemonLogs selects the logs of the machine-config-daemons.
var DaemonLogs = evidence.TextQuery{Kind: evidence.ContainerLog, Namespace: openshift.MachineConfigNamespace, Container: openshift.MachineConfigDaemon}

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{servedFact, nodesFact, configFact, daemonFact, controllerConfigFact, controllerFact, rolloutFact, drainFact, degradedFact,
		membershipFact}
}
