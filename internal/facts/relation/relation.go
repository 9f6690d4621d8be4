// Package relation leads from one subject to others: the closed list of
// fault.Relations over the roll, the pools, the requests and the operators.
//
// Invariants:
//   - A relation is four-valued. A host that never joined has no proven pool: it
//     is a candidate of every pool, and the answer says that it is not known.
//     Its Machine's role or the URL on its console settles it.
//   - Subjects that cannot be listed are an *evidence.Unavailable, never an empty
//     list.
package relation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Relater implements diagnose.Relater.
type Relater struct{}

// Subjects lists the subjects of a kind, sorted by name. Names that only a
// certificate request claims are no hosts.
func (Relater) Subjects(ctx context.Context, w *facts.World, k fault.Kind) ([]fault.Subject, error) {
	switch k {
	case fault.Cluster:
		return []fault.Subject{{Kind: fault.Cluster}}, nil
	case fault.Host:
		list, err := inventory.All(ctx, w)
		if err != nil {
			return nil, err
		}
		return subjects(list, func(h inventory.Host) bool { return h.Expected }), nil
	case fault.Pool:
		if h, err := w.Hosted(ctx); err != nil || h != nil {
			return nil, err // its hosts are configured by NodePools
		}
		return objects(ctx, w, k, evidence.MachineConfigPools)
	case fault.NodePool:
		return nodePools(ctx, w)
	case fault.CSR:
		return objects(ctx, w, k, evidence.CSRs)
	case fault.Operator:
		return objects(ctx, w, k, evidence.ClusterOperators)
	case fault.Any:
		return subjectsOfAll(ctx, w)
	}
	return nil, fmt.Errorf("list subjects: %q is no kind", k)
}

