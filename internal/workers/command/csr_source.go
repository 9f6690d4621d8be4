package command

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/csr"
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
