package csr

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Objects reads and writes objects by reference, as a kube.Client does.
type Objects interface {
	Get(ctx context.Context, r kube.Ref) (kube.Object, error)
	List(ctx context.Context, r kube.Ref) ([]kube.Object, error)
	Patch(ctx context.Context, r kube.Ref, subresource string, patch []byte, dryRun bool) (kube.Object, error)
}

// Cluster is the API of this package over the objects of a cluster.
type Cluster struct{ Objects Objects }

var _ API = Cluster{}

// Requests refers to all requests of a cluster.
var Requests = kube.Ref{Group: openshift.CertificatesGroup, Version: "v1", Resource: requestsResource}

func request(name string) kube.Ref {
	r := Requests
	r.Name = name
	return r
}

// List implements Lister.
func (c Cluster) List(ctx context.Context, group, version, resource, namespace string) ([]map[string]any, error) {
	return c.Objects.List(ctx, kube.Ref{Group: group, Version: version, Resource: resource, Namespace: namespace})
}

// GetRequest implements API.
func (c Cluster) GetRequest(ctx context.Context, name string) (map[string]any, error) {
	return c.Objects.Get(ctx, request(name))
}

// PatchApproval implements API.
func (c Cluster) PatchApproval(ctx context.Context, name string, patch []byte, dryRun bool) (map[string]any, error) {
	return c.Objects.Patch(ctx, request(name), "approval", patch, dryRun)
}
