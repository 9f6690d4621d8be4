package mcs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/facts/hosts"
	"github.com/rollcall-project/rollcall/internal/fault"
)

// HostRequests is what a host that has not joined asked the machine config servers
// for, told by its address. Behind a load balancer the servers see its address
// instead, and then this says nothing of the host.
type HostRequests struct {
	Joined   bool      `cel:"joined"`
	Total    int64     `cel:"total"`    // requests of Ignition from the host's addresses
	Failures int64     `cel:"failures"` // of the last row, up to the end of the logs
	Pool     string    `cel:"pool"`     // that the last one asked for
	Address  string    `cel:"address"`
	Why      string    `cel:"why"` // what the server said of the last failure
	Since    time.Time `cel:"since"`
	Last     time.Time `cel:"last"`
}

var hostRequestsFact = facts.DefinePlain("host-mcs-requests", fault.Host, "what a host that has not joined asked the machine config servers for, told by its address",
	append(hosts.Needs(), evidence.Texts(Logs)), readHostRequests)

func readHostRequests(ctx context.Context, w *facts.World, s fault.Subject) (HostRequests, facts.Proof, error) {
	var f HostRequests
	var p facts.Proof
	roll, err := hosts.Read(ctx, w)
	if err != nil {
		return f, p, err
	}
	list := roll.Hosts
	i := slices.IndexFunc(list, func(h hosts.Host) bool { return h.Name == s.Name })
	switch {
	case i < 0 && len(roll.Missing) > 0:
		return f, p, roll.Missing[0]
	case i < 0:
		return f, p, facts.NotApplicable("there is no host %s", s.Name)
	case list[i].Node != nil: // what it asked for before is over
		f.Joined = true
		p.Add(list[i].Node.Loc, "Node "+list[i].Node.API.Name+" exists", list[i].Node.API.CreationTimestamp.UTC(), "joined", "failures")
		return f, p, nil
	}
	asked, err := byAddress(ctx, w)
	if err != nil {
		return f, p, err
	}
	own, err := addressesOf(ctx, w, list[i])
	if err != nil {
		return f, p, err
	}
	if len(own) == 0 {
		return f, p, facts.NotApplicable("no address of %s is known that is its alone", s.Name)
	}
	var mine []request
	for _, a := range own {
		mine = append(mine, asked[a]...)
	}
	slices.SortStableFunc(mine, func(a, b request) int { return a.line.Time.Compare(b.line.Time) })
	for _, q := range mine {
		f.take(q)
	}
	f.prove(mine, &p)
	err = w.Unheard(ctx, &p, Logs, nil, map[string]bool{"total": f.Total == 0, "failures": f.Failures == 0})
	return f, p, err
}

// byAddress sorts the requests of Ignition by the client's address, once per run.
func byAddress(ctx context.Context, w *facts.World) (map[string][]request, error) {
	return facts.Memo(ctx, w, "mcs.by-address", func(ctx context.Context, w *facts.World) (map[string][]request, error) {
		all, err := requests(ctx, w)
		if err != nil {
			return nil, err
		}
		by := map[string][]request{}
		for _, q := range all {
			if q.ignition() {
				by[q.address] = append(by[q.address], q)
			}
		}
		return by, nil
	})
}

// addressesOf returns the addresses of a host that no other one has.
func addressesOf(ctx context.Context, w *facts.World, h hosts.Host) ([]string, error) {
	owners, err := facts.Memo(ctx, w, "mcs.owners", func(ctx context.Context, w *facts.World) (map[string]int, error) {
		list, err := hosts.All(ctx, w)
		if err != nil {
			return nil, err
		}
		owners := map[string]int{}
		for _, h := range list {
			for _, a := range h.Addresses {
				owners[a]++
			}
		}
		return owners, nil
	})
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(h.Addresses), func(a string) bool { return owners[a] > 1 }), nil
}

func (f *HostRequests) take(q request) {
	f.Total++
	f.Pool, f.Address = q.pool, q.address
	if q.class == served {
		f.Failures, f.Why, f.Since, f.Last = 0, "", time.Time{}, time.Time{}
		return
	}
	f.Failures++
	f.Why = string(q.class)
	if f.Since.IsZero() {
		f.Since = q.failure.Time
	}
	f.Last = q.failure.Time
}

func (f *HostRequests) prove(mine []request, p *facts.Proof) {
	if len(mine) == 0 {
		p.Add(evidence.Locator{Path: Logs.String()}, "no request from its addresses", time.Time{}, "total", "failures")
		return
	}
	q := mine[len(mine)-1]
	p.Add(q.line.Loc, excerpt(q.line.Text), q.line.Time, "total", "pool", "address", "failures")
	if q.class != served {
		p.Add(q.failure.Loc, fmt.Sprintf("%d in a row failed, the last one: %s", f.Failures, excerpt(q.failure.Text)), q.failure.Time, "failures", "why", "since", "last")
	}
}
