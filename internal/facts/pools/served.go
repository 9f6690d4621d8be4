package pools

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// Served is what a pool wants, what it reached, and what the machine config
// server would therefore give to a new host. Fields ending in InCluster say
// whether the named MachineConfig exists; they are false for an empty name.
type Served struct {
	SpecName        facts.Field[string]    `cel:"specName"`   // the target, written by the render controller
	StatusName      facts.Field[string]    `cel:"statusName"` // the last one that all machines reached
	ServedName      facts.Field[string]    `cel:"servedName"` // spec's once a machine is updated, else status's
	SpecInCluster   facts.Field[bool]      `cel:"specInCluster"`
	StatusInCluster facts.Field[bool]      `cel:"statusInCluster"`
	ServedInCluster facts.Field[bool]      `cel:"servedInCluster"`
	SourceEmpty     facts.Field[bool]      `cel:"sourceEmpty"` // status names a config and lists none of its sources
	Machines        facts.Field[int64]     `cel:"machineCount"`
	Updated         facts.Field[int64]     `cel:"updatedMachines"`
	Ready           facts.Field[int64]     `cel:"readyMachines"`
	Unavailable     facts.Field[int64]     `cel:"unavailableMachines"`
	Degraded        facts.Field[int64]     `cel:"degradedMachines"`
	MaxUnavailable  facts.Field[int64]     `cel:"maxUnavailable"` // as a number of this pool's machines
	Paused          facts.Field[bool]      `cel:"paused"`
	RenderDegraded  facts.Field[bool]      `cel:"renderDegraded"`
	RenderMessage   facts.Field[string]    `cel:"renderMessage"`
	RenderMayPass   facts.Field[bool]      `cel:"renderMayPass"`   // what RenderDegraded reports may end by itself; see mayPass
	RenderVersion   facts.Field[string]    `cel:"renderVersion"`   // of the controller that made the spec's config, "" where it is not marked
	BaseVersion     facts.Field[string]    `cel:"baseVersion"`     // of the controller that made the role's base config 00-<role>, "" likewise
	NodeMessage     facts.Field[string]    `cel:"nodeMessage"`     // of the condition NodeDegraded
	ObservedCurrent facts.Field[bool]      `cel:"observedCurrent"` // the controller has seen the newest spec
	EverConverged   facts.Field[bool]      `cel:"everConverged"`   // see everConverged
	Created         facts.Field[time.Time] `cel:"created"`
	Since           facts.Field[time.Time] `cel:"since"` // of the condition that is wrong: RenderDegraded, NodeDegraded, Updating; else created
}

var servedFact = facts.Define("pool-served-config", fault.Pool, "the config that a pool wants, reached, and has served to new hosts",
	[]evidence.Need{evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.MachineConfigs, "")}, readServed)

func readServed(ctx context.Context, w *facts.World, s fault.Subject) (Served, error) {
	var v Served
	configs, configsErr := configNames(ctx, w)
	o, pool, err := readPool(ctx, w, s.Name)
	if err != nil {
		return v, err
	}
	v.names(o, &pool)
	if err := facts.Miss(sourcesKept(ctx, w), &v.SourceEmpty); err != nil {
		return v, err
	}
	v.counts(o, &pool)
	v.conditions(o, &pool)
	if configsErr != nil {
		return v, facts.Miss(configsErr, &v.SpecInCluster, &v.StatusInCluster, &v.ServedInCluster, &v.RenderVersion, &v.BaseVersion)
	}
	v.inCluster(configs)
	v.versions(s.Name, configs)
	facts.Complete(&v)
	return v, nil
}

// readPool returns a pool.
func readPool(ctx context.Context, w *facts.World, name string) (evidence.Object, apitypes.MachineConfigPool, error) {
	var pool apitypes.MachineConfigPool
	o, ok, err := w.Get(ctx, evidence.MachineConfigPools, "", name)
	if err != nil {
		return o, pool, err
	}
	if !ok {
		return o, pool, facts.NotApplicable("there is no MachineConfigPool %s", name)
	}
	pool, err = evidence.Decode[apitypes.MachineConfigPool](o)
	return o, pool, err
}

// names reads the configs that the pool names.
// sourcesKept reports as an error that no pool of the list has a source in its status:
// whoever saved the list left them out.
func sourcesKept(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return err
	}
	for _, o := range list {
		if source, _ := evidence.Field(o.Content, "status", "configuration", "source").([]any); len(source) > 0 {
			return nil
		}
	}
	return &evidence.Unavailable{Need: evidence.Objects(evidence.MachineConfigPools, ""), Why: evidence.NotCollected,
		Detail: "no pool has a source in its status", Supply: evidence.Supply{Kind: evidence.SupplyGet, Resource: "mcp"}}
}

