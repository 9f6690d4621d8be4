package command

import (
	"context"
	"maps"
	"slices"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/smoke"
	"github.com/rollcall-project/rollcall/internal/workers"
)

// trySmoke tries a new pod on each worker of the run that is Ready, where all else holds. It is one sign
// of success more: a Node that is Ready has not shown that workloads run.
func (f *workerFollow) trySmoke(ctx context.Context) {
	names := slices.Sorted(maps.Keys(f.names(workers.In)))
	if len(names) == 0 {
		return
	}
	i := after.Indicator{ID: after.SmokePod, Title: smoke.Title}
	if len(f.indicators) == 0 || !after.AllHold(f.indicators) {
		i.Outcome, i.Reason = fault.Unknown, "not tried, as something else does not hold"
	} else {
		i.Outcome, i.Reason = smoke.Judge(smoke.Try(ctx, smoke.InCluster(f.run.api), names, smoke.Options{Run: smoke.NewRun()}))
	}
	f.indicators = append(slices.Clone(f.indicators), i)
}
