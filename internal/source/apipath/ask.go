package apipath

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// The paths that are asked for. All three may be read without a credential
// (kubernetes/kubernetes:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go
// system:public-info-viewer); where a cluster does not allow that, the 401 or 403
// still shows that a server answers.
const (
	pathReady   = "/readyz"
	pathLive    = "/livez"
	pathVersion = "/version"
	pathMCS     = "/healthz" // of the machine config server: it says that it listens, no more
	mostBody    = 64 << 10
)

// try takes all steps of one check. The error says that they could not be taken at
// all, from where they were to be.
func (s *Source) try(ctx context.Context, r endpoint) (a probe.APIAnswer, _ error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Step)
	defer cancel()
	a = probe.APIAnswer{Target: r.target, Host: r.host, Port: r.port, Vantage: s.opts.Vantage, At: s.opts.Now()}
	if s.opts.From != nil {
		a.Vantage = s.opts.From.Name
	}
	began := time.Now()
	defer func() { a.Millis = time.Since(began).Milliseconds() }()
	proxy := s.proxyFor(r)
	if proxy != nil {
		a.Proxy = proxy.Host
	} else if net.ParseIP(r.host) == nil {
		if ok, err := s.resolve(ctx, &a); !ok {
			return a, err
		}
	}
	return a, s.connect(ctx, r, proxy, &a)
}

// resolve asks for the addresses of a name. False: there are none.
func (s *Source) resolve(ctx context.Context, a *probe.APIAnswer) (bool, error) {
	found, err := s.lookup(ctx, a)
	if err == nil {
		slices.Sort(found)
		a.Addresses = found[:min(len(found), 16)]
		return true, nil
	}
	if s.opts.From != nil && s.opts.From.NotRun(err) {
		return false, err
	}
	a.ErrorClass, a.Error, a.DNS = probe.ErrDNS, wire.Clip(err.Error()), probe.DNSNoAnswer
	var dns *net.DNSError
	switch errors.As(err, &dns); {
	case dns != nil && dns.IsNotFound:
		a.DNS = probe.DNSNoSuchName
	case s.opts.From != nil && (dns == nil || !dns.IsTimeout):
		a.DNS = "" // getent does not tell a name that is not there from a server that fails
	}
	return false, nil
}

func (s *Source) lookup(ctx context.Context, a *probe.APIAnswer) ([]string, error) {
	if s.opts.From != nil {
		return s.opts.From.Lookup(ctx, a.Host)
	}
	resolver, asked := wire.Resolver()
	found, err := resolver.LookupHost(ctx, a.Host)
	a.Resolver = asked()
	return found, err
}

// proxyFor is the proxy that the client uses; only the load balancer is asked through it,
// because everything behind it is asked as a host of the cluster would.
func (s *Source) proxyFor(r endpoint) *url.URL {
	c := s.opts.Client
	if c == nil || c.Proxy == nil || r.target != probe.TargetAPI || s.opts.From != nil {
		return nil
	}
	proxy, err := c.Proxy(&http.Request{URL: c.Server})
	if err != nil {
		return nil
	}
	return proxy
}

