package csrs

import (
	"context"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// FloodSeen is the fact csr-flood.
type FloodSeen struct {
	Pending  int       `cel:"pending"` // requests of nodes younger than an hour that are not approved
	Limit    int       `cel:"limit"`
	Exceeded bool      `cel:"exceeded"`
	Loudest  string    `cel:"loudest"` // the node that most of them are for, if one asks that often; else ""
	Since    time.Time `cel:"since"`   // when the request was made that exceeded the limit
	Logged   int       `cel:"logged"`  // lines in which the approver says that it ignores all
}

// FloodFact is the fact csr-flood.
func FloodFact() facts.Fact {
	return facts.DefinePlain("csr-flood", fault.Cluster, "whether so many requests wait that the approver ignores all",
		[]evidence.Need{
			evidence.Objects(evidence.CSRs, ""),
			evidence.Objects(evidence.Nodes, ""),
			evidence.Objects(evidence.Machines, MachineNamespace),
			evidence.Objects(evidence.HostedMachines, evidence.ControlPlaneNamespace),
			evidence.Texts(approverLog),
		}, readFlood)
}

func readFlood(ctx context.Context, w *facts.World, _ fault.Subject) (FloodSeen, facts.Proof, error) {
	var p facts.Proof
	var f FloodSeen
	all, err := All(ctx, w)
	if err != nil {
		return f, p, err
	}
	machines, err := Machines(ctx, w)
	if err := miss(&p, err, "limit"); err != nil {
		return f, p, err
	}
	nodes, err := w.List(ctx, evidence.Nodes, "")
	if err := miss(&p, err, "limit"); err != nil {
		return f, p, err
	}
	count := CountFlood(all, len(machines), len(nodes), w.Now, w.Version)
	f.Pending, f.Limit, f.Exceeded = count.Pending, count.Limit, count.Exceeded()
	switch {
	case p.Unknown["limit"] != "" && count.Pending > MaxPendingExtra:
		p.Miss("exceeded", errUnknown(p.Unknown["limit"])) // below 101 no number of machines matters
	case f.Exceeded:
		f.Since = since(all, count.Limit, w.Now, w.Version)
		text := fmt.Sprintf("%d requests of nodes wait, the limit is %d", f.Pending, f.Limit)
		if node, n := loudest(all, w.Now, w.Version); n > f.Pending/2 {
			f.Loudest = node
			text += fmt.Sprintf("; %d of them are for %s", n, node)
		}
		p.Add(evidence.Locator{Path: evidence.CSRs.String()}, text, f.Since, "pending", "limit", "exceeded", "loudest")
	}
	lines, err := w.Matches(ctx, approverLog, sigFlood)
	if err := miss(&p, err, "logged"); err != nil {
		return f, p, err
	}
	f.Logged = len(lines)
	if len(lines) > 0 {
		last := lines[len(lines)-1].Line
		p.Add(last.Loc, last.Text, last.Time, "logged")
	}
	err = w.Unheard(ctx, &p, approverLog, nil, map[string]bool{"logged": f.Logged == 0})
	return f, p, err
}

// since finds the young request with which the limit was passed.
func since(all []Request, limit int, now time.Time, version string) time.Time {
	for i := range all {
		if CountFlood(all[:i+1], 0, 0, now, version).Pending > limit {
			return all[i].Created
		}
	}
	return time.Time{}
}

// loudest is the node that the most requests of the flood are for: usually one
// kubelet that restarts in a loop.
func loudest(all []Request, now time.Time, version string) (node string, most int) {
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
