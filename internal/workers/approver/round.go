package approver

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/facts/csrs"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
)

// The CA of the kubelets' certificates (openshift/cluster-machine-approver:main.go,
// configMapName, configMapNamespace).
var kubeletCA = kube.Ref{Version: "v1", Resource: "configmaps", Namespace: openshift.ConfigManagedNamespace, Name: "csr-controller-ca"}

const (
	kubeletCAKey = "ca-bundle.crt"
	dialTimeout  = 5 * time.Second
	maxDialed    = 20 // kubelets asked in one round
	maxFailed    = 5  // approvals that fail in one round: with more the API has a problem, and not the requests
)

// round is one look at everything: what waits is judged, and what may be is approved.
// again is when a limit or a delay will have passed, 0 where nothing waits for one.
func (a *Approver) round(ctx context.Context, held func() bool) (again time.Duration, err error) {
	p, err := csr.Gather(ctx, a.api, a.c.Now())
	if err != nil {
		return 0, err
	}
	hosts, err := a.c.Inventory(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the inventory: %w", err)
	}
	a.c.Metrics.hosts.Set(float64(len(hosts)))
	expected, strangers := split(p, hosts)
	a.forget(p)
	a.count(p, expected, strangers)
	stopped, err := a.stopped(ctx, p)
	if err != nil {
		return 0, err
	}
	a.notePause(stopped)
	a.renewals(ctx, &p, expected)
	spent := spentBefore(p)
	failures, failed := 0, error(nil) // failed is of the first request that could not be approved: the others have their turn
	// Those that failed come last, and a flood in the name of one host after the requests of the others.
	slices.SortStableFunc(expected, func(v, w waiting) int {
		return cmp.Or(a.failed[v.request.UID].Compare(a.failed[w.request.UID]), cmp.Compare(max(v.beside, csr.MaxOfHost), max(w.beside, csr.MaxOfHost)))
	})
	for _, w := range expected {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		wait, err := a.one(ctx, w, p, spent, stopped, held)
		if err != nil {
			a.failed[w.request.UID] = p.Now
			failures, failed = failures+1, cmp.Or(failed, err)
		}
		if errors.Is(err, errStopped) || failures == maxFailed {
			return 0, failed
		}
		if wait > 0 && (again == 0 || wait < again) {
			again = wait
		}
	}
	for _, r := range strangers {
		if object := p.Awaited(r); object != "" {
			a.record(ctx, outcome{request: r, decision: Deferred, reason: "declared", why: object + " has no addresses yet"})
			if again == 0 || addressesEvery < again {
				again = addressesEvery
			}
			continue
		}
		a.record(ctx, outcome{request: r, decision: Refused, reason: "not-expected",
			why: "the host is not in the inventory; a name in a request is only a claim"})
	}
	return again, failed
}

// waiting is a request of an expected host.
type waiting struct {
	request csrs.Request
	host    *csr.Expectation
	beside  int // requests that wait in the name of this host
}

// split tells the requests of kubelets that wait apart: those in the name of an expected
// host, oldest first, and the others. A renewal of a client certificate is of neither: the
// controller manager approves it.
func split(p csr.Snapshot, hosts []csr.Expectation) (expected []waiting, strangers []csrs.Request) {
	known := map[string]bool{}
	for _, h := range hosts {
		for _, n := range append([]string{h.Name}, h.DNS...) {
			known[strings.ToLower(n)] = true
		}
	}
	found, of := map[string]*csr.Expectation{}, map[string]int{}
	for _, r := range p.Requests {
		if r.State != csrs.Pending || r.Kind != csrs.Client && r.Kind != csrs.Serving || r.Renews() {
			continue
		}
		e, looked := found[r.NodeName]
		if !looked && known[strings.ToLower(r.NodeName)] {
			e = csr.For(hosts, r.NodeName)
			found[r.NodeName] = e
		}
		if e == nil {
			strangers = append(strangers, r)
			continue
		}
		expected = append(expected, waiting{request: r, host: e})
		of[r.NodeName]++
	}
	for i := range expected {
		expected[i].beside = of[expected[i].request.NodeName]
	}
	return expected, strangers
}

// stopped says why nothing is approved now, "" where it may be.
func (a *Approver) stopped(ctx context.Context, p csr.Snapshot) (string, error) {
	if most := a.c.Limits.Pending; most > 0 {
		n := 0
		for _, r := range p.Requests {
			if r.State == csrs.Pending && (r.Kind == csrs.Client || r.Kind == csrs.Serving) {
				n++
			}
		}
		if n > most {
			return fmt.Sprintf("%d requests wait, more than --pause-above %d", n, most), nil
		}
	}
	return a.switchedOff(ctx)
}

