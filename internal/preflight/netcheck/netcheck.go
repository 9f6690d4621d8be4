// Package netcheck is the evidence.Source of the network that a plan needs: names, virtual
// addresses, load balancers, time servers, registries and the paths to the hosts, as one
// machine sees them.
//
// Invariants:
//   - It reads only. No credential is sent; TLS verification is off only to look at a
//     certificate, which is then held against the CAs that hosts will trust.
//   - Each answer names the machine that asked. What could not be asked from there is an
//     answer, too, with the reason.
//   - Each question has a bound in time and bytes, and there are at most some hundred.
package netcheck

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/apipath"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// Options say from where is asked.
type Options struct {
	Bundle  [][]byte      // certificates (DER) that hosts trust besides those of the system: additionalTrustBundle
	Vantage string        // the machine that asks; "" is this machine's host name
	From    *apipath.From // ask from a node of a cluster instead of this machine
	Now     func() time.Time
	Step    time.Duration // for one question; 0 is 6 s
}

// ports are those of the services. They are others only in tests.
type ports struct{ dns, api, mcs, https, ntp int }

// checker asks all questions of one plan.
type checker struct {
	Options
	ports
	want  want
	roots *x509.CertPool
	links []link
	wires wires
	out   []probe.NetAnswer
}

// most questions are asked at once.
const parallel = 16

// Ask asks what the plans need and returns the answers as objects of evidence.NetProbes.
func Ask(ctx context.Context, plans []evidence.Object, o Options) ([]evidence.Object, error) {
	c, err := newChecker(plans, o)
	if err != nil {
		return nil, err
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	return objects(c.out)
}

func newChecker(plans []evidence.Object, o Options) (*checker, error) {
	o.Step = cmp.Or(o.Step, 6*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.From != nil {
		o.Vantage = o.From.Name
	}
	if o.Vantage == "" {
		o.Vantage = "this machine"
		if name, err := os.Hostname(); err == nil && name != "" {
			o.Vantage = name
		}
	}
	c := &checker{Options: o, ports: ports{dns: 53, api: openshift.APIPort, mcs: openshift.MCSPort, https: 443, ntp: 123}, want: wanted(plans)}
	if roots, err := x509.SystemCertPool(); err == nil {
		c.roots = roots
	} else {
		c.roots = x509.NewCertPool()
	}
	for _, der := range o.Bundle {
		if cert, err := x509.ParseCertificate(der); err == nil {
			c.roots.AddCert(cert)
		}
	}
	switch {
	case o.From == nil:
		c.wires = here{knocked}
		links, err := localLinks()
		if err != nil {
			return nil, fmt.Errorf("list the network interfaces of this machine: %w", err)
		}
		c.links = links
	case o.From.Paths != nil:
		c.wires = pinger{o.From.Paths}
	}
	return c, nil
}

// task is one question; it fills in the answer that it is handed.
type task struct {
	answer probe.NetAnswer
	ask    func(context.Context, *probe.NetAnswer)
	limit  time.Duration // 0 is Options.Step
}

// run asks names first: where load balancers are is known from them.
func (c *checker) run(ctx context.Context) error {
	c.out = append(c.out, c.vantage(ctx))
	if err := c.all(ctx, c.nameTasks()); err != nil {
		return err
	}
	tasks := slices.Concat(c.portTasks(), c.registryTasks(), c.timeTasks())
	if err := c.all(ctx, tasks); err != nil {
		return err
	}
	if err := c.neighbors(ctx); err != nil {
		return err
	}
	return c.all(ctx, c.pathTasks())
}

func (c *checker) all(ctx context.Context, tasks []task) error {
	var group crash.Group
	group.SetLimit(parallel)
	for i := range tasks {
		t := &tasks[i]
		t.answer.Vantage, t.answer.At = c.Vantage, c.Now()
		if t.answer.NotRun != "" {
			continue
		}
		group.Go(func() error {
			limited, cancel := context.WithTimeout(ctx, cmp.Or(t.limit, c.Step))
			defer cancel()
			began := time.Now()
			t.ask(limited, &t.answer)
			t.answer.Millis = float64(time.Since(began).Microseconds()) / 1000
			return nil
		})
	}
	_ = group.Wait() // the tasks return no error: that nothing answers is an answer
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("ask the network of the plan: %w", err)
	}
	for _, t := range tasks {
		c.out = append(c.out, t.answer)
	}
	return nil
}

// vantage says in which networks the machine stands.
func (c *checker) vantage(ctx context.Context) probe.NetAnswer {
	a := probe.NetAnswer{Kind: probe.NetVantage, Vantage: c.Vantage, At: c.Now()}
	switch {
	case c.From != nil && c.From.Paths != nil:
		var err error
		if a.Networks, err = networksOf(ctx, c.From.Paths); err != nil {
			a.NotRun = wireClip(err)
		}
		return a
	case c.From != nil:
		a.NotRun = "the networks of " + c.Vantage + " are not read"
		return a
	}
	for _, l := range c.links {
		a.Networks = append(a.Networks, l.prefix.Masked().String())
		machine := slices.ContainsFunc(c.want.machine, func(m string) bool {
			p, err := netip.ParsePrefix(m)
			return err == nil && p.Overlaps(l.prefix.Masked())
		})
		if machine && (a.MTU == 0 || l.mtu < a.MTU) {
			a.MTU = l.mtu
		}
	}
	return a
}

// notThere records that a probe from elsewhere could not be made.
func (c *checker) notThere(err error, a *probe.NetAnswer) bool {
	if c.From == nil || err == nil || !c.From.NotRun(err) {
		return false
	}
	a.NotRun = wireClip(err)
	return true
}

func (c *checker) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if c.From != nil {
		return c.From.Dial(ctx, network, address)
	}
	return outbound.Dial(ctx, network, address)
}

// objects returns answers in the order of their names.
func objects(answers []probe.NetAnswer) ([]evidence.Object, error) {
	var all []evidence.Object
	for _, a := range answers {
		o, err := a.Object()
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b evidence.Object) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b evidence.Object) bool { return a.Name == b.Name }), nil
}

// link is an address of this machine with its network.
type link struct {
	name   string
	index  int
	mtu    int
	prefix netip.Prefix
	mac    string
}

// localLinks are the networks that this machine is in; loopback and link-local ones are of
// no cluster.
func localLinks() ([]link, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var all []link
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, errors.Join(err, fmt.Errorf("interface %s", i.Name))
		}
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && !p.Addr().IsLinkLocalUnicast() {
				all = append(all, link{i.Name, i.Index, i.MTU, p, i.HardwareAddr.String()})
			}
		}
	}
	return all, nil
}

// on returns the interface of this machine whose network has an address.
func (c *checker) on(ip netip.Addr) (link, bool) {
	i := slices.IndexFunc(c.links, func(l link) bool { return l.prefix.Masked().Contains(ip) })
	if i < 0 {
		return link{}, false
	}
	return c.links[i], true
}

// own returns the interface that has an address itself.
func (c *checker) own(ip netip.Addr) (link, bool) {
	i := slices.IndexFunc(c.links, func(l link) bool { return l.prefix.Addr() == ip })
	if i < 0 {
		return link{}, false
	}
	return c.links[i], true
}
