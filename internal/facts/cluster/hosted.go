package cluster

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// hosted adds what the management cluster says of a hosted cluster: its name, and
// what its own API did not say (openshift/hypershift:api/hypershift/v1beta1/
// hostedcluster_types.go HostedClusterSpec, ClusterVersionStatus).
func hosted(ctx context.Context, w *facts.World, info *diagnosis.ClusterInfo) error {
	h, err := w.Hosted(ctx)
	if err != nil || h == nil {
		return err
	}
	info.Hosted, info.Topology = h.String(), "External"
	list, err := w.List(ctx, evidence.HostedClusters, evidence.HostedNamespace)
	if err := tolerate(err); err != nil {
		return err
	}
	for _, o := range list {
		if o.Name != h.Name {
			continue
		}
		if info.ID == "" {
			info.ID = evidence.String(o.Content, "spec", "clusterID")
		}
		if info.Platform == "" {
			info.Platform = evidence.String(o.Content, "spec", "platform", "type")
		}
		if info.Version == "" {
			history, _ := evidence.Field(o.Content, "status", "version").(map[string]any)
			info.Version = current(evidence.Object{Content: map[string]any{"status": history}})
		}
	}
	return nil
}
