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
	Exists  bool      `cel:"exists"`
	Version string    `cel:"version"` // of the operator that wrote it
	Failing bool      `cel:"failing"` // its templates cannot be rendered
	Message string    `cel:"message"` // of the failure
	Since   time.Time `cel:"since"`   // of the failure
}

var controllerConfigFact = facts.DefinePlain("controller-config", fault.Cluster, "the ControllerConfig machine-config-controller",
	[]evidence.Need{evidence.Objects(evidence.ControllerConfigs, "")}, readControllerConfig)

// generatedBy is the annotation with the operator's version
// (pkg/controller/common/constants.go GeneratedByVersionAnnotationKey).
const generatedBy = "machineconfiguration.openshift.io/generated-by-version"

func readControllerConfig(ctx context.Context, w *facts.World, _ fault.Subject) (ControllerConfig, facts.Proof, error) {
	var c ControllerConfig
	var p facts.Proof
	o, ok, err := w.Get(ctx, evidence.ControllerConfigs, "", "machine-config-controller")
	if err != nil {
		return c, p, err
	}
	if !ok {
		p.Add(evidence.Locator{Path: "controllerconfigs/machine-config-controller"}, "there is no such ControllerConfig", time.Time{}, "exists")
		return c, p, nil
	}
	c.Exists, c.Version = true, o.Annotation(generatedBy)
	p.Add(o.Loc, "ControllerConfig machine-config-controller exists", o.Created(), "exists")
	p.Add(o.Loc.At("metadata.annotations."+generatedBy), c.Version, time.Time{}, "version")
	conditions, _ := evidence.Field(o.Content, "status", "conditions").([]any)
	for _, raw := range conditions {
		m, _ := raw.(map[string]any)
		if evidence.String(m, "type") != "TemplateControllerFailing" || evidence.String(m, "status") != "True" {
			continue
		}
		c.Failing, c.Message, c.Since = true, firstLine(evidence.String(m, "message")), evidence.Time(m, "lastTransitionTime")
		p.Add(o.Loc.At("status.conditions[TemplateControllerFailing]"), c.Message, c.Since, "failing", "message")
	}
	return c, p, nil
}

// Controller is whether the machine-config-controller works.
type Controller struct {
	Running    bool      `cel:"running"`    // a pod of it is ready
	Since      time.Time `cel:"since"`      // where it does not run: since its pod is not ready, without a pod since the first Node joined
	StalePools []string  `cel:"stalePools"` // pools whose newest spec it has not seen
	Changed    time.Time `cel:"changed"`    // the first of the specs that it has not seen; zero where their writers are not known
}

var controllerFact = facts.DefinePlain("mcc", fault.Cluster, "whether the machine-config-controller runs and keeps up",
	[]evidence.Need{evidence.Objects(evidence.Pods, mcs.Namespace), evidence.Objects(evidence.MachineConfigPools, ""), evidence.Objects(evidence.Nodes, "")}, readController)

func readController(ctx context.Context, w *facts.World, _ fault.Subject) (Controller, facts.Proof, error) {
	var c Controller
	var p facts.Proof
	if err := missOrFail(&p, c.pods(ctx, w, &p), "running", "since"); err != nil {
		return c, p, err
	}
	if err := missOrFail(&p, c.firstNode(ctx, w), "since"); err != nil {
		return c, p, err
	}
	pools, err := w.List(ctx, evidence.MachineConfigPools, "")
	if err := missOrFail(&p, err, "stalePools"); err != nil {
		return c, p, err
	}
	written := map[string]time.Time{}
	for _, o := range pools {
		generation, observed := evidence.Int(o.Content, "metadata", "generation"), evidence.Int(o.Content, "status", "observedGeneration")
		if observed < generation {
			c.StalePools = append(c.StalePools, o.Name)
			written[o.Name] = o.SpecWritten()
			p.Add(o.Loc.At("status.observedGeneration"), fmt.Sprintf("generation %d, observedGeneration %d", generation, observed), written[o.Name], "stalePools", "changed")
		}
	}
	slices.Sort(c.StalePools)
	for i, name := range c.StalePools {
		if at := written[name]; i == 0 || at.Before(c.Changed) { // one that is not known is the zero time
			c.Changed = at
		}
	}
	return c, p, nil
}

func (c *Controller) pods(ctx context.Context, w *facts.World, p *facts.Proof) error {
	list, err := w.List(ctx, evidence.Pods, mcs.Namespace)
	if err != nil {
		return err
	}
	seen := 0
	for _, o := range list {
		if app, _ := o.Label("k8s-app"); app != "machine-config-controller" {
			continue
		}
		seen++
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		ready := slices.ContainsFunc(pod.Status.Conditions, func(x corev1.PodCondition) bool {
			return x.Type == corev1.PodReady && x.Status == corev1.ConditionTrue
		})
		c.Running = c.Running || ready
		if i := slices.IndexFunc(pod.Status.Conditions, func(x corev1.PodCondition) bool { return x.Type == corev1.PodReady }); i >= 0 && !ready {
			c.Since = pod.Status.Conditions[i].LastTransitionTime.UTC()
		}
		p.Add(o.Loc.At("status"), fmt.Sprintf("phase %s, ready %t", pod.Status.Phase, ready), time.Time{}, "running")
	}
	if seen == 0 {
		p.Add(evidence.Locator{Path: "pods -n " + mcs.Namespace}, "no pod of machine-config-controller among those that were listed", time.Time{}, "running")
	}
	return nil
}

// firstNode takes the creation of the first Node for the beginning where no pod
// tells one: an install has Nodes before it has a controller.
func (c *Controller) firstNode(ctx context.Context, w *facts.World) error {
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err != nil || c.Running || !c.Since.IsZero() {
		return err
	}
	for _, o := range nodes {
		if at := o.Created(); c.Since.IsZero() || at.Before(c.Since) {
			c.Since = at
		}
	}
	return nil
}

// ready reads the Node's condition Ready.
func ready(node evidence.Object) bool {
	conditions, _ := evidence.Field(node.Content, "status", "conditions").([]any)
	for _, raw := range conditions {
		m, _ := raw.(map[string]any)
		if evidence.String(m, "type") == "Ready" {
			return evidence.String(m, "status") == "True"
		}
	}
	return false
}

func ignoreNotApplicable(err error) error {
	if errors.Is(err, facts.ErrNotApplicable) {
		return nil
	}
	return err
}
