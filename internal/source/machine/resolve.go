package machine

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// lookupTime bounds one name: three servers, five seconds each, as resolv.conf has it.
const lookupTime = 15 * time.Second

func (s *Source) resolutions(ctx context.Context) (part, error) {
	need := evidence.Objects(evidence.HostResolutions, "")
	switch {
	case !s.live:
		return part{}, s.copied(evidence.HostResolutions)
	case !s.opts.Network:
		return part{}, &evidence.Unavailable{
			Need:   need,
			Why:    evidence.NotAsked,
			Detail: "--no-network",
			Supply: evidence.Supply{Kind: evidence.SupplyHostNetwork},
		}
	case !s.sameNamespace("net"):
		return part{}, &evidence.Unavailable{Need: need, Why: evidence.NotCollected,
			Detail: "this container has a network of its own", Supply: evidence.Supply{Kind: evidence.SupplyHostNamespace}}
	}
	r := onhost.Resolutions{Servers: nameServers(s.tree.text("/etc/resolv.conf")), Names: []onhost.Resolution{}, At: s.now()}
	hosts := s.tree.text("/etc/hosts")
	for _, q := range s.names() {
		r.Names = append(r.Names, resolve(ctx, q, r.Servers, hosts))
		if err := ctx.Err(); err != nil {
			return part{}, err
		}
	}
	return part{r, "/etc/resolv.conf"}, nil
}

// names are what the kubelet has to find: the servers of its kubeconfigs.
func (s *Source) names() []onhost.Resolution {
	var list []onhost.Resolution
	for _, k := range []onhost.Kubeconfig{s.id.Runtime, s.id.Bootstrap} {
		u, err := url.Parse(k.Server)
		if err != nil || u.Hostname() == "" {
			continue
		}
		if _, err := netip.ParseAddr(u.Hostname()); err == nil || noName(u.Hostname()) {
			continue
		}
		if !slices.ContainsFunc(list, func(o onhost.Resolution) bool { return o.Name == u.Hostname() }) {
			list = append(list, onhost.Resolution{Name: u.Hostname(), Why: "the server of " + k.Path})
		}
	}
	return list
}

// nameServers are the first three name servers, as the C library takes them.
func nameServers(resolvConf string) []string {
	list := []string{}
	for line := range strings.Lines(resolvConf) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "nameserver" || len(list) == 3 {
			continue
		}
		if _, err := netip.ParseAddr(f[1]); err == nil {
			list = append(list, f[1])
		}
	}
	return list
}

// inHosts finds a name in the hosts file.
func inHosts(hosts, name string) []string {
	var list []string
	for line := range strings.Lines(hosts) {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) > 1 && slices.ContainsFunc(f[1:], func(n string) bool { return strings.EqualFold(n, name) }) {
			list = append(list, f[0])
		}
	}
	return list
}

// resolve looks a name up as the machine would: the hosts file, then its name
// servers in their order.
func resolve(ctx context.Context, q onhost.Resolution, servers []string, hosts string) onhost.Resolution {
	if q.Addresses = inHosts(hosts, q.Name); len(q.Addresses) > 0 {
		q.From = "/etc/hosts"
		return q
	}
	if len(servers) == 0 {
		q.Class, q.Error = onhost.NoServer, "resolv.conf names no name server"
		return q
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	var turn atomic.Int64
	dialer := outbound.Dialer(5 * time.Second)
	resolver := outbound.Resolver(func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, net.JoinHostPort(servers[int(turn.Add(1)-1)%len(servers)], "53"))
	})
	addresses, err := resolver.LookupHost(ctx, strings.TrimSuffix(q.Name, ".")+".")
	var dns *net.DNSError
	switch {
	case err == nil:
		slices.Sort(addresses)
		q.Addresses, q.From = addresses, strings.Join(servers, ", ")
	case errors.As(err, &dns) && dns.IsNotFound:
		q.Class, q.Error, q.From = onhost.NoSuchName, "there is no such name", strings.Join(servers, ", ")
	default:
		q.Class, q.Error, q.From = onhost.NoAnswer, "no name server answers", strings.Join(servers, ", ")
	}
	return q
}
