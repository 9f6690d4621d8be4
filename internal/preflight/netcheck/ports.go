package netcheck

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// portTasks ask who listens on the VIPs. Without any, those of a load balancer
// are what the names resolve to.
func (c *checker) portTasks() []task {
	type front struct {
		target, name string
		addresses    []string
		ports        []int
	}
	fronts := []front{
		{probe.NetAPIVIP, c.nameOf(probe.NetAPI), c.want.api, []int{c.api, c.mcs}},
		{probe.NetIngressVIP, c.nameOf(probe.NetApps), c.want.ingress, []int{c.https}},
	}
	if c.want.balanced && len(c.want.api) == 0 {
		fronts = []front{
			{probe.NetAPI, c.nameOf(probe.NetAPI), c.resolved(probe.NetAPI), []int{c.api}},
			{probe.NetAPIInt, c.nameOf(probe.NetAPIInt), c.resolved(probe.NetAPIInt), []int{c.api, c.mcs}},
			{probe.NetApps, c.nameOf(probe.NetApps), c.resolved(probe.NetApps), []int{c.https}},
		}
	}
	var tasks []task
	for _, f := range fronts {
		for _, address := range addresses(f.addresses) {
			for _, port := range f.ports {
				tasks = append(tasks, task{
					answer: probe.NetAnswer{Kind: probe.NetPort, Target: f.target, Host: address, Port: port},
					ask:    func(ctx context.Context, a *probe.NetAnswer) { c.port(ctx, f.name, a) },
				})
			}
		}
	}
	return tasks
}

func (c *checker) nameOf(target string) string {
	i := slices.IndexFunc(c.want.names, func(n question) bool { return n.target == target })
	if i < 0 {
		return ""
	}
	return c.want.names[i].host
}

// resolved are the addresses that any name server gave for a name: those of the plan first.
func (c *checker) resolved(target string) []string {
	var all []string
	for _, own := range []bool{false, true} {
		for _, a := range c.out {
			if a.Kind == probe.NetName && a.Target == target && (a.Server == "") == own {
				addTo(&all, 4, a.Addresses...)
			}
		}
	}
	return all
}

// port connects, looks at the certificate and asks for the health path. What is served is
// kept, and not trusted.
func (c *checker) port(ctx context.Context, name string, a *probe.NetAnswer) {
	path := map[int]string{c.api: "/readyz", c.mcs: "/healthz"}[a.Port]
	u := url.URL{Scheme: "https", Host: net.JoinHostPort(a.Host, strconv.Itoa(a.Port)), Path: path}
	c.request(ctx, http.MethodHead, u.String(), name, nil, a)
}

// request makes one request without a credential. name is the server's name for TLS.
func (c *checker) request(ctx context.Context, method, target, name string, proxy *url.URL, a *probe.NetAnswer) []*x509.Certificate {
	w := &wire.Witness{}
	client := outbound.HTTP(outbound.Options{
		Proxy: http.ProxyURL(proxy), Dial: c.dial,
		TLS: &tls.Config{
			MinVersion: tls.VersionTLS10, ServerName: name, // old or odd: the wish is to see it, not to trust it
			InsecureSkipVerify: true, //nolint:gosec // only to look at the certificate; no credential is sent
			VerifyConnection:   w.SawChain,
		},
	})
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(w.Watch(ctx), method, target, nil)
	if err != nil {
		a.ErrorClass, a.Error = probe.ErrOther, wireClip(err)
		return nil
	}
	req.Header.Set("User-Agent", "rollcall")
	resp, err := client.Do(req)
	if resp != nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // nothing depends on the body
		_ = resp.Body.Close()
	}
	if u := (*url.Error)(nil); errors.As(err, &u) {
		err = u.Err
	}
	if c.notThere(err, a) {
		return nil
	}
	seen := w.Seen()
	a.Address, a.Stage, a.Chain = seen.Address, seen.Stage, seen.PEM()
	switch {
	case err != nil:
		a.ErrorClass, a.Error = wire.Classify(err, seen.Stage), wireClip(err)
	default:
		a.Stage, a.Status = probe.StageAnswered, resp.StatusCode
	}
	return seen.Chain
}

// registryTasks ask each registry for the version of its API, as a client does first
// (github.com/opencontainers/distribution-spec: spec.md, Determining Support).
func (c *checker) registryTasks() []task {
	var tasks []task
	for _, registry := range c.want.registries {
		host, port := registry, 443
		if h, p, err := net.SplitHostPort(registry); err == nil {
			host = h
			if n, err := strconv.ParseUint(p, 10, 16); err == nil {
				port = int(n)
			}
		}
		tasks = append(tasks, task{
			answer: probe.NetAnswer{Kind: probe.NetRegistry, Target: registry, Host: strings.Trim(host, "[]"), Port: port},
			ask:    c.registry,
		})
	}
	return tasks
}

func (c *checker) registry(ctx context.Context, a *probe.NetAnswer) {
	u := &url.URL{Scheme: "https", Host: net.JoinHostPort(a.Host, strconv.Itoa(a.Port)), Path: "/v2/"}
	proxy := c.proxyFor(u)
	if proxy != nil {
		a.Proxy = proxy.Host
	}
	chain := c.request(ctx, http.MethodGet, u.String(), a.Host, proxy, a)
	if proxy != nil && strings.Contains(a.Error, http.StatusText(http.StatusProxyAuthRequired)) {
		*a = probe.NetAnswer{Kind: a.Kind, Target: a.Target, Host: a.Host, Port: a.Port, Vantage: a.Vantage, At: a.At, Proxy: a.Proxy,
			NotRun: "the proxy wants a credential, and none is sent"}
		return
	}
	if len(chain) == 0 {
		return
	}
	between := x509.NewCertPool()
	for _, i := range chain[1:] {
		between.AddCert(i)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: a.Host, Roots: c.roots, Intermediates: between, CurrentTime: a.At,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.Trust, a.VerifiedBy = wire.TrustOf(err, chain[0], a.At), probe.BySystem
	if len(c.Bundle) > 0 {
		a.VerifiedBy += " and of additionalTrustBundle"
	}
	if err != nil {
		a.TrustError = wireClip(err)
	}
}

// proxyFor is the proxy of the plan that hosts will use for a URL; nil where they go there
// themselves. The networks of the cluster are never asked through it
// (openshift/installer: pkg/asset/manifests/proxy.go createNoProxy).
func (c *checker) proxyFor(u *url.URL) *url.URL {
	if c.want.proxy == "" {
		return nil
	}
	noProxy := strings.Join(slices.Concat(c.want.noProxy, c.want.machine, []string{"localhost", "127.0.0.1"}), ",")
	proxy, err := (&httpproxy.Config{HTTPSProxy: c.want.proxy, NoProxy: noProxy}).ProxyFunc()(u)
	if err != nil {
		return nil // the plan's own checks name a proxy that is no URL
	}
	return proxy
}
