// Package baremetal computes facts about hosts that metal3 manages: the state
// machine of a BareMetalHost, what its error means and when it is tried again, how
// it is tied to its Machine, and whether metal3 itself works.
//
// Invariants:
//   - There is no state "error": a host that failed keeps its state, and says so in
//     operationalStatus, errorType, errorMessage and errorCount
//     (metal3-io/baremetal-operator:apis/metal3.io/v1alpha1/baremetalhost_types.go).
//   - While what failed is tried again, the first three read as if nothing had
//     happened, and errorCount alone is left. That is not the end of the failure.
//   - Nothing is called stuck before the hard limit of its operation has passed.
//     Ironic ends an inspection after 30 minutes and a deployment after 80; that
//     nothing happens in between is a back-off of up to eight and a half hours.
//   - The status of a host that is paused or detached is old by definition.
//   - What an error message means is decided by the parts of it that did not
//     change between releases of ironic. A message that none of them fits has no
//     cause, and not the likeliest one.
package baremetal

import (
	"context"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/platform"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Facts lists the facts of this package.
func Facts() []facts.Fact {
	return []facts.Fact{
		HostFact(), PeersFact(), rootDeviceFact(), hardwareFact(), preparedImageFact(),
		machineFact(), frozenFact(), ProvisioningFact(),
	}
}

// Find returns the host of a name and insists on its BareMetalHost. That the roll
// has no such host is only a statement when every kind that names hosts was read.
func Find(ctx context.Context, w *facts.World, name string) (inventory.Host, error) {
	if _, err := w.Some(ctx, evidence.BareMetalHosts, openshift.MachineAPINamespace); err != nil {
		return inventory.Host{}, Elsewhere(ctx, w, err)
	}
	h, err := onRoll(ctx, w, name)
	if err == nil && h.BMH == nil {
		roll, err := inventory.Read(ctx, w)
		if err != nil {
			return h, err
		}
		if u := roll.Unread(evidence.BareMetalHosts); u != nil {
			return h, u // its BareMetalHost may be one of those that were not read
		}
		return h, facts.NotApplicable("host %s has no BareMetalHost", name)
	}
	return h, err
}

// needs is what the facts read that judge a BareMetalHost.
func needs(more ...evidence.Need) []evidence.Need {
	return slices.Concat(inventory.Needs(), []evidence.Need{evidence.Objects(evidence.Infrastructures, "")}, more)
}

// Elsewhere turns "BareMetalHosts were not read" into "not applicable" on a
// platform whose Machines become something else: a collector leaves no trace of a
// kind without objects. Only platform BareMetal has the provider that makes
// Machines of BareMetalHosts; on None and External people may use them without
// (openshift/machine-api-operator:pkg/operator/config.go getProviderControllerFromImages).
func Elsewhere(ctx context.Context, w *facts.World, err error) error {
	if _, ok := evidence.AsUnavailable(err); !ok {
		return err
	}
	p, missing := platform.Type(ctx, w)
	if _, unavailable := evidence.AsUnavailable(missing); missing != nil && !unavailable {
		return missing
	}
	if slices.Contains([]string{"AWS", "Azure", "GCP", "IBMCloud", "PowerVS", "AlibabaCloud", "KubeVirt", "OpenStack", "Nutanix", "VSphere"}, p.Text) {
		return facts.Excluded(p.Item(), "on platform %s no host of the cluster is a BareMetalHost", p.Text)
	}
	return err
}

func onRoll(ctx context.Context, w *facts.World, name string) (inventory.Host, error) {
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return inventory.Host{}, err
	}
	h, ok, err := inventory.Find(ctx, w, name)
	switch {
	case err != nil:
		return h, err
	case !ok && len(roll.Missing) > 0:
		return h, roll.Missing[0]
	case !ok:
		return h, facts.NotApplicable("there is no host %s", name)
	}
	return h, nil
}

// all returns the hosts that have a BareMetalHost. The slice is shared: do not change it.
func all(ctx context.Context, w *facts.World) ([]inventory.Host, error) {
	if _, err := w.List(ctx, evidence.BareMetalHosts, openshift.MachineAPINamespace); err != nil {
		return nil, err
	}
	return facts.Memo(ctx, w, "baremetal.all", func(ctx context.Context, w *facts.World) ([]inventory.Host, error) {
		list, err := inventory.All(ctx, w)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(slices.Clone(list), func(h inventory.Host) bool { return h.BMH == nil }), nil
	})
}

// short cuts a foreign message to what fits on a screen.
func short(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "..."
	}
	return s
}
