package command

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// openRequests is the picture of the requests: that of an archive, which has no API, or of
// the cluster that they were filed in, as it is now.
func (a *app) openRequests(ctx context.Context, k known) (*judged, error) {
	if k.requests != nil {
		return &judged{snapshot: *k.requests}, nil
	}
	config, err := a.session().RequestsConfig(ctx)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	api, err := kube.New(config, kube.Limits{})
	if err != nil {
		return nil, err
	}
	snapshot, err := csr.Gather(ctx, csr.Cluster{Objects: api}, a.IO.Clock())
	if err != nil {
		return nil, fmt.Errorf("%w; `%s diagnose` shows why", err, a.Name)
	}
	return &judged{api: api, snapshot: snapshot}, nil
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
