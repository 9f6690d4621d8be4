package csr

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// WorldLister gives the objects of what was read: an archive has no API.
type WorldLister struct{ World *facts.World }

// List implements Lister. A list with a gap is an error, next to what is there.
func (l WorldLister) List(ctx context.Context, group, _, resource, namespace string) ([]map[string]any, error) {
	what := evidence.Resource{Group: group, Name: resource}
	list, err := l.World.List(ctx, what, namespace)
	if err != nil {
		list, _ = l.World.Some(ctx, what, namespace)
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

// BootOf is when a diagnosis saw that a host fetched its config: it cannot have asked before.
// The zero time where that is not known.
func BootOf(d *diagnosis.Diagnosis, host inventory.Host) (time.Time, string) {
	names := append([]string{host.Name}, host.Aliases...)
	for _, h := range d.Hosts {
		for _, s := range h.Stages {
			if slices.Contains(names, h.Name) && s.Stage == fault.IgnitionFetched && s.State == diagnosis.StagePassed && !s.At.IsZero() {
				return s.At, "it fetched its config at " + s.At.UTC().Format(time.RFC3339)
			}
		}
	}
	return time.Time{}, ""
}
