package bmc

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// root is where every Redfish service begins (DMTF DSP0266, "Service root"); it answers
// without a credential.
const (
	root    = "/redfish/v1/"
	systems = "/redfish/v1/Systems"
)

// asker asks BMCs.
type asker struct {
	opts  Options
	gates gates
}

// ask asks one BMC. It never fails: how far it came is the answer.
func (k *asker) ask(ctx context.Context, t Target) Answer {
	begun := k.opts.Clock()
	a := Answer{Target: t, Vantage: k.opts.Vantage, At: begun.UTC()}
	if p := k.walk(ctx, &a); p != nil {
		a.Failure, a.Status, a.Error = p.failure, p.status, wire.Clip(p.detail)
	}
	a.Millis = k.opts.Clock().Sub(begun).Milliseconds()
	if credential, have := k.opts.Credentials.For(t); have {
		return credential.hide(a)
	}
	return a
}

// walk asks step by step. What it waits for other BMCs is not the time of this one.
func (k *asker) walk(parent context.Context, a *Answer) *problem {
	began := k.opts.Clock()
	ctx, cancel := context.WithTimeout(parent, k.opts.Limit)
	defer cancel()
	to, failure, why := parse(a.Address)
	a.Driver = to.driver
	if failure != "" {
		return &problem{failure: failure, detail: why}
	}
	a.Endpoint = to.base.String()
	seen, p := look(ctx, to)
	if p != nil {
		return p
	}
	var leaf *x509.Certificate
	if len(seen.chain) > 0 {
		leaf = seen.chain[0]
		if p := k.judge(a, to, seen.chain); p != nil {
			return p
		}
	}
	c := newClient(to, leaf, k.opts.AnswerLimit, k.opts.Clock)
	defer func() { a.Requests = c.requests; c.close() }()
	if p := c.service(ctx, a); p != nil {
		return p
	}
	entry, p := k.admit(parent, a, to, seen.at)
	if p != nil {
		return p
	}
	if waited := entry.waited; waited > 0 {
		var more context.CancelFunc
		ctx, more = context.WithTimeout(parent, max(k.opts.Limit-(k.opts.Clock().Sub(began)-waited), time.Second))
		defer more()
	}
	system, p := k.login(ctx, c, a, to, entry)
	if p != nil {
		return p
	}
	c.machine(ctx, a, system)
	if c.stopped != nil { // refused in the middle: what was read before stays
		return c.stopped
	}
	if ctx.Err() != nil {
		return &problem{failure: Timeout, detail: fmt.Sprintf("not read whole in %s", k.opts.Limit)}
	}
	return nil
}

// maxChain bounds what is kept of a chain that a hostile server may make long.
const maxChain = 5

// judge verifies the served chain. It is a problem where the plan does not say that the
// certificate need not be verified: then nothing else is sent.
func (k *asker) judge(a *Answer, to address, chain []*x509.Certificate) *problem {
	for _, c := range chain[:min(len(chain), maxChain)] {
		a.Chain = append(a.Chain, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})))
	}
	a.Until = chain[0].NotAfter.UTC()
	trust, err := verify(chain, to.base.Hostname(), k.opts.Roots, k.opts.Clock())
	a.Trust = trust
	if err == nil {
		return nil
	}
	a.TrustError = wire.Clip(err.Error())
	if a.Off {
		return nil
	}
	return &problem{failure: Untrusted, detail: a.TrustError}
}

// service reads the service root, without a credential.
func (c *client) service(ctx context.Context, a *Answer) *problem {
	n, p := c.node(ctx, root)
	if p != nil {
		c.stopped = nil
		if p.failure == Refused || p.failure == Forbidden {
			return nil // some want a credential here, too
		}
		if p.failure == Absent {
			return &problem{failure: NotAService, status: p.status, detail: "there is no " + root}
		}
		return p
	}
	a.Version, a.Product = n.text("RedfishVersion"), n.text("Product")
	if a.Product == "" {
		a.Product = n.text("Vendor")
	}
	if a.Version == "" && n.link("Systems") == "" {
		return &problem{failure: NotAService, status: 200, detail: "its root names no Redfish version and no systems"}
	}
	return nil
}

// admission is the permission to send a credential; none where it is not sent at all.
type admission struct {
	credential *Credential
	tries      []*try
	waited     time.Duration
}

func (e admission) leave(became Login) {
	for _, t := range e.tries {
		t.leave(became, e.credential.pass)
	}
}

