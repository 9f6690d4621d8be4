package repair

import (
	"context"
	"fmt"
	"slices"
)

// WaitPool waits until every machine of a pool runs its target.
const WaitPool ActionName = "wait-pool"

// waitPool waits for the rollout of a pool. The controller does the work, one control-plane
// machine at a time; a lost quorum ends the wait.
func waitPool() action {
	return action{
		name:  WaitPool,
		plan:  planPoolWait,
		check: func(s Step) error { return need(map[string]string{"pool": s.Args.Pool}) },
		describe: func(s *Step) {
			describeWait(s)
			pool := s.Args.Pool
			s.Subject = "pool/" + pool
			s.Title = "wait until every machine of pool " + pool + " runs its target; the controller takes one at a time"
			s.RiskText = "the reboots are those of the step before"
			s.OC = fmt.Sprintf("oc wait --for=condition=Updated mcp/%s --timeout=120m", pool)
			s.Expect.Text = "updated machines are all machines"
		},
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			if s.Args.Members > 0 {
				etcd, err := e.api.Get(ctx, etcdRef())
				if c := conditionOf(etcd, "EtcdMembersAvailable"); err == nil && c != nil && c["status"] == "False" {
					return false, "", refuse("etcd lost its quorum while the pool rolled: %v", c["message"])
				}
			}
			pool, err := e.api.Get(ctx, poolRef(s.Args.Pool))
			if err != nil {
				return false, fmt.Sprintf("the pool could not be read: %v", err), nil
			}
			return converged(pool, int64(s.Args.Members))
		},
	}
}

// planPoolWait waits for the end state, where the plan is whole and the pool rolls out.
func planPoolWait(_ context.Context, d *draft) error {
	rolls := slices.ContainsFunc(remedies(), func(r remedy) bool { return r.rollsOut && len(d.remedies[r.id]) > 0 })
	if rolls && d.whole() {
		d.add(Step{Action: WaitPool, Args: Args{Pool: d.pool, Members: d.members}, Deadline: minutes(120)})
	}
	return nil
}

func converged(pool Object, least int64) (bool, string, error) {
	count := func(what string) int64 { return intAt(pool, "status", what) }
	spec, status := stringAt(pool, "spec", "configuration", "name"), stringAt(pool, "status", "configuration", "name")
	all := count("machineCount")
	ok := spec != "" && spec == status && all >= least && all == count("updatedMachineCount") && all == count("readyMachineCount") &&
		count("degradedMachineCount") == 0 && count("unavailableMachineCount") == 0
	return ok, fmt.Sprintf("machines %d, updated %d, ready %d, unavailable %d, degraded %d", all, count("updatedMachineCount"),
		count("readyMachineCount"), count("unavailableMachineCount"), count("degradedMachineCount")), nil
}
