package lab

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	for _, name := range []string{"machine-config-server", "machine-config-daemon"} {
		if err := l.syncDaemonSet(ctx, name, int32(len(nodes)), pods.Items); err != nil {
			return err
		}
	}
	for _, d := range []deployment{controllerDeployment, approverDeployment} {
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
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
				ready++
			}
		}
	}
	return all, ready
}

func (l *Lab) syncDaemonSet(ctx context.Context, name string, wanted int32, pods []corev1.Pod) error {
	ds, err := l.kube.AppsV1().DaemonSets(MCONamespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read daemonset %s: %w", name, err)
	}
	all, ready := count(pods, ds.Spec.Selector.MatchLabels)
	status := appsv1.DaemonSetStatus{
		ObservedGeneration: ds.Generation, DesiredNumberScheduled: wanted, CurrentNumberScheduled: all,
		UpdatedNumberScheduled: all, NumberReady: ready, NumberAvailable: ready, NumberUnavailable: wanted - ready,
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
	status := appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: all, UpdatedReplicas: all, ReadyReplicas: ready,
		AvailableReplicas: ready, UnavailableReplicas: all - ready,
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
