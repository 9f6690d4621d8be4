package assisted

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/outbound"
)

// maxAnswer bounds one answer: a host is some 20 KiB, most of it inventory.
const maxAnswer = 64 << 20

// Token proves to the service that its reader may read. It is one of those that
// `openshift-install agent create image` keeps in the state of its directory.
type Token struct {
	Header string
	Value  string
}

// Options say which service is asked.
type Options struct {
	Address string // ip:port
	Token   Token  // empty: releases up to 4.16 ask for none
	Vantage string // the machine that asks; "" is this machine's host name
	Now     func() time.Time
	Wait    time.Duration // for one answer; 0 is 5 s
}

// Source asks the service once, when it is first asked for. It is safe for
// concurrent use.
type Source struct {
	opts Options
	http *http.Client

	turn  chan struct{}
	asked bool
	got   answers
}

var _ evidence.Source = (*Source)(nil)

// answers is what one round gave.
type answers struct {
	service  evidence.Object
	clusters []evidence.Object
	hosts    []evidence.Object
	missing  error // why the lists could not be read
}

// New returns a source. It sends nothing yet.
func New(o Options) *Source {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Wait == 0 {
		o.Wait = 5 * time.Second
	}
	if o.Vantage == "" {
		o.Vantage = "here"
		if name, err := os.Hostname(); err == nil && name != "" {
			o.Vantage = name
		}
	}
	client := outbound.HTTP(outbound.Options{Dial: outbound.Dialer(o.Wait).DialContext, Headers: o.Wait}) // no proxy: the token is for one address
	return &Source{opts: o, http: client, turn: make(chan struct{}, 1)}
}

// Describe implements evidence.Source.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "rendezvous host", Name: s.opts.Address, API: s.base("").String(), Vantage: s.opts.Vantage, Now: s.opts.Now()}, nil
}

// Texts implements evidence.Source: there are none.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "the service on the rendezvous host gives no texts"}
}

// List implements evidence.Source for the three resources of this package.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	need := evidence.Objects(r, namespace)
	if r != evidence.AssistedServices && r != evidence.AssistedClusters && r != evidence.AssistedHosts {
		if u, ok := evidence.OnRequest(r); ok {
			return nil, &u
		}
		return nil, &evidence.Unavailable{Need: need, Why: evidence.NotCollected, Detail: "the service on the rendezvous host does not give it",
			Supply: evidence.Supply{Kind: evidence.SupplyAPI}}
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("ask the assisted-service: %w", ctx.Err())
	}
	if !s.asked {
		got, err := s.ask(ctx)
		if cause := ctx.Err(); cause != nil {
			return nil, fmt.Errorf("ask the assisted-service: %w", cause)
		}
		if err != nil {
			return nil, err
		}
		s.got, s.asked = got, true
	}
	switch {
	case r == evidence.AssistedServices:
		return []evidence.Object{clone(s.got.service)}, nil
	case s.got.missing != nil:
		u, _ := evidence.AsUnavailable(s.got.missing)
		named := *u
		named.Need = need
		return nil, &named
	case r == evidence.AssistedClusters:
		return clones(s.got.clusters), nil
	}
	return clones(s.got.hosts), nil
}

// clone: a reader sanitizes what it gets in place.
func clone(o evidence.Object) evidence.Object {
	raw, err := json.Marshal(o.Content)
	if err != nil {
		return o
	}
	content := map[string]any{}
	if json.Unmarshal(raw, &content) == nil {
		o.Content = content
	}
	return o
}

func clones(list []evidence.Object) []evidence.Object {
	out := make([]evidence.Object, 0, len(list))
	for _, o := range list {
		out = append(out, clone(o))
	}
	return out
}

func (s *Source) base(path string) *url.URL {
	return &url.URL{Scheme: "http", Host: s.opts.Address, Path: "/api/assisted-install" + path}
}

