package inventory

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Declared returns the hosts that Machines, BareMetalHosts, Agents or a plan name. It
// rests on nothing that a kubelet writes: neither on Nodes, whose names and addresses
// a kubelet reports of itself, nor on requests, consoles or what was read on a host.
//
// Where one of these kinds could not be read it returns the others with an
// *evidence.Unavailable: among some of the hosts it cannot be told which of them goes
// by a name.
func Declared(ctx context.Context, w *facts.World) ([]Host, error) {
	return declared(ctx, w, func(evidence.Resource) bool { return true })
}

// DeclaredObjects is Declared by Machines, BareMetalHosts and Agents alone: what an
// approver without permission to read anything else can rest on.
func DeclaredObjects(ctx context.Context, w *facts.World) ([]Host, error) {
	return declared(ctx, w, func(r evidence.Resource) bool {
		return r != evidence.Installs && r != evidence.ConfigMaps && r != evidence.AssistedHosts
	})
}

func declared(ctx context.Context, w *facts.World, counts func(evidence.Resource) bool) ([]Host, error) {
	h, err := w.Hosted(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the declared hosts: %w", err)
	}
	b := &builder{nodesRead: true} // Agents of other clusters are not ours
	for _, s := range []struct {
		need     evidence.Need
		step     func(context.Context, *facts.World, evidence.Need) error
		optional bool // most sources do not have it
	}{
		{evidence.Objects(evidence.Machines, openshift.MachineAPINamespace), b.machines, false},
		{evidence.Objects(evidence.BareMetalHosts, openshift.MachineAPINamespace), b.bareMetalHosts, false},
		{evidence.Objects(evidence.AssistedHosts, ""), b.assisted, true},
		{evidence.Objects(evidence.Agents, ""), b.agents, true},
		{evidence.Objects(evidence.Installs, ""), b.installs, true},
		{evidence.Objects(evidence.ConfigMaps, openshift.SystemNamespace), b.installConfig, true},
		{evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace), b.hosted, false},
	} {
		foreign := h != nil && (s.need.Resource == evidence.Machines || s.need.Resource == evidence.BareMetalHosts)
		if foreign || !counts(s.need.Resource) {
			continue
		}
		err := s.step(ctx, w, s.need)
		u, unavailable := evidence.AsUnavailable(err)
		if err != nil && !unavailable {
			return nil, err
		}
		if unavailable && !(s.optional && !u.Why.MayHideObjects()) {
			b.inventory.Missing = append(b.inventory.Missing, u)
		}
	}
	b.finish()
	for _, u := range b.inventory.Missing {
		if u.Why != evidence.NotServed { // the API has no such kind: nothing is missing
			return b.inventory.Hosts, u
		}
	}
	return b.inventory.Hosts, nil
}
