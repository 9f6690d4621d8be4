package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/mcs"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// ControllerConfig is the object that every render and every answer of the
// machine config server is made from.
type ControllerConfig struct {
	Exists  facts.Field[bool]      `cel:"exists"`
	Version facts.Field[string]    `cel:"version"` // of the operator that wrote it
	Failing facts.Field[bool]      `cel:"failing"` // its templates cannot be rendered
	Message facts.Field[string]    `cel:"message"` // of the failure
	Since   facts.Field[time.Time] `cel:"since"`   // of the failure
}

var controllerConfigFact = facts.Define("controller-config", fault.Cluster, "the ControllerConfig machine-config-controller",
	[]evidence.Need{evidence.Objects(evidence.ControllerConfigs, "")}, readControllerConfig)

// generatedBy is the annotation with the operator's version
// (pkg/controller/common/constants.go GeneratedByVersionAnnotationKey).
const generatedBy = "machineconfiguration.openshift.io/generated-by-version"

// readControllerConfig takes a missing TemplateControllerFailing for false: the
// controller resets it to False only in a sync, and an install begins without it
// (pkg/controller/template/status.go syncCompletedStatus).
func readControllerConfig(ctx context.Context, w *facts.World, _ fault.Subject) (ControllerConfig, error) {
	var c ControllerConfig
	o, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", "machine-config-controller")
	if err != nil {
		return c, err
	}
	if !ok {
		c.Exists.Set(false, evidence.Item{Locator: evidence.Locator{Path: "controllerconfigs/machine-config-controller"}, Excerpt: "there is no such ControllerConfig"})
		facts.Complete(&c)
		return c, nil
	}
	c.Exists.Set(true, evidence.Item{Locator: o.Loc, Excerpt: "ControllerConfig machine-config-controller exists", Time: o.Created()})
	version := o.Annotation(generatedBy)
	c.Version.Set(version, o.Shows("metadata.annotations."+generatedBy, version, time.Time{}))
	conditions, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range conditions {
		m, _ := raw.(map[string]any)
		if evidence.String(m, "type") != "TemplateControllerFailing" || evidence.String(m, "status") != "True" {
			continue
		}
		message, since := firstLine(evidence.String(m, "message")), evidence.Time(m, "lastTransitionTime")
		item := o.Shows("status.conditions[TemplateControllerFailing]", message, since)
		c.Failing.Set(true, item)
		c.Message.Set(message, item)
		c.Since.Set(since)
	}
	facts.Complete(&c)
	return c, nil
}

// Controller is whether the machine-config-controller works.
type Controller struct {
	Running    facts.Field[bool]      `cel:"running"`    // a pod of it is ready
	Since      facts.Field[time.Time] `cel:"since"`      // where it does not run: since its newest pod is not ready or exists; without a pod since its Deployment is not available
	StalePools facts.Field[[]string]  `cel:"stalePools"` // pools whose newest spec it has not seen
	Changed    facts.Field[time.Time] `cel:"changed"`    // the first of the specs that it has not seen; zero where their writers are not known
}

var controllerFact = facts.Define("mcc", fault.Cluster, "whether the machine-config-controller runs and keeps up",
	[]evidence.Need{evidence.Objects(evidence.Pods, mcs.Namespace), evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.Deployments, mcs.Namespace)}, readController)

func readController(ctx context.Context, w *facts.World, _ fault.Subject) (Controller, error) {
	var c Controller
	if err := facts.Miss(c.readPods(ctx, w), &c.Running, &c.Since); err != nil {
		return c, err
	}
	pools, err := w.List(ctx, evidence.MachineConfigPools, "")
	if err != nil {
		return c, facts.Miss(err, &c.StalePools, &c.Changed)
	}
	var stale []string
	var changed time.Time
	for _, o := range pools {
		generation, observed := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
		if observed >= generation {
			continue
		}
		stale = append(stale, o.Name)
		written := o.SpecWritten() // zero where it is not known: then the first is not known
		if len(stale) == 1 || written.Before(changed) {
			changed = written
		}
		facts.Prove(o.Shows("status.observedGeneration", fmt.Sprintf("generation %d, observedGeneration %d", generation, observed), written), &c.StalePools, &c.Changed)
	}
	if len(stale) == 0 {
		facts.Prove(evidence.Item{Locator: evidence.Locator{Path: "machineconfigpools"},
			Excerpt: fmt.Sprintf("none of the %d pools has a newer generation than the observed one", len(pools))}, &c.StalePools, &c.Changed)
	}
	slices.Sort(stale)
	c.StalePools.Set(stale)
	c.Changed.Set(changed)
	return c, nil
}

// readPods looks for a pod that is ready.
func (c *Controller) readPods(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.Pods, mcs.Namespace)
	if err != nil {
		return err
	}
	running := false
	var since time.Time
	for _, o := range list {
		if app, _ := o.Label("k8s-app"); app != "machine-config-controller" {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		ready, at := readySince(pod)
		running = running || ready
		if at.After(since) {
			since = at
		}
		facts.Prove(o.Shows("status", fmt.Sprintf("phase %s, ready %t", pod.Status.Phase, ready), time.Time{}), &c.Running, &c.Since)
	}
	if len(c.Running.Proof()) == 0 {
		facts.Prove(evidence.Item{Locator: evidence.Locator{Path: "pods -n " + mcs.Namespace},
			Excerpt: "no pod of machine-config-controller among those that were listed"}, &c.Running, &c.Since)
	}
	c.Running.Set(running)
	if running {
		since = time.Time{}
	}
	c.Since.Set(since)
	if running || !since.IsZero() {
		return nil
	}
	item, err := deploymentDown(ctx, w)
	if err != nil {
		return facts.Miss(err, &c.Since)
	}
	c.Since.Set(item.Time, item)
	return nil
}

// readySince returns whether a pod is ready, and since when it is or is not: without
// the condition since it exists.
func readySince(pod corev1.Pod) (bool, time.Time) {
	for _, x := range pod.Status.Conditions {
		if x.Type == corev1.PodReady && !x.LastTransitionTime.IsZero() {
			return x.Status == corev1.ConditionTrue, x.LastTransitionTime.UTC()
		}
	}
	return false, pod.CreationTimestamp.UTC()
}

// deploymentDown is since when the controller's Deployment reports that it is not
// available (kubernetes/kubernetes:pkg/controller/deployment/sync.go calculateStatus), else
// since when it exists.
func deploymentDown(ctx context.Context, w *facts.World) (evidence.Item, error) {
	o, ok, err := w.Get(ctx, evidence.Deployments, mcs.Namespace, "machine-config-controller")
	if err == nil && !ok {
		err = &evidence.Unavailable{Need: evidence.Objects(evidence.Deployments, mcs.Namespace), Why: evidence.NotCollected, Detail: "no Deployment machine-config-controller"}
	}
	if err != nil {
		return evidence.Item{}, err
	}
	list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range list {
		c, _ := raw.(map[string]any)
		if evidence.String(c, "type") == "Available" && evidence.String(c, "status") == "False" {
			return o.Shows("status.conditions[Available]", "Available=False", evidence.Time(c, "lastTransitionTime")), nil
		}
	}
	return o.Shows("metadata.creationTimestamp", "created "+o.Created().Format(time.RFC3339), o.Created()), nil
}

func ignoreNotApplicable(err error) error {
	if errors.Is(err, facts.ErrNotApplicable) {
		return nil
	}
	return err
}
