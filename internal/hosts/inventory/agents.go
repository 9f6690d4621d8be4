package inventory

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/install"
)

// localCluster is the ClusterDeployment under which a hub manages itself
// (openshift/assisted-service:internal/controller/controllers/local_cluster_import_controller.go).
const localCluster = "local-cluster"

// machineSets counts what MachineSets want and no Machine stands for. The
// controller makes a Machine at once, whether or not there is hardware for it: a
// gap is a controller that does not progress.
func (b *builder) machineSets(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, err := w.List(ctx, need.Resource, need.Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		set, err := evidence.Decode[apitypes.MachineSet](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		b.sets = true
		wanted := 1 // the default of the API (openshift/api:machine/v1beta1/types_machineset.go)
		if set.Spec.Replicas != nil {
			wanted = int(*set.Spec.Replicas)
		}
		if set.DeletionTimestamp == nil {
			has := 0
			for _, h := range b.list {
				if h.Machine != nil && ownedBy(&h.Machine.API, &set) {
					has++
				}
			}
			b.gaps = append(b.gaps, Gap{Role: set.Spec.Template.Labels[openshift.MachineRoleLabel], Of: o.Name, Since: o.Created(), Wanted: wanted, Named: has,
				Unread: b.inventory.Unread(evidence.Machines), Loc: o.Loc.At("spec.replicas")})
		}
	}
	return nil
}

// ownedBy reports whether a Machine counts for a MachineSet: it is not being
// deleted, no other controller has it, and the selector takes it
// (openshift/machine-api-operator:pkg/controller/machineset/controller.go
// shouldExcludeMachine).
func ownedBy(m *apitypes.Machine, set *apitypes.MachineSet) bool {
	if owner := m.ControllerOf(); m.DeletionTimestamp != nil || owner != nil && owner.Name != set.Name {
		return false
	}
	if set.Spec.Selector.Empty() {
		return false
	}
	ok, err := set.Spec.Selector.Matches(m.Labels)
	return ok && err == nil
}

func (b *builder) assisted(ctx context.Context, w *facts.World, need evidence.Need) error {
	return b.agentHosts(ctx, w, need, func(assisted.Host) bool { return true })
}

// agents are the hosts that a hub installs: of this cluster only where they are
// bound to the hub itself, or where nothing says that there is another cluster.
func (b *builder) agents(ctx context.Context, w *facts.World, need evidence.Need) error {
	if _, err := w.List(ctx, need.Resource, need.Namespace); err != nil {
		return err // to which cluster the others belong is not known
	}
	return b.agentHosts(ctx, w, need, func(a assisted.Host) bool {
		return !b.nodesRead || a.Cluster == localCluster+"/"+localCluster
	})
}

func (b *builder) agentHosts(ctx context.Context, w *facts.World, need evidence.Need, ours func(assisted.Host) bool) error {
	list, part, err := some(ctx, w, need)
	if err != nil {
		return err
	}
	for _, o := range list {
		a, err := assisted.HostOf(o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		if !ours(a) {
			continue
		}
		free := func(test func(*Host) bool) func(*Host) bool {
			return func(h *Host) bool { return h.Assisted == nil && test(h) }
		}
		h := b.match(free(b.hasMAC(a.MACs)), free(named(a.BMH)), free(named(a.Name)), free(b.shortNamed(a.Name)), free(addressed(a.Addresses)))
		if h == nil {
			h = b.add(nameOf(a.Name, a.MACs, a.ID))
		}
		if a.Name != "" && slices.Contains(h.MACs, h.Name) {
			h.Name = a.Name
		}
		h.alias(a.Name)
		if !assisted.NoName(a.Hostname) {
			h.alias(a.Hostname)
		}
		h.Assisted = &Assisted{Loc: o.Loc, API: a}
		h.addresses(a.Addresses...)
		h.mac(a.MACs...)
		if h.Role == "" {
			h.Role = a.Role
		}
	}
	return part
}

// nameOf is what a host is called that has no name yet: by its first MAC address,
// which is what people have of it.
func nameOf(name string, macs []string, id string) string {
	switch {
	case !assisted.NoName(name):
		return name
	case len(macs) > 0:
		return strings.ToLower(macs[0])
	}
	return id
}

// installs takes the hosts of an install directory. Those without a name that can
// be recognized among Nodes are counted and not named: nothing would tell that one
// of the Nodes is this host.
func (b *builder) installs(ctx context.Context, w *facts.World, need evidence.Need) error {
	list, err := w.List(ctx, need.Resource, need.Namespace)
	if err != nil {
		return err
	}
	for _, o := range list {
		plan, err := evidence.Decode[install.Install](o)
		if err != nil {
			if err := b.damaged(err); err != nil {
				return err
			}
			continue
		}
		for _, p := range plan.Hosts {
			b.planned(o, p)
		}
		for _, p := range plan.Pools {
			b.count(p.Role, p.Replicas, o.Loc)
		}
	}
	return nil
}

func (b *builder) planned(o evidence.Object, p install.Host) {
	free := func(test func(*Host) bool) func(*Host) bool {
		return func(h *Host) bool { return h.Planned == nil && test(h) }
	}
	h := b.match(free(b.hasMAC(p.MACs)), free(named(p.Name)), free(b.shortNamed(p.Name)), free(addressed(p.Addresses)))
	if h == nil {
		if joined := slices.ContainsFunc(b.list, func(h *Host) bool { return h.Node != nil || h.Assisted != nil }); joined && p.Name == "" &&
			len(p.Addresses) == 0 {
			return
		}
		h = b.add(nameOf(p.Name, p.MACs, o.Name))
	}
	if p.Name != "" && h.Node == nil && slices.Contains(h.MACs, h.Name) {
		h.Name = p.Name // it reports under no name of its own yet
	}
	h.alias(p.Name)
	h.Planned = &Planned{Loc: o.Loc, API: p}
	h.addresses(p.Addresses...)
	h.mac(p.MACs...)
	if h.Role == "" {
		h.Role = p.Role
	}
}
