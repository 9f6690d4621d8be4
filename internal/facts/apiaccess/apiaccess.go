// Package apiaccess holds the facts about the way to the API: what each rung of
// the ladder answered, from the machine that asked.
//
// Invariants:
//   - The front is what a client of the kubeconfig meets; masters are asked one by
//     one. What the front does is never said of a master, nor the other way round.
//   - Nothing is concluded from a rung that was not asked: counts say how many were.
package apiaccess

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/facts"
	"github.com/rollcall-project/rollcall/internal/fault"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Facts lists the facts of this area.
func Facts() []facts.Fact {
	return []facts.Fact{accessFact, mastersFact, mcsFact, hostFact}
}

var needs = []evidence.Need{evidence.Objects(evidence.APIProbes, "")}

// Access is what the front of the API answered.
type Access struct {
	Usable  bool   `cel:"usable"`  // the client of the kubeconfig gets answers; without a kubeconfig: the front answers below 500
	Server  string `cel:"server"`  // host and port that were asked
	Name    string `cel:"name"`    // the host alone
	Vantage string `cel:"vantage"` // the machine that asked
	Proxied bool   `cel:"proxied"` // asked through a proxy: its refusals may be the proxy's

	Error     string   `cel:"error"`     // the step that failed, an errorClass; "" when HTTP came back
	Connected bool     `cel:"connected"` // a TCP connection was made
	NoName    bool     `cel:"noName"`    // a name server says that there is no such name
	NoAnswer  bool     `cel:"noAnswer"`  // no name server answers
	Addresses []string `cel:"addresses"` // what the name resolves to
	Resolver  string   `cel:"resolver"`  // the name servers that were asked

	Trust      string    `cel:"trust"` // what the served chain is worth to the client
	Issuer     string    `cel:"issuer"`
	NotBefore  time.Time `cel:"notBefore"`
	NotAfter   time.Time `cel:"notAfter"`
	ServerTime time.Time `cel:"serverTime"` // the Date header
	ValidThere bool      `cel:"validThere"` // the certificate is valid at the server's time

	Credential string    `cel:"credential"` // accepted, refused, unknown; "" without a kubeconfig
	Kind       string    `cel:"kind"`       // of the credential
	Until      time.Time `cel:"until"`      // end of the client certificate
	Ended      bool      `cel:"ended"`      // the client certificate has ended

	Ready    int64    `cel:"ready"`    // status of /readyz, 0 when none came
	Failed   []string `cel:"failed"`   // checks that /readyz calls failed
	EtcdDown bool     `cel:"etcdDown"` // etcd is among them
	Passing  bool     `cel:"passing"`  // all of them belong to a start or an orderly end
	Gateway  bool     `cel:"gateway"`  // 502, 503 or 504 without an API server's checks: a load balancer speaks
	Foreign  bool     `cel:"foreign"`  // what answers is no API server

	At time.Time `cel:"at"`
}

var accessFact = facts.DefinePlain("api-access", fault.Cluster, "what the front of the API answers: name, connection, certificate, health, credentials", needs, readAccess)

func readAccess(ctx context.Context, w *facts.World, _ fault.Subject) (Access, facts.Proof, error) {
	var a Access
	var p facts.Proof
	l, err := read(ctx, w)
	if err != nil {
		return a, p, err
	}
	if l.front == nil {
		return a, p, &evidence.Unavailable{Need: needs[0], Why: evidence.NotAsked, Detail: "the front of the API was not asked", Supply: "--kubeconfig FILE"}
	}
	f := l.front.APIAnswer
	a.fill(f)
	l.front.prove(&p, "usable", "server", "name", "error", "connected", "noName", "noAnswer", "addresses", "resolver", "trust", "issuer", "notBefore",
		"notAfter", "serverTime", "validThere", "ready", "failed", "etcdDown", "passing", "gateway", "foreign", "at", "proxied", "vantage")
	unseen(f, &p)
	if l.client == nil {
		a.Usable = a.Ready > 0 && a.Ready < 500 && (a.Trust == "" || a.Trust == string(probe.TrustVerified))
		return a, p, nil
	}
	c := l.client.APIAnswer
	a.Usable, a.Credential, a.Kind, a.Until = c.OK, c.Credential, c.CredentialKind, c.CredentialUntil
	a.Ended = !c.CredentialUntil.IsZero() && c.At.After(c.CredentialUntil)
	l.client.prove(&p, "usable", "credential", "kind", "until", "ended")
	return a, p, nil
}

