// Package apipath is the evidence.Source of the network path to the API: names, addresses,
// ports and certificates from here to every API server, check by check. It answers
// when nothing else does.
//
// Invariants:
//   - No check carries a credential. The client's own request is made by the live
//     source, over a connection that it verified.
//   - Every check names the machine that asked: from elsewhere it may differ.
//   - A check that fails is an answer. Only a canceled caller is an error.
//   - Where the API answers its client, nothing but its front is asked, unless the
//     whole path is to be checked.
//   - Checks are asked side by side, each with Options.Step for all its steps: a
//     path to a cluster that is gone takes two of them, besides the client's own
//     request, which has the live source's bound.
package apipath

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// Lister is where nodes and addresses of the cluster are known from.
type Lister interface {
	List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error)
}

// Client is the kubeconfig's side of the path.
type Client struct {
	Server     *url.URL
	ServerName string         // verified instead of the URL's host; "" is the host
	CAs        *x509.CertPool // nil: the system's
	CAName     string         // probe.ByKubeconfig or probe.BySystem
	Insecure   bool           // the kubeconfig switches the verification off
	Proxy      func(*http.Request) (*url.URL, error)
	Kind       string    // of the credential: "client certificate", "token", "exec", "none"
	Until      time.Time // end of the client certificate
	// Reach makes the client's own request.
	Reach func(context.Context) (Reached, error)
	Known Lister // the cluster itself; asked only when it answers
}

// Reached says what became of the client's own request.
type Reached struct {
	OK, Unauthorized bool
	Detail           string
}

// Master is one control-plane host that the user names.
type Master struct {
	Name string
	Host string
	Port int // 0 is openshift.APIPort
}

// Options say which cluster the path leads to.
type Options struct {
	Client  *Client  // nil: there is no kubeconfig. Left aside where Before is of another cluster
	Masters []Master // besides those that are known from elsewhere
	Before  []Lister // archives of the cluster
	Whole   bool     // check the whole path even where the API answers
	Vantage string   // the machine that asks; "" is this machine's host name
	From    *From    // ask from a node of the cluster instead of this machine
	Now     func() time.Time
	Step    time.Duration // for one check; 0 is 6 s: an API server whose etcd is gone takes four to say so
}

// From makes the probes somewhere else. An error that NotRun recognizes says nothing
// of the address that was asked: the probe could not be made.
type From struct {
	Name   string
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
	Lookup func(ctx context.Context, host string) ([]string, error)
	NotRun func(error) bool
	Paths  Paths // nil: paths are not measured from there
}

// Paths measures with the programs of the machine that is asked from. What they print is
// foreign text.
type Paths interface {
	Addresses(ctx context.Context) (string, error)                             // ip -o addr
	Ping(ctx context.Context, address string, size, count int) (string, error) // ping -M do, size without headers
	MTU(ctx context.Context, address string) (string, error)                   // of the interface that leads there
}

// Source checks the path once, when it is first asked for. It is safe for
// concurrent use.
type Source struct {
	opts    Options
	mcsPort int // another one only in tests

	turn    chan struct{}
	walked  bool
	objects []evidence.Object
	err     error
}

// MaxStep is how long one check may take from this machine, where nobody asks for less.
const MaxStep = 6 * time.Second

// New returns a source. It sends nothing yet.
func New(o Options) *Source {
	o.Step = cmp.Or(o.Step, MaxStep)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Vantage == "" {
		o.Vantage = "here"
		if name, err := os.Hostname(); err == nil && name != "" {
			o.Vantage = name
		}
	}
	return &Source{opts: o, mcsPort: openshift.MCSPort, turn: make(chan struct{}, 1)}
}

// Describe implements evidence.Source. It has no time of its own: beside an
// archive, now is the archive's.
func (s *Source) Describe(context.Context) (evidence.Description, error) {
	return evidence.Description{Kind: "ladder", Name: "the network path to the API", Vantage: s.opts.Vantage}, nil
}

// Texts implements evidence.Source: there are none.
func (s *Source) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "probes give no texts"}
}

// List implements evidence.Source for evidence.APIProbes.
func (s *Source) List(ctx context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if r != evidence.APIProbes {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "probes do not give it"}
	}
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("check the network path to the API: %w", ctx.Err())
	}
	if s.walked {
		return slices.Clone(s.objects), s.err
	}
	objects, err := s.check(ctx)
	if cause := ctx.Err(); cause != nil {
		return nil, fmt.Errorf("check the network path to the API: %w", cause)
	}
	s.objects, s.err, s.walked = objects, err, true
	return slices.Clone(objects), err
}

// check is one address and port to ask.
type endpoint struct {
	target, host string
	port         int
}

// reachPatience is how long the client's own request may take before the path
// is checked beside it.
const reachPatience = 3 * time.Second

