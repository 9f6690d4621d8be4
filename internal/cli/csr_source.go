package cli

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
)

// openRequests is the picture of the requests: that of an archive, which has no API, or of
// the cluster that they were filed in, as it is now.
func (a *app) openRequests(ctx context.Context, k known) (*judged, error) {
	if k.requests != nil {
		return &judged{snapshot: *k.requests}, nil
	}
	config, err := a.requestsConfig(ctx)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	api, err := kube.New(config, kube.Limits{})
	if err != nil {
		return nil, err
	}
	snapshot, err := csr.Gather(ctx, csr.Cluster{Objects: api}, a.io.Clock())
	if err != nil {
		return nil, fmt.Errorf("%w; `%s diagnose` shows why", err, a.name)
	}
	return &judged{api: api, snapshot: snapshot}, nil
}

// requestsConfig leads to the cluster in which requests are filed: that of the kubeconfig,
// or the hosted one of --hosted.
func (a *app) requestsConfig(ctx context.Context) (*rest.Config, error) {
	if err := a.checkHosted(); err != nil {
		return nil, err
	}
	if a.source.hosted == "" || a.source.hosted == hosted.None {
		return a.restConfig()
	}
	management, err := a.openLive()
	if err != nil {
		return nil, err
	}
	defer management.Close()
	ref, object, err := a.whichHosted(ctx, management)
	if err != nil {
		return nil, err
	}
	config, why := a.hostedConfig(ctx, management, object, ref, &hosted.Answer{Asked: true})
	if why != "" {
		return nil, fmt.Errorf("open the hosted cluster %s: there is no credential: %s; name one with --hosted-kubeconfig FILE", a.source.hosted, why)
	}
	return config, nil
}

// worldLister gives package csr the objects of an archive.
type worldLister struct{ w *facts.World }

// List implements csr.Lister. A list with a gap is an error, next to what is there.
func (l worldLister) List(ctx context.Context, group, _, resource, namespace string) ([]map[string]any, error) {
	what := evidence.Resource{Group: group, Name: resource}
	list, err := l.w.List(ctx, what, namespace)
	if err != nil {
		list, _ = l.w.Some(ctx, what, namespace)
	}
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotServed {
		return nil, apierrors.NewNotFound(schema.GroupResource{Group: group, Resource: resource}, "")
	}
	out := make([]map[string]any, 0, len(list))
	for _, o := range list {
		out = append(out, o.Content)
	}
	return out, err
}
