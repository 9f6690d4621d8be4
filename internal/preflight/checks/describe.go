package checks

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
)

// Describe says of a plan what a cluster would say of itself: its platform, and the release
// that was named. Without a plan it is empty.
func Describe(ctx context.Context, w *facts.World) (diagnosis.ClusterInfo, error) {
	p, err := read(ctx, w)
	if _, unread := evidence.AsUnavailable(err); unread || check.IsNotApplicable(err) {
		return diagnosis.ClusterInfo{}, nil
	}
	return diagnosis.ClusterInfo{Version: p.release, Platform: platformOf(p.install)}, err
}
