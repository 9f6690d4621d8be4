package checks

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// netNamesArea is the area plan-network-names: what name servers answer for the names of the plan.
//
// With VIPs that the cluster makes itself each host resolves api, api-int and *.apps by its
// own CoreDNS (openshift/machine-config-operator: templates/common/on-prem/files/coredns.yaml),
// and the assisted-service asks for no names (openshift/assisted-service:
// internal/host/validator.go printIsDomainNameResolvedCorrectly, "managed networking").
// Without them hosts need all three in DNS before they boot.
type netNamesArea struct {
	Missing     problems // names that hosts need and that their name servers do not have
	MissingHere problems // names that users need, or that only another name server was asked for
	Wrong       problems // names that lead to another address than the plan's
	WrongHere   problems // the same, by a name server that hosts may not ask
	Wildcard    problems // that any name of the cluster's domain resolves
	Silent      problems // name servers of the plan that do not answer
	Reverse     problems // addresses of hosts whose name in DNS is another one
}

var netNamesChecks = check.Area("plan-network-names", networkNeeds, readNetNames, check.Fields[netNamesArea]{
	"plan-dns-name-missing":        func(f *netNamesArea) *problems { return &f.Missing },
	"plan-dns-name-missing-here":   func(f *netNamesArea) *problems { return &f.MissingHere },
	"plan-dns-name-elsewhere":      func(f *netNamesArea) *problems { return &f.Wrong },
	"plan-dns-name-elsewhere-here": func(f *netNamesArea) *problems { return &f.WrongHere },
	"plan-dns-wildcard":            func(f *netNamesArea) *problems { return &f.Wildcard },
	"plan-name-server-silent":      func(f *netNamesArea) *problems { return &f.Silent },
	"plan-dns-reverse-differs":     func(f *netNamesArea) *problems { return &f.Reverse },
})

func readNetNames(ctx context.Context, w *facts.World) (netNamesArea, error) {
	var f netNamesArea
	l, err := readAnswers(ctx, w)
	if err != nil {
		return f, err
	}
	p := l.platform()
	for _, a := range l.of(probe.NetName) {
		if a.NotRun == "" {
			f.name(&l, p, a)
		}
	}
	f.silent(&l)
	f.reverse(&l)
	if p.balanced && !p.single {
		unproven(&f.Missing, l.unasked(false))
		unproven(&f.Wrong, l.unasked(false))
	}
	unproven(&f.MissingHere, l.unasked(true))
	unproven(&f.WrongHere, l.unasked(true))
	if l.agentBased() {
		unproven(&f.Wildcard, l.unasked(true))
	}
	return f, nil
}

// ofHosts reports whether hosts get the same answer: the name server is theirs, or the
// machine that asked stands where they will.
func (l *answers) ofHosts(a probe.NetAnswer) bool { return a.Server != "" || l.inside[a.Vantage] }

// unasked says which name no answer came for; anyone also counts answers that hosts may not
// get.
func (l *answers) unasked(anyone bool) string {
	names, answered := []string{}, map[string]bool{}
	for _, a := range l.of(probe.NetName) {
		if !slices.Contains(names, a.Host) {
			names = append(names, a.Host)
		}
		if a.NotRun == "" && (len(a.Addresses) > 0 || a.DNS == probe.DNSNoSuchName) && (anyone || l.ofHosts(a)) {
			answered[a.Host] = true
		}
	}
	for _, n := range names {
		if !answered[n] {
			return "no name server that hosts will ask answered for " + n
		}
	}
	if len(names) == 0 {
		return "the plan has no name of the cluster"
	}
	return ""
}

func by(a probe.NetAnswer) string {
	if a.Server != "" {
		return "name server " + a.Server + " of the plan"
	}
	if len(a.Resolver) > 0 {
		return "name server " + strings.Join(a.Resolver, ", ")
	}
	return "this machine"
}

func (f *netNamesArea) name(l *answers, p platform, a probe.NetAnswer) {
	at := l.install.get("baseDomain")
	if a.Target == probe.NetWildcard {
		if len(a.Addresses) > 0 && l.agentBased() {
			f.Wildcard.Add(strings.TrimPrefix(a.Host, "validateNoWildcardDNS."), hold(at, a,
				"%s, which nobody has, resolves to %s by %s: remove the wildcard record *.%s and keep the "+
					"one of *.apps", a.Host, strings.Join(a.Addresses, ", "), by(a), strings.TrimPrefix(a.Host, "validateNoWildcardDNS.")))
		}
		return
	}
	vips := p.api
	if a.Target == probe.NetApps {
		vips = p.ingress
	}
	missing, wrong := &f.MissingHere, &f.WrongHere
	if l.ofHosts(a) {
		wrong = &f.Wrong
		if p.balanced && !p.single {
			missing = &f.Missing
		}
	}
	switch {
	case a.DNS == probe.DNSNoSuchName && (a.Target != probe.NetAPIInt || p.balanced):
		missing.Add(a.Host, hold(at, a, "%s has no address by %s; add a record%s", a.Host, by(a), to(vips)))
	case len(a.Addresses) > 0 && len(vips) > 0:
		f.leads(wrong, vips, a)
	case len(a.Addresses) > 0 && p.balanced && !p.single && a.Target != probe.NetApps:
		f.toHost(l, wrong, at, a)
	}
}

