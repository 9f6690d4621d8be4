package hosted

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// joined are sources of one cluster. Two copies of one object are both handed on: the
// Reader keeps the newer one.
type joined []evidence.Source

// Describe implements evidence.Source.
func (j joined) Describe(ctx context.Context) (evidence.Description, error) {
	var first evidence.Description
	for i, s := range j {
		d, err := s.Describe(ctx)
		if err != nil {
			return d, err
		}
		if i == 0 {
			first = d
			continue
		}
		first.Notes = append(first.Notes, d.Notes...)
		if d.Now.After(first.Now) {
			first.Now = d.Now
		}
	}
	return first, nil
}

// List implements evidence.Source.
func (j joined) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	return gather(j, func(s evidence.Source) ([]evidence.Object, error) { return s.List(ctx, r, namespace) })
}

// Texts implements evidence.Source.
func (j joined) Texts(ctx context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return gather(j, func(s evidence.Source) ([]evidence.Text, error) { return s.Texts(ctx, q) })
}

// gather joins what the sources have. What one of them never has matters where none had
// it; what one should have, and could not read or only in part, matters always.
func gather[T any](sources []evidence.Source, read func(evidence.Source) ([]T, error)) ([]T, error) {
	var all []T
	var missing, partial error
	looked := false
	for _, s := range sources {
		list, err := read(s)
		u, ok := evidence.AsUnavailable(err)
		switch {
		case err != nil && !ok:
			return nil, err
		case err == nil:
			looked = true
		case u.Why.MayHideObjects(), len(list) > 0 && partial == nil:
			partial = err
		case len(list) > 0:
		case missing == nil || u.Why != evidence.NotCollected:
			missing = err
		}
		all = append(all, list...)
	}
	if partial != nil || looked || len(all) > 0 {
		return all, partial
	}
	return all, missing
}
