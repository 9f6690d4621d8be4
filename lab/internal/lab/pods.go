package lab

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	appsv1 "k8s.io/api/apps/v1"
)

// ensureDaemonPod binds a DaemonSet's pod to a node, in place of the DaemonSet
// controller and the scheduler. Its status and its end are the node's business.
// The log behind it is that of the real process, or of the host's simulated
// daemon.
func (l *Lab) ensureDaemonPod(ctx context.Context, node *corev1.Node, app, name string) error {
	ds, err := l.kube.AppsV1().DaemonSets(MCONamespace).Get(ctx, app, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read daemonset %s: %w", app, err)
	}
	owner := metav1.NewControllerRef(ds, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))
	return l.ensurePod(ctx, node, name, app, ds.Spec.Template.Spec, *owner)
}

func (l *Lab) ensurePod(ctx context.Context, node *corev1.Node, name, app string, spec corev1.PodSpec, owner metav1.OwnerReference) error {
	pods := l.kube.CoreV1().Pods(MCONamespace)
	_, err := pods.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		spec.NodeName = node.Name
		_, err = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: MCONamespace, Labels: map[string]string{"k8s-app": app}, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec:       spec,
		}, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make pod %s: %w", name, err)
	}
	return nil
}

// controllerPod returns the machine-config-controller's pod, made new where it
// is gone: its Deployment, in place of three controllers.
func (l *Lab) controllerPod(ctx context.Context, nodes []corev1.Node) (*corev1.Pod, error) {
	list, err := l.kube.CoreV1().Pods(MCONamespace).List(ctx, metav1.ListOptions{
		LabelSelector: labels.Set{"k8s-app": "machine-config-controller"}.String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list pods of machine-config-controller: %w", err)
	}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp == nil {
			return &pod, nil
		}
	}
	for _, node := range nodes {
		if node.Spec.Unschedulable || !ready(&node) {
			continue
		}
		rs, err := l.controllerReplicaSet(ctx)
		if err != nil {
			return nil, err
		}
		l.controllerPods++
		name := fmt.Sprintf("%s-%s", rs.Name, suffix(node.Name, fmt.Sprint(l.controllerPods)))
		owner := metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
		if err := l.ensurePod(ctx, &node, name, "machine-config-controller", rs.Spec.Template.Spec, *owner); err != nil {
			return nil, err
		}
		return l.kube.CoreV1().Pods(MCONamespace).Get(ctx, name, metav1.GetOptions{})
	}
	return nil, nil
}

func (l *Lab) controllerReplicaSet(ctx context.Context) (*appsv1.ReplicaSet, error) {
	deploy, err := l.kube.AppsV1().Deployments(MCONamespace).Get(ctx, "machine-config-controller", metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read deployment machine-config-controller: %w", err)
	}
	name := "machine-config-controller-6c9d7b8f5d"
	rs, err := l.kube.AppsV1().ReplicaSets(MCONamespace).Get(ctx, name, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return rs, err
	}
	return l.kube.AppsV1().ReplicaSets(MCONamespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: MCONamespace, Labels: deploy.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deploy, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		Spec: appsv1.ReplicaSetSpec{Replicas: deploy.Spec.Replicas, Selector: deploy.Spec.Selector, Template: deploy.Spec.Template},
	}, metav1.CreateOptions{})
}

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
