package mcs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/openshift/apitypes/corev1"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// Requests is what hosts asked the machine config servers for in the name of a
// pool. The counts are of requests with Ignition's Accept header that failed in a
// row up to the end of the logs; a success of the pool ends the row.
type Requests struct {
	Total             facts.Field[int64]     `cel:"total"`    // of Ignition, in all logs
	Failures          facts.Field[int64]     `cel:"failures"` // of the last row
	EmptyName         facts.Field[int64]     `cel:"emptyName"`
	ConfigMissing     facts.Field[int64]     `cel:"configMissing"`
	ControllerConfig  facts.Field[int64]     `cel:"controllerConfig"`
	Unservable        facts.Field[int64]     `cel:"unservable"`
	VersionRefused    facts.Field[int64]     `cel:"versionRefused"`
	BootstrapRefusals facts.Field[int64]     `cel:"bootstrapRefusals"`
	Addresses         facts.Field[[]string]  `cel:"addresses"` // of the clients of the last row
	Since             facts.Field[time.Time] `cel:"since"`     // first failure of the row
	Last              facts.Field[time.Time] `cel:"last"`      // last failure of the row
}

var requestsFact = facts.Define("mcs-requests", fault.Pool, "what hosts asked the machine config servers for, and how it ended",
	[]evidence.Need{evidence.Texts(logs), evidence.Objects(evidence.Pods, openshift.MachineConfigNamespace)}, readRequests)

func readRequests(ctx context.Context, w *facts.World, s fault.Subject) (Requests, error) {
	r, err := PoolRequests(ctx, w, s.Name)
	if u, ok := evidence.AsUnavailable(err); !ok || u.Why != evidence.NotCollected {
		return r, err
	}
	shown, none := noServer(ctx, w)
	if !none {
		return r, err
	}
	r.EmptyName.Set(0, shown)
	return r, facts.Miss(err, &r.Total, &r.Failures, &r.ConfigMissing, &r.ControllerConfig, &r.Unservable,
		&r.VersionRefused, &r.BootstrapRefusals, &r.Addresses, &r.Since, &r.Last)
}

// noServer reports that the pods were read and no machine config server has run in one: in
// the first seconds of a pool there is no log because nothing has logged.
func noServer(ctx context.Context, w *facts.World) (evidence.Item, bool) {
	pods, err := w.List(ctx, evidence.Pods, openshift.MachineConfigNamespace)
	if err != nil {
		return evidence.Item{}, false
	}
	for _, o := range pods {
		if !strings.HasPrefix(o.Name, openshift.MachineConfigServer) {
			continue
		}
		pod, err := evidence.Decode[corev1.Pod](o)
		if err != nil || slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
			return c.State.Waiting == nil || c.LastTerminationState.Terminated != nil || c.RestartCount > 0
		}) {
			return evidence.Item{}, false
		}
	}
	return evidence.Listed(evidence.Pods, openshift.MachineConfigNamespace, "no "+openshift.MachineConfigServer+" has run, so nothing was asked of one"), true
}

// PoolRequests reads what was asked in the name of a pool.
func PoolRequests(ctx context.Context, w *facts.World, pool string) (Requests, error) {
	var r Requests
	all, err := requests(ctx, w)
	if err != nil {
		return r, err
	}
	r.follow(slices.DeleteFunc(slices.Clone(all), func(q request) bool { return q.pool != pool }))
	return r, nil
}

// follow sets what the pool's requests show. Counts of none are claims from silence.
func (r *Requests) follow(all []request) {
	var row []request
	total := 0
	for _, q := range all {
		switch {
		case !q.ignition():
		case q.class == served:
			total++
			row = nil
		default:
			total++
			row = append(row, q)
		}
		if q.ignition() && total == 1 {
			r.Total.Prove(item(q.line))
		}
	}
	r.Total.Set(int64(total))
	r.count(row)
	facts.Complete(r)
}

func (r *Requests) count(row []request) {
	counts := map[class]*facts.Field[int64]{
		emptyName: &r.EmptyName, configMissing: &r.ConfigMissing, controllerConfig: &r.ControllerConfig, unservable: &r.Unservable,
		versionRefused: &r.VersionRefused, bootstrapRefusal: &r.BootstrapRefusals,
	}
	for _, f := range proofsOf(row) {
		r.Failures.Prove(item(f.failure), item(f.line))
		if n := counts[f.class]; n != nil {
			n.Prove(item(f.failure), item(f.line))
		}
	}
	number := map[class]int64{}
	var addresses []string
	var since, last time.Time
	for _, q := range row {
		number[q.class]++
		if !slices.Contains(addresses, q.address) {
			addresses = append(addresses, q.address)
			r.Addresses.Prove(item(q.line))
		}
		if t := q.failure.Time; !t.IsZero() {
			if since.IsZero() {
				since = t
			}
			last = t
		}
	}
	for c, n := range number {
		if field := counts[c]; field != nil {
			field.Set(n)
		}
	}
	slices.Sort(addresses)
	r.Addresses.Set(addresses)
	r.Failures.Set(int64(len(row)))
	r.Since.Set(since)
	r.Last.Set(last)
	if len(row) > 0 {
		end := row[len(row)-1].failure
		r.Failures.Prove(evidence.Item{
			Locator: end.Loc,
			Time:    end.Time,
			Excerpt: fmt.Sprintf("%d requests in a row failed, the last one: %s", len(row), excerpt.Of(end.Text)),
		})
	}
}

// proofsOf returns the first request of the row for each way to fail.
func proofsOf(row []request) []request {
	var list []request
	for _, q := range row {
		if !slices.ContainsFunc(list, func(have request) bool { return have.class == q.class }) {
			list = append(list, q)
		}
	}
	return list
}

// item is a line as evidence.
func item(l evidence.Line) evidence.Item {
	return evidence.Item{Locator: l.Loc, Excerpt: excerpt.Of(l.Text), Time: l.Time}
}
