package csrs

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// hostedMachines are the Machines of a hosted cluster: the same approver runs in its
// control plane's namespace and looks at the Machines of the Cluster API there
// (openshift/hypershift:control-plane-operator/controllers/hostedcontrolplane/v2/
// machine_approver, --machine-namespace, --apigroup=cluster.x-k8s.io). On the
// platform None there are none.
func hostedMachines(ctx context.Context, w *facts.World, err error) ([]machine, error) {
	if err != nil {
		return nil, err
	}
	list, err := inventory.HostedMachines(ctx, w)
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []machine
	for _, m := range list {
		all = append(all, machine{Name: m.Name, Created: m.Created.UTC(), NodeRef: m.NodeRef, DNS: m.DNS, ExtDNS: m.Names, IPs: m.IPs})
	}
	return all, nil
}
