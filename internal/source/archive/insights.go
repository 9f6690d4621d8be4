package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const (
	configGroup  = "config.openshift.io"
	mcoGroup     = "machineconfiguration.openshift.io"
	machineGroup = "machine.openshift.io"
)

// insightsSingles are the objects config/<name>.json of an Insights archive
// (openshift/insights-operator:docs/gathered-data.md).
var insightsSingles = map[string]evidence.Resource{
	"version":        evidence.ClusterVersions,
	"infrastructure": evidence.Infrastructures,
	"network":        {Group: configGroup, Name: "networks"},
	"ingress":        {Group: configGroup, Name: "ingresses"},
	"proxy":          {Group: configGroup, Name: "proxies"},
	"authentication": {Group: configGroup, Name: "authentications"},
	"featuregate":    {Group: configGroup, Name: "featuregates"},
	"image":          {Group: configGroup, Name: "images"},
	"oauth":          {Group: configGroup, Name: "oauths"},
	"apiserver":      {Group: configGroup, Name: "apiservers"},
}

// insightsCluster are the directories config/<dir>/<name>.json; what Insights keeps
// only in part has the reason in addition to it.
var insightsCluster = map[string]insightsDir{
	"clusteroperator":            {evidence.ClusterOperators, ""},
	"node":                       {evidence.Nodes, ""},
	"machineconfigpools":         {evidence.MachineConfigPools, ""},
	"machineconfigs":             {evidence.MachineConfigs, "Insights keeps only MachineConfigs that are in use, without the contents of files"},
	"kubeletconfigs":             {evidence.Resource{Group: mcoGroup, Name: "kubeletconfigs"}, ""},
	"containerruntimeconfigs":    {evidence.Resource{Group: mcoGroup, Name: "containerruntimeconfigs"}, ""},
	"certificatesigningrequests": {evidence.CSRs, "Insights keeps only requests that look suspicious"},
}

// insightsNamespaced are the directories config/<dir>/<namespace>/<name>.json.
var insightsNamespaced = map[string]insightsDir{
	"machines":                {evidence.Machines, ""},
	"machinesets":             {evidence.MachineSets, ""},
	"machinehealthchecks":     {evidence.Resource{Group: machineGroup, Name: "machinehealthchecks"}, ""},
	"controlplanemachinesets": {evidence.Resource{Group: machineGroup, Name: "controlplanemachinesets"}, ""},
	"pod":                     {evidence.Pods, "Insights keeps only pods of operators that are not well"},
}

type insightsDir struct {
	resource evidence.Resource
	part     string
}

// insightsFile reads what is below config/ and machinesets/. Until 4.4 the names had no
// ending (openshift/insights-operator release-4.4:pkg/gather/clusterconfig). An operator's own
// resource, config/clusteroperator/<group>/<kind>/<name>.json, is none of the objects: it has a
// name and a spec, and neither metadata nor, but for Insights itself, a status
// (pkg/gatherers/clusterconfig/gather_cluster_operators.go clusterOperatorResource).
func insightsFile(e *entry, dir string, rest []string) bool {
	if dir == "machinesets" && len(rest) == 2 { // of older versions, at the root
		dir, rest = "config", append([]string{"machinesets"}, rest...)
	}
	if dir == "insights-operator" && len(rest) == 1 && rest[0] == "gathers.json" {
		e.class = detail
		return true
	}
	if dir != "config" || len(rest) == 0 {
		return false
	}
	if insightsLog(e, rest) {
		return true
	}
	name, ok := strings.TrimSuffix(rest[len(rest)-1], ".json"), false
	if name == "" {
		return false
	}
	switch len(rest) {
	case 1:
		e.resource, ok = insightsSingles[name]
	case 2:
		var d insightsDir
		d, ok = insightsCluster[rest[0]]
		e.resource, e.part = d.resource, d.part
		if d.resource == evidence.Nodes && name == rest[1] {
			e.part = "Insights up to 4.4 keeps only Nodes that are not Ready"
		}
	case 3:
		var d insightsDir
		d, ok = insightsNamespaced[rest[0]]
		e.resource, e.part, e.namespace = d.resource, d.part, rest[1]
	}
	if ok {
		e.class = object
	}
	return ok
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
	"clusterconfig/machine_healthchecks":       insightsNamespaced["machinehealthchecks"].resource,
	"clusterconfig/control_plane_machine_sets": insightsNamespaced["controlplanemachinesets"].resource,
}

