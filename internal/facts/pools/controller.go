package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// controllerConfig is the object that every render and every answer of the
// machine config server is made from.
type controllerConfig struct {
	Exists  facts.Field[bool]      `cel:"exists"`
	Failing facts.Field[bool]      `cel:"failing"` // its templates cannot be rendered
	Message facts.Field[string]    `cel:"message"` // of the failure
	Since   facts.Field[time.Time] `cel:"since"`   // of the failure
	Stays   facts.Field[bool]      `cel:"stays"`   // the failure is of the content: it comes again each time
}

var controllerConfigFact = facts.Define("controller-config", fault.Cluster, "the ControllerConfig machine-config-controller",
	[]evidence.Need{evidence.Objects(evidence.ControllerConfigs, "")}, readControllerConfig)

// readControllerConfig takes a missing TemplateControllerFailing for false: the
// controller resets it to False only in a sync, and an install begins without it
// (pkg/controller/template/status.go syncCompletedStatus).
func readControllerConfig(ctx context.Context, w *facts.World, _ fault.Subject) (controllerConfig, error) {
	var c controllerConfig
	o, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", openshift.MachineConfigController)
	if err != nil {
		return c, err
	}
	if !ok {
		c.Exists.Set(false, evidence.Listed(evidence.ControllerConfigs, "", "there is no such ControllerConfig"))
		facts.Complete(&c)
		return c, nil
	}
	c.Exists.Set(true, evidence.Item{Locator: o.Loc, Excerpt: "ControllerConfig machine-config-controller exists", Time: o.Created()})
	c.Stays.Set(false, o.Shows("status.conditions", "TemplateControllerFailing is not True for the content", time.Time{}))
	conditions, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range conditions {
		m, _ := raw.(map[string]any)
		if evidence.String(m, "type") != "TemplateControllerFailing" || evidence.String(m, "status") != "True" {
			continue
		}
		message, since := excerpt.OneLine(evidence.String(m, "message")), evidence.Time(m, "lastTransitionTime")
		item := o.Shows("status.conditions[TemplateControllerFailing]", message, since)
		c.Failing.Set(true, item)
		c.Message.Set(message, item)
		c.Since.Set(since)
		c.Stays.Set(ofContent.MatchString(message) && !passes.MatchString(message), item)
	}
	facts.Complete(&c)
	return c, nil
}

// controller is whether the machine-config-controller works.
type controller struct {
	Running facts.Field[bool]   `cel:"running"` // a pod of it is ready
	Why     facts.Field[string] `cel:"why"`     // where it does not run: what shows it
	// its Deployment was read and wants no pod: only the cluster version operator, or a person, scales it up
	ScaledToZero facts.Field[bool] `cel:"scaledToZero"`
	// where it does not run: since its newest pod is not ready or exists; without a pod since
	// its lease is not renewed or its Deployment is not available
	Since      facts.Field[time.Time] `cel:"since"`
	StalePools facts.Field[[]string]  `cel:"stalePools"` // pools whose newest spec it has not seen
	Changed    facts.Field[time.Time] `cel:"changed"`    // the first of the specs that it has not seen; zero where their writers are not known
}

var controllerFact = facts.Define("mcc", fault.Cluster, "whether the machine-config-controller runs and keeps up",
	[]evidence.Need{evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace), evidence.Objects(evidence.MachineConfigPools, ""),
		evidence.Objects(evidence.Deployments, openshift.MachineConfigNamespace),
		evidence.Objects(evidence.Leases, openshift.MachineConfigNamespace)}, readController)

func readController(ctx context.Context, w *facts.World, _ fault.Subject) (controller, error) {
	var c controller
	if err := facts.Miss(c.readPods(ctx, w), &c.Running, &c.Since, &c.Why, &c.ScaledToZero); err != nil {
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
		facts.Prove(o.Shows("status.observedGeneration", fmt.Sprintf("generation %d, observedGeneration %d", generation, observed), written),
			&c.StalePools, &c.Changed)
	}
	if len(stale) == 0 {
		facts.Prove(evidence.Listed(evidence.MachineConfigPools, "", fmt.Sprintf("none of the %d pools has a newer generation than the observed one",
			len(pools))), &c.StalePools, &c.Changed)
	}
	slices.Sort(stale)
	c.StalePools.Set(stale)
	c.Changed.Set(changed)
	return c, nil
}

