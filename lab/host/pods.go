package host

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// syncBoundPods does the kubelet's part for pods that were bound to the node
// through the API: one that is being deleted goes away, which a drain waits
// for, and one whose containers the lab really runs (each has a log, see
// Config.ContainerLogs) is reported Running. Any other pod stays Pending,
// because nothing runs for it.
func (k *kubelet) syncBoundPods(ctx context.Context, pods []*corev1.Pod) error {
	var errs []error
	for _, pod := range pods {
		var err error
		switch {
		case pod.DeletionTimestamp != nil:
			err = k.deletePod(ctx, pod)
		case k.lives(pod) && !k.podRunning(pod):
			pod.Status = k.runningStatus(pod)
			_, err = k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		case !k.lives(pod) && len(pod.Status.ContainerStatuses) == 0:
			pod.Status = k.creatingStatus(pod)
			_, err = k.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err))
		}
	}
	return errors.Join(errs...)
}

// lives says whether the lab runs something for every container of a pod.
func (k *kubelet) lives(pod *corev1.Pod) bool {
	for _, c := range pod.Spec.Containers {
		if _, ok := k.logPath(pod.Namespace, pod.Name, c.Name); !ok {
			return false
		}
	}
	return len(pod.Spec.Containers) > 0
}

// creatingStatus is that of a pod whose containers cannot be created yet.
func (k *kubelet) creatingStatus(pod *corev1.Pod) corev1.PodStatus {
	now := metav1.NewTime(k.h.now())
	s := corev1.PodStatus{Phase: corev1.PodPending, StartTime: &now, HostIP: k.h.cfg.Address, HostIPs: []corev1.HostIP{{IP: k.h.cfg.Address}}}
	for t, status := range map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodScheduled: corev1.ConditionTrue, corev1.PodInitialized: corev1.ConditionTrue,
		corev1.ContainersReady: corev1.ConditionFalse, corev1.PodReady: corev1.ConditionFalse,
	} {
		s.Conditions = append(s.Conditions, corev1.PodCondition{Type: t, Status: status, LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		s.ContainerStatuses = append(s.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}},
		})
	}
	return s
}
