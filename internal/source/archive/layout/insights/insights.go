// Package insights is the layout of an archive of the Insights operator: one JSON file an
// object below config/, without the rest of what a cluster has.
//
// Insights gathers a part of many kinds by rules of its own (only suspicious requests, only
// pods of degraded operators). Such kinds are not read at all (layout.Entry.Sample): what is
// missing would look absent. Of kinds that it gathers whole, gathers.json says how many
// objects there were.
package insights

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/archive/layout"
	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// Kind is what such an archive is called.
const Kind = "insights archive"

// Layout is that of an Insights archive.
var Layout = layout.Layout{
	Kind:     Kind,
	Lacks:    "an Insights archive has no BareMetalHosts, no Secrets, no leases and few pods, requests and logs",
	Proof:    proof,
	File:     file,
	Complete: readGathers,
}

// singles are the objects config/<name>.json
// (openshift/insights-operator:docs/gathered-data.md).
var singles = map[string]evidence.Resource{
	"version":        evidence.ClusterVersions,
	"infrastructure": evidence.Infrastructures,
	"network":        {Group: openshift.ConfigGroup, Name: "networks"},
	"ingress":        {Group: openshift.ConfigGroup, Name: "ingresses"},
	"proxy":          {Group: openshift.ConfigGroup, Name: "proxies"},
	"authentication": {Group: openshift.ConfigGroup, Name: "authentications"},
	"featuregate":    {Group: openshift.ConfigGroup, Name: "featuregates"},
	"image":          {Group: openshift.ConfigGroup, Name: "images"},
	"oauth":          {Group: openshift.ConfigGroup, Name: "oauths"},
	"apiserver":      {Group: openshift.ConfigGroup, Name: "apiservers"},
}

// kind is what a directory has, and why that is only a part; "" where it is all.
type kind struct {
	resource evidence.Resource
	part     string
}

// clusterKinds are the directories config/<dir>/<name>.json.
var clusterKinds = map[string]kind{
	"clusteroperator":            {evidence.ClusterOperators, ""},
	"node":                       {evidence.Nodes, ""},
	"machineconfigpools":         {evidence.MachineConfigPools, ""},
	"machineconfigs":             {evidence.MachineConfigs, "Insights keeps only MachineConfigs that are in use, without the contents of files"},
	"kubeletconfigs":             {evidence.Resource{Group: openshift.MachineConfigGroup, Name: "kubeletconfigs"}, ""},
	"containerruntimeconfigs":    {evidence.Resource{Group: openshift.MachineConfigGroup, Name: "containerruntimeconfigs"}, ""},
	"certificatesigningrequests": {evidence.CSRs, "Insights keeps only requests that look suspicious"},
}

// namespacedKinds are the directories config/<dir>/<namespace>/<name>.json.
var namespacedKinds = map[string]kind{
	"machines":                {evidence.Machines, ""},
	"machinesets":             {evidence.MachineSets, ""},
	"machinehealthchecks":     {evidence.Resource{Group: openshift.MachineGroup, Name: "machinehealthchecks"}, ""},
	"controlplanemachinesets": {evidence.Resource{Group: openshift.MachineGroup, Name: "controlplanemachinesets"}, ""},
	"pod":                     {evidence.Pods, "Insights keeps only pods of operators that are not well"},
}

func isGathers(dir string, below []string) bool {
	return dir == "insights-operator" && len(below) == 1 && below[0] == "gathers.json"
}

func proof(dir string, below []string) bool {
	return isGathers(dir, below) || dir == "config" && len(below) == 1 && (below[0] == "version.json" || below[0] == "id")
}

// file reads what is below config/ and machinesets/. Until 4.4 the names had no
// ending (openshift/insights-operator release-4.4:pkg/gather/clusterconfig). An operator's own
// resource, config/clusteroperator/<group>/<kind>/<name>.json, is none of the objects: it has a
// name and a spec, and neither metadata nor, but for Insights itself, a status
// (pkg/gatherers/clusterconfig/gather_cluster_operators.go clusterOperatorResource).
func file(e *layout.Entry, dir string, below []string) bool {
	switch {
	case dir == "config" && len(below) > 0:
		return logFile(e, below) || objectFile(e, below)
	case dir == "machinesets" && len(below) == 2: // of older versions, at the root
		return objectFile(e, []string{"machinesets", below[0], below[1]})
	case isGathers(dir, below):
		e.Class = layout.Detail
		return true
	}
	return false
}

