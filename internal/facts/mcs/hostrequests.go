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

var hostRequestsFact = facts.Define("host-mcs-requests", fault.Host, "what a host that has not joined asked the machine config servers for, told by its address",
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
	all, err := requests(ctx, w)
	if err != nil {
		return f, p, err
	}
	own := addressesOf(list, i)
	if len(own) == 0 {
		return f, p, facts.NotApplicable("no address of %s is known that is its alone", s.Name)
	}
	for _, q := range all {
		if q.ignition() && slices.Contains(own, q.address) {
			f.take(q)
		}
	}
	f.prove(all, own, &p)
	return f, p, nil
}

// addressesOf returns the addresses of a host that no other one has.
func addressesOf(list []hosts.Host, of int) []string {
	return slices.DeleteFunc(slices.Clone(list[of].Addresses), func(a string) bool {
		for i, h := range list {
			if i != of && slices.Contains(h.Addresses, a) {
				return true
			}
		}
		return false
	})
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

func (f *HostRequests) prove(all []request, own []string, p *facts.Proof) {
	for i := len(all) - 1; i >= 0; i-- {
		q := all[i]
		if !q.ignition() || !slices.Contains(own, q.address) {
			continue
		}
		p.Add(q.line.Loc, excerpt(q.line.Text), q.line.Time, "total", "pool", "address", "failures")
		if q.class != served {
			p.Add(q.failure.Loc, fmt.Sprintf("%d in a row failed, the last one: %s", f.Failures, excerpt(q.failure.Text)), q.failure.Time, "failures", "why", "since", "last")
		}
		return
	}
	p.Add(evidence.Locator{Path: Logs.String()}, "no request from its addresses", time.Time{}, "total", "failures")
}