// unseen marks what the front never came to: a certificate that was not served is
// not a good one, and a server that said nothing is not ready.
func unseen(f probe.APIAnswer, p *facts.Proof) {
	miss := func(detail, supply string, fields ...string) {
		for _, field := range fields {
			p.Miss(field, &evidence.Unavailable{Need: needs[0], Why: evidence.Unreachable, Detail: detail, Supply: supply})
		}
	}
	switch {
	case f.Trust == "" && len(f.Chain) > 0:
		miss("there is no kubeconfig that verifies a certificate", "--kubeconfig FILE", "trust")
	case f.Trust == "":
		miss("no certificate was seen: the way ended before", "a way to "+f.Where(), "trust", "issuer", "notBefore", "notAfter", "validThere")
	}
	if f.Status("/readyz") == 0 {
		miss("nothing was said of the API's health: the way ended before", "a way to "+f.Where(), "ready", "failed", "etcdDown", "passing")
	}
}

func (a *Access) fill(f probe.APIAnswer) {
	a.Server, a.Name, a.Vantage, a.Proxied, a.At = f.Where(), f.Host, f.Vantage, f.Proxy != "", f.At
	a.Error, a.Connected = string(f.ErrorClass), f.Stage != probe.StageNone
	a.NoName, a.NoAnswer = f.DNS == probe.DNSNoSuchName, f.DNS == probe.DNSNoAnswer
	a.Addresses, a.Resolver = f.Addresses, strings.Join(f.Resolver, ", ")
	a.Trust, a.ServerTime = string(f.Trust), f.ServerTime
	if leaf := f.Leaf(); leaf != nil {
		a.Issuer, a.NotBefore, a.NotAfter = leaf.Issuer.CommonName, leaf.NotBefore.UTC(), leaf.NotAfter.UTC()
		a.ValidThere = !f.ServerTime.IsZero() && !f.ServerTime.Before(leaf.NotBefore) && f.ServerTime.Before(leaf.NotAfter)
	}
	a.Ready, a.Failed = int64(f.Status("/readyz")), f.Failed("/readyz")
	a.EtcdDown = slices.ContainsFunc(a.Failed, func(name string) bool { return strings.HasPrefix(name, "etcd") })
	a.Passing = len(a.Failed) > 0 && !slices.ContainsFunc(a.Failed, func(name string) bool { return !passing(name) })
	a.Gateway = len(a.Failed) == 0 && (a.Ready == 502 || a.Ready == 503 || a.Ready == 504)
	a.Foreign = f.ErrorClass == probe.ErrHTTP || a.Ready == 404 || a.Ready >= 300 && a.Ready < 400
}

// passing reports whether a failed check belongs to a server that starts or ends
// in order: hooks after the start, caches that fill, and the delay before the end
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go
// NewShutdownHealthz, informerSync, and ../hooks.go).
func passing(name string) bool {
	return name == "shutdown" || name == "informer-sync" || name == "api-openshift-apiserver-available" || name == "api-openshift-oauth-apiserver-available" ||
		strings.HasPrefix(name, "poststarthook/")
}

// ladder is the recorded rungs, sorted out.
type ladder struct {
	client, front *rung
	rest          []rung // api-int, vips and nodes
}

// rung is one answer with the place of its object.
type rung struct {
	probe.APIAnswer
	loc evidence.Locator
}

func (r rung) prove(p *facts.Proof, fields ...string) {
	p.Items = append(p.Items, evidence.Item{Locator: r.loc, Excerpt: r.sentence(), From: r.Vantage, Time: r.At, Fields: fields})
}

// read sorts the answers. Where an archive was read nobody went to the API, and
// what is asked of the way there has no meaning.
func read(ctx context.Context, w *facts.World) (ladder, error) {
	var l ladder
	list, err := w.List(ctx, evidence.APIProbes, "")
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
		return l, facts.NotApplicable("nobody went to the API: %s", u.Detail)
	}
	if err != nil {
		return l, err
	}
	for _, o := range list {
		a, err := evidence.Decode[probe.APIAnswer](o)
		if err != nil {
			return l, fmt.Errorf("read %s: %w", o.Name, err)
		}
		r := rung{a, o.Loc}
		switch a.Target {
		case probe.TargetClient:
			l.client = &r
		case probe.TargetAPI:
			l.front = &r
		default:
			l.rest = append(l.rest, r)
		}
	}
	return l, nil
}

// answers reports whether an API server speaks HTTP there.
func (r rung) answers() bool { return r.Stage == probe.StageAnswered }

// isMCS reports whether the rung is of the machine config server: it is the one
// that was asked for no health of an API.
func (r rung) isMCS() bool { return r.Port == probe.MCSPort }