// connect opens one connection and asks the paths of the check over it. What is
// served as a certificate is looked at first and held against the CAs afterwards.
func (s *Source) connect(ctx context.Context, r endpoint, proxy *url.URL, a *probe.APIAnswer) error {
	w := &wire.Witness{}
	name := s.serverName(r)
	o := outbound.Options{
		Proxy: http.ProxyURL(proxy), Reuse: true,
		TLS: &tls.Config{
			MinVersion: tls.VersionTLS10, ServerName: name, // old or odd: the wish is to see it, not to trust it
			InsecureSkipVerify: true, //nolint:gosec // only to look at the certificate; no credential is sent
			VerifyConnection:   w.SawChain,
		},
	}
	if s.opts.From != nil {
		o.Dial = s.opts.From.Dial
	}
	client := outbound.HTTP(o)
	defer client.CloseIdleConnections()
	paths := []string{pathReady, pathLive, pathVersion}
	if r.port == s.mcsPort {
		paths = []string{pathMCS}
	}
	scheme := "https"
	if c := s.opts.Client; c != nil && r.target == probe.TargetAPI {
		scheme = c.Server.Scheme
	}
	for i, path := range paths {
		p, err := s.get(w.Watch(ctx), client, (&url.URL{Scheme: scheme, Host: a.Where(), Path: path}).String(), path, a)
		a.Paths = append(a.Paths, p)
		if err != nil && s.opts.From != nil && s.opts.From.NotRun(err) {
			return err
		}
		if err != nil && i == 0 {
			seen := w.Seen()
			a.Stage, a.ErrorClass, a.Error = seen.Stage, wire.Classify(err, seen.Stage), wire.Clip(err.Error())
			a.Paths = nil
			break
		}
	}
	seen := w.Seen()
	a.Address, a.Chain = seen.Address, seen.PEM()
	if len(a.Paths) > 0 {
		a.Stage = probe.StageAnswered
	}
	if r.port != s.mcsPort {
		s.verify(seen.Chain, name, a)
	}
	return nil
}

// serverName is the name under which an API server is asked for. Masters serve the
// certificate of the load balancer only to who names it (kube-apiserver
// --tls-sni-cert-key; openshift/cluster-kube-apiserver-operator:pkg/operator/configobservation/apiserver/observe_apiserver.go).
func (s *Source) serverName(r endpoint) string {
	c := s.opts.Client
	switch {
	case c == nil || r.port == s.mcsPort || r.target == probe.TargetAPIInt:
		return r.host
	case c.ServerName != "":
		return c.ServerName
	}
	return c.Server.Hostname()
}

// get asks one path. A path that fails after the first leaves its error with it.
func (s *Source) get(ctx context.Context, client *http.Client, target, path string, a *probe.APIAnswer) (probe.PathAnswer, error) {
	p := probe.PathAnswer{Path: path}
	method := http.MethodGet
	if path == pathMCS {
		method = http.MethodHead
	}
	req, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		p.Error = wire.Clip(err.Error())
		return p, err
	}
	req.Header = http.Header{"Accept": {"*/*"}, "User-Agent": {"rollcall"}}
	if path == pathReady || path == pathLive {
		req.URL.RawQuery = "verbose"
	}
	resp, err := client.Do(req)
	if err != nil {
		var link *url.Error
		if errors.As(err, &link) {
			err = link.Err
		}
		p.Error = wire.Clip(err.Error())
		return p, err
	}
	defer func() { _ = resp.Body.Close() }() // read to its bound; nothing depends on the end
	p.Status = resp.StatusCode
	a.Server = wire.Clip(resp.Header.Get("Server"))
	if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		a.ServerTime = at.UTC()
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, mostBody)) // a body that is cut still has its first lines
	switch {
	case path == pathVersion && p.Status == http.StatusOK:
		var v struct {
			GitVersion string `json:"gitVersion"`
		}
		if json.Unmarshal(body, &v) == nil {
			a.Version = wire.Clip(v.GitVersion)
		}
	case path != pathMCS:
		p.Failed = probe.FailedChecks(string(body))
	}
	return p, nil
}

// verify holds a served chain against the CAs that the client trusts, as a client
// does that sends credentials.
func (s *Source) verify(chain []*x509.Certificate, name string, a *probe.APIAnswer) {
	c := s.opts.Client
	if len(chain) == 0 || c == nil || c.Insecure {
		return
	}
	a.ServerName, a.VerifiedBy = name, c.CAName
	between := x509.NewCertPool()
	for _, i := range chain[1:] {
		between.AddCert(i)
	}
	_, err := chain[0].Verify(x509.VerifyOptions{DNSName: name, Roots: c.CAs, Intermediates: between, CurrentTime: a.At,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	a.Trust = wire.TrustOf(err, chain[0], a.At)
	if err != nil {
		a.TrustError = wire.Clip(err.Error())
	}
}