// subjectsOfAll lists the subjects of every kind that can be read.
func subjectsOfAll(ctx context.Context, w *facts.World) ([]fault.Subject, error) {
	var all []fault.Subject
	for _, k := range fault.Kinds() {
		list, err := Relater{}.Subjects(ctx, w, k)
		if _, missing := evidence.AsUnavailable(err); err != nil && !missing {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// objects lists the objects of a resource as subjects. Where only some of them could be read,
// these are returned with the reason.
func objects(ctx context.Context, w *facts.World, k fault.Kind, r evidence.Resource) ([]fault.Subject, error) {
	list, err := w.Some(ctx, r, "")
	if err != nil {
		return nil, err
	}
	var to []fault.Subject
	for _, o := range list {
		to = append(to, fault.Subject{Kind: k, Name: o.Name})
	}
	sortSubjects(to)
	_, err = w.List(ctx, r, "")
	return to, err
}

func subjects(list []inventory.Host, keep func(inventory.Host) bool) []fault.Subject {
	var to []fault.Subject
	for _, h := range list {
		if keep(h) {
			to = append(to, fault.Subject{Kind: fault.Host, Name: h.Name})
		}
	}
	return to
}

func sortSubjects(list []fault.Subject) {
	slices.SortFunc(list, func(a, b fault.Subject) int { return strings.Compare(a.Name, b.Name) })
}

// Relate follows one relation. known is false where what leads there could not
// be read or is not proven; to then holds the candidates.
func (r Relater) Relate(ctx context.Context, w *facts.World, rel fault.Relation, from fault.Subject) (to []fault.Subject, known bool, err error) {
	switch rel {
	case fault.Same:
		return []fault.Subject{from}, true, nil
	case fault.ToCluster:
		to, err = r.Subjects(ctx, w, fault.Cluster)
	case fault.AllHosts:
		to, err = r.Subjects(ctx, w, fault.Host)
	case fault.AllPools:
		to, err = r.Subjects(ctx, w, fault.Pool)
	case fault.AllNodePools:
		to, err = r.Subjects(ctx, w, fault.NodePool)
	case fault.AllCSRs:
		to, err = r.Subjects(ctx, w, fault.CSR)
	case fault.Operators:
		to, err = r.Subjects(ctx, w, fault.Operator)
	case fault.HostsOfPool:
		if from.Kind == fault.NodePool {
			return unread(hostsOfNodePool(ctx, w, from))
		}
		return unread(hostsOfPool(ctx, w, from.Name))
	case fault.NodesOfPool:
		return unread(nodesOfPool(ctx, w, from.Name))
	case fault.PoolsOfHost:
		return unread(r.poolsOfHost(ctx, w, from.Name))
	case fault.HostsOfPeers:
		return unread(r.peers(ctx, w, from))
	case fault.HostOfCSR:
		return unread(hostOfCSR(ctx, w, from.Name))
	case fault.CSRsOfHost:
		return unread(csrsOfHost(ctx, w, from.Name))
	default:
		return nil, false, fmt.Errorf("relate: %q is no relation", rel)
	}
	return unread(to, true, err)
}

// unread turns "could not look" into a relation that is not known; what could be read are
// the candidates.
func unread(to []fault.Subject, known bool, err error) ([]fault.Subject, bool, error) {
	if _, ok := evidence.AsUnavailable(err); ok {
		return to, false, nil
	}
	return to, known, err
}

// joins reports whether the host is asked to join at all.
func joins(h inventory.Host) bool { return h.Expected && !h.Spare }

// hostsOfPool returns every host of the pool. Hosts of which no pool is known are
// added as candidates.
func hostsOfPool(ctx context.Context, w *facts.World, pool string) ([]fault.Subject, bool, error) {
	list, err := inventory.All(ctx, w)
	if err != nil {
		return nil, false, err
	}
	candidate := func(h inventory.Host) bool { return joins(h) && h.Pool.Name == "" }
	to := subjects(list, func(h inventory.Host) bool { return joins(h) && h.Pool.Name == pool || candidate(h) })
	return to, !slices.ContainsFunc(list, candidate), nil
}

func nodesOfPool(ctx context.Context, w *facts.World, pool string) ([]fault.Subject, bool, error) {
	list, err := inventory.All(ctx, w)
	if err != nil {
		return nil, false, err
	}
	return subjects(list, func(h inventory.Host) bool {
		return h.Node != nil && h.Pool.Name == pool && h.Pool.Standing == inventory.Proven
	}), true, nil
}

func (r Relater) poolsOfHost(ctx context.Context, w *facts.World, name string) ([]fault.Subject, bool, error) {
	h, ok, err := inventory.Find(ctx, w, name)
	if err != nil || !ok {
		return nil, false, err
	}
	if pools, err := nodePools(ctx, w); err != nil || len(pools) > 0 {
		i := slices.IndexFunc(pools, func(s fault.Subject) bool { return s.Name == h.NodePool })
		if i < 0 {
			return pools, false, err
		}
		return pools[i : i+1], true, nil
	}
	if h.Pool.Name != "" {
		return []fault.Subject{{Kind: fault.Pool, Name: h.Pool.Name}}, true, nil
	}
	all, err := r.Subjects(ctx, w, fault.Pool)
	return all, false, err
}

func (r Relater) peers(ctx context.Context, w *facts.World, from fault.Subject) ([]fault.Subject, bool, error) {
	pools, known, err := r.poolsOfHost(ctx, w, from.Name)
	if err != nil {
		return nil, false, err
	}
	var to []fault.Subject
	for _, p := range pools {
		of := func() ([]fault.Subject, bool, error) { return hostsOfPool(ctx, w, p.Name) }
		if p.Kind == fault.NodePool {
			of = func() ([]fault.Subject, bool, error) { return hostsOfNodePool(ctx, w, p) }
		}
		list, ok, err := of()
		if err != nil {
			return nil, false, err
		}
		known = known && ok
		for _, s := range list {
			if s != from && !slices.Contains(to, s) {
				to = append(to, s)
			}
		}
	}
	sortSubjects(to)
	return to, known, nil
}

func hostOfCSR(ctx context.Context, w *facts.World, name string) ([]fault.Subject, bool, error) {
	csr, ok, err := w.Get(ctx, evidence.CSRs, "", name)
	if err != nil || !ok {
		return nil, false, err
	}
	node, ok := inventory.RequestedNode(csr)
	if !ok {
		return nil, true, nil // it asks for no node: there is no host
	}
	h, ok, err := inventory.Find(ctx, w, node)
	if err != nil || !ok {
		return nil, false, err
	}
	return []fault.Subject{{Kind: fault.Host, Name: h.Name}}, true, nil
}

func csrsOfHost(ctx context.Context, w *facts.World, name string) ([]fault.Subject, bool, error) {
	h, ok, err := inventory.Find(ctx, w, name)
	if err != nil || !ok {
		return nil, false, err
	}
	byNode, err := requests(ctx, w)
	if err != nil {
		return nil, false, err
	}
	to := slices.Clone(byNode[h.Name])
	for i, a := range h.Aliases {
		if a != h.Name && !slices.Contains(h.Aliases[:i], a) {
			to = append(to, byNode[a]...)
		}
	}
	sortSubjects(to)
	return to, true, nil
}

// requests groups the requests by the node that they name. Each is parsed once a
// run, and not once for every host.
func requests(ctx context.Context, w *facts.World) (map[string][]fault.Subject, error) {
	return facts.Memo(ctx, w, "relation.requests", func(ctx context.Context, w *facts.World) (map[string][]fault.Subject, error) {
		list, err := w.List(ctx, evidence.CSRs, "")
		if err != nil {
			return nil, err
		}
		byNode := map[string][]fault.Subject{}
		for _, o := range list {
			if node, ok := inventory.RequestedNode(o); ok {
				byNode[node] = append(byNode[node], fault.Subject{Kind: fault.CSR, Name: o.Name})
			}
		}
		return byNode, nil
	})
}