// admit waits until the credential may be sent to what answers at this address and port: a
// plan can name one BMC by its name and by its address.
func (k *asker) admit(ctx context.Context, a *Answer, to address, at string) (admission, *problem) {
	credential, have := k.opts.Credentials.For(a.Target)
	if !have || to.base.Scheme != "https" {
		return admission{}, nil
	}
	a.LoginBy = credential.From
	e := admission{credential: &credential}
	began := k.opts.Clock()
	ctx, cancel := context.WithTimeout(ctx, k.opts.Limit)
	defer cancel()
	account, all := k.gates.at(at, credential.user), k.gates.of(credential)
	for _, step := range []struct {
		enter func() (*try, error)
		why   string
	}{
		{func() (*try, error) { return account.login(ctx, credential.pass) }, "the BMC refused this user, for another host"},
		{func() (*try, error) { return all.enter(ctx) }, ""},
	} {
		t, err := step.enter()
		if t != nil {
			e.tries = append(e.tries, t)
			continue
		}
		e.leave("")
		switch {
		case err != nil:
			step.why = "the same credential was sent to BMCs that have not answered yet, and is not sent to more at once"
		case step.why == "":
			step.why = fmt.Sprintf("the same credential was refused by %d other BMCs and is not sent again", all.refusals())
		}
		return admission{}, &problem{failure: HeldBack, detail: step.why}
	}
	e.waited = k.opts.Clock().Sub(began)
	return e, nil
}

// login sends the credential for the first time, with the request for the system, and says
// what became of it.
func (k *asker) login(ctx context.Context, c *client, a *Answer, to address, e admission) (node, *problem) {
	if e.credential == nil {
		return k.withoutLogin(ctx, c, a, to)
	}
	became := Login("")
	defer func() { e.leave(became) }()
	c.credential = e.credential
	n, p := c.system(ctx, to)
	switch {
	case p == nil || p.failure == Forbidden || p.failure == NoSystem || p.failure == SeveralSystem:
		became = LoginAccepted
	case p.failure == Refused:
		became = LoginRefused
		a.Disabled = c.noBasic
	}
	a.Login = became
	return n, p
}

// withoutLogin asks where there is no credential, or none may be sent.
func (k *asker) withoutLogin(ctx context.Context, c *client, a *Answer, to address) (node, *problem) {
	n, p := c.system(ctx, to)
	switch _, have := k.opts.Credentials.For(a.Target); {
	case p == nil:
		a.Login = LoginNotNeeded
		return n, nil
	case p.failure != Refused:
		return nil, p
	case !have:
		return nil, &problem{failure: NoCredential, status: p.status, detail: "it wants a credential, and there is none for it"}
	}
	return nil, &problem{failure: PlainHTTP, status: p.status, detail: "it wants a credential, and no credential is sent over http"}
}

// system reads the system of the address, or the only one that there is.
func (c *client) system(ctx context.Context, to address) (node, *problem) {
	path := to.system
	if path == "" {
		list, p := c.members(ctx, systems)
		if p != nil {
			return nil, p
		}
		switch len(list) {
		case 0:
			return nil, &problem{failure: NoSystem, detail: "the service lists no system"}
		case 1:
			path = list[0]
		default:
			return nil, &problem{failure: SeveralSystem, detail: fmt.Sprintf("it has %d systems, such as %s: the address has "+
				"to name one", len(list), wire.Clip(list[0]))}
		}
	}
	n, p := c.node(ctx, path)
	if p != nil && p.failure == Absent {
		return nil, &problem{failure: NoSystem, status: p.status, detail: "there is no " + wire.Clip(path)}
	}
	if p == nil && n.sub("Boot") == nil && n.text("PowerState") == "" && n.link("Processors") == "" {
		return nil, &problem{failure: NoSystem, status: 200, detail: wire.Clip(path) + " is not a system: it has no Boot and no PowerState"}
	}
	return n, p
}

// problemOf joins several reads of one part: the first that failed is why it is unread. A
// part of which nothing exists is Absent.
func problemOf(list ...*problem) *problem {
	var absent *problem
	for _, p := range list {
		if p != nil && p.failure != Absent {
			return p
		}
		if p != nil {
			absent = p
		}
	}
	return absent
}

// note keeps why a part was not read.
func (a *Answer) note(part string, p *problem) {
	if p == nil {
		return
	}
	if a.Unread == nil {
		a.Unread = map[string]Unread{}
	}
	a.Unread[part] = p.unread()
}

var errNoTargets = errors.New("no host of the plan has a BMC address")
