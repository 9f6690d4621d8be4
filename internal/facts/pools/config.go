package pools

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// config is what a Node says of its machine config.
type config struct {
	Annotated      facts.Field[bool]      `cel:"annotated"` // the daemon has ever written to the Node
	Current        facts.Field[string]    `cel:"current"`
	Desired        facts.Field[string]    `cel:"desired"`
	State          facts.Field[string]    `cel:"state"`          // Done, Working, Degraded, Unreconcilable
	Reason         facts.Field[string]    `cel:"reason"`         // the daemon's complaint, cut
	Class          facts.Field[string]    `cel:"class"`          // of the complaint; see Class
	CurrentMissing facts.Field[bool]      `cel:"currentMissing"` // the config that it names is not in the cluster
	CurrentSince   facts.Field[time.Time] `cel:"currentSince"`   // since when that config is in the cluster; zero where it is not
	DesiredMissing facts.Field[bool]      `cel:"desiredMissing"`
	Pool           facts.Field[string]    `cel:"pool"`
	DrainPending   facts.Field[bool]      `cel:"drainPending"` // the daemon asked for a drain or uncordon that has not been done
	Ready          facts.Field[bool]      `cel:"ready"`        // the Node's condition
	Created        facts.Field[time.Time] `cel:"created"`      // of the Node
	PoolSince      facts.Field[time.Time] `cel:"poolSince"`    // since when the pool reports degraded nodes; zero where it does not
}

var configFact = facts.Define("host-config", fault.Host, "what the Node says of its machine config",
	append(inventory.Needs(), evidence.Objects(evidence.MachineConfigs, ""), evidence.Objects(evidence.MachineConfigPools, "")), readConfig)

func readConfig(ctx context.Context, w *facts.World, s fault.Subject) (config, error) {
	var c config
	w.Concerns(func(evidence.Text) bool { return false }) // consoles place hosts on the roll only
	o, err := inventory.NodeOf(ctx, w, s.Name)
	if err != nil {
		return c, err
	}
	n := configOf(o)
	c.annotations(n)
	if !c.Annotated.Value() && !OfOpenShift(w.Version, keysOf(o)) {
		why := &evidence.Unavailable{Need: evidence.Objects(evidence.MachineConfigPools, ""), Why: evidence.NotCollected,
			Detail: "nothing shows that Node " + o.Name + " is of an OpenShift cluster"}
		if err := facts.Miss(why, &c.Annotated); err != nil {
			return c, err
		}
	}
	ready, item, err := nodeReady(o)
	c.Ready.Set(ready, item)
	if err := facts.Miss(err, &c.Ready); err != nil {
		return c, err
	}
	c.Pool.Set(n.pool, o.Shows("metadata.labels", "pool "+n.pool, time.Time{}))
	c.Created.Set(o.Created(), o.Shows("metadata.creationTimestamp", "Node "+o.Name+" exists", o.Created()))
	if err := c.lookUp(ctx, w, n); err != nil {
		return c, err
	}
	return c, c.comparePool(ctx, w, n)
}

// OfOpenShift reports whether a Node without the daemon's annotations is of a cluster in which
// there is such a daemon: the cluster has a version, or a key of the Node's labels and annotations
// is of OpenShift, as the label of the operating system with which the kubelet is started
// (openshift/machine-config-operator:templates/master/01-master-kubelet/_base/units/kubelet.service.yaml).
func OfOpenShift(version string, keys iter.Seq[string]) bool {
	if version != "" {
		return true
	}
	for key := range keys {
		if strings.Contains(key, "openshift.io/") {
			return true
		}
	}
	return false
}

// keysOf are the keys of the labels and annotations of an object.
func keysOf(o evidence.Object) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, field := range []string{"labels", "annotations"} {
			keys, _ := evidence.Field(o.Content, "metadata", field).(map[string]any)
			for key := range keys {
				if !yield(key) {
					return
				}
			}
		}
	}
}