func to(vips []node) string {
	if len(vips) == 0 {
		return " that leads to the load balancer"
	}
	return " that leads to " + texts(vips)
}

func texts(list []node) string {
	var words []string
	for _, n := range list {
		words = append(words, n.text())
	}
	return strings.Join(words, " and ")
}

// leads compares what a name resolves to with the VIPs.
func (f *netNamesArea) leads(wrong *problems, vips []node, a probe.NetAnswer) {
	want := addrs(vips)
	for _, text := range a.Addresses {
		ip, err := netip.ParseAddr(text)
		if err == nil && len(want) > 0 && !slices.Contains(want, ip.Unmap()) {
			wrong.Add(a.Host, hold(vips[0], a, "%s resolves to %s by %s, and the plan has %s; correct the record "+
				"or the plan", a.Host, text, by(a), texts(vips)))
		}
	}
}

// toHost: with several control-plane hosts api and api-int lead to a load balancer, and not
// to one of them (openshift/assisted-service: internal/host/validator.go
// domainResolvesToInventoryIP).
func (f *netNamesArea) toHost(l *answers, wrong *problems, at node, a probe.NetAnswer) {
	if len(a.Addresses) > 1 {
		return // round robin over the hosts, which some do on purpose
	}
	for _, h := range l.hosts() {
		for _, own := range h.addresses() {
			if own.addr.String() == a.Addresses[0] {
				wrong.Add(a.Host, hold(at, a, "%s resolves to %s, which is %s itself; it has to lead to the load balancer", a.Host, own.addr, h.title()))
			}
		}
	}
}

// silent are name servers of the plan that answered nothing at all.
func (f *netNamesArea) silent(l *answers) {
	type seen struct{ answered, failed, proves bool }
	servers := map[string]*seen{}
	last := map[string]probe.NetAnswer{}
	for _, a := range l.nearest(probe.NetName) {
		if a.Server == "" || a.NotRun != "" {
			continue
		}
		s := servers[a.Server]
		if s == nil {
			s = &seen{}
			servers[a.Server] = s
		}
		if !s.failed {
			last[a.Server] = a
		}
		s.failed = s.failed || a.DNS == probe.DNSFailure
		s.answered = s.answered || len(a.Addresses) > 0 || a.DNS == probe.DNSNoSuchName
		s.proves = s.proves || l.inside[a.Vantage]
	}
	open := ""
	for _, server := range slices.Sorted(maps.Keys(servers)) {
		switch s := servers[server]; {
		case s.answered:
		case s.failed:
			open = "name server " + server + " answers no question about the cluster: " + last[server].Error
		case s.proves:
			f.Silent.Add(server, hold(l.nameServer(server), last[server], "name server %s does not answer: %s; correct the address, or open port 53 "+
				"for the hosts", server, strings.TrimPrefix(last[server].Error, "the name server does not answer: ")))
		default:
			open = outside(last[server], "name server "+server)
		}
	}
	unproven(&f.Silent, open)
}

// nameServer is where the plan names a name server.
func (l *answers) nameServer(ip string) node {
	for _, h := range l.hosts() {
		for _, n := range h.config.get("dns-resolver", "config", "server").items() {
			if a, ok := n.addr(); ok && a.String() == ip {
				return n
			}
		}
	}
	return l.install.get("baseDomain")
}

func (f *netNamesArea) reverse(l *answers) {
	byIP := map[string]host{}
	for _, h := range l.hosts() {
		for _, a := range h.addresses() {
			byIP[a.addr.String()] = h
		}
	}
	for _, a := range l.of(probe.NetReverse) {
		h, ok := byIP[a.Host]
		if !ok || len(a.Names) == 0 || h.name.text() == "" {
			continue
		}
		label, _, _ := strings.Cut(strings.ToLower(h.name.text()), ".")
		same := slices.ContainsFunc(a.Names, func(n string) bool {
			first, _, _ := strings.Cut(strings.ToLower(n), ".")
			return first == label
		})
		if !same {
			f.Reverse.Add(a.Host, hold(h.name, a, "%s is an address of %s, and DNS has %s for it; correct the record, or is the address of "+
				"another machine?", a.Host, h.title(), strings.Join(a.Names, ", ")))
		}
	}
}
