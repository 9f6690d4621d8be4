package network

import (
	"testing"

	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"
)

// TestWaiting: what keeps a pod from being ready does not contradict that it does not run.
func TestWaiting(t *testing.T) {
	for want, status := range map[string]corev1.PodStatus{
		"its pod is Running and not Ready": {Phase: corev1.PodRunning},
		"phase Pending":                    {Phase: corev1.PodPending},
		"sbdb runs and is not ready": {Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "sbdb", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
	} {
		if got := waiting(corev1.Pod{Status: status}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
