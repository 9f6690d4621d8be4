package host

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// event records an Event of the kubelet on the Node.
func (k *kubelet) event(ctx context.Context, node *corev1.Node, kind, reason, msg string) {
	// The kubelet names its Node by name where a UID belongs
	// (k8s.io/kubernetes:pkg/kubelet/kubelet.go nodeRef).
	if err := recordEvent(ctx, k.client, "kubelet", node.Name, node.Name, kind, reason, msg, metav1.NewTime(k.h.now())); err != nil {
		k.h.log.Debug("record event", "reason", reason, "error", err)
	}
}

// recordEvent creates an Event about a Node in the namespace default, where
// those of objects without a namespace go.
func recordEvent(ctx context.Context, client kubernetes.Interface, component, node, uid, kind, reason, msg string, at metav1.Time) error {
	_, err := client.CoreV1().Events(metav1.NamespaceDefault).Create(ctx, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{GenerateName: node + "."},
		InvolvedObject: corev1.ObjectReference{Kind: "Node", Name: node, UID: types.UID(uid)},
		Source:         corev1.EventSource{Component: component, Host: node},
		Type:           kind, Reason: reason, Message: msg, Count: 1,
		FirstTimestamp: at, LastTimestamp: at,
	}, metav1.CreateOptions{})
	return err
}