// gathering is what Insights says of one of its functions.
type gathering struct {
	Name    string   `json:"name"`
	Records int      `json:"records_count"`
	Errors  []string `json:"errors"`
	Panic   any      `json:"panic"`
}

// readGathers reads how many objects of each kind Insights gathered: the archive may hold
// fewer, where its size was limited or somebody took files out. Older versions do not say.
func (b *builder) readGathers(ctx context.Context) {
	for _, e := range b.small {
		if e.class != detail || e.of.layout != Insights {
			continue
		}
		raw, err := b.s.read(ctx, e.file, maxSmallFile)
		var list struct {
			Reports []gathering `json:"status_reports"`
		}
		if err == nil {
			err = json.Unmarshal(raw, &list)
		}
		if err != nil {
			b.damage(e.file.path, err)
			continue
		}
		for _, g := range list.Reports {
			if r, ok := gatherers[g.Name]; ok {
				if b.s.gathered == nil {
					b.s.gathered = map[evidence.Resource]gathering{}
				}
				b.s.gathered[r] = g
			}
		}
	}
}

// ungathered says why the objects of a kind in an Insights archive are not all, "" where
// nothing says that. There may be more than it counts: two archives may lie side by side.
func (s *Source) ungathered(r evidence.Resource, have int) string {
	g, ok := s.gathered[r]
	switch {
	case !ok:
		return ""
	case g.Panic != nil || len(g.Errors) > 0:
		return "Insights could not gather all " + r.Name + ": " + cmp.Or(strings.Join(g.Errors, "; "), fmt.Sprint(g.Panic))
	case g.Records > have:
		return fmt.Sprintf("Insights gathered %d %s, and %d of them are in the archive", g.Records, r.Name, have)
	}
	return ""
}

// insightsLog reads node/logs/<node>.log, the last errors of a kubelet, and
// pod/<ns>/logs/<pod>/<container>_{current,previous}.log.
func insightsLog(e *entry, rest []string) bool {
	switch {
	case len(rest) == 3 && rest[0] == "node" && rest[1] == "logs":
		host, ok := strings.CutSuffix(rest[2], ".log")
		if !ok || host == "" {
			return false
		}
		e.text = evidence.Text{Kind: evidence.Journal, Host: host, Unit: "kubelet"}
	case len(rest) == 5 && rest[0] == "pod" && rest[2] == "logs":
		container, current := strings.CutSuffix(rest[4], "_current.log")
		if !current {
			var previous bool
			if container, previous = strings.CutSuffix(rest[4], "_previous.log"); !previous {
				return false
			}
		}
		e.text = evidence.Text{Kind: evidence.ContainerLog, Namespace: rest[1], Pod: rest[3], Container: container, Previous: !current}
	default:
		return false
	}
	e.class, e.text.Path = text, e.file.path
	return true
}

// plural is the resource of a kind, as the API machinery guesses it
// (k8s.io/apimachinery:pkg/api/meta/restmapper.go UnsafeGuessKindToResource).
func plural(kind string) string {
	kind = strings.ToLower(kind)
	switch {
	case kind == "", strings.HasSuffix(kind, "endpoints"), kind == "hardwaredata":
		return kind
	case strings.HasSuffix(kind, "s"):
		return kind + "es"
	case strings.HasSuffix(kind, "y"):
		return strings.TrimSuffix(kind, "y") + "ies"
	}
	return kind + "s"
}
