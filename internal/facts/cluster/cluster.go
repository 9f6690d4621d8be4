// Package cluster reads what a cluster says of itself: identity, version,
// platform and topology. What cannot be read stays empty: a diagnosis of a broken
// cluster must not depend on it.
package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/installer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
)

// Describer implements diagnose.Describer.
type Describer struct{}

// Describe reads ClusterVersion "version" and Infrastructure "cluster"
// (openshift/api:config/v1).
func (Describer) Describe(ctx context.Context, w *facts.World) (diagnosis.ClusterInfo, error) {
	var info diagnosis.ClusterInfo
	version, ok, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if err := tolerate(err); err != nil {
		return info, err
	}
	if ok {
		info.ID = evidence.String(version.Content, "spec", "clusterID")
		info.Version, info.Update = current(version), update(version)
		if info.Completed = firstCompleted(version); !info.Completed.IsZero() {
			info.CompletedBy = "clusterversion"
		}
	}
	if !ok {
		if err := beforeAPI(ctx, w, &info); err != nil {
			return info, err
		}
	}
	infra, ok, err := w.Get(ctx, evidence.Infrastructures, "", "cluster")
	if err := tolerate(err); err != nil {
		return info, err
	}
	if ok {
		info.Platform = evidence.String(infra.Content, "status", "platformStatus", "type")
		if info.Platform == "" {
			info.Platform = evidence.String(infra.Content, "status", "platform") // before 4.2 there was only this field
		}
		info.Topology = evidence.String(infra.Content, "status", "controlPlaneTopology")
	}
	if info.Began, info.Installing, err = began(ctx, w, version, infra); err != nil {
		return info, err
	}
	if info.Installing {
		if info.NoNode, err = withoutNode(ctx, w); err != nil {
			return info, err
		}
	}
	if info.ReadBy, err = readBy(ctx, w); err != nil {
		return info, err
	}
	if nodes, err := w.Some(ctx, evidence.Nodes, ""); len(nodes) == 0 && tolerate(err) == nil {
		if info.Read, info.ReadWrong, err = readWithoutHosts(ctx, w); err != nil {
			return info, err
		}
		if info.ReadHosted, info.ReadNodePools, err = hostedName(ctx, w); err != nil {
			return info, err
		}
		if info.Short, err = nodesMissing(ctx, w); err != nil {
			return info, err
		}
	}
	if info.Others, err = others(ctx, w); err != nil {
		return info, err
	}
	if err := ofProduct(ctx, w, &info); err != nil {
		return info, err
	}
	return info, hosted(ctx, w, &info)
}

// others are the machines whose journals show another system.
func others(ctx context.Context, w *facts.World) ([]diagnosis.OtherSystem, error) {
	list, err := w.Some(ctx, evidence.NamedHosts, "")
	if err := tolerate(err); err != nil {
		return nil, err
	}
	var found []diagnosis.OtherSystem
	for _, o := range namedhost.Others(list) {
		found = append(found, diagnosis.OtherSystem{
			Host: o.Name, System: o.System.Name + ", Linux " + o.System.Kernel, Locator: o.Loc.String(), Source: o.Loc.Source,
		})
	}
	return found, nil
}

// began says when the installation began and whether it is under way. The bootstrap
// host creates ClusterVersion and Infrastructure among the first objects
// (openshift/installer:pkg/asset/manifests). Before ClusterVersion, and before the first
// Node, the API has just started.
func began(ctx context.Context, w *facts.World, version, infra evidence.Object) (at time.Time, installing bool, err error) {
	if version.Content != nil {
		return version.Created(), !completed(version), nil
	}
	at = infra.Created()
	_, exists, err := w.Get(ctx, evidence.ClusterVersions, "", "version")
	if u, ok := evidence.AsUnavailable(err); err != nil && (!ok || u.Why != evidence.NotServed) {
		return at, false, tolerate(err)
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil || exists || len(nodes) > 0 {
		return at, false, tolerate(err)
	}
	if at.IsZero() {
		if some, err := anyNamespace(ctx, w); !some {
			return at, false, err
		}
		at = w.Now
	}
	return at, true, nil
}

// anyNamespace reports whether there is a Namespace, or may be one. The API server itself creates the first ones
// (kubernetes/kubernetes:pkg/controlplane/controller/systemnamespaces): where none is, what answers is no
// cluster, be it a proxy, a cache that is not filled or an archive of something else.
func anyNamespace(ctx context.Context, w *facts.World) (bool, error) {
	list, err := w.List(ctx, evidence.Namespaces, "")
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.Forbidden {
		return true, nil // a right is missing, and nothing contradicts the rest
	}
	return len(list) > 0, tolerate(err)
}

// completed reports whether a version was ever completed.
func completed(version evidence.Object) bool {
	history, _ := evidence.Field(version.Content, "status", "history").([]any)
	return slices.ContainsFunc(history, func(h any) bool {
		entry, _ := h.(map[string]any)
		return evidence.String(entry, "state") == "Completed"
	})
}

// beforeAPI reads what the service of an agent-based install, and the directory and
// the log of openshift-install, say while there is no API.
func beforeAPI(ctx context.Context, w *facts.World, info *diagnosis.ClusterInfo) error {
	plans, err := w.List(ctx, evidence.Installs, "")
	if err := tolerate(err); err != nil {
		return err
	}
	for _, p := range plans {
		info.ID, info.Platform = evidence.String(p.Content, "clusterID"), evidence.String(p.Content, "platform")
	}
	clusters, err := w.List(ctx, evidence.AssistedClusters, "")
	if err := tolerate(err); err != nil {
		return err
	}
	for _, c := range clusters {
		info.Version = evidence.String(c.Content, "version")
		if evidence.String(c.Content, "status") == assisted.Installed {
			info.Completed, info.CompletedBy = evidence.Time(c.Content, "completed"), diagnosis.ByAssisted
		}
	}
	info.Installer, err = installer.Say(ctx, w)
	return tolerate(err)
}

// tolerate passes on defects only: what could not be read is no error here.
func tolerate(err error) error {
	if _, ok := evidence.AsUnavailable(err); ok {
		return nil
	}
	return err
}

// firstCompleted is when the first version was completed: the installation. The version operator never removes the
// first entry of its history (openshift/cluster-version-operator:pkg/cvo/status_history.go isTheInitialEntry).
func firstCompleted(version evidence.Object) (at time.Time) {
	history, _ := evidence.Field(version.Content, "status", "history").([]any)
	for _, h := range history { // newest first
		entry, _ := h.(map[string]any)
		if t := evidence.Time(entry, "completionTime"); evidence.String(entry, "state") == "Completed" && !t.IsZero() {
			at = t
		}
	}
	return at
}

// current is the version that the cluster runs: the last one that was completed;
// while the first install is under way, the one that it is going to.
func current(version evidence.Object) string {
	history, _ := evidence.Field(version.Content, "status", "history").([]any)
	first := ""
	for _, h := range history {
		entry, _ := h.(map[string]any)
		v := evidence.String(entry, "version")
		if evidence.String(entry, "state") == "Completed" {
			return v
		}
		if first == "" {
			first = v
		}
	}
	if first == "" {
		first = evidence.String(version.Content, "status", "desired", "version")
	}
	return first
}
