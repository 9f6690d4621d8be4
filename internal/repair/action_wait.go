package repair

import (
	"context"
	"errors"
	"fmt"
)

func waitNode() action {
	return action{
		check: func(s Step) error { return need(map[string]string{"host": s.Args.Host}) },
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			node, err := r.API.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return false, fmt.Sprintf("Node %s: %v", s.Args.Host, err), nil
			}
			if c := conditionOf(node, "Ready"); c == nil || c["status"] != "True" {
				return false, fmt.Sprintf("Node %s is registered and not Ready", s.Args.Host), nil
			}
			return true, "", nil
		},
	}
}

// waitEtcd waits for the members and until no control-plane node is being
// changed; it stands before any step that takes a control-plane node down.
func waitEtcd() action {
	return action{
		check: func(s Step) error {
			if s.Args.Members < 1 {
				return errors.New("args.members is not positive")
			}
			return nil
		},
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			etcd, err := r.API.Get(ctx, etcdRef())
			if err != nil {
				return false, fmt.Sprintf("the etcd operator's object could not be read: %v", err), nil
			}
			if _, err := etcdMembers(etcd, s.Args.Members); err != nil {
				return false, err.Error(), nil
			}
			if _, err := guardOthersAtRest(ctx, r, s, Guard{}); err != nil {
				return false, err.Error(), nil
			}
			return true, "", nil
		},
	}
}

// waitPool waits until every machine of the pool runs its target. The controller
// does the work, one control-plane machine at a time; a lost quorum ends the wait.
func waitPool() action {
	return action{
		check: func(s Step) error { return need(map[string]string{"pool": s.Args.Pool}) },
		seen: func(ctx context.Context, r *run, s Step) (bool, string, error) {
			if s.Args.Members > 0 {
				etcd, err := r.API.Get(ctx, etcdRef())
				if c := conditionOf(etcd, "EtcdMembersAvailable"); err == nil && c != nil && c["status"] == "False" {
					return false, "", refuse("etcd lost its quorum while the pool rolled: %v", c["message"])
				}
			}
			pool, err := r.API.Get(ctx, poolRef(s.Args.Pool))
			if err != nil {
				return false, fmt.Sprintf("the pool could not be read: %v", err), nil
			}
			return converged(pool, int64(s.Args.Members))
		},
	}
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

// verify evaluates the faults of the plan again; the executor does that for
// every step's expectation, so the step itself has nothing of its own to see.
func verify() action {
	return action{
		check: func(s Step) error {
			if len(s.Expect.Absent) == 0 {
				return errors.New("expect.absent is empty: there is nothing to verify")
			}
			return nil
		},
		seen:     func(context.Context, *run, Step) (bool, string, error) { return true, "", nil },
		rollback: true,
	}
}
