package smoke

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// InCluster returns the Cluster that a client leads to.
func InCluster(api *kube.Client) Cluster { return cluster{api} }

type cluster struct{ api *kube.Client }

func podRef(name string) kube.Ref {
	return kube.Ref{Version: "v1", Resource: "pods", Namespace: Namespace, Name: name}
}

// DaemonSet implements Cluster.
func (c cluster) DaemonSet(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, kube.Ref{Group: "apps", Version: "v1", Resource: "daemonsets", Namespace: Namespace, Name: name})
}

// Node implements Cluster.
func (c cluster) Node(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: name})
}

// Pod implements Cluster.
func (c cluster) Pod(ctx context.Context, name string) (map[string]any, error) {
	return c.api.Get(ctx, podRef(name))
}

// CreatePod implements Cluster.
func (c cluster) CreatePod(ctx context.Context, pod map[string]any) (map[string]any, error) {
	return c.api.Create(ctx, podRef(evidence.String(pod, "metadata", "name")), pod, false)
}

// DeletePod implements Cluster.
func (c cluster) DeletePod(ctx context.Context, name, uid string) error {
	return c.api.Remove(ctx, podRef(name), uid)
}

// Ask implements Cluster. The answer is of the pod, and of the API server where it does
// not reach the pod.
func (c cluster) Ask(ctx context.Context, pod, port string) (string, error) {
	return c.api.AskPod(ctx, Namespace, pod, port)
}
