// Package hypershift is the layout of `hypershift dump cluster`: the tree of a must-gather
// of the management cluster, with the logs of pods in one flat directory, and next to it the
// tree of the hosted cluster in hostedcluster-<name>/.
//
// The two trees have the same names for other objects: they are never read as one
// (Layout.Nested). The logs' names are <pod>-<container>; only the names of the pods show
// where that of the container begins (Layout.NameLog).
package hypershift

import (
	"path"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
)

// Kind is what such an archive is called.
const Kind = "hypershift dump"

// Layout is that of a dump.
var Layout = layout.Layout{
	Kind:    Kind,
	File:    flatLog,
	Absent:  absent,
	Nested:  nested,
	NameLog: nameLog,
}

// treePrefix begins the name of the directory of a hosted cluster's tree.
const treePrefix = "hostedcluster-"

// flatLog reads namespaces/<namespace>/core/pods/logs/<pod>-<container>[-previous].log
// (openshift/hypershift:cmd/cluster/core/dump.go OutputAll).
func flatLog(e *layout.Entry, dir string, below []string) bool {
	if dir != "namespaces" || len(below) != 5 || below[0] == "" || below[1] != "core" || below[2] != "pods" || below[3] != "logs" {
		return false
	}
	name, ok := strings.CutSuffix(below[4], ".log")
	if !ok || name == "" {
		return false
	}
	e.Class, e.Namespace = layout.Text, below[0]
	e.Text = evidence.Text{Kind: evidence.ContainerLog, Namespace: below[0]}
	e.PodAndContainer, e.Text.Previous = strings.CutSuffix(name, "-previous")
	return true
}

// nameLog finds the pod of a flat log. A log of no pod stays without a container, and only a
// question for all of a namespace finds it.
func nameLog(e *layout.Entry, pods []string) bool {
	for _, pod := range pods {
		if container, ok := strings.CutPrefix(e.PodAndContainer, pod+"-"); ok {
			e.Text.Pod, e.Text.Container = pod, container
			return true
		}
	}
	return false
}

// nested returns the first directory above a root that has the tree of a hosted cluster
// (openshift/hypershift:cmd/cluster/core/dump.go).
func nested(root string) (string, bool) {
	parts := strings.Split(strings.TrimSuffix(root, "/"), "/")
	i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, treePrefix) })
	if i < 0 {
		return "", false
	}
	return path.Join(parts[:i+1]...), true
}

// ClusterOf returns the name of the hosted cluster whose tree is in a directory.
func ClusterOf(dir string) string {
	return strings.TrimPrefix(dir[strings.LastIndexByte(dir, '/')+1:], treePrefix)
}

// controlPlanes exist once in each control plane's namespace.
var controlPlanes = evidence.Resource{Group: openshift.HyperShiftGroup, Name: "hostedcontrolplanes"}

// dumped are the kinds that `hypershift dump cluster` asks for in the namespace of
// every control plane, in one request with the HostedControlPlane
// (openshift/hypershift:cmd/cluster/core/dump.go coreResources, DumpCluster; the same
// in 4.12 to HEAD). It writes a file for each object and none for a kind without any.
var dumped = []evidence.Resource{
	evidence.HostedMachines.In(""), {Group: openshift.ClusterAPIGroup, Name: "machinesets"}, {Group: openshift.ClusterAPIGroup, Name: "machinedeployments"},
	evidence.AgentMachines.In(""), evidence.KubevirtMachines.In(""),
	evidence.Pods, evidence.Events, evidence.ConfigMaps, evidence.HostedServices.In(""), evidence.Deployments, evidence.ReplicaSets,
}

// absent knows what the collector asked for in the namespace of a control plane.
func absent(ix *layout.Index, n evidence.Need, u *evidence.Unavailable) *evidence.Unavailable {
	asked := n.Namespace != "" && slices.Contains(dumped, n.Resource) &&
		slices.ContainsFunc(ix.Objects[controlPlanes], func(e layout.Entry) bool { return e.Namespace == n.Namespace })
	if asked {
		return nil
	}
	return u
}

// IsDump reports whether an archive is a dump without the tree of the hosted cluster: only
// `hypershift dump` writes flat logs, and only where there is a HostedControlPlane.
func IsDump(ix *layout.Index) bool {
	flat := slices.ContainsFunc(ix.Texts, func(e layout.Entry) bool { return e.PodAndContainer != "" })
	return flat && len(ix.Objects[controlPlanes]) > 0
}
