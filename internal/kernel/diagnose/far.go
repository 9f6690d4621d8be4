package diagnose

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

// live is the kind of a source that is a running cluster.
const live = "live"

// maxClockDistance is how far --now may be from the newest time of a source. Beyond it nothing is
// called healthy: what has happened since is not known.
const maxClockDistance = 30 * 24 * time.Hour

// Far reports whether --now is farther than maxClockDistance from the times in a source.
func Far(now time.Time, d evidence.Description) bool {
	return !d.Now.IsZero() && d.Kind != live && now.Sub(d.Now).Abs() > maxClockDistance
}

// lowerIfFar lowers the confidence of every cause if --now is far from the evidence: ages and the
// expiry of certificates were judged by it.
func lowerIfFar(d *diagnosis.Diagnosis) {
	if d.Source.Newest.IsZero() {
		return
	}
	for _, r := range d.Roots {
		for i := range r.Cases {
			if c := &r.Cases[i]; c.Confidence == diagnosis.Proven {
				c.Confidence, c.Lowered = diagnosis.Likely, "the time that was given is "+d.Now.Format(time.RFC3339)+", and the newest evidence is of "+
					d.Source.Newest.Format(time.RFC3339)
				c.Decides = evidence.Supply{Kind: evidence.SupplyNow}
			}
		}
	}
}
