package netcheck

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"

	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// maxAddresses bounds what is kept of one answer.
const maxAddresses = 16

func wireClip(err error) string { return wire.Clip(err.Error()) }

// nameTasks ask each name of the name servers of this machine and of those that the hosts
// will ask, and for the names of the hosts' addresses.
func (c *checker) nameTasks() []task {
	var tasks []task
	servers := append([]string{""}, c.want.servers...)
	for _, n := range c.want.names {
		for _, server := range servers {
			t := task{answer: probe.NetAnswer{Kind: probe.NetName, Target: n.target, Host: n.host, Server: server}, ask: c.lookup}
			if server != "" && c.From != nil {
				t.answer.NotRun = "from " + c.Vantage + " only its own name servers can be asked"
			}
			tasks = append(tasks, t)
		}
	}
	if c.From != nil || len(c.want.servers) == 0 {
		return tasks
	}
	for _, h := range c.want.hosts {
		server := c.want.servers[0]
		tasks = append(tasks, task{answer: probe.NetAnswer{Kind: probe.NetReverse, Target: h.target, Host: h.host, Server: server}, ask: c.reverse})
	}
	return tasks
}

// nameServer is the address and port of a name server of the plan.
func (c *checker) nameServer(ip string) string { return net.JoinHostPort(ip, strconv.Itoa(c.dns)) }

func (c *checker) lookup(ctx context.Context, a *probe.NetAnswer) {
	var found []string
	var err error
	switch {
	case c.From != nil:
		found, err = c.From.Lookup(ctx, a.Host)
		if c.notThere(err, a) {
			return
		}
	case a.Server != "":
		a.Resolver = []string{c.nameServer(a.Server)}
		found, err = addressesFrom(ctx, c.dialServer(a.Resolver[0]), a.Host)
	default:
		resolver, asked := wire.Resolver()
		found, err = resolver.LookupHost(ctx, a.Host+".") // the dot: without the search domains of this machine
		a.Resolver = asked()
	}
	c.settle(a, found, err, &a.Addresses)
}

// reverse asks for the names of an address.
func (c *checker) reverse(ctx context.Context, a *probe.NetAnswer) {
	a.Resolver = []string{c.nameServer(a.Server)}
	found, err := namesFrom(ctx, c.dialServer(a.Resolver[0]), a.Host)
	c.settle(a, found, err, &a.Names)
}

// settle keeps what was found, or why nothing was.
func (c *checker) settle(a *probe.NetAnswer, found []string, err error, to *[]string) {
	if err == nil && len(found) > 0 {
		found = slices.Clone(found)
		slices.Sort(found)
		for i := range found {
			found[i] = wire.Clip(found[i])
		}
		*to = found[:min(len(found), maxAddresses)]
		return
	}
	a.DNS, a.ErrorClass = probe.DNSNoAnswer, probe.ErrDNS
	if err != nil {
		a.Error = wireClip(err)
	}
	dns, ok := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errNoSuchName), ok && dns.IsNotFound:
		a.DNS = probe.DNSNoSuchName
	case errors.Is(err, errFailure):
		a.DNS = probe.DNSFailure
	case ok && c.From != nil && !dns.IsTimeout:
		a.DNS = "" // getent does not tell a name that is not there from a server that fails
	}
}