// annotations reads what the daemon wrote to its Node.
func (c *config) annotations(n nodeConfig) {
	names, o := n.item(), n.object
	c.Annotated.Set(n.current != "" || n.state != "", names)
	c.Current.Set(n.current, names)
	c.Desired.Set(n.desired, names)
	c.State.Set(n.state, names)
	reason := names
	if n.cause != "" {
		reason = n.complaint()
	}
	c.Reason.Set(quote(n.cause), reason)
	c.Class.Set(string(n.class), reason)
	desired, last := o.Annotation(openshift.DesiredDrainAnnotation), o.Annotation(openshift.LastDrainAnnotation)
	c.DrainPending.Set(desired != "" && desired != last,
		o.Shows("metadata.annotations."+openshift.DesiredDrainAnnotation, fmt.Sprintf("desiredDrain: %s, lastAppliedDrain: %s", desired, last), time.Time{}))
}

// lookUp finds out whether the named configs exist. Where MachineConfigs could not be read,
// the daemon's own complaint proves that its config is missing, as long as it is reported.
func (c *config) lookUp(ctx context.Context, w *facts.World, n nodeConfig) error {
	facts.Prove(n.item(), &c.CurrentMissing, &c.DesiredMissing)
	if n.class.missing() {
		facts.Prove(n.complaint(), &c.CurrentMissing)
	}
	configs, err := configNames(ctx, w)
	if err != nil {
		if err := facts.Miss(err, &c.CurrentMissing, &c.CurrentSince, &c.DesiredMissing); err != nil {
			return err
		}
		return c.readMissingConfig(ctx, w, n)
	}
	shown, since := n.item(), time.Time{}
	if o, ok := configs[n.current]; ok {
		since = o.Created()
		shown = o.Shows("metadata.creationTimestamp", "MachineConfig "+o.Name+" exists", since)
	}
	c.CurrentSince.Set(since, shown)
	for _, f := range []struct {
		name  string
		field *facts.Field[bool]
	}{{n.current, &c.CurrentMissing}, {n.desired, &c.DesiredMissing}} {
		_, ok := configs[f.name]
		f.field.Set(!ok && f.name != "")
		if !ok && f.name != "" {
			f.field.Prove(configNotFound(configs, f.name))
		}
	}
	return nil
}

// readMissingConfig judges the config that a Node names by what others say of it. The reason has no
// time, and the daemon takes it away only when it is Done
// (openshift/machine-config-operator:pkg/daemon/writer.go SetWorking, SetDone): it counts
// while the daemon is Degraded, and of the config that it names. A config that can be read,
// or that the controller has given to a pool, is there: the controller makes it first
// (pkg/controller/render/render_controller.go syncGeneratedMachineConfig).
func (c *config) readMissingConfig(ctx context.Context, w *facts.World, n nodeConfig) error {
	some, err := w.Some(ctx, evidence.MachineConfigs, "")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return err
	}
	for _, o := range some {
		if o.Name == n.current {
			since := o.Created()
			c.CurrentMissing.Set(false, o.Shows("metadata.name", "MachineConfig "+o.Name+" exists", since))
			return nil
		}
	}
	pools, err := w.Some(ctx, evidence.MachineConfigPools, "")
	if _, unavailable := evidence.AsUnavailable(err); err != nil && !unavailable {
		return err
	}
	for _, o := range pools {
		if n.current != "" && evidence.String(o.Content, "spec", "configuration", "name") == n.current {
			c.CurrentMissing.Set(false, o.Shows("spec.configuration.name", n.current, time.Time{}))
			return nil
		}
		if o.Part() && evidence.String(o.Content, "spec", "configuration", "name") == "" {
			return nil // it may be the one that has the config
		}
	}
	if n.configMissing() {
		c.CurrentMissing.Set(true)
	}
	return nil
}

// comparePool reads what the node's pool wants.
func (c *config) comparePool(ctx context.Context, w *facts.World, n nodeConfig) error {
	o, pool, err := readPool(ctx, w, n.pool)
	if err != nil {
		if err := facts.Miss(err, &c.PoolSince); err != nil {
			facts.Complete(c)
			return ignoreNotApplicable(err)
		}
		return nil
	}
	var since time.Time
	degraded := o.Shows("status.conditions[NodeDegraded]", "the pool reports no degraded node", time.Time{})
	if x := condition(&pool, apitypes.MachineConfigPoolNodeDegraded); isTrue(x) && x.Message != "" {
		since = x.LastTransitionTime.UTC()
		degraded.Excerpt, degraded.Time = excerpt.OneLine(x.Message), since
	}
	c.PoolSince.Set(since, degraded)
	return nil
}
