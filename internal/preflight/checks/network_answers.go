package checks

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

var networkNeeds = []evidence.Need{evidence.Objects(evidence.Plans, ""), evidence.Objects(evidence.NetProbes, "")}

// answers are what the network of the plan answered.
type answers struct {
	plans
	list   []probe.NetAnswer
	inside map[string]bool // vantage -> it stands in a network of the hosts
}

// readAnswers returns the plan with the answers. Where the network was not asked the facts
// about it have no meaning.
func readAnswers(ctx context.Context, w *facts.World) (answers, error) {
	return facts.Memo(ctx, w, "plan.answers", func(ctx context.Context, w *facts.World) (answers, error) {
		var l answers
		objects, err := w.List(ctx, evidence.NetProbes, "")
		if u, ok := evidence.AsUnavailable(err); ok && u.Why == evidence.NotAsked {
			return l, check.NotApplicable("%s (rollcall preflight --network)", u.Detail)
		}
		if err != nil {
			return l, err
		}
		if l.plans, err = installConfig(ctx, w); err != nil {
			return l, err
		}
		for _, o := range objects {
			a, err := evidence.Decode[probe.NetAnswer](o)
			if err != nil {
				return l, fmt.Errorf("read %s: %w", o.Name, err)
			}
			l.list = append(l.list, a)
		}
		l.stand()
		return l, nil
	})
}

// stand finds out which machines stand in a network of the hosts: what these see, hosts
// will see.
func (l *answers) stand() {
	l.inside = map[string]bool{}
	networks := l.hostNetworks()
	for _, a := range l.list {
		if a.Kind != probe.NetVantage {
			continue
		}
		for _, n := range a.Networks {
			p, err := netip.ParsePrefix(n)
			if err == nil && slices.ContainsFunc(networks, func(m netip.Prefix) bool { return m.Overlaps(p) }) {
				l.inside[a.Vantage] = true
			}
		}
	}
}

// hostNetworks are the machine networks; where none is written, those of the hosts'
// addresses, of which an agent-based installation takes them.
func (l *answers) hostNetworks() []netip.Prefix {
	var networks []netip.Prefix
	if l.install.get("networking", "machineNetwork").there() || l.install.get("networking", "machineCIDR").there() {
		for _, n := range machineNetworks(l.plans) {
			networks = append(networks, n.prefix)
		}
		return networks
	}
	for _, h := range l.hosts() {
		for _, a := range h.addresses() {
			networks = append(networks, a.prefix)
		}
	}
	return networks
}

// of are the answers of one kind.
func (l *answers) of(kind probe.NetKind) []probe.NetAnswer {
	return slices.DeleteFunc(slices.Clone(l.list), func(a probe.NetAnswer) bool { return a.Kind != kind })
}

// asked is a question without who asked it.
type asked struct {
	target, host, server string
	port                 int
}

func askedOf(a probe.NetAnswer) asked { return asked{a.Target, a.Host, a.Server, a.Port} }

// nearest are the answers of one kind. Where a machine in a network of the hosts asked, what
// machines elsewhere saw is left out: hosts will see what that one saw.
func (l *answers) nearest(kind probe.NetKind) []probe.NetAnswer {
	list, near := l.of(kind), map[asked]bool{}
	for _, a := range list {
		if a.NotRun == "" && l.inside[a.Vantage] {
			near[askedOf(a)] = true
		}
	}
	return slices.DeleteFunc(list, func(a probe.NetAnswer) bool { return near[askedOf(a)] && (a.NotRun != "" || !l.inside[a.Vantage]) })
}

// platform is what decides about names and load balancers.
type platform struct {
	api, ingress []node
	balanced     bool // load balancer and DNS are the user's: names have to be in DNS before hosts boot
	single       bool // one control-plane host, which has the addresses itself
}

func (l *answers) platform() platform {
	name := platformOf(l.install)
	at := l.install.get("platform", name)
	p := platform{balanced: name == "none" || name == "external"}
	if slices.Contains([]string{"baremetal", "vsphere", "nutanix", "openstack"}, name) {
		p.balanced = at.get("loadBalancer", "type").text() == "UserManaged"
		p.api, p.ingress = vipsOf(at, "apiVIPs", "apiVIP"), vipsOf(at, "ingressVIPs", "ingressVIP")
	}
	n, ok := l.install.get("controlPlane", "replicas").number()
	p.single = ok && n == 1
	return p
}

func addrs(list []node) []netip.Addr {
	var all []netip.Addr
	for _, n := range list {
		if a, ok := n.addr(); ok {
			all = append(all, a)
		}
	}
	return all
}

// hold is a piece of evidence: the place in the plan, and what was answered there.
func hold(n node, a probe.NetAnswer, format string, args ...any) evidence.Item {
	item := n.says(format, args...)
	item.Excerpt += " (asked from " + a.Vantage + ")"
	item.From, item.Time = a.Vantage, a.At
	return item
}

// unproven makes a check unknown that found nothing, and for which not all could be asked.
func unproven(to *problems, detail string) {
	if !to.Any() && detail != "" {
		to.Miss(&evidence.Unavailable{Need: networkNeeds[1], Why: evidence.Unreachable, Detail: detail,
			Supply: evidence.Supply{Kind: evidence.SupplyPlanNetwork}})
	}
}

// outside says why silence shows nothing.
func outside(a probe.NetAnswer, what string) string {
	return what + " does not answer, and " + a.Vantage + " is in no network of the hosts: a firewall may be between them"
}

// why is how a connection ended, in words.
func why(a probe.NetAnswer) string {
	switch a.ErrorClass {
	case probe.ErrRefused:
		return "nothing listens there"
	case probe.ErrTimeout:
		return "no answer came in time"
	case probe.ErrNoRoute:
		return "there is no route to it"
	case probe.ErrDNS:
		return "its name has no address"
	}
	return strings.TrimSpace(a.Error)
}
