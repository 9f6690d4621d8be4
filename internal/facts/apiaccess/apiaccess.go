// Package apiaccess holds the facts about the network path to the API: what each check of
// the checks of the path answered, from the machine that asked.
//
// Invariants:
//   - The load balancer is what a client of the kubeconfig meets; masters are asked one by
//     one. What the load balancer does is never said of a master, nor the other way round.
//   - Nothing is concluded from a check that was not asked: counts say how many were.
package apiaccess

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Facts lists the facts of this area.
func Facts() []facts.Fact {
	return []facts.Fact{accessFact, mastersFact, mcsFact, hostFact}
}

var needs = []evidence.Need{evidence.Objects(evidence.APIProbes, "")}

// access is what the load balancer of the API answered.
type access struct {
	Usable  facts.Field[bool]   `cel:"usable"`  // the client of the kubeconfig gets answers; without a kubeconfig: the load balancer answers below 500
	Server  facts.Field[string] `cel:"server"`  // host and port that were asked
	Name    facts.Field[string] `cel:"name"`    // the host alone
	Vantage facts.Field[string] `cel:"vantage"` // the machine that asked
	Proxied facts.Field[bool]   `cel:"proxied"` // asked through a proxy: its refusals may be the proxy's

	Error     facts.Field[string]   `cel:"error"`     // the step that failed, an errorClass; "" when HTTP came back
	Connected facts.Field[bool]     `cel:"connected"` // a TCP connection was made
	NoName    facts.Field[bool]     `cel:"noName"`    // a name server says that there is no such name
	NoAnswer  facts.Field[bool]     `cel:"noAnswer"`  // no name server answers
	Addresses facts.Field[[]string] `cel:"addresses"` // what the name resolves to
	Resolver  facts.Field[string]   `cel:"resolver"`  // the name servers that were asked

	Trust      facts.Field[string]    `cel:"trust"` // what the served chain is worth to the client
	Issuer     facts.Field[string]    `cel:"issuer"`
	NotBefore  facts.Field[time.Time] `cel:"notBefore"`
	NotAfter   facts.Field[time.Time] `cel:"notAfter"`
	ValidThere facts.Field[bool]      `cel:"validThere"` // the certificate is valid at the server's time

	Credential facts.Field[string]    `cel:"credential"` // accepted, refused, unknown; "" without a kubeconfig
	Kind       facts.Field[string]    `cel:"kind"`       // of the credential
	Until      facts.Field[time.Time] `cel:"until"`      // end of the client certificate
	Ended      facts.Field[bool]      `cel:"ended"`      // the client certificate has expired

	Ready    facts.Field[int64]    `cel:"ready"`    // status of /readyz, 0 when none came
	Failed   facts.Field[[]string] `cel:"failed"`   // checks that /readyz calls failed
	EtcdDown facts.Field[bool]     `cel:"etcdDown"` // etcd is among them
	Passing  facts.Field[bool]     `cel:"passing"`  // all of them belong to a start or an orderly end
	Gateway  facts.Field[bool]     `cel:"gateway"`  // 502, 503 or 504 without an API server's checks: a load balancer speaks
	Foreign  facts.Field[bool]     `cel:"foreign"`  // what answers is no API server

}

var accessFact = facts.Define("api-access", fault.Cluster, "what the endpoint of the API answers: name, connection, certificate, health, credentials", needs,
	readAccess)

func readAccess(ctx context.Context, w *facts.World, _ fault.Subject) (access, error) {
	var a access
	l, err := read(ctx, w)
	if err != nil {
		return a, err
	}
	if l.front == nil {
		return a, &evidence.Unavailable{
			Need:   needs[0],
			Why:    evidence.NotAsked,
			Detail: "the endpoint of the API was not asked",
			Supply: evidence.Supply{Kind: evidence.SupplyKubeconfig},
		}
	}
	front := l.front.APIAnswer
	a.fill(front)
	ready, trust := a.Ready.Value(), a.Trust.Value()
	a.Usable.Set(ready > 0 && ready < 500 && (trust == "" || trust == string(probe.TrustVerified)))
	facts.ProveAll(&a, l.front.item())
	a.missUnseen(front)
	if l.client != nil {
		c, item := l.client.APIAnswer, l.client.item()
		a.Usable.Set(c.OK, item)
		a.Credential.Set(c.Credential, item)
		a.Kind.Set(c.CredentialKind, item)
		a.Until.Set(c.CredentialUntil, item)
		a.Ended.Set(!c.CredentialUntil.IsZero() && c.At.After(c.CredentialUntil), item)
	}
	facts.Complete(&a)
	return a, nil
}

