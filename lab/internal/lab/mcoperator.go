package lab

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// poolSettled says whether the master pool is where the operator waits for it
// to be (openshift/machine-config-operator:pkg/operator/sync.go
// syncRequiredMachineConfigPools).
func (s situation) poolSettled() bool {
	n := func(field string) int64 { return nestedInt(s.pool, "status", field) }
	total := n("machineCount")
	return total > 0 && n("readyMachineCount") == total && n("updatedMachineCount") == total &&
		nested(s.pool, "status", "configuration", "name") == nested(s.pool, "spec", "configuration", "name")
}

// machineConfig are the machine-config operator's conditions
// (openshift/machine-config-operator:pkg/operator/status.go syncAvailableStatus,
// syncProgressingStatus, syncDegradedStatus). versioned says whether it has
// reported the release's version, which changes its words. The operator calls
// itself degraded when it has waited ten minutes for each node of a pool; here
// that wait is left out.
func (s situation) machineConfig(versioned bool) []condition {
	deployed := "[]"
	if versioned {
		deployed = fmt.Sprintf("[{operator %s}]", seed.Version)
	}
	c := available("AsExpected", "Cluster has deployed "+deployed)
	c[1] = condition{"Progressing", "False", "", "Cluster version is " + seed.Version}
	if s.poolSettled() {
		return c
	}
	n := func(field string) int64 { return nestedInt(s.pool, "status", field) }
	degraded := n("degradedMachineCount") > 0
	if !versioned {
		c[1] = condition{"Progressing", "True", "", "Working towards " + seed.Version}
	}
	if !degraded {
		return c
	}
	envelope := "Unable to apply %s: %s"
	if versioned {
		envelope = "Failed to resync %s because: %s"
		c[1].message = "Error while reconciling " + seed.Version
	} else {
		c[1].message = "Unable to apply " + seed.Version
	}
	why := fmt.Sprintf("error during syncRequiredMachineConfigPools: [context deadline exceeded, error MachineConfigPool master is not ready, "+
		"retrying. Status: (pool degraded: %t total: %d, ready %d, updated: %d, unavailable: %d)]",
		degraded, n("machineCount"), n("readyMachineCount"), n("updatedMachineCount"), n("unavailableMachineCount"))
	c[2] = condition{"Degraded", "True", "RequiredPoolsFailed", fmt.Sprintf(envelope, seed.Version, why)}
	return c
}

// poolExtension is the operator's status.extension for the master pool
// (openshift/machine-config-operator:pkg/operator/status.go machineConfigPoolStatus).
func (s situation) poolExtension() map[string]any {
	n := func(field string) int64 { return nestedInt(s.pool, "status", field) }
	text := "<unknown>"
	switch {
	case s.poolCondition("RenderDegraded", "status") == "True":
		text = fmt.Sprintf("pool is degraded because rendering fails with %q: %q", s.poolCondition("RenderDegraded", "reason"),
			s.poolCondition("RenderDegraded", "message"))
	case s.poolCondition("NodeDegraded", "status") == "True":
		text = fmt.Sprintf("pool is degraded because nodes fail with %q: %q", s.poolCondition("NodeDegraded", "reason"),
			s.poolCondition("NodeDegraded", "message"))
	case s.poolCondition("Updated", "status") == "True":
		text = fmt.Sprintf("all %d nodes are at latest configuration %s", n("machineCount"), nested(s.pool, "status", "configuration", "name"))
	case s.poolCondition("Updating", "status") == "True":
		text = fmt.Sprintf("%d (ready %d) out of %d nodes are updating to latest configuration %s",
			n("updatedMachineCount"), n("readyMachineCount"), n("machineCount"), nested(s.pool, "spec", "configuration", "name"))
	}
	return map[string]any{"master": text}
}

// poolCondition returns a field of one of the pool's conditions.
func (s situation) poolCondition(kind, field string) string {
	list, _, _ := unstructured.NestedSlice(s.pool.Object, "status", "conditions")
	for _, item := range list {
		if m, ok := item.(map[string]any); ok && m["type"] == kind {
			text, _ := m[field].(string)
			return text
		}
	}
	return ""
}
