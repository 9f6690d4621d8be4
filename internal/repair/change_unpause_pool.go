package repair

import (
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const poolPaused = "/spec/paused"

// unpausePool lets the machine-config-operator update the nodes of a pool.
func unpausePool() fieldChange {
	return fieldChange{
		remedy:        "unpause-pool",
		target:        subjectTarget(fault.Pool, poolRef),
		reads:         []string{poolPaused, specName, statusName, "/status/updatedMachineCount"},
		set:           setUnpaused,
		guards:        rolloutGuards,
		mayCostMember: controlPlanePool,
		rollsOut:      true,
		risk:          fault.RiskReboot,
		riskText:      "the controller drains and reboots the nodes of the pool that are not updated, maxUnavailable at a time",
		proof:         ProvedInLab,
		title:         "set spec.paused of pool %s to false",
		oc:            `oc patch mcp %s --type=merge -p '{"spec":{"paused":false}}'`,
		inverse:       "set spec.paused back to true; nodes that were updated stay updated",
		expect:        "pool %s is not paused",
		takes:         2,
	}
}

func setUnpaused(o Object, _ input) (map[string]any, error) {
	if degraded := conditionOf(o, "Degraded"); degraded["status"] == "True" {
		return nil, fmt.Errorf("the pool is degraded (%v); repair that first", degraded["message"])
	}
	return map[string]any{poolPaused: false}, nil
}

// rolloutGuards protect etcd from a rollout that begins.
func rolloutGuards(pool string) []Guard {
	if !controlPlanePool(pool) {
		return []Guard{{Guard: EtcdQuorum}}
	}
	return []Guard{{Guard: OneAtATime, Subject: pool}, {Guard: EtcdMembers, Count: leastMembers}, {Guard: OthersAtRest}}
}
