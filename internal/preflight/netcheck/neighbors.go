package netcheck

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// state is what the kernel's neighbor table has about an address.
type state int

const (
	stateNone    state = iota // it has not asked
	stateWaiting              // it asks, or has an entry from before
	stateAnswered
	stateSilent
)

// neighbor is one entry of the table.
type neighbor struct {
	ip    netip.Addr
	index int // of the interface
	mac   net.HardwareAddr
	state state
}

// maxNeighbors bounds how many addresses are looked for: the kernel keeps some thousand.
const maxNeighbors = 256

// patience is how long the kernel asks before it gives up: three times, one second each
// (arp(7), ucast_solicit and mcast_solicit), and five seconds of delay before it asks again
// about an entry from before (delay_first_probe_time).
const patience = 10 * time.Second

// neighbors finds out which addresses of the plan are in use in the networks of this
// machine. An empty datagram makes the kernel ask for the hardware address, which needs no
// rights; its table has the answer.
func (c *checker) neighbors(ctx context.Context) error {
	tasks := c.neighborAnswers()
	var group sync.WaitGroup
	asked := 0
	for i := range tasks {
		if tasks[i].NotRun == "" && tasks[i].Neighbor == "" {
			asked++
			group.Go(crash.Func(func() { poke(ctx, tasks[i].Host) }))
		}
	}
	group.Wait()
	if asked > 0 {
		if err := c.awaitNeighbors(ctx, tasks); err != nil {
			return err
		}
	}
	c.out = append(c.out, tasks...)
	return nil
}

// neighborAnswers are the questions, each without its answer, or with why it is not asked.
func (c *checker) neighborAnswers() []probe.NetAnswer {
	var ask []question
	if !c.want.balanced { // a load balancer has its addresses already
		for _, ip := range addresses(c.want.api) {
			ask = append(ask, question{probe.NetAPIVIP, ip})
		}
		for _, ip := range addresses(c.want.ingress) {
			ask = append(ask, question{probe.NetIngressVIP, ip})
		}
	}
	for _, ip := range c.want.gateways {
		ask = append(ask, question{probe.NetGateway, ip})
	}
	ask = append(ask, c.want.hosts...)
	var all []probe.NetAnswer
	for i, q := range ask {
		a := probe.NetAnswer{Kind: probe.NetNeighbor, Target: q.target, Host: q.host, Vantage: c.Vantage, At: c.Now()}
		ip, _ := netip.ParseAddr(q.host) // addresses kept what can be parsed
		on, here := c.on(ip)
		self, ours := c.own(ip)
		switch {
		case c.From != nil:
			a.NotRun = "from " + c.Vantage + " the neighbor table is not read"
		case !here:
			a.NotRun = c.Vantage + " has no address in the network of " + q.host
		case ours: // a host that has booted the live ISO has its address already, and its MAC address shows that it is that host
			a.Neighbor, a.MAC, a.Interface = probe.NeighborAnswered, self.mac, self.name
		case i >= maxNeighbors:
			a.NotRun = fmt.Sprintf("only %d addresses are looked for", maxNeighbors)
		case !canReadNeighbors:
			a.NotRun = "the neighbor table is read on Linux only"
		default:
			a.Interface = on.name
		}
		all = append(all, a)
	}
	return all
}

// poke sends an empty datagram to the discard port. Who has it closed answers with ICMP,
// and no one acts upon it.
func poke(ctx context.Context, ip string) {
	conn, err := outbound.Dialer(time.Second).DialContext(ctx, "udp", net.JoinHostPort(ip, "9"))
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write(nil)
}

// awaitNeighbors reads the table until it has an answer for each address, or time is over.
func (c *checker) awaitNeighbors(ctx context.Context, tasks []probe.NetAnswer) error {
	until := time.Now().Add(patience)
	for {
		table, err := readNeighbors()
		open := 0
		for i := range tasks {
			if a := &tasks[i]; a.NotRun == "" && a.Neighbor == "" {
				c.enter(a, table, err, time.Now().After(until))
				if a.NotRun == "" && a.Neighbor == "" {
					open++
				}
			}
		}
		if open == 0 {
			return nil
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("look for the addresses of the plan: %w", ctx.Err())
		}
	}
}

// enter takes the answer of the table, if it has one. late is that nothing more is awaited.
func (c *checker) enter(a *probe.NetAnswer, table []neighbor, err error, late bool) {
	if err != nil {
		a.NotRun = wireClip(fmt.Errorf("the neighbor table cannot be read: %w", err))
		return
	}
	ip, _ := netip.ParseAddr(a.Host)
	on, _ := c.on(ip)
	i := slices.IndexFunc(table, func(n neighbor) bool { return n.ip == ip && n.index == on.index })
	s := stateNone
	if i >= 0 {
		s = table[i].state
	}
	switch {
	case s == stateAnswered:
		a.Neighbor, a.MAC = probe.NeighborAnswered, table[i].mac.String()
	case s == stateSilent:
		a.Neighbor = probe.NeighborSilent
	case late && s == stateWaiting:
		a.NotRun = "the neighbor table has only an entry from before"
	case late:
		a.NotRun = "this machine did not ask: is there a rule that drops the datagram?"
	}
}
