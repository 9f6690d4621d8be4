package csrs

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// FloodSeen is the fact csr-flood.
type FloodSeen struct {
	Limit    facts.Field[int]       `cel:"limit"`
	Exceeded facts.Field[bool]      `cel:"exceeded"`
	Loudest  facts.Field[string]    `cel:"loudest"`  // the node that most of them are for, if one asks that often; else ""
	Requests facts.Field[[]string]  `cel:"requests"` // names of the pending requests for that node
	Since    facts.Field[time.Time] `cel:"since"`    // when the request was made that exceeded the limit
	Logged   facts.Field[int]       `cel:"logged"`   // lines in which the approver says that it ignores all
}

// FloodFact is the fact csr-flood.
func FloodFact() facts.Fact {
	return facts.Define("csr-flood", fault.Cluster, "whether so many requests wait that the approver ignores all",
		[]evidence.Need{
			evidence.Objects(evidence.CSRs, ""),
			evidence.Objects(evidence.Nodes, ""),
			evidence.Objects(evidence.Machines, MachineNamespace),
			evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace),
			evidence.Texts(approverLog),
		}, readFlood)
}

func readFlood(ctx context.Context, w *facts.World, _ fault.Subject) (FloodSeen, error) {
	var f FloodSeen
	all, err := All(ctx, w)
	if err != nil {
		return f, err
	}
	machines, err := machines(ctx, w)
	nodes, errNodes := w.List(ctx, evidence.Nodes, "")
	if err := facts.Miss(cmp.Or(err, errNodes), &f.Limit); err != nil {
		return f, err
	}
	f.count(countFlood(all, len(machines), len(nodes), w.Now, w.Version), all, w)
	lines, err := w.Matches(ctx, approverLog, sigFlood)
	if err != nil {
		return f, facts.Miss(err, &f.Logged)
	}
	f.Logged.Set(len(lines))
	if len(lines) > 0 {
		f.Logged.Prove(lines[len(lines)-1].Item())
	}
	return f, nil
}

func (f *FloodSeen) count(count flood, all []Request, w *facts.World) {
	shown := evidence.Listed(evidence.CSRs, "", fmt.Sprintf("%d requests of nodes wait", count.Pending))
	_, unread := f.Limit.Get()
	most := ""
	node, n := mostRequests(all, w.Now, w.Version)
	exceeded := count.exceeded() && !facts.Missed(unread)
	if exceeded {
		shown.Time = since(all, count.Limit, w.Now, w.Version)
		shown.Excerpt += fmt.Sprintf(", the limit is %d", count.Limit)
		if n > count.Pending/2 {
			most = node
			shown.Excerpt += fmt.Sprintf("; %d of them are for %s", n, node)
		}
	}
	if facts.Missed(unread) && count.Pending > maxPendingExtra { // below 101 no number of machines matters
		_ = facts.Miss(unread, &f.Exceeded, &f.Loudest, &f.Requests, &f.Since)
		return
	}
	if !facts.Missed(unread) {
		f.Limit.Set(count.Limit, shown)
	}
	f.Exceeded.Set(exceeded, shown)
	f.Loudest.Set(most, shown)
	f.Requests.Set(pendingOf(all, most), shown)
	f.Since.Set(shown.Time, shown)
}

// since finds the recent request with which the limit was passed.
func since(all []Request, limit int, now time.Time, version string) time.Time {
	for i := range all {
		if countFlood(all[:i+1], 0, 0, now, version).Pending > limit {
			return all[i].Created
		}
	}
	return time.Time{}
}

// mostRequests returns the node with the most requests of the flood: usually one kubelet that
// restarts in a loop.
func mostRequests(all []Request, now time.Time, version string) (node string, most int) {
	count := map[string]int{}
	for _, r := range all {
		if !floods(r, now, version) {
			continue
		}
		count[r.NodeName]++
		if n := count[r.NodeName]; n > most {
			node, most = r.NodeName, n
		}
	}
	return node, most
}

// pendingOf names the pending requests for a node; "" is none.
func pendingOf(all []Request, node string) []string {
	names := []string{}
	for _, r := range all {
		if node != "" && r.NodeName == node && r.State == Pending {
			names = append(names, r.Name)
		}
	}
	return names
}
