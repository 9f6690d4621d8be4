package repair

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Evict asks for the eviction of one pod, of that UID. The API server answers 429 where a
// PodDisruptionBudget does not allow it now
// (kubernetes/kubernetes:pkg/registry/core/pod/storage/eviction.go, v1.22 on for policy/v1).
func (k *Kube) Evict(ctx context.Context, namespace, name, uid string) error {
	eviction := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "policy/v1", "kind": "Eviction",
		"metadata":      map[string]any{"namespace": namespace, "name": name},
		"deleteOptions": map[string]any{"preconditions": map[string]any{"uid": uid}},
	}}
	_, err := k.resource(Ref{Version: "v1", Resource: "pods", Namespace: namespace}).
		Create(ctx, eviction, metav1.CreateOptions{FieldManager: FieldManager}, "eviction")
	return err
}
