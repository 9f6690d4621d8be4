package workloads

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes"
)

// The links of the chain, in their order. A broken one is the first that does not hold.
const (
	linkDeployment = "deployment" // there is no Deployment
	linkReconcile  = "reconcile"  // the Deployment controller has not seen its last change
	linkReplicaSet = "replicaset" // it has no ReplicaSet
	linkAdmission  = "admission"  // creating its pods is refused
	linkPods       = "pods"       // pods are not created
	linkScheduler  = "scheduler"  // not checked where the pod could run
	linkPlacement  = "placement"  // it fits on no node
	linkKubelet    = "kubelet"    // its node does not start it
	linkContainer  = "container"  // a container does not run or is not ready
)

// Chain is one Deployment and how far it got.
type Chain struct {
	Exists  facts.Field[bool]   `cel:"exists"`
	Wanted  facts.Field[int]    `cel:"wanted"`
	Ready   facts.Field[int]    `cel:"ready"`
	Sets    facts.Field[int]    `cel:"sets"`    // ReplicaSets of it that are to have pods
	Refusal facts.Field[string] `cel:"refusal"` // why creating a pod is refused
	Node    facts.Field[string] `cel:"node"`    // of the first pod
	// the link: deployment, reconcile, replicaset, admission, pods, scheduler, placement,
	// kubelet, container; "" for none
	Broken facts.Field[string]    `cel:"broken"`
	Since  facts.Field[time.Time] `cel:"since"`
}

// links is a Chain while it is followed.
type links struct {
	Chain
	wanted, ready, sets, pods int
	refusal, node, broken     string
	since                     time.Time
}

// end returns the chain with what was found.
func (c *links) end() Chain {
	f := c.Chain
	f.Sets.Set(c.sets)
	f.Refusal.Set(c.refusal)
	f.Node.Set(c.node)
	f.Broken.Set(c.broken)
	f.Since.Set(c.since)
	return f
}

// needs of a chain in a namespace.
func needs(namespace string) []evidence.Need {
	return []evidence.Need{
		evidence.Objects(evidence.Deployments, namespace), evidence.Objects(evidence.ReplicaSets, namespace), evidence.Objects(evidence.Pods, namespace),
	}
}

// readChain follows the chain of one Deployment. What could not be read leaves the
// fields after it unknown.
func readChain(ctx context.Context, w *facts.World, namespace, name string) (Chain, error) {
	var c links
	o, ok, err := w.Get(ctx, evidence.Deployments, namespace, name)
	if err != nil {
		return Chain{}, err
	}
	if !ok {
		none := evidence.Listed(evidence.Deployments, namespace, "there is no Deployment "+name)
		return Chain{Exists: facts.Known(false, none), Broken: facts.Known(linkDeployment, none), Wanted: facts.Known(0, none), Ready: facts.Known(0, none),
			Sets: facts.Known(0, none), Refusal: facts.Known("", none), Node: facts.Known("", none), Since: facts.Known(time.Time{}, none)}, nil
	}
	d, err := evidence.Decode[apitypes.Deployment](o)
	if err != nil {
		return Chain{}, err
	}
	c.deployment(o, d)
	sets, err := w.List(ctx, evidence.ReplicaSets, namespace)
	if err != nil {
		f := c.end()
		return f, facts.Miss(err, &f.Sets, &f.Refusal, &f.Node, &f.Broken)
	}
	own, err := c.replicaSets(sets, d)
	if err != nil {
		return Chain{}, err
	}
	pods, err := w.List(ctx, evidence.Pods, namespace)
	if err != nil {
		f := c.end()
		return f, facts.Miss(err, &f.Node, &f.Broken)
	}
	if err := c.readPods(pods, own); err != nil {
		return Chain{}, err
	}
	return c.end(), nil
}

func (c *links) deployment(o evidence.Object, d apitypes.Deployment) {
	c.wanted, c.ready, c.since = 1, int(d.Status.ReadyReplicas), d.CreationTimestamp.UTC()
	if d.Spec.Replicas != nil {
		c.wanted = int(*d.Spec.Replicas)
	}
	observed := d.Status.ObservedGeneration >= d.Generation
	for _, cond := range d.Status.Conditions {
		if cond.Type == apitypes.DeploymentAvailable && cond.Status != corev1.ConditionTrue {
			c.since = cond.LastTransitionTime.UTC()
		}
	}
	if c.wanted > 0 && !observed {
		c.broken = linkReconcile
	}
	item := o.Shows("status", fmt.Sprintf("%d of %d ready, generation %d, observed %d", c.ready, c.wanted, d.Generation, d.Status.ObservedGeneration), c.since)
	c.Exists.Set(true, item)
	c.Wanted.Set(c.wanted, item)
	c.Ready.Set(c.ready, item)
	facts.Prove(item, &c.Broken, &c.Since)
}

