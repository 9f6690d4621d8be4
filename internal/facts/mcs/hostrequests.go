package mcs

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/excerpt"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// hostRequests is what a host that has not joined asked the machine config servers
// for, identified by its address. Behind a load balancer the servers see its address
// instead, and then this says nothing of the host.
type hostRequests struct {
	Joined   facts.Field[bool]      `cel:"joined"`
	Failures facts.Field[int64]     `cel:"failures"` // of the last row, up to the end of the logs
	Pool     facts.Field[string]    `cel:"pool"`     // that the last one asked for
	Address  facts.Field[string]    `cel:"address"`
	Why      facts.Field[string]    `cel:"why"` // what the server said of the last failure
	Since    facts.Field[time.Time] `cel:"since"`
}

var hostRequestsFact = facts.Define("host-mcs-requests", fault.Host,
	"what a host that has not joined asked the machine config servers for, identified by its address",
	append(inventory.Needs(), evidence.Texts(logs)), readHostRequests)

func readHostRequests(ctx context.Context, w *facts.World, s fault.Subject) (hostRequests, error) {
	var f hostRequests
	roll, err := inventory.Read(ctx, w)
	if err != nil {
		return f, err
	}
	list := roll.Hosts
	i := slices.IndexFunc(list, func(h inventory.Host) bool { return h.Name == s.Name })
	switch {
	case i < 0 && len(roll.Missing) > 0:
		return f, roll.Missing[0]
	case i < 0:
		return f, facts.NotApplicable("there is no host %s", s.Name)
	case list[i].Node != nil: // what it asked for before is over
		node := list[i].Node
		item := evidence.Item{Locator: node.Loc, Excerpt: "Node " + node.API.Name + " exists", Time: node.API.CreationTimestamp.UTC()}
		f.Joined.Set(true, item)
		f.Failures.Set(0, item)
		facts.Complete(&f)
		return f, nil
	}
	f.Joined.Set(false, evidence.Listed(evidence.Nodes, "", "there is no Node "+s.Name))
	asked, err := byAddress(ctx, w)
	if err != nil {
		return f, err
	}
	own, err := addressesOf(ctx, w, list[i])
	if err != nil {
		return f, err
	}
	if len(own) == 0 {
		return f, facts.NotApplicable("no address of %s is known that is its alone", s.Name)
	}
	var mine []request
	for _, a := range own {
		mine = append(mine, asked[a]...)
	}
	slices.SortStableFunc(mine, func(a, b request) int { return a.line.Time.Compare(b.line.Time) })
	f.setFailures(mine)
	facts.Complete(&f)
	return f, nil
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
func addressesOf(ctx context.Context, w *facts.World, h inventory.Host) ([]string, error) {
	owners, err := facts.Memo(ctx, w, "mcs.owners", func(ctx context.Context, w *facts.World) (map[string]int, error) {
		list, err := inventory.All(ctx, w)
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

// setFailures sets the last series of failed requests of the host.
func (f *hostRequests) setFailures(mine []request) {
	if len(mine) == 0 {
		return
	}
	last := mine[len(mine)-1]
	asked := item(last.line)
	f.Pool.Set(last.pool, asked)
	f.Address.Set(last.address, asked)
	row := mine
	for i, q := range mine {
		if q.class == served {
			row = mine[i+1:]
		}
	}
	if len(row) == 0 { // what another server logged may be missing: no evidence of no failure
		f.Failures.Set(0)
		return
	}
	f.Failures.Set(int64(len(row)), asked)
	proof := evidence.Item{Locator: last.failure.Loc, Time: last.failure.Time,
		Excerpt: fmt.Sprintf("%d in a row failed, the last one: %s", len(row), excerpt.Of(last.failure.Text))}
	f.Failures.Prove(proof)
	f.Why.Set(string(last.class), proof)
	f.Since.Set(row[0].failure.Time, proof)
}
