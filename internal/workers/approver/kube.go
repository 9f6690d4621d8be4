package approver

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/certificatesv1"
	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// Bounds of one watch: it is begun again afterwards.
const (
	watchFor   = 5 * time.Minute
	watchBytes = 64 << 20
)

// Kube is the API through client-go.
type Kube struct {
	repair.Listing
	client dynamic.Interface
	long   dynamic.Interface // for watches: its requests may last
}

// NewKube returns the API that cfg leads to, bounded as live.Protect says.
func NewKube(cfg *rest.Config) (*Kube, error) {
	api, err := repair.NewKube(cfg)
	if err != nil {
		return nil, err
	}
	k := &Kube{Listing: repair.Listing{API: api}}
	if k.client, err = dynamic.NewForConfig(repair.Protected(cfg)); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	if k.long, err = dynamic.NewForConfig(live.Protect(cfg, live.Limits{Answer: watchBytes, Request: watchFor + time.Minute})); err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return k, nil
}

func in(client dynamic.Interface, r Ref) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
	if r.Namespace == "" {
		return client.Resource(gvr)
	}
	return client.Resource(gvr).Namespace(r.Namespace)
}

// Get implements API. An answer about another object is an error.
func (k *Kube) Get(ctx context.Context, r Ref) (map[string]any, error) {
	return k.API.Get(ctx, repair.Ref{Group: r.Group, Version: r.Version, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name})
}

// Create implements API.
func (k *Kube) Create(ctx context.Context, r Ref, content map[string]any) error {
	_, err := in(k.client, r).Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{FieldManager: repair.FieldManager})
	return err
}

// Update implements API.
func (k *Kube) Update(ctx context.Context, r Ref, content map[string]any) error {
	_, err := in(k.client, r).Update(ctx, &unstructured.Unstructured{Object: content}, metav1.UpdateOptions{FieldManager: repair.FieldManager})
	return err
}

// Watch implements API. It begins with all requests that there are, so that none is
// missed between two watches.
func (k *Kube) Watch(ctx context.Context, changed func()) error {
	seconds := int64(watchFor / time.Second)
	w, err := in(k.long, Ref{Group: "certificates.k8s.io", Version: "v1", Resource: "certificatesigningrequests"}).
		Watch(ctx, metav1.ListOptions{TimeoutSeconds: &seconds})
	if err != nil {
		return fmt.Errorf("watch requests: %w", err)
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, open := <-w.ResultChan():
			if !open {
				return nil
			}
			if e.Type == watch.Error {
				return fmt.Errorf("watch requests: %w", apierrors.FromObject(e.Object))
			}
			if o, is := e.Object.(*unstructured.Unstructured); is && e.Type != watch.Deleted && waits(o.Object) {
				changed()
			}
		}
	}
}

// waits reports whether a kubelet's request waits.
func waits(o map[string]any) bool {
	signer := evidence.String(o, "spec", "signerName")
	conditions, _ := evidence.Field(o, "status", "conditions").([]any)
	return len(conditions) == 0 && (signer == certificatesv1.KubeAPIServerClientKubeletSignerName || signer == certificatesv1.KubeletServingSignerName)
}