func (v *Served) names(o evidence.Object, pool *apitypes.MachineConfigPool) {
	spec, status := pool.Spec.Configuration.Name, pool.Status.Configuration.Name
	served := status
	if pool.Status.UpdatedMachineCount > 0 {
		served = spec
	}
	statusItem := o.Shows("status.configuration.name", fmt.Sprintf("status.configuration.name: %q", status), time.Time{})
	specItem := o.Shows("spec.configuration.name", fmt.Sprintf("spec.configuration.name: %q", spec), time.Time{})
	v.SpecName.Set(spec, specItem)
	v.StatusName.Set(status, statusItem)
	v.ServedName.Set(served, statusItem, specItem)
	v.EverConverged.Set(everConverged(pool), statusItem)
	empty := status != "" && len(pool.Status.Configuration.Source) == 0
	v.SourceEmpty.Set(empty, o.Shows("status.configuration.source", fmt.Sprintf("status.configuration.source is empty: %t", empty), time.Time{}))
	v.Paused.Set(pool.Spec.Paused, o.Shows("spec.paused", fmt.Sprintf("paused: %t", pool.Spec.Paused), time.Time{}))
	current := pool.Status.ObservedGeneration >= pool.Generation
	v.ObservedCurrent.Set(current, o.Shows("status.observedGeneration", fmt.Sprintf("the controller has seen the newest spec: %t", current), time.Time{}))
	v.Created.Set(o.Created(), o.Shows("metadata.creationTimestamp", "MachineConfigPool "+o.Name+" exists", o.Created()))
}

func (v *Served) counts(o evidence.Object, pool *apitypes.MachineConfigPool) {
	st, most := pool.Status, maxUnavailable(pool)
	item := o.Shows("status", fmt.Sprintf("machineCount %d, updated %d, ready %d, unavailable %d, degraded %d (maxUnavailable %d)",
		st.MachineCount, st.UpdatedMachineCount, st.ReadyMachineCount, st.UnavailableMachineCount, st.DegradedMachineCount, most), time.Time{})
	v.Machines.Set(int64(st.MachineCount), item)
	v.Updated.Set(int64(st.UpdatedMachineCount), item)
	v.Ready.Set(int64(st.ReadyMachineCount), item)
	v.Unavailable.Set(int64(st.UnavailableMachineCount), item)
	v.Degraded.Set(int64(st.DegradedMachineCount), item)
	v.MaxUnavailable.Set(most, item)
}

// maxUnavailable is one where the pool says nothing, and never less than one
// (pkg/controller/node/node_controller.go maxUnavailable).
func maxUnavailable(pool *apitypes.MachineConfigPool) int64 {
	if pool.Spec.MaxUnavailable == nil {
		return 1
	}
	n, err := pool.Spec.MaxUnavailable.Of(int64(pool.Status.MachineCount))
	if err != nil || n < 1 {
		return 1
	}
	return n
}

// conditions takes a missing condition for false: the controller writes them with its
// first status, and a new pool has none (pkg/controller/node/status.go calculateStatus).
func (v *Served) conditions(o evidence.Object, pool *apitypes.MachineConfigPool) {
	since := o.Created()
	none := o.Shows("status.conditions", "", time.Time{})
	for _, kind := range []apitypes.MachineConfigPoolConditionType{apitypes.MachineConfigPoolUpdating, apitypes.MachineConfigPoolNodeDegraded,
		apitypes.MachineConfigPoolRenderDegraded} {
		c := condition(pool, kind)
		if c != nil {
			none.Excerpt += fmt.Sprintf("%s: %s ", kind, c.Status)
		}
		if !isTrue(c) {
			continue
		}
		if !c.LastTransitionTime.IsZero() {
			since = c.LastTransitionTime.UTC()
		}
		message := excerpt.OneLine(c.Message)
		item := o.Shows("status.conditions["+string(kind)+"]", message, since)
		switch kind {
		case apitypes.MachineConfigPoolRenderDegraded:
			v.RenderDegraded.Set(true, item)
			v.RenderMessage.Set(message, item)
			v.RenderMayPass.Set(mayPass.MatchString(message) && !ofContent.MatchString(message), item)
		case apitypes.MachineConfigPoolNodeDegraded:
			v.NodeMessage.Set(message, item)
			v.Degraded.Prove(item)
		}
	}
	none.Excerpt = cmp.Or(strings.TrimSpace(none.Excerpt), "no condition")
	if _, err := v.RenderDegraded.Get(); err != nil {
		v.RenderDegraded.Set(false, none)
		v.RenderMessage.Set("", none)
		v.RenderMayPass.Set(false, none)
	}
	if _, err := v.NodeMessage.Get(); err != nil {
		v.NodeMessage.Set("", none)
	}
	v.Since.Set(since, none)
}

