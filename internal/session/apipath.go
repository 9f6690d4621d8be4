package session

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/apipath"
	"github.com/rollcall-project/rollcall/internal/source/fromnode"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// addAPIPath adds the network path to the API after the other sources: always for a live
// cluster, where it is one question as long as the API answers; with archives
// where --probe asks for it, because reading one asks nothing of a network.
func (ses *Session) addAPIPath(ctx context.Context, list []evidence.Source, cluster *live.Source) ([]evidence.Source, error) {
	masters, err := parseMasters(ses.Masters)
	if err != nil {
		return nil, err
	}
	if cluster == nil && ses.ProbeFrom != "" {
		return nil, Usagef("--probe-from %s goes through the API of a live cluster, and none is read here: leave --from, --install-dir and "+
			"--rendezvous out, or use --probe, which asks from this machine", ses.ProbeFrom)
	}
	if cluster == nil && !ses.Probe {
		if len(masters) > 0 {
			return nil, Usagef("--master is for probes: with --from it needs --probe")
		}
		return list, nil
	}
	o := apipath.Options{Masters: masters, Whole: ses.Probe, Now: ses.Clock}
	if within := ses.Kube.RequestTimeout(); within > 0 {
		o.Step = min(within, apipath.MaxStep)
	}
	for _, s := range list {
		if s != evidence.Source(cluster) {
			o.Before = append(o.Before, s)
		}
	}
	if o.Client, err = ses.pathClient(cluster); err != nil && cluster != nil {
		return nil, err
	}
	if o.From, err = ses.ProbesFrom(ctx); err != nil {
		return nil, err
	}
	if o.From != nil {
		o.Step = 12 * time.Second // the command there has to start first, and to look a name up
	}
	return append(list, apipath.New(o)), nil
}

// ProbesFrom is the node of --probe-from; nil where the flag is not given. One
// command is run there at once: a node that cannot be used is the user's mistake or
// an unreachable API, and no finding about the network path.
func (ses *Session) ProbesFrom(ctx context.Context) (*apipath.From, error) {
	value := ses.ProbeFrom
	if value == "" {
		return nil, nil
	}
	name, err := NodeOfProbes(value)
	if err != nil {
		return nil, err
	}
	cfg, err := ses.RESTConfig()
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	node, err := fromnode.Find(limited, cfg, name)
	if err == nil {
		err = node.Check(limited)
	}
	if err != nil {
		return nil, fmt.Errorf("--probe-from %s: %w", value, err)
	}
	notRun := func(err error) bool {
		var e *fromnode.Error
		return errors.As(err, &e)
	}
	return &apipath.From{Name: value, Dial: node.DialContext, Lookup: node.LookupHost, NotRun: notRun, Paths: node}, nil
}

// NodeOfProbes is the name in the value of --probe-from.
func NodeOfProbes(value string) (string, error) {
	name, ok := strings.CutPrefix(value, "node/")
	if wrong := validation.IsDNS1123Subdomain(name); !ok || len(wrong) > 0 {
		return "", Usagef("--probe-from %q: write it as node/NAME, with the name of a node of the cluster", value)
	}
	return name, nil
}

// pathClient is what the kubeconfig has about the path to the API. cluster is nil
// with archives; the client's own request is then made once, for the checks of the path only.
func (ses *Session) pathClient(cluster *live.Source) (*apipath.Client, error) {
	cfg, err := ses.RESTConfig()
	if err != nil {
		return nil, err
	}
	cfg = rest.CopyConfig(cfg)
	if err := rest.LoadTLSFiles(cfg); err != nil {
		return nil, fmt.Errorf("read the certificates of the kubeconfig: %w", err)
	}
	server, _, err := rest.DefaultServerUrlFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("read the server of the kubeconfig: %w", err)
	}
	c := &apipath.Client{Server: server, ServerName: cfg.ServerName, Insecure: cfg.Insecure, CAName: probe.BySystem, Proxy: cfg.Proxy}
	if c.Proxy == nil {
		c.Proxy = http.ProxyFromEnvironment
	}
	if len(cfg.CAData) > 0 {
		c.CAs, c.CAName = x509.NewCertPool(), probe.ByKubeconfig
		c.CAs.AppendCertsFromPEM(cfg.CAData)
	}
	c.Kind, c.Until = credential(cfg)
	known := cluster
	if known == nil {
		if known, err = ses.OpenLive(); err != nil {
			return nil, err
		}
	}
	c.Reach = func(ctx context.Context) (apipath.Reached, error) {
		if cluster == nil {
			defer known.Close()
		}
		r, err := known.Reach(ctx)
		return apipath.Reached(r), err
	}
	if cluster != nil {
		c.Known = cluster
	}
	return c, nil
}

// credential says what kind of credential the kubeconfig has, and until when a
// client certificate is valid. Nothing of the credential itself is kept.
func credential(cfg *rest.Config) (kind string, until time.Time) {
	switch {
	case len(cfg.CertData) > 0:
		if block, _ := pem.Decode(cfg.CertData); block != nil {
			if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
				until = cert.NotAfter.UTC()
			}
		}
		return "client certificate", until
	case cfg.BearerToken != "" || cfg.BearerTokenFile != "":
		return "token", until
	case cfg.ExecProvider != nil || cfg.AuthProvider != nil:
		return "plugin", until
	case cfg.Username != "":
		return "password", until
	}
	return "none", until
}

// parseMasters reads the values of --master.
func parseMasters(values []string) ([]apipath.Master, error) {
	var list []apipath.Master
	for _, v := range values {
		name, address, ok := strings.Cut(v, "=")
		m := apipath.Master{Name: name, Host: address}
		if host, port, err := net.SplitHostPort(address); err == nil {
			n, err := strconv.ParseUint(port, 10, 16)
			if err != nil || n == 0 {
				return nil, Usagef("--master %q: %q is not a port", v, port)
			}
			m.Host, m.Port = host, int(n)
		}
		if !ok || name == "" || net.ParseIP(m.Host) == nil {
			return nil, Usagef("--master %q: write it as HOST=IP or HOST=IP:PORT", v)
		}
		list = append(list, m)
	}
	return list, nil
}