// check asks the load balancer and makes the client's own request. If one of them fails or takes
// long, or the whole path is to be checked, it asks all known addresses.
func (s *Source) check(ctx context.Context) ([]evidence.Object, error) {
	if !s.sameCluster(ctx) {
		s.opts.Client = nil
	}
	w := &checker{Source: s}
	reached := w.reach(ctx)
	front, ok := s.front(ctx)
	if ok {
		w.ask(ctx, front)
	}
	whole := s.opts.Whole || s.opts.From != nil || !ok || !w.fine()
	if !whole {
		late := time.NewTimer(reachPatience)
		defer late.Stop()
		select {
		case <-reached:
			whole = !w.client.OK
		case <-late.C:
			whole = true
		}
	}
	if whole {
		w.ask(ctx, s.named(ctx, s.opts.Before)...)
	}
	<-reached // the client's request has its own bound and honors the context
	if w.failed != nil {
		return nil, w.failed
	}
	if c := s.opts.Client; whole && c != nil && c.Known != nil && w.client.OK {
		w.ask(ctx, s.named(ctx, []Lister{c.Known})...)
	}
	w.askAgain(ctx)
	return w.result()
}

// checker runs the checks once.
type checker struct {
	*Source
	mu      sync.Mutex
	answers []probe.APIAnswer

	client Reached // valid once the channel of reach is closed
	failed error
	notRun error // why a probe from elsewhere could not be made
}

// fine reports whether the load balancer gave an answer that a client can use.
func (w *checker) fine() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.answers {
		if a.Target == probe.TargetAPI && isReady(a) && (a.Trust == probe.TrustVerified || a.Trust == "") {
			return true
		}
	}
	return false
}

// ask asks the addresses that were not asked yet, all at once: there are few, see maxChecks.
func (w *checker) ask(ctx context.Context, list ...endpoint) {
	var group sync.WaitGroup
	for _, r := range list {
		if w.asked(r) {
			continue
		}
		group.Go(crash.Func(func() {
			a, err := w.try(ctx, r)
			w.mu.Lock()
			defer w.mu.Unlock()
			if err != nil {
				w.notRun = err
				return
			}
			w.answers = append(w.answers, a)
		}))
	}
	group.Wait()
}

// recheckDelay is how long a master that is not ready is given while others are.
const recheckDelay = time.Second

// askAgain repeats the check of masters that were reached and are not ready while others are: a
// busy etcd delays one of several answers. A master that is not ready twice keeps the first
// answer.
func (w *checker) askAgain(ctx context.Context) {
	var odd []int
	ready := false
	for i, a := range w.answers {
		switch {
		case a.Node() == "" || a.Port == w.mcsPort:
		case isReady(a):
			ready = true
		case a.Stage != probe.StageNone:
			odd = append(odd, i)
		}
	}
	if !ready || len(odd) == 0 {
		return
	}
	select {
	case <-time.After(recheckDelay):
	case <-ctx.Done():
		return
	}
	var group sync.WaitGroup
	for _, i := range odd {
		group.Go(crash.Func(func() {
			first := w.answers[i]
			second, err := w.try(ctx, endpoint{first.Target, first.Host, first.Port})
			if err == nil && isReady(second) {
				w.answers[i] = second
			}
		}))
	}
	group.Wait()
}

// isReady accepts also a refusal: /readyz may be forbidden.
func isReady(a probe.APIAnswer) bool {
	status := a.Status(pathReady)
	return status > 0 && status < 500
}

func (w *checker) asked(r endpoint) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.answers, func(a probe.APIAnswer) bool {
		return a.Target == r.target && a.Host == r.host && a.Port == r.port
	})
}

// reach starts the client's own request; the channel is closed when it has ended.
func (w *checker) reach(ctx context.Context) <-chan struct{} {
	done := make(chan struct{})
	c := w.opts.Client
	if c == nil {
		close(done)
		return done
	}
	a := probe.APIAnswer{
		Target: probe.TargetClient, Host: c.Server.Hostname(), Port: portOf(c.Server), Vantage: w.opts.Vantage, At: w.opts.Now(),
		CredentialKind: c.Kind, CredentialUntil: c.Until, Credential: probe.CredentialNotTold,
	}
	go crash.Func(func() {
		defer close(done)
		began := time.Now()
		if w.client, w.failed = c.Reach(ctx); w.failed != nil {
			return
		}
		a.Millis = time.Since(began).Milliseconds()
		a.OK, a.Error = w.client.OK, w.client.Detail
		switch {
		case w.client.Unauthorized:
			a.Credential = probe.CredentialRefused
		case w.client.OK:
			a.Credential = probe.CredentialAccepted
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answers = append(w.answers, a)
	})()
	return done
}

func (w *checker) result() ([]evidence.Object, error) {
	if w.notRun != nil { // half a path would be read as a whole one
		return nil, &evidence.Unavailable{Need: evidence.Objects(evidence.APIProbes, ""), Why: evidence.Unreachable,
			Detail: wire.Clip(w.notRun.Error()), Supply: evidence.Supply{Kind: evidence.SupplyProbeElsewhere}}
	}
	if len(w.answers) == 0 {
		return nil, &evidence.Unavailable{Need: evidence.Objects(evidence.APIProbes, ""), Why: evidence.NotAsked,
			Detail: "no address of the API is known", Supply: evidence.Supply{Kind: evidence.SupplyAddress}}
	}
	var list []evidence.Object
	for _, a := range w.answers {
		o, err := a.Object()
		if err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	slices.SortFunc(list, func(a, b evidence.Object) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b evidence.Object) bool { return a.Name == b.Name }), nil
}