// Rendering fails for a while where an object is not there yet, is of the controller of before
// an update, or the API does not answer; it is tried again
// (openshift/machine-config-operator:pkg/controller/render/render_controller.go
// syncMachineConfigPool, generateRenderedMachineConfig: "controller version mismatch",
// "ControllerConfig has not completed", "no MachineConfigs found"). What a MachineConfig itself
// contains stays as it is: the parser's errors (coreos/ignition:config/shared/errors, "config is
// not valid", "path not absolute", "unsupported config version") and the checks of the merge
// (pkg/controller/common/helpers.go MergeMachineConfigs) come again each time.
var (
	mayPass = regexp.MustCompile(`(?i)not found|no machineconfigs found|controllerconfig|version mismatch|not (?:yet )?(?:ready|completed|created)` +
		`|has not|timed? ?out|deadline exceeded|connection refused|unavailable|object has been modified|too many requests|etcdserver`)
	ofContent = regexp.MustCompile(`(?i)not valid|invalid|not absolute|unknown version|unsupported|not supported|failed to parse|parsing ignition`)
)

// passes are the words of an API that does not answer for a while.
var passes = regexp.MustCompile(`(?i)timed? ?out|deadline exceeded|connection refused|unavailable|object has been modified|too many requests|etcdserver`)

// isTrue reports whether a condition was reported and is true.
func isTrue(c *apitypes.MachineConfigPoolCondition) bool {
	return c != nil && c.Status == corev1.ConditionTrue
}

func condition(pool *apitypes.MachineConfigPool, kind apitypes.MachineConfigPoolConditionType) *apitypes.MachineConfigPoolCondition {
	i := slices.IndexFunc(pool.Status.Conditions, func(c apitypes.MachineConfigPoolCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pool.Status.Conditions[i]
}

// everConverged reports whether all machines of the pool once ran one config.
// status.configuration is only written then (pkg/controller/node/status.go
// calculateStatus), except by a person who fills it from spec to unblock the
// server: a status that equals spec while no machine is updated proves nothing.
func everConverged(pool *apitypes.MachineConfigPool) bool {
	name := pool.Status.Configuration.Name
	if isTrue(condition(pool, apitypes.MachineConfigPoolUpdated)) && name != "" {
		return true
	}
	return name != "" && (name != pool.Spec.Configuration.Name || pool.Status.UpdatedMachineCount == pool.Status.MachineCount)
}

// inCluster looks up the named configs.
func (v *Served) inCluster(configs map[string]evidence.Object) {
	for _, n := range []struct {
		name string
		in   *facts.Field[bool]
	}{{v.SpecName.Value(), &v.SpecInCluster}, {v.StatusName.Value(), &v.StatusInCluster}, {v.ServedName.Value(), &v.ServedInCluster}} {
		o, ok := configs[n.name]
		n.in.Set(ok)
		switch {
		case ok:
			n.in.Prove(evidence.Item{Locator: o.Loc, Excerpt: "MachineConfig " + n.name + " exists", Time: o.Created()})
		case n.name != "":
			n.in.Prove(configNotFound(configs, n.name))
		}
	}
}

// versions reads which controllers made the pool's render and its base config. A
// custom pool has the base of worker.
func (v *Served) versions(pool string, configs map[string]evidence.Object) {
	base, ok := configs["00-"+pool]
	if !ok {
		base, ok = configs["00-worker"]
	}
	if ok {
		v.BaseVersion.Set(madeBy(base))
	}
	if o, ok := configs[v.SpecName.Value()]; ok {
		v.RenderVersion.Set(madeBy(o))
	}
}

// madeBy returns the version of the controller that made a config.
func madeBy(o evidence.Object) (string, evidence.Item) {
	version := o.Annotation(openshift.GeneratedByControllerAnnotation)
	return version, o.Shows("metadata.annotations."+openshift.GeneratedByControllerAnnotation, o.Name+" was made by "+version, time.Time{})
}

// configNotFound shows that a config is not in the cluster.
func configNotFound(configs map[string]evidence.Object, name string) evidence.Item {
	return evidence.Dangling(evidence.MachineConfigs, "", fmt.Sprintf("no MachineConfig %s among the %d in the cluster", name, len(configs)))
}

// configNames indexes the MachineConfigs by name. Where some of them could not be read
// it is an error: one that is not among the others may exist.
func configNames(ctx context.Context, w *facts.World) (map[string]evidence.Object, error) {
	list, err := w.List(ctx, evidence.MachineConfigs, "")
	if err != nil {
		return nil, err
	}
	names := make(map[string]evidence.Object, len(list))
	for _, o := range list {
		names[o.Name] = o
	}
	return names, nil
}
