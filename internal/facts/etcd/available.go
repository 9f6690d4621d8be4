package etcd

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// AllAvailable returns how many members the operator counts where it says that all of
// them are available, and 0 where it says something else or could not be read. It asks
// the members themselves, which says more than the state of their pods
// (openshift/cluster-etcd-operator:pkg/etcdcli/health.go).
func AllAvailable(ctx context.Context, w *facts.World) (int, evidence.Item, error) {
	list, _, err := operatorConditions(ctx, w)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return 0, evidence.Item{}, err
	}
	var n counts
	var item evidence.Item
	for _, c := range conditions.Named(list, "EtcdMembersAvailable", "EtcdMembersDegraded") {
		if n.read(c.Message) && c.Type == "EtcdMembersAvailable" && c.Status == "True" {
			item = c.Item()
		}
	}
	if item.Excerpt == "" || n.available < n.members || len(n.unhealthy)+len(n.notStarted) > 0 {
		return 0, evidence.Item{}, nil
	}
	return n.members, item, nil
}
