package apiaccess

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// masters is how the API servers answer that were asked one by one, past every
// load balancer.
type masters struct {
	Asked     facts.Field[int64]    `cel:"asked"`
	Answering facts.Field[int64]    `cel:"answering"` // HTTP came back
	Ready     facts.Field[int64]    `cel:"ready"`     // of them, /readyz below 500
	Refused   facts.Field[int64]    `cel:"refused"`   // the host answers, nothing listens
	Silent    facts.Field[int64]    `cel:"silent"`    // no connection in time, or no route
	Closed    facts.Field[int64]    `cel:"closed"`    // a connection, and then no TLS or no HTTP
	Verified  facts.Field[int64]    `cel:"verified"`  // serve a certificate that the client trusts
	Up        facts.Field[[]string] `cel:"up"`        // names of those that are ready
	Down      facts.Field[[]string] `cel:"down"`      // names of those that are not
}

var mastersFact = facts.Define("api-masters", fault.Cluster, "how each master's own API server answers, asked past every load balancer", needs, readMasters)

func readMasters(ctx context.Context, w *facts.World, _ fault.Subject) (masters, error) {
	var m masters
	l, err := read(ctx, w)
	if err != nil {
		return m, err
	}
	var up, down []string
	var upProof, downProof []evidence.Item
	asked := int64(0)
	for _, r := range l.rest {
		if r.Node() == "" || r.isMCS() {
			continue
		}
		asked++
		if m.count(r) {
			up, upProof = append(up, r.Node()), append(upProof, r.item())
		} else {
			down, downProof = append(down, r.Node()), append(downProof, r.item())
		}
	}
	// a host with two addresses is up when one of them answers
	down = slices.DeleteFunc(down, func(name string) bool { return slices.Contains(up, name) })
	slices.Sort(up)
	slices.Sort(down)
	all := slices.Concat(downProof, upProof) // what is wrong is shown before what is not
	if asked == 0 && l.front != nil {
		all = []evidence.Item{l.front.item()}
	}
	m.Asked.Set(asked, all...)
	m.Up.Set(slices.Compact(up), upProof...)
	m.Down.Set(slices.Compact(down), downProof...)
	facts.Complete(&m)
	return m, nil
}

// count adds a master's answer to the numbers, and reports whether it is ready.
func (m *masters) count(r checkedEndpoint) (ready bool) {
	add := func(n *facts.Field[int64]) { n.Set(n.Value()+1, r.item()) }
	switch {
	case r.answers():
		add(&m.Answering)
		status := r.Status("/readyz")
		if ready = status > 0 && status < 500; ready {
			add(&m.Ready)
		}
	case r.ErrorClass == probe.ErrRefused:
		add(&m.Refused)
	case r.Stage != probe.StageNone:
		add(&m.Closed)
	default:
		add(&m.Silent)
	}
	if r.Trust == probe.TrustVerified {
		add(&m.Verified)
	}
	return ready
}

// mcs is how port 22623 answers from here, in front and on the masters.
type mcs struct {
	FrontAsked   facts.Field[int64]    `cel:"frontAsked"`   // api-int and VIPs
	FrontOK      facts.Field[int64]    `cel:"frontOK"`      // of them, HTTP came back
	FrontRefused facts.Field[int64]    `cel:"frontRefused"` // of them, nothing listens
	Refusing     facts.Field[[]string] `cel:"refusing"`     // addresses of those
	APIThere     facts.Field[bool]     `cel:"apiThere"`     // one that refuses 22623 answers on 6443
	Asked        facts.Field[int64]    `cel:"asked"`        // masters
	OK           facts.Field[int64]    `cel:"ok"`           // of them, HTTP came back
}

var mcsFact = facts.Define("mcs-ports", fault.Cluster, "whether port 22623 answers at api-int, the VIPs and each master", needs, readMCS)

func readMCS(ctx context.Context, w *facts.World, _ fault.Subject) (mcs, error) {
	var m mcs
	l, err := read(ctx, w)
	if err != nil {
		return m, err
	}
	add := func(n *facts.Field[int64], r checkedEndpoint) { n.Set(n.Value()+1, r.item()) }
	seen := false
	for _, r := range l.rest {
		if !r.isMCS() {
			continue
		}
		seen = true
		switch {
		case r.Node() != "":
			add(&m.Asked, r)
			if r.answers() {
				add(&m.OK, r)
			}
			continue
		case r.answers():
			add(&m.FrontOK, r)
		case r.ErrorClass == probe.ErrRefused:
			add(&m.FrontRefused, r)
			if !slices.Contains(m.Refusing.Value(), r.Where()) { // api-int can be the VIP itself
				facts.Append(&m.Refusing, r.Where(), r.item())
			}
			if api := l.sameHostAPI(r); api != nil && api.answers() {
				m.APIThere.Set(true, api.item())
			}
		}
		add(&m.FrontAsked, r)
	}
	if !seen {
		return m, &evidence.Unavailable{Need: needs[0], Why: evidence.NotAsked, Detail: "port 22623 of the machine config servers was not asked",
			Supply: evidence.Supply{Kind: evidence.SupplyProbeElsewhere}}
	}
	facts.Complete(&m)
	return m, nil
}

// sameHostAPI is the check of the API at the same host, asked by the same machine.
func (l apiChecks) sameHostAPI(r checkedEndpoint) *checkedEndpoint {
	for i, other := range l.rest {
		if other.Host == r.Host && other.Target == r.Target && other.Port == openshift.APIPort && other.Vantage == r.Vantage {
			return &l.rest[i]
		}
	}
	return nil
}
