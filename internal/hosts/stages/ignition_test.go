package stages

import (
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// TestInVain: a row of requests that began a moment ago is no failure yet: each
// installation has one until the pool has converged.
func TestInVain(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		since time.Time
		want  diagnosis.StageOutcome
	}{
		{now.Add(-8 * time.Second), diagnosis.StageWaiting},
		{now.Add(-3 * time.Minute), diagnosis.StageFailed},
		{time.Time{}, diagnosis.StageFailed},
	} {
		if got := failedRequests(now, tt.since, "6 requests", nil); got.State != tt.want || !got.At.Equal(tt.since) {
			t.Errorf("since %s: %s at %s, want %s", tt.since, got.State, got.At, tt.want)
		}
	}
}