// switchedOff reads the switch. A switch that is not there or has another value stops.
func (a *Approver) switchedOff(ctx context.Context) (string, error) {
	if a.c.Switch == (kube.Ref{}) {
		return "", nil
	}
	name := a.c.Switch.Namespace + "/" + a.c.Switch.Name
	cm, err := a.api.Get(ctx, a.c.Switch)
	if apierrors.IsNotFound(err) {
		return "ConfigMap " + name + " does not exist", nil
	}
	if err != nil {
		return "", fmt.Errorf("read the switch, ConfigMap %s: %w", name, err)
	}
	if v := evidence.String(cm, "data", switchKey); v != "true" {
		return fmt.Sprintf("ConfigMap %s has %s: %.20q, not \"true\"", name, switchKey, v), nil
	}
	return "", nil
}

// switchKey is the key of the switch's ConfigMap that must be "true".
const switchKey = "approve"

func (a *Approver) notePause(why string) {
	paused := 0.0
	if why != "" {
		paused = 1
	}
	a.c.Metrics.paused.Set(paused)
	if why == a.paused {
		return
	}
	if a.paused = why; why == "" {
		a.c.Log.Info("approval goes on")
	} else {
		a.c.Log.Warn("approval is paused", "why", why)
	}
}

// one decides on one request, and approves it where it may be. wait is when to look again.
func (a *Approver) one(ctx context.Context, w waiting, p csr.Snapshot, spent *spending, stopped string, held func() bool) (wait time.Duration, err error) {
	r := w.request
	d := csr.Judge(r, w.host, p)
	o := outcome{request: r, host: w.host, decision: Refused, reason: refusal(d), why: d.Why, wayOut: d.WayOut, flood: w.beside > csr.MaxOfHost}
	kind := kindOf(r, d)
	switch {
	case !d.Approve && unaddressed(d, w.host):
		o.decision = Deferred
		a.record(ctx, o)
		return addressesEvery, nil
	case !d.Approve:
		a.record(ctx, o)
		return 0, nil
	case !a.c.Approve.has(kind):
		o.reason, o.why = "kind-off", fmt.Sprintf("%s requests are not among --approve", kind)
		a.record(ctx, o)
		return 0, nil
	case stopped != "":
		o.decision, o.reason, o.why = Deferred, "paused", stopped
		a.record(ctx, o)
		return 0, nil
	}
	if young := a.c.After - p.Now.Sub(r.Created); a.c.After > 0 && young > 0 {
		return young, nil
	}
	if scope, until := spent.over(a.c.Limits, r.NodeName, p.Now); scope != "" {
		a.c.Metrics.budget.WithLabelValues(scope).Inc()
		o.decision, o.reason, o.why = Deferred, "limit-"+scope, fmt.Sprintf("the limit %s is reached", scope)
		a.record(ctx, o)
		return until, nil
	}
	if a.c.DryRun {
		o.decision, o.reason, o.why = WouldApprove, string(kind), d.Why
		spent.add(r.NodeName, p.Now)
		a.record(ctx, o)
		return 0, nil
	}
	return 0, a.approve(ctx, w, p, spent, o, kind, held)
}

// addressesEvery is how soon a request whose host has no addresses yet is judged again.
const addressesEvery = 5 * time.Second

// unaddressed reports whether a request waits only until the addresses of its host are known: those of the
// object that declares it, or of its Node. What a person declared without an address does not change by itself.
// The machine approver refuses such a request for good since openshift/cluster-machine-approver pull request 309, and
// the kubelet asks again 15 minutes later. Pull requests 321 and 322 try it again while Machine.status.addresses is
// empty.
func unaddressed(d csr.Decision, host *csr.Expectation) bool {
	for _, c := range d.Checks {
		undeclared := c.Name == "declared" && len(host.IPs) == 0 && !host.Explicit
		unknown := c.Name == "address" && (c.Result == csrs.Unknown || len(host.IPs) == 0 && !host.Explicit)
		if c.Result != csrs.Passed && !undeclared && !unknown {
			return false
		}
	}
	return !d.Approve
}

