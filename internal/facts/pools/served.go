package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	mcfgv1 "github.com/openshift/api/machineconfiguration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// Served is what a pool wants, what it reached, and what the machine config
// server would therefore give to a new host. Fields ending in InCluster say
// whether the named MachineConfig exists; they are false for an empty name.
type Served struct {
	SpecName        string    `cel:"specName"`   // the target, written by the render controller
	StatusName      string    `cel:"statusName"` // the last one that all machines reached
	ServedName      string    `cel:"servedName"` // spec's once a machine is updated, else status's
	SpecInCluster   bool      `cel:"specInCluster"`
	StatusInCluster bool      `cel:"statusInCluster"`
	ServedInCluster bool      `cel:"servedInCluster"`
	SourceEmpty     bool      `cel:"sourceEmpty"` // status names a config and lists none of its sources
	Machines        int64     `cel:"machineCount"`
	Updated         int64     `cel:"updatedMachines"`
	Ready           int64     `cel:"readyMachines"`
	Unavailable     int64     `cel:"unavailableMachines"`
	Degraded        int64     `cel:"degradedMachines"`
	MaxUnavailable  int64     `cel:"maxUnavailable"` // as a number of this pool's machines
	Paused          bool      `cel:"paused"`
	RenderDegraded  bool      `cel:"renderDegraded"`
	RenderMessage   string    `cel:"renderMessage"`
	RenderVersion   string    `cel:"renderVersion"`   // of the controller that made the spec's config, "" where it is not marked
	BaseVersion     string    `cel:"baseVersion"`     // of the controller that made the role's base config 00-<role>, "" likewise
	NodeMessage     string    `cel:"nodeMessage"`     // of the condition NodeDegraded
	ObservedCurrent bool      `cel:"observedCurrent"` // the controller has seen the newest spec
	EverConverged   bool      `cel:"everConverged"`   // see everConverged
	Created         time.Time `cel:"created"`
	Since           time.Time `cel:"since"` // of the condition that is wrong: RenderDegraded, NodeDegraded, Updating; else created
}

var servedFact = facts.DefinePlain("pool-served-config", fault.Pool, "the config that a pool wants, reached, and has served to new hosts",
	[]evidence.Need{evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.MachineConfigs, "")}, readServed)

func readServed(ctx context.Context, w *facts.World, s fault.Subject) (Served, facts.Proof, error) {
	return PoolServed(ctx, w, s.Name)
}

// controllerVersion is the annotation with the version of the controller that
// made a MachineConfig (pkg/controller/common/constants.go
// GeneratedByControllerVersionAnnotationKey).
const controllerVersion = "machineconfiguration.openshift.io/generated-by-controller-version"

// PoolServed reads the served config of a pool.
func PoolServed(ctx context.Context, w *facts.World, name string) (Served, facts.Proof, error) {
	var v Served
	var p facts.Proof
	configs, configsErr := configNames(ctx, w)
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", name)
	if err != nil {
		return v, p, err
	}
	if !ok {
		return v, p, facts.NotApplicable("there is no MachineConfigPool %s", name)
	}
	pool, err := evidence.Decode[mcfgv1.MachineConfigPool](o)
	if err != nil {
		return v, p, err
	}
	v.names(&pool)
	v.counts(&pool)
	v.conditions(&pool)
	v.EverConverged = everConverged(&pool)
	switch _, unavailable := evidence.AsUnavailable(configsErr); {
	case unavailable:
		for _, f := range []string{"specInCluster", "statusInCluster", "servedInCluster", "renderVersion", "baseVersion"} {
			p.Miss(f, configsErr)
		}
	case configsErr != nil:
		return v, p, configsErr
	default:
		v.inCluster(configs, &p)
		v.versions(name, configs, &p)
	}
	v.prove(o, &p)
	return v, p, nil
}

