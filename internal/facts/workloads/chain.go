package workloads

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
)

// The links of the chain, in their order. A broken one is the first that does not hold.
const (
	linkDeployment = "deployment" // there is no Deployment
	linkReconcile  = "reconcile"  // the Deployment controller has not seen its last change
	linkReplicaSet = "replicaset" // it has no ReplicaSet
	linkAdmission  = "admission"  // creating its pods is refused
	linkPods       = "pods"       // pods are not created
	linkScheduler  = "scheduler"  // nobody looked at where the pod could run
	linkPlacement  = "placement"  // it fits on no node
	linkKubelet    = "kubelet"    // its node does not start it
	linkContainer  = "container"  // a container does not run or is not ready
)

// Chain is one Deployment and how far it got.
type Chain struct {
	Exists   bool      `cel:"exists"`
	Wanted   int       `cel:"wanted"`
	Ready    int       `cel:"ready"`
	Observed bool      `cel:"observed"` // the controller has seen the last change of the Deployment
	Sets     int       `cel:"sets"`     // ReplicaSets of it that are to have pods
	Pods     int       `cel:"pods"`
	Refusal  string    `cel:"refusal"` // why creating a pod is refused
	Node     string    `cel:"node"`    // of the first pod
	Waiting  string    `cel:"waiting"` // what its containers say
	Broken   string    `cel:"broken"`  // the link: deployment, reconcile, replicaset, admission, pods, scheduler, placement, kubelet, container; "" for none
	Since    time.Time `cel:"since"`
}

// needs of a chain in a namespace.
func needs(namespace string) []evidence.Need {
	return []evidence.Need{
		evidence.Objects(evidence.Deployments, namespace), evidence.Objects(evidence.ReplicaSets, namespace), evidence.Objects(evidence.Pods, namespace),
	}
}

// walk follows the chain of one Deployment. What could not be read leaves the
// fields after it unknown.
func walk(ctx context.Context, w *facts.World, namespace, name string) (Chain, facts.Proof, error) {
	var c Chain
	var p facts.Proof
	o, ok, err := w.Get(ctx, evidence.Deployments, namespace, name)
	if err != nil {
		return c, p, err
	}
	if !ok {
		c.Broken = linkDeployment
		p.Add(evidence.Locator{Path: "deployments -n " + namespace}, "there is no Deployment "+name, time.Time{}, "exists", "broken", "wanted", "ready")
		return c, p, nil
	}
	d, err := evidence.Decode[appsv1.Deployment](o)
	if err != nil {
		return c, p, err
	}
	c.deployment(o, d, &p)
	sets, err := w.List(ctx, evidence.ReplicaSets, namespace)
	if err != nil {
		err = miss(&p, err, "sets", "pods", "refusal", "node", "waiting", "broken")
		return c, p, err
	}
	own, err := c.replicaSets(sets, d, &p)
	if err != nil {
		return c, p, err
	}
	pods, err := w.List(ctx, evidence.Pods, namespace)
	if err != nil {
		err = miss(&p, err, "pods", "node", "waiting", "broken")
		return c, p, err
	}
	err = c.pods(pods, own, &p)
	return c, p, err
}

func (c *Chain) deployment(o evidence.Object, d appsv1.Deployment, p *facts.Proof) {
	c.Exists, c.Wanted, c.Ready, c.Since = true, 1, int(d.Status.ReadyReplicas), d.CreationTimestamp.UTC()
	if d.Spec.Replicas != nil {
		c.Wanted = int(*d.Spec.Replicas)
	}
	c.Observed = d.Status.ObservedGeneration >= d.Generation
	for _, cond := range d.Status.Conditions {
		if cond.Type == appsv1.DeploymentAvailable && cond.Status != corev1.ConditionTrue {
			c.Since = cond.LastTransitionTime.UTC()
		}
	}
	if c.Wanted > 0 && !c.Observed {
		c.Broken = linkReconcile
	}
	p.Add(o.Loc.At("status"), fmt.Sprintf("%d of %d ready, generation %d, observed %d", c.Ready, c.Wanted, d.Generation, d.Status.ObservedGeneration), c.Since,
		"exists", "wanted", "ready", "observed", "broken", "since")
}

// replicaSets finds those of the Deployment that are to have pods.
func (c *Chain) replicaSets(list []evidence.Object, d appsv1.Deployment, p *facts.Proof) (map[string]bool, error) {
	own := map[string]bool{}
	created, wanted := 0, 0
	for _, o := range list {
		if !ownedBy(o, "Deployment", d.Name) {
			continue
		}
		set, err := evidence.Decode[appsv1.ReplicaSet](o)
		if err != nil {
			return nil, err
		}
		if set.Spec.Replicas == nil || *set.Spec.Replicas == 0 {
			continue
		}
		own[o.Name] = true
		c.Sets++
		created, wanted = created+int(set.Status.Replicas), wanted+int(*set.Spec.Replicas)
		c.Refusal = cmpOr(c.Refusal, refusal(set))
		p.Add(o.Loc.At("status"), fmt.Sprintf("replicas %d of %d %s", set.Status.Replicas, *set.Spec.Replicas, refusal(set)), o.Created(), "sets", "refusal", "broken")
	}
	switch {
	case c.Broken != "" || c.Wanted == 0:
	case c.Sets == 0:
		c.Broken = linkReplicaSet
		p.Add(evidence.Locator{Path: "replicasets -n " + d.Namespace}, "none of "+d.Name+" is to have pods", time.Time{}, "sets", "broken")
	case created < wanted && c.Refusal != "":
		c.Broken = linkAdmission
	case created < wanted:
		c.Broken = linkPods
	}
	return own, nil
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// refusal is why the API does not take the pods of a ReplicaSet
// (kubernetes/kubernetes:pkg/controller/replicaset/replica_set_utils.go calculateStatus).
func refusal(set appsv1.ReplicaSet) string {
	for _, c := range set.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
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

func (c *Chain) pods(list []evidence.Object, own map[string]bool, p *facts.Proof) error {
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
		c.Pods++
		link, says, since := state(pod)
		if c.Node == "" {
			c.Node = pod.Spec.NodeName
		}
		if link != "" && c.Broken == "" && c.Ready < c.Wanted {
			c.Broken, c.Waiting, c.Since = link, says, since
		}
		p.Add(o.Loc.At("status"), fmt.Sprintf("on node %q: %s", pod.Spec.NodeName, says), since, "pods", "node", "waiting", "broken")
	}
	if c.Broken == "" && c.Wanted > 0 && c.Pods == 0 {
		c.Broken = linkPods
		p.Add(evidence.Locator{Path: "pods -n " + machineAPI}, "no pod of its ReplicaSets", time.Time{}, "pods", "broken")
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
		case c.State.Running != nil && !c.Ready && slices.ContainsFunc(pod.Status.ContainerStatuses, func(o corev1.ContainerStatus) bool { return o.Name == c.Name }):
			said = append(said, c.Name+" runs and is not ready")
		}
	}
	if len(said) == 0 {
		return "phase " + string(pod.Status.Phase)
	}
	return strings.Join(said, "; ")
}
