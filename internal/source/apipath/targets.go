package apipath

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/install"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// portOf is the port that a URL leads to.
func portOf(u *url.URL) int {
	if p, err := strconv.Atoi(u.Port()); err == nil {
		return p
	}
	if u.Scheme == "http" {
		return 80
	}
	return 443
}

// front is where clients come in: the kubeconfig's server, else what the archive's
// Infrastructure names.
func (s *Source) front(ctx context.Context) (endpoint, bool) {
	if c := s.opts.Client; c != nil {
		return endpoint{probe.TargetAPI, c.Server.Hostname(), portOf(c.Server)}, true
	}
	for _, l := range s.opts.Before {
		list, err := l.List(ctx, evidence.Infrastructures, "")
		if err != nil {
			continue // what an archive does not have is said elsewhere
		}
		for _, o := range list {
			if u, err := url.Parse(evidence.String(o.Content, "status", "apiServerURL")); err == nil && u.Hostname() != "" {
				return endpoint{probe.TargetAPI, u.Hostname(), portOf(u)}, true
			}
		}
	}
	return endpoint{}, false
}

// sameCluster reports whether the kubeconfig's server is one of the addresses that
// the archives name. Where they name none it is taken for theirs.
func (s *Source) sameCluster(ctx context.Context) bool {
	if s.opts.Client == nil {
		return true
	}
	var hosts []string
	for _, l := range s.opts.Before {
		list, err := l.List(ctx, evidence.Infrastructures, "")
		for _, o := range list {
			if err != nil {
				continue
			}
			for _, field := range []string{"apiServerURL", "apiServerInternalURI"} {
				if u, err := url.Parse(evidence.String(o.Content, "status", field)); err == nil && u.Hostname() != "" {
					hosts = append(hosts, u.Hostname())
				}
			}
			hosts = append(hosts, virtualIPs(o.Content)...)
		}
	}
	return len(hosts) == 0 || slices.Contains(hosts, s.opts.Client.Server.Hostname())
}

// maxChecks bounds how many addresses are asked: five control-plane hosts of two
// addresses have less than half of it, and an archive may name a whole network.
const maxEndpoints = 64

// named lists every check behind the load balancer: api-int and the VIPs, and
// each control-plane host that the user or a source names. From a node the machine
// config servers are left out: the network plugin rejects connections from every
// node to their ports, so what is met there is the node's own rule
// (openshift/ovn-kubernetes:go-controller/pkg/node/OCP_HACKS.go generateBlockMCSRules,
// chain OUTPUT; 22623 and 22624).
func (s *Source) named(ctx context.Context, sources []Lister) []endpoint {
	var list []endpoint
	add := func(target, host string, port int) {
		if s.opts.From != nil && port == s.mcsPort {
			return
		}
		if r := (endpoint{target, host, port}); host != "" && len(list) < maxEndpoints && !slices.Contains(list, r) {
			list = append(list, r)
		}
	}
	both := func(target, host string) {
		add(target, host, openshift.APIPort)
		add(target, host, s.mcsPort)
	}
	for _, m := range s.opts.Masters {
		port := m.Port
		if port == 0 {
			port = openshift.APIPort
		}
		add(probe.TargetNode+m.Name, m.Host, port)
		add(probe.TargetNode+m.Name, m.Host, s.mcsPort)
	}
	internal := false
	for _, l := range s.opts.Before { // not the cluster: an install directory knows its hosts before there is one
		plans, err := l.List(ctx, evidence.Installs, "")
		for _, o := range plans {
			plan, wrong := evidence.Decode[install.Install](o)
			if err != nil || wrong != nil {
				continue
			}
			for _, ip := range plan.APIVIPs {
				both(probe.TargetVIP, ip)
			}
			for _, h := range plan.Hosts {
				if h.Role != "master" || h.Name == "" {
					continue
				}
				for _, ip := range h.Addresses {
					both(probe.TargetNode+h.Name, ip)
				}
			}
		}
	}
	for _, l := range sources {
		nodes, err := l.List(ctx, evidence.Nodes, "")
		if err != nil {
			nodes = nil
		}
		for _, n := range nodes {
			for _, ip := range probe.ControlPlaneIPs(n) {
				both(probe.TargetNode+n.Name, ip)
			}
		}
		infras, err := l.List(ctx, evidence.Infrastructures, "")
		for _, i := range infras {
			if err != nil {
				continue
			}
			if u, err := url.Parse(evidence.String(i.Content, "status", "apiServerInternalURI")); err == nil && u.Hostname() != "" {
				internal = true
				both(probe.TargetAPIInt, u.Hostname())
			}
			for _, ip := range virtualIPs(i.Content) {
				both(probe.TargetVIP, ip)
			}
		}
	}
	if name, ok := s.internalAPIHost(); ok && !internal {
		both(probe.TargetAPIInt, name)
	}
	return list
}

// internalAPIHost makes api-int.<domain> of api.<domain>
// (openshift/installer:pkg/asset/manifests/utils.go getInternalAPIServerURL).
func (s *Source) internalAPIHost() (string, bool) {
	if s.opts.Client == nil {
		return "", false
	}
	domain, ok := strings.CutPrefix(s.opts.Client.Server.Hostname(), "api.")
	return "api-int." + domain, ok
}

// virtualIPs are the API's addresses in Infrastructure.status.platformStatus
// (openshift/api:config/v1/types_infrastructure.go apiServerInternalIPs).
func virtualIPs(infra map[string]any) []string {
	platforms, _ := evidence.Field(infra, "status", "platformStatus").(map[string]any)
	var ips []string
	for _, p := range platforms {
		m, _ := p.(map[string]any)
		list, _ := m["apiServerInternalIPs"].([]any)
		for _, v := range append(list, m["apiServerInternalIP"]) {
			if ip, _ := v.(string); net.ParseIP(ip) != nil && !slices.Contains(ips, ip) {
				ips = append(ips, ip)
			}
		}
	}
	slices.Sort(ips)
	return ips
}