// readPods looks for a pod that is ready.
func (c *controller) readPods(ctx context.Context, w *facts.World) error {
	list, err := w.List(ctx, evidence.Pods, openshift.MachineConfigNamespace)
	if err != nil {
		return err
	}
	running, why := false, ""
	var since time.Time
	for _, o := range list {
		if app, _ := o.Label("k8s-app"); app != openshift.MachineConfigController {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		ready, at := readySince(pod)
		running = running || ready
		if why == "" || at.After(since) {
			since, why = at, "its pod "+o.Name+" is not ready"
		}
		facts.Prove(o.Shows("status", fmt.Sprintf("phase %s, ready %t", pod.Status.Phase, ready), time.Time{}), &c.Running, &c.Since, &c.Why)
	}
	if why == "" {
		facts.Prove(evidence.Listed(evidence.Pods, openshift.MachineConfigNamespace, "no pod of machine-config-controller among those that were listed"),
			&c.Running, &c.Since, &c.Why)
	}
	renewed, err := controllerLease(ctx, w)
	if err != nil {
		return err
	}
	if !running && renewed.Time.After(w.Now.Add(-leaseLasts)) {
		running = true // such as a pod whose node is silent: it is not ready for the controller manager only
		facts.Prove(renewed, &c.Running, &c.Since, &c.Why)
	}
	if running {
		since, why = time.Time{}, ""
	}
	c.Running.Set(running)
	c.Since.Set(since)
	c.Why.Set(why)
	if running || why != "" {
		c.ScaledToZero.Set(false, c.Why.Proof()...)
		return nil
	}
	return c.withoutPod(ctx, w, renewed)
}

// leaseLasts is how long after its last renewal the controller's lease says that it runs
// (openshift/library-go:pkg/config/leaderelection/leaderelection.go LeaderElectionDefaulting:
// 137 s).
const leaseLasts = 137 * time.Second

// controllerLease is when the controller last renewed its lease, empty where no lease was
// read: not every archive has them.
func controllerLease(ctx context.Context, w *facts.World) (evidence.Item, error) {
	o, ok, err := w.Get(ctx, evidence.Leases, openshift.MachineConfigNamespace, openshift.MachineConfigController)
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return evidence.Item{}, err
	}
	at := evidence.Time(o.Content, "spec", "renewTime")
	if err != nil || !ok || at.IsZero() {
		return evidence.Item{}, nil
	}
	return o.Shows("spec.renewTime", "the lease was last renewed", at), nil
}

// withoutPod says why there is no pod, as the Deployment shows it, and since when: since the
// controller's lease is not renewed, or since the Deployment reports that it is not available
// (kubernetes/kubernetes:pkg/controller/deployment/sync.go calculateStatus). One that is
// scaled to 0 continues to report that it is available.
func (c *controller) withoutPod(ctx context.Context, w *facts.World, renewed evidence.Item) error {
	c.Why.Set("it has no pod")
	c.ScaledToZero.Set(false, c.Why.Proof()...) // nothing shows that it is
	o, ok, err := w.Get(ctx, evidence.Deployments, openshift.MachineConfigNamespace, openshift.MachineConfigController)
	switch {
	case err != nil:
		if err := facts.Miss(err, &c.Since); err != nil {
			return err
		}
	case !ok:
		c.Since.Miss(&evidence.Unavailable{
			Need:   evidence.Objects(evidence.Deployments, openshift.MachineConfigNamespace),
			Why:    evidence.NotCollected,
			Detail: "no Deployment machine-config-controller",
		})
	default:
		replicas := o.Shows("spec.replicas", fmt.Sprint(evidence.Field(o.Content, "spec", "replicas")), time.Time{})
		c.ScaledToZero.Set(evidence.Field(o.Content, "spec", "replicas") != nil && evidence.Int(o.Content, "spec", "replicas") == 0, replicas)
		if c.ScaledToZero.Value() {
			c.Why.Set("its Deployment is scaled to 0", replicas)
		}
		c.Since.Miss(&evidence.Unavailable{
			Need:   evidence.Objects(evidence.Deployments, openshift.MachineConfigNamespace),
			Why:    evidence.NotCollected,
			Detail: "the Deployment does not report since when it is not available",
		})
		list, _ := evidence.Field(o.Content, "status", "conditions").([]any)
		for _, raw := range list {
			x, _ := raw.(map[string]any)
			if evidence.String(x, "type") == "Available" && evidence.String(x, "status") == "False" {
				at := evidence.Time(x, "lastTransitionTime")
				c.Since.Set(at, o.Shows("status.conditions[Available]", "Available=False", at))
			}
		}
	}
	if !renewed.Time.IsZero() {
		c.Since.Set(renewed.Time, renewed)
	}
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

func ignoreNotApplicable(err error) error {
	if errors.Is(err, facts.ErrNotApplicable) {
		return nil
	}
	return err
}
