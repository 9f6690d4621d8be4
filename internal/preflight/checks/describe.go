package checks

import (
	"context"
	"errors"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// Describer says of a plan what a cluster would say of itself, and that it has no hosts yet.
type Describer struct{}

// Describe reads name, platform and the release that was named.
func (Describer) Describe(ctx context.Context, w *facts.World) (diagnosis.ClusterInfo, error) {
	p, err := read(ctx, w)
	if _, unread := evidence.AsUnavailable(err); unread || errors.Is(err, facts.ErrNotApplicable) {
		return diagnosis.ClusterInfo{}, nil
	}
	return diagnosis.ClusterInfo{Version: p.release, Platform: platformOf(p.install)}, err
}

// Hosts implements diagnose.Roll: no host of a plan can have joined.
func (Describer) Hosts(context.Context, *facts.World, []diagnosis.Finding) ([]diagnosis.HostState, error) {
	return nil, nil
}
