package mcs

import (
	"context"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
)

// LastServed returns the newest line of a request of Ignition for the pool that
// was answered with a config; false: there is none in the logs. Where one of them was
// not read to its end it is an error: a newer one may stand in the rest.
func LastServed(ctx context.Context, w *facts.World, pool string) (evidence.Line, bool, error) {
	all, err := requests(ctx, w)
	if err == nil {
		err = w.Gap(ctx, logs, nil)
	}
	var last evidence.Line
	found := false
	for _, q := range all {
		if q.pool == pool && q.ignition() && q.class == served && (!found || q.line.Time.After(last.Time)) {
			last, found = q.line, true
		}
	}
	return last, found, err
}
