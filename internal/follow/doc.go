// Package follow reports what changes from one diagnosis of a cluster to the next: which host has
// moved, what lasts, what is still normal, and whether the end is reached. A watch and a run of
// workers stand on it.
//
// A Follower is a fold: what it says depends on the runs that it was handed, in their order,
// and on their times. It reads neither a clock nor a cluster, so that a recorded
// installation can be followed as a live one is.
//
// Invariants:
//   - It judges nothing: hosts, causes and deadlines are those of the diagnosis, success is
//     what internal/after says.
//   - A step back, a failure or a cause is reported when it lasts, not when it is seen for
//     the first time: the nodes of a cluster that rolls out its control plane are not ready
//     for a second.
//   - While the API is unreachable the last known state of the hosts stays, with its age. It
//     is never reported as a change.
package follow

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// How long something lasts before it is reported.
const (
	// standsHost is for a host that went back, failed or is no longer known. The nodes of
	// the public record github.com/vrutkovs/resourcewatch-3nodes were not ready for 1 s and
	// one of them was unreachable for 16 s while nothing was wrong.
	hostLasts = 20 * time.Second
	// standsCause is for causes and symptoms, and for their end.
	causeLasts = 30 * time.Second
	// standsEnd is for what ends the watch: all indicators hold.
	endLasts = 10 * time.Second
	// apiPatience is how long an unreachable API ends nothing: a restart of the API server
	// takes minutes, that of a bare metal host up to 20.
	apiPatience = 20 * time.Minute
	// beat is how long nothing is written before a line says that the watch still runs.
	beat = 5 * time.Minute
)

// Run is one reading of the cluster.
type Run struct {
	Diagnosis  *diagnosis.Diagnosis
	Indicators []after.Indicator
}

// at is the time of the run.
func (r Run) at() time.Time { return r.Diagnosis.Now }

// Rules say what the watch waits for.
type Rules struct {
	Goal       after.Goal
	StopOnRoot bool                           // end where a proven cause lasts
	Hosts      func(diagnosis.HostState) bool // which hosts count; nil: every expected one
	Narrowed   bool                           // only some hosts were asked for
	Installing bool                           // a directory of openshift-install is read: before the API answers for the first time nothing is wrong with that
}

func (r Rules) host(h diagnosis.HostState) bool {
	if r.Hosts != nil {
		return r.Hosts(h)
	}
	return h.Expected
}
