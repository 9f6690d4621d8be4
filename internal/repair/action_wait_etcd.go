package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// WaitEtcd waits for the members of etcd.
const WaitEtcd ActionName = "wait-etcd"

// waitEtcd waits for the members and until no control-plane node is being
// changed; it comes before any step that takes a control-plane node down.
func waitEtcd() action {
	return action{
		name: WaitEtcd,
		plan: func(_ context.Context, d *draft) error {
			if d.members > 0 && slices.ContainsFunc(actions(), func(a action) bool { return a.waitsForEtcd && d.requires(a) }) {
				d.add(Step{Action: WaitEtcd, Args: Args{Members: d.members}, Deadline: minutes(45)})
			}
			return nil
		},
		check: func(s Step) error {
			if s.Args.Members < 1 {
				return errors.New("args.members is not positive")
			}
			return nil
		},
		describe: func(s *Step) {
			describeWait(s)
			s.Subject = "operator/etcd"
			s.Title = fmt.Sprintf("wait until etcd has %d members, all healthy; before that no other master is touched", s.Args.Members)
			s.OC = `oc get etcd cluster -o jsonpath='{.status.conditions[?(@.type=="EtcdMembersAvailable")].message}'`
			s.Expect.Text = fmt.Sprintf("%d members are available", s.Args.Members)
		},
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			etcd, err := e.api.Get(ctx, etcdRef())
			if err != nil {
				return false, fmt.Sprintf("the etcd operator's object could not be read: %v", err), nil
			}
			if _, err := etcdMembers(etcd, s.Args.Members); err != nil {
				return false, err.Error(), nil
			}
			if _, err := guardOthersAtRest(ctx, e, s, Guard{}); err != nil {
				return false, err.Error(), nil
			}
			return true, "", nil
		},
	}
}
