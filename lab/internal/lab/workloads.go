package lab

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/rollcall-project/rollcall/lab/internal/seed"
)

// syncWorkloads writes the status of the machine config DaemonSets and of the
// Deployments that the lab keeps running from their pods, in place of the controllers that
// would (k8s.io/kubernetes:pkg/controller/daemon/daemon_controller.go
// updateDaemonSetStatus, pkg/controller/deployment/sync.go).
func (l *Lab) syncWorkloads(ctx context.Context) error {
	if !l.controllerWanted() {
		return nil
	}
	nodes, err := l.nodes(ctx)
	if err != nil {
		return err
	}
	pods, err := l.kube.CoreV1().Pods(MCONamespace).List(ctx, metav1.ListOptions{LabelSelector: "k8s-app"})
	if err != nil {
		return fmt.Errorf("list pods: %w", err)
	}
	all, err := l.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for name, on := range map[string]int{"machine-config-server": len(nodes), "machine-config-daemon": len(all.Items)} {
		if err := l.syncDaemonSet(ctx, name, int32(on), pods.Items); err != nil {
			return err
		}
	}
	deployments := []deployment{controllerDeployment, approverDeployment}
	if l.metal3There() {
		deployments = append(deployments, metal3Deployment, bmoDeployment)
	}
	for _, d := range deployments {
		if err := l.syncDeployment(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many pods with these labels there are, and how many are
// ready.
func count(pods []corev1.Pod, wanted map[string]string) (all, ready int32) {
	selector := labels.SelectorFromSet(wanted)
	for _, pod := range pods {
		if !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		all++
		if podReady(&pod) {
			ready++
		}
	}
	return all, ready
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

func (l *Lab) syncDaemonSet(ctx context.Context, name string, wanted int32, pods []corev1.Pod) error {
	ds, err := l.kube.AppsV1().DaemonSets(MCONamespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read daemonset %s: %w", name, err)
	}
	all, ready := count(pods, ds.Spec.Selector.MatchLabels)
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: ds.Generation, DesiredNumberScheduled: wanted, CurrentNumberScheduled: all,
		UpdatedNumberScheduled: all, NumberReady: ready, NumberAvailable: ready, NumberUnavailable: max(0, wanted-ready), // pods outlive a deleted Node
	}
	if equality.Semantic.DeepEqual(status, ds.Status) {
		return nil
	}
	ds.Status = status
	if _, err := l.kube.AppsV1().DaemonSets(MCONamespace).UpdateStatus(ctx, ds, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of daemonset %s: %w", name, err)
	}
	return nil
}

func (l *Lab) syncDeployment(ctx context.Context, of deployment) error {
	deployments := l.kube.AppsV1().Deployments(of.namespace)
	d, err := deployments.Get(ctx, of.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read deployment %s: %w", of.name, err)
	}
	pods, err := l.kube.CoreV1().Pods(of.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list pods of %s: %w", of.name, err)
	}
	all, ready := count(pods.Items, d.Spec.Selector.MatchLabels)
	if err := l.syncReplicaSet(ctx, of, all, ready); err != nil {
		return err
	}
	status := appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: all, UpdatedReplicas: all, ReadyReplicas: ready,
		AvailableReplicas: ready, UnavailableReplicas: all - ready, Conditions: d.Status.Conditions,
	}
	if of.namespace == seed.HostedControlPlane { // the lab's own Deployments have no conditions
		status.Conditions = minimumAvailability(d, ready)
	}
	if equality.Semantic.DeepEqual(status, d.Status) {
		return nil
	}
	d.Status = status
	if _, err := deployments.UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of deployment %s: %w", of.name, err)
	}
	return nil
}

// minimumAvailability is the condition that says since when a Deployment has all of its pods: its time
// moves with its status only (k8s.io/kubernetes:pkg/controller/deployment/sync.go calculateStatus,
// util/deployment_util.go SetDeploymentCondition).
func minimumAvailability(d *appsv1.Deployment, ready int32) []appsv1.DeploymentCondition {
	now := metav1.Now()
	c := appsv1.DeploymentCondition{
		Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, LastUpdateTime: now, LastTransitionTime: now,
		Reason: "MinimumReplicasUnavailable", Message: "Deployment does not have minimum availability.",
	}
	if d.Spec.Replicas == nil && ready > 0 || d.Spec.Replicas != nil && ready >= *d.Spec.Replicas {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, "MinimumReplicasAvailable", "Deployment has minimum availability."
	}
	for _, was := range d.Status.Conditions {
		if was.Type == c.Type && was.Status == c.Status {
			return d.Status.Conditions
		}
	}
	return []appsv1.DeploymentCondition{c}
}

// syncReplicaSet writes the status of a Deployment's ReplicaSet, once it is there
// (k8s.io/kubernetes:pkg/controller/replicaset/replica_set_utils.go calculateStatus).
func (l *Lab) syncReplicaSet(ctx context.Context, of deployment, all, ready int32) error {
	sets := l.kube.AppsV1().ReplicaSets(of.namespace)
	rs, err := sets.Get(ctx, of.name+"-"+of.hash, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read replicaset of %s: %w", of.name, err)
	}
	status := appsv1.ReplicaSetStatus{ObservedGeneration: rs.Generation, Replicas: all, FullyLabeledReplicas: all, ReadyReplicas: ready,
		AvailableReplicas: ready}
	if equality.Semantic.DeepEqual(status, rs.Status) {
		return nil
	}
	rs.Status = status
	if _, err := sets.UpdateStatus(ctx, rs, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("write status of replicaset %s: %w", rs.Name, err)
	}
	return nil
}

// unavailable says which Deployment has no available pod, as its status knows it.
func (l *Lab) unavailable(ctx context.Context, list ...deployment) (string, error) {
	for _, of := range list {
		d, err := l.kube.AppsV1().Deployments(of.namespace).Get(ctx, of.name, metav1.GetOptions{})
		if err != nil {
			return "", fmt.Errorf("read deployment %s: %w", of.name, err)
		}
		if d.Status.AvailableReplicas == 0 {
			return "no pod of " + of.name + " is available", nil
		}
	}
	return "", nil
}
