package serve

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer/prom"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// stageTimes measures how long hosts are at a stage, from when this replica saw them come there to when it saw them at a
// later one. A host that was there from the start is not measured: it is not known since when.
type stageTimes struct {
	metrics *Metrics
	hosts   map[string]arrival
}

// arrival is where a host is.
type arrival struct {
	stage fault.Stage
	done  bool
	at    time.Time // zero: it was there before
}

func newStageTimes(m *Metrics) *stageTimes { return &stageTimes{metrics: m} }

// step compares the hosts of a reading with those of the reading before.
func (s *stageTimes) step(d *diagnosis.Diagnosis, now time.Time) {
	first := s.hosts == nil
	roles := prom.RolesOf(d)
	next := make(map[string]arrival, len(d.Hosts)) // hosts that are gone are forgotten
	for _, h := range d.Hosts {
		if !h.Expected {
			continue
		}
		was, known := s.hosts[h.Name]
		is := arrival{h.Stage, h.Done(), now}
		switch {
		case first:
			is.at = time.Time{}
		case known && was.stage == is.stage && was.done == is.done:
			is.at = was.at
		case known && ahead(was, is) && !was.at.IsZero():
			s.metrics.stages.WithLabelValues(prom.Label(roles(h.Role)), string(was.stage)).Observe(now.Sub(was.at).Seconds())
		}
		next[h.Name] = is
	}
	s.hosts = next
}

// ahead reports whether a host passed its stage.
func ahead(was, is arrival) bool {
	order := fault.Stages()
	return !was.done && (is.done || slices.Index(order, is.stage) > slices.Index(order, was.stage))
}
