package apiaccess

import (
	"cmp"
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Masters is how the API servers answer that were asked one by one, past every
// load balancer.
type Masters struct {
	Asked     int64    `cel:"asked"`
	Answering int64    `cel:"answering"` // HTTP came back
	Ready     int64    `cel:"ready"`     // of them, /readyz below 500
	Refused   int64    `cel:"refused"`   // the host answers, nothing listens
	Silent    int64    `cel:"silent"`    // no connection in time, or no route
	Closed    int64    `cel:"closed"`    // a connection, and then no TLS or no HTTP
	Verified  int64    `cel:"verified"`  // serve a certificate that the client trusts
	Up        []string `cel:"up"`        // names of those that are ready
	Down      []string `cel:"down"`      // names of those that are not
}

var mastersFact = facts.DefinePlain("api-masters", fault.Cluster, "how each master's own API server answers, asked past every load balancer", needs, readMasters)

func readMasters(ctx context.Context, w *facts.World, _ fault.Subject) (Masters, facts.Proof, error) {
	m := Masters{Up: []string{}, Down: []string{}}
	var p facts.Proof
	l, err := read(ctx, w)
	if err != nil {
		return m, p, err
	}
	for _, r := range l.rest {
		if r.Node() == "" || r.isMCS() {
			continue
		}
		m.add(r, &p)
	}
	// What is wrong is shown before what is not.
	slices.SortStableFunc(p.Items, func(a, b evidence.Item) int {
		return cmp.Compare(slices.Index(b.Fields, "down"), slices.Index(a.Fields, "down"))
	})
	// a host with two addresses is up when one of them answers
	m.Down = slices.DeleteFunc(m.Down, func(name string) bool { return slices.Contains(m.Up, name) })
	slices.Sort(m.Up)
	slices.Sort(m.Down)
	m.Up, m.Down = slices.Compact(m.Up), slices.Compact(m.Down)
	if m.Asked == 0 {
		l.none(&p)
	}
	return m, p, nil
}

func (m *Masters) add(r rung, p *facts.Proof) {
	fields := []string{"asked"}
	count := func(n *int64, names ...string) { *n++; fields = append(fields, names...) }
	count(&m.Asked)
	ready := false
	switch {
	case r.answers():
		count(&m.Answering, "answering")
		status := r.Status("/readyz")
		if ready = status > 0 && status < 500; ready {
			count(&m.Ready, "ready")
		}
	case r.ErrorClass == probe.ErrRefused:
		count(&m.Refused, "refused")
	case r.Stage != probe.StageNone:
		count(&m.Closed, "closed")
	default:
		count(&m.Silent, "silent")
	}
	if r.Trust == probe.TrustVerified {
		count(&m.Verified, "verified")
	}
	if ready {
		m.Up = append(m.Up, r.Node())
		fields = append(fields, "up")
	} else {
		m.Down = append(m.Down, r.Node())
		fields = append(fields, "down")
	}
	r.prove(p, fields...)
}

// none says what was looked at where no master was asked.
func (l ladder) none(p *facts.Proof) {
	if l.front != nil {
		l.front.prove(p, "asked")
	}
}

// MCS is how port 22623 answers from here, in front and on the masters.
type MCS struct {
	FrontAsked   int64    `cel:"frontAsked"`   // api-int and virtual addresses
	FrontOK      int64    `cel:"frontOK"`      // of them, HTTP came back
	FrontRefused int64    `cel:"frontRefused"` // of them, nothing listens
	Refusing     []string `cel:"refusing"`     // addresses of those
	APIThere     bool     `cel:"apiThere"`     // one that refuses 22623 answers on 6443
	Asked        int64    `cel:"asked"`        // masters
	OK           int64    `cel:"ok"`           // of them, HTTP came back
}

var mcsFact = facts.DefinePlain("mcs-ports", fault.Cluster, "whether port 22623 answers at api-int, the virtual addresses and each master", needs, readMCS)

func readMCS(ctx context.Context, w *facts.World, _ fault.Subject) (MCS, facts.Proof, error) {
	m := MCS{Refusing: []string{}}
	var p facts.Proof
	l, err := read(ctx, w)
	if err != nil {
		return m, p, err
	}
	for _, r := range l.rest {
		if !r.isMCS() {
			continue
		}
		if r.Node() != "" {
			m.Asked++
			if r.answers() {
				m.OK++
			}
			r.prove(&p, "asked", "ok")
			continue
		}
		m.FrontAsked++
		switch {
		case r.answers():
			m.FrontOK++
		case r.ErrorClass == probe.ErrRefused:
			m.FrontRefused++
			m.Refusing = append(m.Refusing, r.Where())
			if api := l.sibling(r); api != nil && api.answers() {
				m.APIThere = true
				api.prove(&p, "apiThere")
			}
		}
		r.prove(&p, "frontAsked", "frontOK", "frontRefused", "refusing")
	}
	if len(p.Items) == 0 {
		return m, p, &evidence.Unavailable{Need: needs[0], Why: evidence.NotAsked, Detail: "port 22623 of the machine config servers was not asked",
			Supply: "rollcall diagnose --probe from a machine that is no node of the cluster"}
	}
	return m, p, nil
}

// sibling is the rung of the API at the same host, asked by the same machine.
func (l ladder) sibling(r rung) *rung {
	for i, other := range l.rest {
		if other.Host == r.Host && other.Target == r.Target && other.Port == probe.APIPort && other.Vantage == r.Vantage {
			return &l.rest[i]
		}
	}
	return nil
}
