package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/conditions"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// singleFiles is the kind of a source of objects that somebody copied together (internal/source/archive/layout/loose).
// In a management cluster --hosted decides which of its hosted clusters is looked at; of single files there is one.
const (
	singleFiles = "files"
	pastedText  = "text" // internal/source/paste
)

// inFiles are the objects of a kind that lies in a management cluster, where single files have them.
func inFiles(ctx context.Context, w *facts.World, r evidence.Resource) ([]evidence.Object, error) {
	if kind, err := w.SourceKind(ctx); kind != singleFiles || err != nil {
		return nil, err
	}
	return w.Some(ctx, r.In(""), "")
}

// pastedNodePools are those of a text, or of single files.
func pastedNodePools(ctx context.Context, w *facts.World) ([]evidence.Object, error) {
	kind, err := w.SourceKind(ctx)
	switch {
	case err != nil:
		return nil, err
	case kind == pastedText:
		return w.Some(ctx, evidence.NodePools, evidence.HostedNamespace)
	}
	return inFiles(ctx, w, evidence.NodePools)
}

// normalFalse are conditions of a HostedCluster that are False while nothing is wrong: they are information, or end with
// time (openshift/hypershift:api/hypershift/v1beta1/hostedcluster_conditions.go).
var normalFalse = []string{"ClusterVersionUpgradeable", "ClusterVersionRetrievedUpdates", "Progressing", "ClusterVersionProgressing", "CloudResourcesDestroyed",
	"HostedClusterDestroyed", "EtcdRecoveryActive", "ClusterSizeTransitionPending", "ClusterSizeTransitionRequired", "HostedClusterRestoredFromBackup",
	"AWSDefaultSecurityGroupDeleted", "UnmanagedEtcdAvailable", "KubeVirtNodesLiveMigratable"}

// badTrue are those that speak against it when they are True.
var badTrue = []string{"Degraded", "ClusterVersionFailing", "EtcdRecoveryActive"}

// readHostedClusters says which version each is at, and what it reports against itself. The operators of a hosted
// cluster whose version is not completed mostly wait for its workers.
func readHostedClusters(ctx context.Context, w *facts.World) (part, error) {
	list, err := inFiles(ctx, w, evidence.HostedClusters)
	if len(list) == 0 {
		return part{}, err
	}
	var all []string
	wrong := false
	for i, o := range list {
		if i == maxNamed {
			all = append(all, fmt.Sprintf("%d more", len(list)-maxNamed))
			break
		}
		said, bad := ofHostedCluster(o)
		all, wrong = append(all, o.Name+": "+said), wrong || bad
	}
	return part{"HostedCluster " + strings.Join(all, "; "), wrong}, err
}

// ofHostedCluster is how one stands: what it reports against itself, then its version.
func ofHostedCluster(o evidence.Object) (said string, wrong bool) {
	list := conditions.Of(o)
	if len(list) == 0 {
		return "it has no conditions: its status was left out, or no controller has reported", true
	}
	var parts []string
	for _, c := range list {
		if c.Status == "False" && !slices.Contains(normalFalse, c.Type) && !slices.Contains(badTrue, c.Type) ||
			c.Status == "True" && slices.Contains(badTrue, c.Type) {
			parts = append(parts, evidence.Shorten(strings.TrimSuffix(c.Type+" "+c.Status+": "+cmp.Or(c.Message, c.Reason), ": "), longestCondition))
		}
	}
	wrong = len(parts) > 0
	if available := conditions.Find(list, "Available").Status; available != "False" {
		parts, wrong = append(parts, "Available "+orUnknown(available)), wrong || available != "True"
	}
	history, _ := evidence.Field(o.Content, "status", "version", "history").([]any)
	if len(history) > 0 { // newest first
		newest, _ := history[0].(map[string]any)
		version := strings.TrimSpace("version " + evidence.String(newest, "version"))
		if at := evidence.Time(newest, "startedTime"); evidence.String(newest, "state") == "Completed" {
			parts = append(parts, version+" Completed")
		} else if wrong = true; at.IsZero() {
			parts = append(parts, version+" not completed")
		} else {
			parts = append(parts, version+" not completed since "+at.UTC().Format(time.RFC3339))
		}
	}
	return strings.Join(parts, ", "), wrong
}

