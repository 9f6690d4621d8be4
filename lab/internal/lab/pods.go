package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	return l.ensurePod(ctx, node, MCONamespace, name, ds.Spec.Template, *owner)
}

func (l *Lab) ensurePod(ctx context.Context, node *corev1.Node, namespace, name string, template corev1.PodTemplateSpec, owner metav1.OwnerReference) error {
	pods := l.kube.CoreV1().Pods(namespace)
	_, err := pods.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		spec := template.Spec
		spec.NodeName = node.Name
		_, err = pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: template.Labels, OwnerReferences: []metav1.OwnerReference{owner}},
			Spec:       spec,
		}, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("make pod %s/%s: %w", namespace, name, err)
	}
	return nil
}

// silent gives every container of a pod an empty log: the kubelet shows a pod as running
// whose containers all have one.
func (l *Lab) silent(pod *corev1.Pod) error {
	for _, c := range pod.Spec.Containers {
		log := l.containerLog(pod.Spec.NodeName, pod.Namespace, pod.Name, c.Name)
		if _, err := os.Stat(log); err == nil {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(log), 0o755), os.WriteFile(log, nil, 0o644)); err != nil {
			return fmt.Errorf("make a log of %s: %w", pod.Name, err)
		}
	}
	return nil
}

// deployment is a Deployment of one replica that the lab keeps running.
type deployment struct {
	namespace, name string
	hash            string // of its ReplicaSet's name
}

var (
	controllerDeployment = deployment{MCONamespace, "machine-config-controller", "6c9d7b8f5d"}
	approverDeployment   = deployment{"openshift-cluster-machine-approver", "machine-approver", "7f5bd9c6c4"}
)

// deployedPod returns a Deployment's pod, made new on the first master that
// takes pods where it is gone, in place of three controllers. It is nil where no
// master does, and where the Deployment is scaled to nothing.
func (l *Lab) deployedPod(ctx context.Context, d deployment, nodes []corev1.Node) (*corev1.Pod, error) {
	rs, err := l.replicaSet(ctx, d)
	if err != nil {
		return nil, err
	}
	if rs.Spec.Replicas != nil && *rs.Spec.Replicas == 0 {
		return nil, l.scaleDown(ctx, d, rs)
	}
	list, err := l.kube.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{
		LabelSelector: metav1.FormatLabelSelector(rs.Spec.Selector),
	})
	if err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", d.name, err)
	}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		if l.isOn(pod.Spec.NodeName) {
			return &pod, nil
		}
		// Its machine is dead. Tolerations let it stay for two minutes, here
		// it goes at once: terminating, because no kubelet stops it.
		if err := l.kube.CoreV1().Pods(d.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			return nil, fmt.Errorf("evict %s: %w", pod.Name, err)
		}
	}
	for _, node := range nodes {
		if node.Spec.Unschedulable || !ready(&node) || !l.isOn(node.Name) {
			continue
		}
		l.deployed[d]++
		name := fmt.Sprintf("%s-%s", rs.Name, suffix(node.Name, fmt.Sprint(l.deployed[d])))
		owner := metav1.NewControllerRef(rs, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
		if err := l.ensurePod(ctx, &node, d.namespace, name, rs.Spec.Template, *owner); err != nil {
			return nil, err
		}
		return l.kube.CoreV1().Pods(d.namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return nil, nil
}

// scaleDown deletes the pods of a Deployment that has no replicas.
func (l *Lab) scaleDown(ctx context.Context, d deployment, rs *appsv1.ReplicaSet) error {
	list, err := l.kube.CoreV1().Pods(d.namespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(rs.Spec.Selector)})
	if err != nil {
		return fmt.Errorf("list pods of %s: %w", d.name, err)
	}
	for _, pod := range list.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		if err := l.kube.CoreV1().Pods(d.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("scale %s down: %w", d.name, err)
		}
	}
	return nil
}

// replicaSet is that of a Deployment, with as many replicas as the Deployment has.
func (l *Lab) replicaSet(ctx context.Context, d deployment) (*appsv1.ReplicaSet, error) {
	deploy, err := l.kube.AppsV1().Deployments(d.namespace).Get(ctx, d.name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read deployment %s: %w", d.name, err)
	}
	name := d.name + "-" + d.hash
	rs, err := l.kube.AppsV1().ReplicaSets(d.namespace).Get(ctx, name, metav1.GetOptions{})
	if err == nil && !equality.Semantic.DeepEqual(rs.Spec.Replicas, deploy.Spec.Replicas) {
		rs.Spec.Replicas = deploy.Spec.Replicas
		rs, err = l.kube.AppsV1().ReplicaSets(d.namespace).Update(ctx, rs, metav1.UpdateOptions{})
	}
	if !apierrors.IsNotFound(err) {
		return rs, err
	}
	return l.kube.AppsV1().ReplicaSets(d.namespace).Create(ctx, &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: d.namespace, Labels: deploy.Spec.Template.Labels,
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
