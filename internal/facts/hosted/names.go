package hosted

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// names is the fact hosted-names: what commands about a subject of a hosted cluster need.
type names struct {
	HostedCluster          facts.Field[string] `cel:"hostedCluster"`
	HostedClusterNamespace facts.Field[string] `cel:"hostedClusterNamespace"`
	ControlPlaneNamespace  facts.Field[string] `cel:"controlPlaneNamespace"`
	NodePool               facts.Field[string] `cel:"nodePool"` // the subject, that of the host, or the only one
	Machine                facts.Field[string] `cel:"machine"`  // of the host, in the control plane's namespace
}

func namesFact() facts.Fact {
	return facts.Define("hosted-names", fault.Any, "the names and namespaces of a hosted cluster, for commands", inventory.Needs(), readNames)
}

func readNames(ctx context.Context, w *facts.World, s fault.Subject) (names, error) {
	var f names
	h, err := requireHosted(ctx, w)
	if err != nil {
		return f, err
	}
	item := evidence.Listed(evidence.HostedClusters, "", "HostedCluster "+h.String())
	f.HostedCluster.Set(h.Name, item)
	f.HostedClusterNamespace.Set(h.Namespace, item)
	f.ControlPlaneNamespace.Set(h.ControlPlane, item)
	f.Machine.Miss(notKnown("the subject has no Machine that is known"))
	f.NodePool.Miss(notKnown("the subject belongs to no NodePool that is known"))
	switch s.Kind {
	case fault.NodePool:
		f.NodePool.Set(s.Name, item)
		return f, nil
	case fault.Host:
		return f, f.ofHost(ctx, w, s.Name)
	}
	pools, err := inventory.NodePools(ctx, w)
	if err != nil {
		return f, facts.Miss(err, &f.NodePool)
	}
	if len(pools) == 1 {
		f.NodePool.Set(pools[0].Name, pools[0].Object.Shows("metadata.name", "the only NodePool is "+pools[0].Name, pools[0].Object.Created()))
	}
	return f, nil
}

func (f *names) ofHost(ctx context.Context, w *facts.World, name string) error {
	h, ok, err := inventory.Find(ctx, w, name)
	if err != nil {
		return facts.Miss(err, &f.NodePool, &f.Machine)
	}
	if ok && h.Hosted != nil {
		f.Machine.Set(h.Hosted.Name, h.Hosted.Object.Shows("metadata.name", fmt.Sprintf("Machine %s is of host %s", h.Hosted.Name, name), h.Hosted.Created))
	}
	if ok && h.NodePool != "" {
		f.NodePool.Set(h.NodePool, evidence.Listed(evidence.NodePools, "", name+" belongs to NodePool "+h.NodePool))
	}
	return nil
}

// notKnown is why a name is left for a person to fill in.
func notKnown(why string) *evidence.Unavailable {
	return &evidence.Unavailable{Need: evidence.Objects(evidence.NodePools, evidence.HostedNamespace), Why: evidence.NotCollected, Detail: why}
}