// longestCondition bounds a condition in a first line.
const longestCondition = 260

// readNodePools: the column MESSAGE of a table of them is the message of the condition Ready
// (openshift/hypershift: api/hypershift/v1beta1/nodepool_types.go).
func readNodePools(ctx context.Context, w *facts.World) (part, error) {
	list, err := pastedNodePools(ctx, w)
	return counted(list, "NodePool", "with the nodes that they want", func(o evidence.Object) string {
		if evidence.String(o.Content, "metadata", "deletionTimestamp") != "" {
			return "is being deleted"
		}
		return shortOf(o)
	}), err
}

// shortOf says how many nodes a NodePool has of those that it wants, "" where that is all. Without a count the condition
// Ready decides: it is True when all replicas are ready Nodes
// (openshift/hypershift:api/hypershift/v1beta1/nodepool_conditions.go NodePoolReadyConditionType).
func shortOf(o evidence.Object) string {
	ready := conditions.Find(conditions.Of(o), "Ready")
	want, have := evidence.Int(o.Content, "spec", "replicas"), evidence.Int(o.Content, "status", "replicas")
	said := fmt.Sprintf("%d of %d nodes", have, want)
	switch counted := evidence.Field(o.Content, "status", "replicas") != nil; {
	case counted && have >= want, !counted && ready.Status == "True":
		return ""
	case !counted:
		said = "Ready " + orUnknown(ready.Status) + ", its nodes are not counted"
	}
	if ready.Message != "" {
		said += " (" + ready.Message + ")"
	}
	return said
}

// hostedName is the hosted cluster that single files are about, as namespace/name: of its HostedCluster, or of its NodePools.
// It is "" where there are several. withPools: they have NodePools.
func hostedName(ctx context.Context, w *facts.World) (name string, withPools bool, err error) {
	clusters, err := inFiles(ctx, w, evidence.HostedClusters)
	if err := tolerate(err); err != nil {
		return "", false, err
	}
	pools, err := inFiles(ctx, w, evidence.NodePools)
	if err := tolerate(err); err != nil {
		return "", false, err
	}
	var names []string
	add := func(namespace, name string) {
		if namespace != "" && name != "" {
			names = append(names, namespace+"/"+name)
		}
	}
	for _, o := range clusters {
		add(o.Namespace, o.Name)
	}
	for _, o := range pools {
		add(o.Namespace, evidence.String(o.Content, "spec", "clusterName"))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 {
		return "", len(pools) > 0, nil
	}
	return names[0], len(pools) > 0, nil
}

// nodesMissing reports whether a NodePool in a table has fewer nodes than it wants. On the platform
// None its own count stays 0, which a table does not tell.
func nodesMissing(ctx context.Context, w *facts.World) (bool, error) {
	list, err := pastedNodePools(ctx, w)
	return slices.ContainsFunc(list, func(o evidence.Object) bool { return o.Part() && shortOf(o) != "" }), tolerate(err)
}

// installed are the states of an Agent whose host is done
// (openshift/assisted-service:api/v1beta1/agent_types.go DebugInfo.State, internal/host/host.go).
var installed = []string{"installed", "added-to-existing-cluster"}

// readAgents counts the Agents of single files by the state of their host.
func readAgents(ctx context.Context, w *facts.World) (part, error) {
	list, err := inFiles(ctx, w, evidence.HostedAgents)
	return counted(list, "Agent", "installed", func(o evidence.Object) string {
		state := evidence.String(o.Content, "status", "debugInfo", "state")
		if slices.Contains(installed, state) {
			return ""
		}
		return orUnknown(state)
	}), err
}
