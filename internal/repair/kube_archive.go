package repair

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// Lister lists the objects of a source of evidence, such as an archive.
type Lister interface {
	List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error)
}

// FromEvidence reads a cluster from evidence instead of its API. What the evidence does not
// hold is an error, never an object that is not there: an archive is not whole.
type FromEvidence struct {
	Evidence Lister
	Hosted   string // "namespace/name": the plan is for this hosted cluster, and is read from its management cluster
}

// list reads where a source has the objects of a resource: those of a management cluster are
// another kind there, and the namespace of the HostedCluster has a fixed name.
func (e FromEvidence) list(ctx context.Context, r Ref) ([]evidence.Object, error) {
	from := evidence.Resource{Group: r.Group, Name: r.Resource}
	if e.Hosted == "" {
		return e.Evidence.List(ctx, from, r.Namespace)
	}
	from.Cluster = evidence.Management
	if namespace, _, _ := strings.Cut(e.Hosted, "/"); namespace == r.Namespace {
		r.Namespace = evidence.HostedNamespace
	}
	return e.Evidence.List(ctx, from, r.Namespace)
}

// List implements Reader.
func (e FromEvidence) List(ctx context.Context, r Ref) ([]Object, error) {
	list, err := e.list(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", r.Resource, err)
	}
	var out []Object
	for _, o := range list {
		out = append(out, o.Content)
	}
	return out, nil
}

// Get implements Reader. An object that a whole list does not have is not there.
func (e FromEvidence) Get(ctx context.Context, r Ref) (Object, error) {
	list, err := e.list(ctx, r)
	for _, o := range list {
		if o.Name == r.Name && o.Namespace == r.Namespace {
			return o.Content, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r, err)
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name)
}

// NoHeld has no held configs: what an archive holds of them has its secrets removed.
type NoHeld struct{}

// Fetch implements HeldConfigs.
func (NoHeld) Fetch(_ context.Context, host string) (io.ReadCloser, error) {
	return nil, fmt.Errorf("held config of %s: not read for a plan from an archive: %w", host, fs.ErrNotExist)
}