// missUnseen marks what the load balancer did not reach: a certificate that was not served is
// not a good one, and a server that reported nothing is not ready.
func (a *access) missUnseen(f probe.APIAnswer) {
	miss := func(detail string, supply evidence.Supply, fields ...facts.Setter) {
		_ = facts.Miss(&evidence.Unavailable{Need: needs[0], Why: evidence.Unreachable, Detail: detail, Supply: supply}, fields...)
	}
	path := evidence.Supply{Kind: evidence.SupplyNetworkPath, Host: f.Where()}
	switch {
	case f.Trust == "" && len(f.Chain) > 0:
		miss("there is no kubeconfig that verifies a certificate", evidence.Supply{Kind: evidence.SupplyKubeconfig}, &a.Trust)
	case f.Trust == "":
		miss("no certificate was seen: the connection ended before", path, &a.Trust, &a.Issuer, &a.NotBefore, &a.NotAfter, &a.ValidThere)
	}
	if f.Status("/readyz") == 0 {
		miss("the API reported no health: the connection ended before", path, &a.Ready, &a.Failed, &a.EtcdDown, &a.Passing)
	}
}

func (a *access) fill(f probe.APIAnswer) {
	a.Server.Set(f.Where())
	a.Name.Set(f.Host)
	a.Vantage.Set(f.Vantage)
	a.Proxied.Set(f.Proxy != "")
	a.Error.Set(string(f.ErrorClass))
	a.Connected.Set(f.Stage != probe.StageNone)
	a.NoName.Set(f.DNS == probe.DNSNoSuchName)
	a.NoAnswer.Set(f.DNS == probe.DNSNoAnswer)
	a.Addresses.Set(f.Addresses)
	a.Resolver.Set(strings.Join(f.Resolver, ", "))
	a.Trust.Set(string(f.Trust))
	if leaf := f.Leaf(); leaf != nil {
		a.Issuer.Set(leaf.Issuer.CommonName)
		a.NotBefore.Set(leaf.NotBefore.UTC())
		a.NotAfter.Set(leaf.NotAfter.UTC())
		a.ValidThere.Set(!f.ServerTime.IsZero() && !f.ServerTime.Before(leaf.NotBefore) && f.ServerTime.Before(leaf.NotAfter))
	}
	ready, failed := int64(f.Status("/readyz")), f.Failed("/readyz")
	a.Ready.Set(ready)
	a.Failed.Set(failed)
	a.EtcdDown.Set(slices.ContainsFunc(failed, func(name string) bool { return strings.HasPrefix(name, "etcd") }))
	a.Passing.Set(len(failed) > 0 && !slices.ContainsFunc(failed, func(name string) bool { return !passing(name) }))
	a.Gateway.Set(len(failed) == 0 && (ready == 502 || ready == 503 || ready == 504))
	a.Foreign.Set(f.ErrorClass == probe.ErrHTTP || ready == 404 || ready >= 300 && ready < 400)
}

// passing reports whether a failed check belongs to a server that starts or ends
// in order: hooks after the start, caches that fill, and the delay before the end
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/server/healthz/healthz.go
// NewShutdownHealthz, informerSync, and ../hooks.go).
func passing(name string) bool {
	return name == "shutdown" || name == "informer-sync" || name == "api-openshift-apiserver-available" || name == "api-openshift-oauth-apiserver-available" ||
		strings.HasPrefix(name, "poststarthook/")
}

// apiChecks has the recorded checks, by kind.
type apiChecks struct {
	client, front *checkedEndpoint
	rest          []checkedEndpoint // api-int, vips and nodes
}

// check is one answer with the place of its object.
type checkedEndpoint struct {
	probe.APIAnswer
	loc evidence.Locator
}

func (r checkedEndpoint) item() evidence.Item {
	return evidence.Item{Locator: r.loc, Excerpt: r.sentence(), From: r.Vantage, Time: r.At}
}

// read sorts the answers. Where an archive was read the API was not probed, and
// what is asked of the path does not apply.
func read(ctx context.Context, w *facts.World) (apiChecks, error) {
	var l apiChecks
	list, err := w.List(ctx, evidence.APIProbes, "")
	if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
		return l, facts.NotApplicable("the API was not probed: %s", u.Detail)
	}
	if err != nil {
		return l, err
	}
	for _, o := range list {
		a, err := evidence.Decode[probe.APIAnswer](o)
		if err != nil {
			return l, fmt.Errorf("read %s: %w", o.Name, err)
		}
		r := checkedEndpoint{a, o.Loc}
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
func (r checkedEndpoint) answers() bool { return r.Stage == probe.StageAnswered }

// isMCS reports whether the check is of the machine config server: it is the one
// that was asked for no health of an API.
func (r checkedEndpoint) isMCS() bool { return r.Port == openshift.MCSPort }
