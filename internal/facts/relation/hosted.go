package relation

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// nodePools lists the NodePools of the hosted cluster that is looked at. Without
// one there are none, which is known.
func nodePools(ctx context.Context, w *facts.World) ([]fault.Subject, error) {
	list, err := inventory.NodePools(ctx, w)
	if err != nil {
		return nil, err
	}
	var to []fault.Subject
	for _, p := range list {
		to = append(to, fault.Subject{Cluster: evidence.Management, Kind: fault.NodePool, Namespace: p.Namespace, Name: p.Name})
	}
	sortSubjects(to)
	return to, nil
}

// hostsOfNodePool returns every host of a NodePool. A host of which no NodePool is
// known is a candidate of each.
func hostsOfNodePool(ctx context.Context, w *facts.World, pool fault.Subject) ([]fault.Subject, bool, error) {
	list, err := inventory.All(ctx, w)
	if err != nil {
		return nil, false, err
	}
	candidate := func(h inventory.Host) bool { return joins(h) && h.NodePool == "" }
	to := subjects(list, func(h inventory.Host) bool { return joins(h) && h.NodePool == pool.Name || candidate(h) })
	return to, !slices.ContainsFunc(list, candidate), nil
}
