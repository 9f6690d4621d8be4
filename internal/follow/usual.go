package follow

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Usual is how long a stage took before.
type Usual struct {
	Min, Max time.Duration
	Hosts    int    // hosts of this cluster that it was measured at; 0: Source says where
	Source   string // "" where it was measured at hosts of this cluster
}

// documented are times that others measured, for clusters whose own hosts show none yet.
// github.com/vrutkovs/resourcewatch-3nodes (commit 16b1fb86) is the record of one
// installation of OKD 4.12 on GCP: its six nodes took 51 to 153 s from their registration
// to Ready. For the other stages no time is known that holds for more than one place.
var documented = map[fault.Stage]Usual{
	fault.NetworkReady: {Min: 51 * time.Second, Max: 153 * time.Second, Source: "one install on GCP"},
	fault.Ready:        {Min: 51 * time.Second, Max: 153 * time.Second, Source: "one install on GCP"},
}

// longestStage bounds what is taken for the time of a stage. A condition of a host that
// joined long ago changes with each restart, and its time then tells nothing of the join.
const longestStage = 2 * time.Hour

// stageOfRole is what is compared: hosts of one role at one stage.
type stageOfRole struct {
	role  string
	stage fault.Stage
}

// history has the times of the hosts of this cluster, by place and host.
type history map[stageOfRole]map[string]time.Duration

// add records the durations of the stages that a host has passed: each from the latest known time
// before it.
func (h history) add(host diagnosis.HostState) {
	var before time.Time
	for _, s := range host.Stages {
		if s.State != diagnosis.StagePassed || s.At.IsZero() {
			continue
		}
		took := s.At.Sub(before)
		if !before.IsZero() && took >= 0 && took <= longestStage {
			at := stageOfRole{host.Role, s.Stage}
			if h[at] == nil {
				h[at] = map[string]time.Duration{}
			}
			if _, known := h[at][host.Name]; !known { // the first time was the join
				h[at][host.Name] = took
			}
		}
		if s.At.After(before) {
			before = s.At
		}
	}
}

// kept is of how many hosts the times of a stage stay after the hosts are gone: in a cluster that is scaled up and down
// for months there are ever new names.
const kept = 100

// forget drops the times of a host that is gone, where those of enough others are known.
func (h history) forget(name string) {
	for _, times := range h {
		if len(times) > kept {
			delete(times, name)
		}
	}
}

// of returns the usual time of a stage for a host: what earlier hosts of its role took in
// this cluster, else what is documented, else nil.
func (h history) of(host diagnosis.HostState) *Usual {
	var u Usual
	for name, took := range h[stageOfRole{host.Role, host.Stage}] {
		if name == host.Name {
			continue
		}
		if u.Hosts == 0 || took < u.Min {
			u.Min = took
		}
		u.Max = max(u.Max, took)
		u.Hosts++
	}
	if u.Hosts > 0 {
		return &u
	}
	if known, ok := documented[host.Stage]; ok {
		return &known
	}
	return nil
}

// span renders a time as everywhere, never negative.
func span(d time.Duration) string { return fault.Span(max(d, 0)) }