// ask reads the clusters and their hosts. What a service answers that is no
// assisted-service is said in Service and makes the lists unavailable.
func (s *Source) ask(ctx context.Context) (answers, error) {
	began := s.opts.Now()
	svc := Service{Address: s.opts.Address, Vantage: s.opts.Vantage, At: began.UTC(), Token: s.opts.Token.Value != ""}
	clusters, hosts, err := s.read(ctx, &svc)
	svc.Millis = s.opts.Now().Sub(began).Milliseconds()
	var got answers
	if err != nil {
		svc.Error, svc.Refused = brief(err), errors.Is(err, syscall.ECONNREFUSED)
		why := evidence.Unreachable
		if svc.Status == http.StatusUnauthorized || svc.Status == http.StatusForbidden {
			why = evidence.Forbidden
		}
		got.missing = &evidence.Unavailable{Why: why, Detail: svc.Error, Supply: evidence.Supply{Kind: evidence.SupplyAssisted, Host: s.opts.Address}}
	} else {
		svc.Usable, svc.Clusters, svc.Hosts = true, len(clusters), len(hosts)
	}
	where := s.base("/v2/clusters").String()
	if got.service, err = object(evidence.AssistedServices, "AssistedService", strings.NewReplacer(":", "-", "[", "", "]", "").Replace(s.opts.Address), where,
		svc.At, svc); err != nil {
		return got, err
	}
	for _, c := range clusters {
		o, err := object(evidence.AssistedClusters, "AssistedCluster", c.ID, where+"/"+c.ID, svc.At, c)
		if err != nil {
			return got, err
		}
		got.clusters = append(got.clusters, o)
	}
	for _, h := range hosts {
		o, err := object(evidence.AssistedHosts, "AssistedHost", h.ID, where+"/"+h.ClusterID+" hosts/"+h.ID, svc.At, h)
		if err != nil {
			return got, err
		}
		got.hosts = append(got.hosts, o)
	}
	return got, nil
}

// read asks for the clusters and for each with its hosts: the two requests that
// `openshift-install agent wait-for` makes, too, and that its token allows
// (openshift/assisted-service:swagger.yaml v2ListClusters, v2GetCluster: watcherAuth).
func (s *Source) read(ctx context.Context, svc *Service) ([]Cluster, []Host, error) {
	raw, err := s.get(ctx, "/v2/clusters", svc)
	if err != nil {
		return nil, nil, err
	}
	var list []struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, nil, errors.New("what answers is not an assisted-service: it gave no list of clusters")
	}
	if len(list) > maxClusters {
		return nil, nil, fmt.Errorf("the service knows %d clusters; the one on a rendezvous host knows one", len(list))
	}
	var clusters []Cluster
	var hosts []Host
	for _, c := range list {
		if !plain(c.ID) {
			return nil, nil, errors.New("what answers is not an assisted-service: the id of its cluster is not a UUID")
		}
		raw, err := s.get(ctx, "/v2/clusters/"+c.ID, svc)
		if err != nil {
			return nil, nil, err
		}
		cluster, more, err := parseCluster(raw)
		if err != nil {
			return nil, nil, err
		}
		clusters = append(clusters, cluster)
		for _, h := range more {
			h.ClusterID = cluster.ID
			hosts = append(hosts, h)
		}
	}
	slices.SortFunc(hosts, func(a, b Host) int { return strings.Compare(a.ID, b.ID) })
	return clusters, slices.CompactFunc(hosts, func(a, b Host) bool { return a.ID == b.ID }), nil
}

// plain: only what is surely an id becomes part of a path.
func plain(id string) bool {
	return len(id) > 0 && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r && r <= 'f' || 'A' <= r && r <= 'F' || r == '-')
	})
}

func (s *Source) get(ctx context.Context, path string, svc *Service) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*s.opts.Wait) // the body of many hosts takes its time
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base(path).String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "rollcall")
	if s.opts.Token.Value != "" {
		req.Header.Set(s.opts.Token.Header, s.opts.Token.Value)
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	svc.Status = resp.StatusCode
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		if svc.Token {
			return nil, fmt.Errorf("HTTP %d: the service does not accept the token of this install directory", resp.StatusCode)
		}
		return nil, fmt.Errorf("HTTP %d: the service asks for a token", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("HTTP %d for %s", resp.StatusCode, path)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if len(raw) > maxAnswer {
		return nil, fmt.Errorf("the answer has more than %d MiB", maxAnswer>>20)
	}
	return raw, nil
}

// brief is an error without the URL, which the object's place has.
func brief(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return text(err.Error())
}

// ParseAddress reads the value of --rendezvous: an IP address, with or without a port.
func ParseAddress(value string) (string, error) {
	host, port := strings.Trim(value, "[]"), fmt.Sprint(port)
	if net.ParseIP(host) == nil {
		var err error
		if host, port, err = net.SplitHostPort(value); err != nil {
			return "", fmt.Errorf("%q is not an address; write it as IP or IP:PORT, such as 192.0.2.20", value)
		}
	}
	if net.ParseIP(host) == nil {
		return "", fmt.Errorf("%q is not an IP address; rendezvousIP of agent-config.yaml is one", host)
	}
	if n, err := net.LookupPort("tcp", port); err != nil || n == 0 {
		return "", fmt.Errorf("%q: %q is not a port", value, port)
	}
	return net.JoinHostPort(host, port), nil
}