// replicaSets finds those of the Deployment that are to have pods.
func (c *links) replicaSets(list []evidence.Object, d apitypes.Deployment) (map[string]bool, error) {
	own := map[string]bool{}
	created, wanted := 0, 0
	for _, o := range list {
		if !ownedBy(o, "Deployment", d.Name) {
			continue
		}
		set, err := evidence.Decode[apitypes.ReplicaSet](o)
		if err != nil {
			return nil, err
		}
		if set.Spec.Replicas == nil || *set.Spec.Replicas == 0 {
			continue
		}
		own[o.Name] = true
		c.sets++
		created, wanted = created+int(set.Status.Replicas), wanted+int(*set.Spec.Replicas)
		c.refusal = cmp.Or(c.refusal, refusal(set))
		facts.Prove(o.Shows("status", fmt.Sprintf("replicas %d of %d %s", set.Status.Replicas, *set.Spec.Replicas, refusal(set)), o.Created()), &c.Sets,
			&c.Refusal, &c.Broken)
	}
	switch {
	case c.broken != "" || c.wanted == 0:
	case c.sets == 0:
		c.broken = linkReplicaSet
		facts.Prove(evidence.Listed(evidence.ReplicaSets, d.Namespace, "none of "+d.Name+" is to have pods"), &c.Sets, &c.Broken)
	case created < wanted && c.refusal != "":
		c.broken = linkAdmission
	case created < wanted:
		c.broken = linkPods
	}
	return own, nil
}

// refusal is why the API does not take the pods of a ReplicaSet
// (kubernetes/kubernetes:pkg/controller/replicaset/replica_set_utils.go calculateStatus).
func refusal(set apitypes.ReplicaSet) string {
	for _, c := range set.Status.Conditions {
		if c.Type == apitypes.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return c.Reason + ": " + c.Message
		}
	}
	return ""
}

// ownedBy reports whether an owner of a kind is named. Objects without owners in
// a trimmed archive belong by the name that the controllers give them.
func ownedBy(o evidence.Object, kind, name string) bool {
	owners, _ := evidence.Field(o.Content, "metadata", "ownerReferences").([]any)
	for _, e := range owners {
		m, _ := e.(map[string]any)
		if evidence.String(m, "kind") == kind {
			return evidence.String(m, "name") == name
		}
	}
	i := strings.LastIndex(o.Name, "-")
	return i > 0 && o.Name[:i] == name
}

func (c *links) readPods(list []evidence.Object, own map[string]bool) error {
	for _, o := range list {
		mine := false
		for set := range own {
			mine = mine || ownedBy(o, "ReplicaSet", set)
		}
		if !mine || evidence.String(o.Content, "metadata", "deletionTimestamp") != "" {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil {
			return err
		}
		c.pods++
		link, says, since := state(pod)
		c.node = cmp.Or(c.node, pod.Spec.NodeName)
		if link != "" && c.broken == "" && c.ready < c.wanted {
			c.broken, c.since = link, since
		}
		facts.Prove(o.Shows("status", fmt.Sprintf("on node %q: %s", pod.Spec.NodeName, says), since), &c.Node, &c.Broken)
	}
	if c.broken == "" && c.wanted > 0 && c.pods == 0 {
		c.broken = linkPods
		facts.Prove(evidence.Listed(evidence.Pods, openshift.MachineAPINamespace, "no pod of its ReplicaSets"), &c.Broken)
	}
	return nil
}

// state says which link of a pod is broken and since when.
func state(pod corev1.Pod) (link, says string, since time.Time) {
	since = pod.CreationTimestamp.UTC()
	scheduled, hasScheduled := condition(pod, corev1.PodScheduled)
	ready, hasReady := condition(pod, corev1.PodReady)
	switch {
	case pod.Spec.NodeName == "" && !hasScheduled:
		return linkScheduler, "the scheduler has not looked at it", since
	case pod.Spec.NodeName == "":
		return linkPlacement, scheduled.Reason + ": " + scheduled.Message, scheduled.LastTransitionTime.UTC()
	case pod.Status.StartTime == nil && pod.Status.Phase == corev1.PodPending:
		return linkKubelet, "its node has not taken it", since
	case hasReady && ready.Status == corev1.ConditionTrue:
		return "", "Ready", ready.LastTransitionTime.UTC()
	}
	if hasReady && !ready.LastTransitionTime.IsZero() {
		since = ready.LastTransitionTime.UTC()
	}
	return linkContainer, waiting(pod), since
}

func condition(pod corev1.Pod, kind corev1.PodConditionType) (corev1.PodCondition, bool) {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return corev1.PodCondition{}, false
	}
	return pod.Status.Conditions[i], true
}

// waiting is what the containers of a pod that is not ready say.
func waiting(pod corev1.Pod) string {
	var said []string
	for _, c := range append(slices.Clone(pod.Status.InitContainerStatuses), pod.Status.ContainerStatuses...) {
		switch {
		case c.State.Waiting != nil && c.State.Waiting.Reason != "PodInitializing":
			said = append(said, strings.TrimSpace(c.Name+" waits: "+c.State.Waiting.Reason+" "+c.State.Waiting.Message))
		case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
			said = append(said, fmt.Sprintf("%s ended with %d: %s", c.Name, c.State.Terminated.ExitCode, c.State.Terminated.Reason))
		case c.State.Running != nil && !c.Ready &&
			slices.ContainsFunc(pod.Status.ContainerStatuses, func(o corev1.ContainerStatus) bool { return o.Name == c.Name }):
			said = append(said, c.Name+" runs and is not ready")
		}
	}
	if len(said) == 0 {
		return "phase " + string(pod.Status.Phase)
	}
	return strings.Join(said, "; ")
}