func (v *Served) names(pool *mcfgv1.MachineConfigPool) {
	v.SpecName, v.StatusName = pool.Spec.Configuration.Name, pool.Status.Configuration.Name
	v.ServedName = v.StatusName
	if pool.Status.UpdatedMachineCount > 0 {
		v.ServedName = v.SpecName
	}
	v.SourceEmpty = v.StatusName != "" && len(pool.Status.Configuration.Source) == 0
	v.Paused = pool.Spec.Paused
	v.ObservedCurrent = pool.Status.ObservedGeneration >= pool.Generation
	v.Created = pool.CreationTimestamp.UTC()
}

func (v *Served) counts(pool *mcfgv1.MachineConfigPool) {
	st := pool.Status
	v.Machines, v.Updated, v.Ready = int64(st.MachineCount), int64(st.UpdatedMachineCount), int64(st.ReadyMachineCount)
	v.Unavailable, v.Degraded = int64(st.UnavailableMachineCount), int64(st.DegradedMachineCount)
	v.MaxUnavailable = maxUnavailable(pool)
}

// maxUnavailable is one where the pool says nothing, and never less than one
// (pkg/controller/node/node_controller.go maxUnavailable).
func maxUnavailable(pool *mcfgv1.MachineConfigPool) int64 {
	if pool.Spec.MaxUnavailable == nil {
		return 1
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(pool.Spec.MaxUnavailable, int(pool.Status.MachineCount), false)
	if err != nil || n < 1 {
		return 1
	}
	return int64(n)
}

func (v *Served) conditions(pool *mcfgv1.MachineConfigPool) {
	v.Since = v.Created
	for _, kind := range []mcfgv1.MachineConfigPoolConditionType{mcfgv1.MachineConfigPoolUpdating, mcfgv1.MachineConfigPoolNodeDegraded, mcfgv1.MachineConfigPoolRenderDegraded} {
		c := condition(pool, kind)
		if c == nil || c.Status != corev1.ConditionTrue {
			continue
		}
		if !c.LastTransitionTime.IsZero() {
			v.Since = c.LastTransitionTime.UTC()
		}
		switch kind {
		case mcfgv1.MachineConfigPoolRenderDegraded:
			v.RenderDegraded, v.RenderMessage = true, firstLine(c.Message)
		case mcfgv1.MachineConfigPoolNodeDegraded:
			v.NodeMessage = firstLine(c.Message)
		}
	}
}

func condition(pool *mcfgv1.MachineConfigPool, kind mcfgv1.MachineConfigPoolConditionType) *mcfgv1.MachineConfigPoolCondition {
	i := slices.IndexFunc(pool.Status.Conditions, func(c mcfgv1.MachineConfigPoolCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pool.Status.Conditions[i]
}

// everConverged reports whether all machines of the pool once ran one config.
// status.configuration is only written then (pkg/controller/node/status.go
// calculateStatus), except by a person who fills it from spec to unblock the
// server: a status that equals spec while no machine is updated proves nothing.
func everConverged(pool *mcfgv1.MachineConfigPool) bool {
	name := pool.Status.Configuration.Name
	if c := condition(pool, mcfgv1.MachineConfigPoolUpdated); c != nil && c.Status == corev1.ConditionTrue && name != "" {
		return true
	}
	return name != "" && (name != pool.Spec.Configuration.Name || pool.Status.UpdatedMachineCount == pool.Status.MachineCount)
}

// inCluster looks up the named configs.
func (v *Served) inCluster(configs map[string]evidence.Object, p *facts.Proof) {
	for _, n := range []struct {
		name, field string
		in          *bool
	}{{v.SpecName, "specInCluster", &v.SpecInCluster}, {v.StatusName, "statusInCluster", &v.StatusInCluster}, {v.ServedName, "servedInCluster", &v.ServedInCluster}} {
		o, ok := configs[n.name]
		*n.in = ok
		switch {
		case ok:
			p.Add(o.Loc, "MachineConfig "+n.name+" exists", o.Created(), n.field)
		case n.name != "":
			p.Add(evidence.Locator{Path: "machineconfigs"}, fmt.Sprintf("no MachineConfig %s among the %d in the cluster", n.name, len(configs)), time.Time{}, n.field)
		}
	}
}

// versions reads which controllers made the pool's render and its base config. A
// custom pool has the base of worker.
func (v *Served) versions(pool string, configs map[string]evidence.Object, p *facts.Proof) {
	base, ok := configs["00-"+pool]
	if !ok {
		base, ok = configs["00-worker"]
	}
	if ok {
		v.BaseVersion = base.Annotation(controllerVersion)
		p.Add(base.Loc.At("metadata.annotations."+controllerVersion), base.Name+" was made by "+v.BaseVersion, time.Time{}, "baseVersion")
	}
	if o, ok := configs[v.SpecName]; ok {
		v.RenderVersion = o.Annotation(controllerVersion)
		p.Add(o.Loc.At("metadata.annotations."+controllerVersion), o.Name+" was made by "+v.RenderVersion, time.Time{}, "renderVersion")
	}
}

// configNames indexes the MachineConfigs by name. Where some of them could not be read
// it is an error: one that is not among the others may be there all the same.
func configNames(ctx context.Context, w *facts.World) (map[string]evidence.Object, error) {
	list, err := w.List(ctx, evidence.MachineConfigs, "")
	if err != nil {
		return nil, err
	}
	if _, _, err := w.Get(ctx, evidence.MachineConfigs, "", ""); err != nil { // no object has this name: it is an error where the list is not whole
		return nil, err
	}
	names := make(map[string]evidence.Object, len(list))
	for _, o := range list {
		names[o.Name] = o
	}
	return names, nil
}

func (v *Served) prove(o evidence.Object, p *facts.Proof) {
	loc := o.Loc
	p.Add(loc.At("status.configuration.name"), fmt.Sprintf("status.configuration.name: %q", v.StatusName), time.Time{}, "statusName", "servedName", "everConverged")
	p.Add(loc.At("spec.configuration.name"), fmt.Sprintf("spec.configuration.name: %q", v.SpecName), time.Time{}, "specName", "servedName")
	p.Add(loc.At("status"), fmt.Sprintf("machineCount %d, updated %d, ready %d, unavailable %d, degraded %d (maxUnavailable %d)",
		v.Machines, v.Updated, v.Ready, v.Unavailable, v.Degraded, v.MaxUnavailable), time.Time{},
		"updatedMachines", "machineCount", "unavailableMachines", "degradedMachines", "maxUnavailable", "readyMachines")
	p.Add(loc.At("status.configuration.source"), fmt.Sprintf("status.configuration.source is empty: %t", v.SourceEmpty), time.Time{}, "sourceEmpty")
	p.Add(loc.At("spec.paused"), fmt.Sprintf("paused: %t", v.Paused), time.Time{}, "paused")
	p.Add(loc.At("status.observedGeneration"), fmt.Sprintf("the controller has seen the newest spec: %t", v.ObservedCurrent), time.Time{}, "observedCurrent")
	if v.RenderDegraded {
		p.Add(loc.At("status.conditions[RenderDegraded]"), v.RenderMessage, v.Since, "renderDegraded", "renderMessage")
	}
	if v.NodeMessage != "" {
		p.Add(loc.At("status.conditions[NodeDegraded]"), v.NodeMessage, v.Since, "nodeMessage", "degradedMachines")
	}
}

// firstLine cuts a message to what fits a report.
func firstLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	const most = 300
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// missOrFail marks fields unknown when err is unavailable evidence and returns
// any other error.
func missOrFail(p *facts.Proof, err error, fields ...string) error {
	if err == nil {
		return nil
	}
	var u *evidence.Unavailable
	if !errors.As(err, &u) {
		return err
	}
	for _, f := range fields {
		p.Miss(f, err)
	}
	return nil
}
