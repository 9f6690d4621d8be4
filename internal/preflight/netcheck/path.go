package netcheck

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// The path to a host is measured without a program on the other side, and without rights:
//
//   - Delay: the time until a TCP connection is accepted or refused. Both are an answer of
//     the host, or of a firewall that refuses in its name.
//   - Size: a UDP datagram that must not be fragmented goes to a port that is closed. That the
//     host refuses it (ICMP port unreachable) proves that it arrived in one piece. The way
//     back is not measured: the answer is small.
//
// A node that is asked from (Options.From) uses ping for both.

// The bounds of one path.
const (
	maxPaths  = 128
	pathLimit = 45 * time.Second
	// pings are as many as the agent of an installation sends (openshift/assisted-installer-agent:
	// src/connectivity_check/ping_checker.go).
	pings        = 10
	beforeResend = 990 * time.Millisecond // a SYN without an answer is sent again after 1 s (RFC 6298): later answers hide the loss
	defaultMTU   = 1500
	smallest     = 1280 // the search for the size ends here: each IPv6 link has it (RFC 8200)
	tiny         = 100
)

// fate is what became of a packet.
type fate int

const (
	arrived fate = iota
	tooLarge
	silent
)

// wires measure from one machine.
type wires interface {
	// delays are the times of n questions; one without an answer is missing. method is empty
	// where the host answers none.
	delays(ctx context.Context, ip string, n int) (times []time.Duration, method string, err error)
	// send sends one packet of a size with its IP header. limit is the largest one that the path
	// has, as this machine or a router reports; 0 where none did.
	send(ctx context.Context, ip string, size int) (f fate, limit int, err error)
	// mtu is that of the interface that leads to an address; 0 where it is not known.
	mtu(ctx context.Context, ip string) (int, error)
	method() string // of send
}

// pathTasks measure the paths to the hosts that the plan has addresses of. A host that does
// not answer ARP is not up, and is not waited for.
func (c *checker) pathTasks() []task {
	var tasks []task
	for i, h := range c.want.hosts {
		not := ""
		if i >= maxPaths {
			not = fmt.Sprintf("only %d paths are measured", maxPaths)
		}
		j := slices.IndexFunc(c.out, func(a probe.NetAnswer) bool { return a.Kind == probe.NetNeighbor && a.Host == h.host })
		switch {
		case j >= 0 && c.out[j].Neighbor == probe.NeighborSilent:
			not = h.host + " does not answer ARP or neighbor discovery"
		case c.wires == nil:
			not = "from " + c.Vantage + " no path is measured"
		}
		if ip, err := netip.ParseAddr(h.host); err == nil && c.From == nil {
			if _, ours := c.own(ip); ours {
				continue
			}
		}
		size := cmp.Or(c.want.mtus[h.host], defaultMTU)
		tasks = append(tasks,
			task{answer: probe.NetAnswer{Kind: probe.NetDelay, Target: h.target, Host: h.host, NotRun: not}, ask: c.delay, limit: pathLimit},
			task{answer: probe.NetAnswer{Kind: probe.NetSize, Target: h.target, Host: h.host, Size: size, NotRun: not}, ask: c.size, limit: pathLimit})
	}
	return tasks
}

func (c *checker) delay(ctx context.Context, a *probe.NetAnswer) {
	times, method, err := c.wires.delays(ctx, a.Host, pings)
	switch {
	case c.notThere(err, a), c.notMeasured(err, a):
		return
	case method == "":
		a.ErrorClass = probe.ErrTimeout
		return
	}
	a.Method, a.Sent, a.Lost = method, pings, pings-len(times)
	if len(times) > 0 {
		slices.Sort(times)
		a.Median, a.Max = millis(times[len(times)/2]), millis(times[len(times)-1])
	}
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// notMeasured records an error of the machine that measures.
func (c *checker) notMeasured(err error, a *probe.NetAnswer) bool {
	if err != nil {
		a.NotRun = wireClip(err)
	}
	return err != nil
}

// size finds the largest packet that arrives, up to what the host's interface will send.
func (c *checker) size(ctx context.Context, a *probe.NetAnswer) {
	mtu, err := c.wires.mtu(ctx, a.Host)
	if c.notThere(err, a) || c.notMeasured(err, a) {
		return
	}
	if mtu == 0 { // its own limit would be taken for one of the path
		a.NotRun = "the MTU of the interface that leads to " + a.Host + " is not known"
		return
	}
	a.MTU, a.Method, a.Size = mtu, c.wires.method(), min(a.Size, mtu)
	try := func(size int) (fate, int) {
		if err != nil {
			return silent, 0
		}
		var f fate
		var limit int
		for range 3 { // a packet may be lost, and hosts answer one a second only (icmp(7), icmp_ratelimit)
			if f, limit, err = c.wires.send(ctx, a.Host, size); err != nil || f != silent || ctx.Err() != nil {
				break
			}
		}
		return f, limit
	}
	if f, _ := try(tiny); f == silent { // it shows nothing about large ones that no answer to them comes
		if !c.notThere(err, a) && !c.notMeasured(err, a) {
			a.ErrorClass = probe.ErrTimeout
		}
		return
	}
	switch f, limit := try(a.Size); {
	case f == arrived:
		a.Passed = a.Size
	case f == tooLarge && tiny < limit && limit < a.Size:
		a.Reported = limit
		if f, _ := try(limit); f == arrived {
			a.Passed = limit
		}
	case err == nil && ctx.Err() == nil:
		a.Passed = search(a.Size, func(size int) bool { f, _ := try(size); return f == arrived })
		if f, _ := try(tiny); f == silent { // the host is gone
			a.Passed, a.ErrorClass = 0, probe.ErrTimeout
		}
	}
	if c.notThere(err, a) || c.notMeasured(err, a) {
		return
	}
	if ctx.Err() != nil {
		a.Passed, a.ErrorClass = 0, probe.ErrTimeout
	}
}

// search returns the largest size that arrives, to 4 bytes, where size does not; 0 where none
// from smallest on does.
func search(size int, arrives func(int) bool) int {
	if size <= smallest || !arrives(smallest) {
		return 0
	}
	low, high := smallest, size
	for high-low > 4 {
		if mid := (low + high) / 2; arrives(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
