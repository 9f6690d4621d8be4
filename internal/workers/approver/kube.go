package approver

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
)

// watchFor is how long one watch lasts: it is begun again afterwards.
const watchFor = 5 * time.Minute

// Kube is the API of a cluster.
type Kube struct {
	csr.Cluster
	client *kube.Client
}

// NewKube returns the API that cfg leads to.
func NewKube(cfg *rest.Config) (*Kube, error) {
	client, err := kube.New(cfg, kube.Limits{Watch: watchFor + time.Minute})
	if err != nil {
		return nil, err
	}
	return &Kube{Cluster: csr.Cluster{Objects: client}, client: client}, nil
}

// Get implements API.
func (k *Kube) Get(ctx context.Context, r kube.Ref) (kube.Object, error) { return k.client.Get(ctx, r) }

// Create implements API.
func (k *Kube) Create(ctx context.Context, r kube.Ref, content kube.Object) error {
	_, err := k.client.Create(ctx, r, content, false)
	return err
}

// Update implements API.
func (k *Kube) Update(ctx context.Context, r kube.Ref, content kube.Object) error {
	_, err := k.client.Update(ctx, r, content, false)
	return err
}

// Watch implements API. It begins with all requests that there are, so that none is
// missed between two watches.
func (k *Kube) Watch(ctx context.Context, changed func()) error {
	err := k.client.Watch(ctx, csr.Requests, watchFor, func(o kube.Object) {
		if waits(o) {
			changed()
		}
	})
	if err != nil {
		return fmt.Errorf("watch requests: %w", err)
	}
	return nil
}

// waits reports whether a kubelet's request waits.
func waits(o map[string]any) bool {
	signer := evidence.String(o, "spec", "signerName")
	conditions, _ := evidence.Field(o, "status", "conditions").([]any)
	return len(conditions) == 0 && (signer == certificatesv1.KubeAPIServerClientKubeletSignerName || signer == certificatesv1.KubeletServingSignerName)
}