func (a *Approver) approve(ctx context.Context, w waiting, p csr.Snapshot, spent *spending, o outcome, kind kind, held func() bool) error {
	if off, err := a.switchedOff(ctx); err != nil || off != "" {
		return err // the next round records the pause
	}
	if !held() {
		return errStopped
	}
	d, err := csr.ApproveIn(ctx, a.api, w.request, w.host, p, "csr serve ("+a.c.Identity+")", false)
	switch {
	case err == nil:
		spent.add(w.request.NodeName, p.Now)
		o.decision, o.reason, o.why = Approved, string(kind), d.Why
		a.c.Metrics.duration.Observe(a.c.Now().Sub(w.request.Created).Seconds())
		a.record(ctx, o)
		return nil
	case changed(err):
		// Another approver answered it, or it is gone. That is no error: the next round sees it.
		a.c.Log.Info("request changed before it could be approved", "request", w.request.Name, "error", err.Error())
		a.c.Metrics.overtaken.Inc()
		return nil
	case d.Request.UID != "" && !d.Approve:
		o.reason, o.why = refusal(d), d.Why // it was answered between the list and the read
		if refusal(d) != "open" {
			a.record(ctx, o)
		}
		return nil
	}
	return err
}

// changed reports that the request was answered, changed or deleted since it was judged:
// a test of the JSON patch that fails is 422
// (kubernetes/kubernetes:staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go).
func changed(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code == 404 || code == 409 || code == 422
}

// kind is what a request is counted as.
type kind string

func kindOf(r csrs.Request, d csr.Decision) kind {
	if slices.ContainsFunc(d.Checks, func(c csr.Check) bool { return c.Name == "renewal" && c.Result == csrs.Passed }) {
		return "renewal"
	}
	return kind(r.Kind)
}

func (k Kinds) has(one kind) bool {
	switch one {
	case "client":
		return k.Client
	case "serving":
		return k.Serving
	case "renewal":
		return k.Renewal
	}
	return false
}

// refusal is the name of the first rule that does not hold: a closed list, unlike what a
// request contains.
func refusal(d csr.Decision) string {
	for _, c := range d.Checks {
		if c.Result != csrs.Passed {
			return c.Name
		}
	}
	return ""
}

// renewals asks the kubelets of Nodes that ask for their next serving certificate what
// they serve, first those that were not asked for longest: some that do not answer do not keep the
// others from their turn. It asks each at most once a round, and not those of which the request would
// be approved or refused without it.
func (a *Approver) renewals(ctx context.Context, p *csr.Snapshot, expected []waiting) {
	if a.c.Dial == nil || !a.c.Approve.Renewal {
		return
	}
	var pool *x509.CertPool
	expected = slices.Clone(expected)
	slices.SortStableFunc(expected, func(v, w waiting) int { return a.dialed[v.host.Name].Compare(a.dialed[w.host.Name]) })
	for _, w := range expected {
		if w.request.Kind != csrs.Serving || len(p.Served) >= maxDialed {
			continue
		}
		if _, asked := p.Served[w.host.Name]; asked {
			continue
		}
		d := csr.Judge(w.request, w.host, *p)
		if !slices.Contains([]string{"client", "alone", "newest", "in-flight"}, refusal(d)) {
			continue
		}
		n, exists := nodeOf(p.Nodes, w.host.Name)
		if !exists {
			continue
		}
		if pool == nil {
			var err error
			if pool, err = a.kubeletCA(ctx); err != nil {
				a.c.Log.Warn("nothing is renewed in this round", "error", err.Error())
				return
			}
		}
		one, cancel := context.WithTimeout(ctx, dialTimeout)
		if p.Served == nil {
			p.Served = map[string]csr.Served{}
		}
		a.dialed[w.host.Name] = p.Now
		p.Served[w.host.Name] = csr.AskKubelet(one, a.c.Dial, pool, *w.host, n, p.Now)
		cancel()
	}
}

func nodeOf(all []csr.Node, name string) (csr.Node, bool) {
	i := slices.IndexFunc(all, func(n csr.Node) bool { return n.Name == name })
	if i < 0 {
		return csr.Node{}, false
	}
	return all[i], true
}

func (a *Approver) kubeletCA(ctx context.Context) (*x509.CertPool, error) {
	cm, err := a.api.Get(ctx, kubeletCA)
	if err != nil {
		return nil, fmt.Errorf("read the CA of the kubelets' certificates, ConfigMap %s/%s: %w", kubeletCA.Namespace, kubeletCA.Name, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(evidence.String(cm, "data", kubeletCAKey))) {
		return nil, fmt.Errorf("read the CA of the kubelets' certificates: ConfigMap %s/%s has no "+
			"certificate in %s", kubeletCA.Namespace, kubeletCA.Name, kubeletCAKey)
	}
	return pool, nil
}