func objectFile(e *layout.Entry, below []string) bool {
	last := below[len(below)-1]
	name := strings.TrimSuffix(last, ".json")
	if name == "" {
		return false
	}
	var k kind
	namespace, ok := "", false
	switch len(below) {
	case 1:
		k.resource, ok = singles[name]
	case 2:
		k, ok = clusterKinds[below[0]]
		if k.resource == evidence.Nodes && name == last {
			k.part = "Insights up to 4.4 keeps only Nodes that are not Ready"
		}
	case 3:
		k, ok = namespacedKinds[below[0]]
		namespace = below[1]
	}
	if ok {
		e.Class, e.Resource, e.Namespace, e.Part, e.Sample = layout.Object, k.resource, namespace, k.part, k.part != ""
	}
	return ok
}

// logFile reads node/logs/<node>.log, the last errors of a kubelet, and
// pod/<ns>/logs/<pod>/<container>_{current,previous}.log.
func logFile(e *layout.Entry, below []string) bool {
	switch {
	case len(below) == 3 && below[0] == "node" && below[1] == "logs":
		host, ok := strings.CutSuffix(below[2], ".log")
		if !ok || host == "" {
			return false
		}
		e.Text = evidence.Text{Kind: evidence.Journal, Host: host, Unit: "kubelet"}
	case len(below) == 5 && below[0] == "pod" && below[2] == "logs":
		container, current := strings.CutSuffix(below[4], "_current.log")
		if !current {
			var previous bool
			if container, previous = strings.CutSuffix(below[4], "_previous.log"); !previous {
				return false
			}
		}
		e.Text = evidence.Text{Kind: evidence.ContainerLog, Namespace: below[1], Pod: below[3], Container: container, Previous: !current}
	default:
		return false
	}
	e.Class = layout.Text
	return true
}

// gatherers are the functions of Insights that list all objects of a kind, by the names
// in gathers.json, and what they leave in the archive: a record for each object
// (openshift/insights-operator:pkg/gatherers/clusterconfig/clusterconfig_gatherer.go
// gatheringFunctions, gather_nodes.go GatherNodes).
var gatherers = map[string]evidence.Resource{
	"clusterconfig/nodes":                      evidence.Nodes,
	"clusterconfig/machines":                   evidence.Machines,
	"clusterconfig/machine_sets":               evidence.MachineSets,
	"clusterconfig/machine_config_pools":       evidence.MachineConfigPools,
	"clusterconfig/machine_configs":            evidence.MachineConfigs,
	"clusterconfig/machine_healthchecks":       namespacedKinds["machinehealthchecks"].resource,
	"clusterconfig/control_plane_machine_sets": namespacedKinds["controlplanemachinesets"].resource,
}

// gathering is what Insights reports of one of its functions.
type gathering struct {
	Name    string   `json:"name"`
	Records int      `json:"records_count"`
	Errors  []string `json:"errors"`
	Panic   any      `json:"panic"`
}

// readGathers reads how many objects of each kind Insights gathered: the archive may hold
// fewer, where its size was limited or somebody took files out. Older versions do not say.
func readGathers(ctx context.Context, c *member.Container, ix *layout.Index) {
	for _, e := range ix.Details {
		if e.Class != layout.Detail || e.Of.Kind != Kind {
			continue
		}
		raw, err := c.Read(ctx, e.File, layout.MaxSmall)
		var list struct {
			Reports []gathering `json:"status_reports"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err != nil {
			ix.Damage(e.File.Path, err)
			continue
		}
		for _, g := range list.Reports {
			if r, ok := gatherers[g.Name]; ok {
				ix.Short[r] = func(have int) string { return g.short(r, have) }
			}
		}
	}
}

// short says why the objects of a kind are not all, "" where nothing says that. There may be
// more than Insights counted: two archives may lie side by side.
func (g gathering) short(r evidence.Resource, have int) string {
	switch {
	case g.Panic != nil || len(g.Errors) > 0:
		return "Insights could not gather all " + r.Name + ": " + cmp.Or(strings.Join(g.Errors, "; "), fmt.Sprint(g.Panic))
	case g.Records > have:
		return fmt.Sprintf("Insights gathered %d %s, and %d of them are in the archive", g.Records, r.Name, have)
	}
	return ""
}
