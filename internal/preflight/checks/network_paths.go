package checks

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// netPathsArea is the area plan-network-paths: delay, loss and size of packets between machines in the network of the hosts.
type netPathsArea struct {
	Slow  problems // hosts whose answers take longer than an installation accepts
	Lossy problems // hosts that more questions of are lost than an installation accepts
	Small problems // hosts to which packets of the size of their MTU do not arrive
}

var netPathsChecks = check.Area("plan-network-paths", networkNeeds, readNetPaths, check.Fields[netPathsArea]{
	"plan-path-slow":  func(f *netPathsArea) *problems { return &f.Slow },
	"plan-path-lossy": func(f *netPathsArea) *problems { return &f.Lossy },
	"plan-path-mtu":   func(f *netPathsArea) *problems { return &f.Small },
})

// limits are those of the validations sufficient-network-latency-requirement-for-role and
// sufficient-packet-loss-requirement-for-role of an agent-based or assisted installation
// (openshift/assisted-service: data/default_hw_requirements.json; internal/host/validator.go).
func (l *answers) limits(h host) (millis float64, lost int) {
	role := h.role.text()
	if masters, ok := l.install.get("controlPlane", "replicas").number(); role == "" && ok && int(masters) == len(l.hosts()) {
		role = "master"
	}
	switch role {
	case "master":
		return 100, 0
	case "arbiter":
		return 1000, 0
	}
	return 1000, 1 // workers, and hosts whose role is chosen later
}

func readNetPaths(ctx context.Context, w *facts.World) (netPathsArea, error) {
	var f netPathsArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	hosts := l.hosts()
	if len(hosts) == 1 {
		return f, check.NotApplicable("there is one host: it has no path to another one")
	}
	static, measured := false, false
	var delay, size string // why a measure has no answer
	list := slices.Concat(l.nearest(probe.NetDelay), l.nearest(probe.NetSize))
	for _, h := range hosts {
		for _, own := range h.addresses() {
			static = true
			for _, a := range list {
				if ip, err := netip.ParseAddr(a.Host); err != nil || ip != own.addr {
					continue
				}
				to := &delay
				if a.Kind == probe.NetSize {
					to = &size
				}
				why, down := l.unmeasured(a, own)
				switch {
				case down: // it will have a path when it is up
				case why != "":
					*to = why
				case a.Kind == probe.NetDelay:
					measured = true
					f.delay(&l, h, own, a)
				default:
					measured = true
					*to = cmp.Or(f.size(h, own, a), *to)
				}
			}
		}
	}
	switch {
	case !static:
		return f, check.NotApplicable("the plan has no addresses of hosts: paths to them are not measured")
	case !measured && delay == "" && size == "":
		return f, check.NotApplicable("no host of the plan is up: there is no path to measure")
	}
	unproven(&f.Slow, delay)
	unproven(&f.Lossy, delay)
	unproven(&f.Small, size)
	return f, nil
}

// unmeasured says why an answer decides nothing. down is that a machine in the host's network
// saw that it is not there.
func (l *answers) unmeasured(a probe.NetAnswer, own address) (why string, down bool) {
	neighbor, silent, _ := l.neighbor(own.addr)
	switch {
	case neighbor == nil && silent != nil:
		return "", true
	case a.NotRun != "":
		return a.NotRun, false
	case a.ErrorClass != "" && l.inside[a.Vantage]:
		return fmt.Sprintf("%s does not answer %s: a firewall is on it, or it is not up", a.Host, a.Vantage), false
	case a.ErrorClass != "":
		return outside(a, a.Host), false
	case !l.inside[a.Vantage]:
		return a.Vantage + " is in no network of the hosts: their own path may be another one", false
	}
	return "", false
}

func (f *netPathsArea) delay(l *answers, h host, own address, a probe.NetAnswer) {
	name := h.title()
	most, lost := l.limits(h)
	if a.Lost > lost {
		f.Lossy.Add(name, hold(own.node, a, "%d of %d questions to %s (%s) got no answer within 1 s; look for errors on the links and for a second "+
			"machine with this address", a.Lost, a.Sent, name, a.Host))
	}
	if a.Lost < a.Sent && a.Median > most {
		f.Slow.Add(name, hold(own.node, a, "half of the answers of %s (%s) take longer than %s, and %s is the limit; put the hosts into networks "+
			"that are closer", name, a.Host, ms(a.Median), ms(most)))
	}
}

// size returns what was not proven.
func (f *netPathsArea) size(h host, own address, a probe.NetAnswer) string {
	name, want := h.title(), h.mtu(own.iface)
	switch {
	case a.Passed >= want:
	case a.Passed < a.Size && a.Reported > 0:
		f.Small.Add(name, hold(own.node, a, "packets to %s (%s) may have %d bytes, as a router on the path reports, and the hosts send %d; raise the "+
			"MTU on the path, or set mtu: %d on the interfaces of all hosts", name, a.Host, a.Reported, want, a.Reported))
	case a.Passed < a.Size:
		f.Small.Add(name, hold(own.node, a, "packets of %d bytes to %s (%s) are lost without a report; %s; raise the MTU of switches and routers on "+
			"the path, or set a smaller mtu on the interfaces of all hosts", a.Size, name, a.Host, passed(a)))
	default:
		return fmt.Sprintf("%s sends %d bytes at most, and %s will send %d", a.Vantage, a.Size, name, want)
	}
	return ""
}

func passed(a probe.NetAnswer) string {
	if a.Passed == 0 {
		return "small ones arrive"
	}
	return fmt.Sprintf("those of %d arrive", a.Passed)
}

// mtu is that of an interface of the plan. Without a value it is the kernel's for Ethernet.
func (h host) mtu(iface string) int {
	for _, l := range h.links() {
		if n, ok := l.get("mtu").number(); ok && n > 0 && l.get("name").text() == iface {
			return int(n)
		}
	}
	return 1500
}

func ms(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f ms", v)
	}
	return fmt.Sprintf("%.0f ms", v)
}

// Paths are the paths to the hosts of the plan as they were measured; none where none was.
func Paths(ctx context.Context, w *facts.World) ([]diagnosis.Path, error) {
	l, err := readAnswers(ctx, w)
	if err != nil {
		return nil, ctx.Err() // the checks of the network say why there are no answers
	}
	var all []diagnosis.Path
	for _, a := range l.list {
		if a.Kind != probe.NetDelay && a.Kind != probe.NetSize || a.NotRun != "" || a.ErrorClass != "" {
			continue
		}
		host := strings.TrimPrefix(a.Target, probe.NetHost+" ")
		i := slices.IndexFunc(all, func(p diagnosis.Path) bool { return p.From == a.Vantage && p.Host == host && p.Address == a.Host })
		if i < 0 {
			i, all = len(all), append(all, diagnosis.Path{From: a.Vantage, Host: host, Address: a.Host})
		}
		if p := &all[i]; a.Kind == probe.NetDelay {
			p.Method, p.Sent, p.Lost, p.Median, p.Max = a.Method, a.Sent, a.Lost, a.Median, a.Max
		} else {
			p.Size, p.Passed, p.Reported = a.Size, a.Passed, a.Reported
		}
	}
	return all, nil
}
