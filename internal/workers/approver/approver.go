// Package approver approves the certificate requests of hosts that an inventory expects,
// as a server: `rollcall csr serve`. It is for clusters in which nothing else approves
// (user-provisioned infrastructure, platform None, hosted clusters of platform None), and
// can run next to the cluster machine approver.
//
// What may be approved is decided by package csr alone, with the same rules as
// `rollcall csr approve`. This package adds when: limits, the switch, the lease, the record.
//
// Invariants:
//   - It never denies or deletes a request, and never touches one that was answered: the
//     write is a JSON patch that holds for the version of the request that was judged.
//   - A round judges by lists that are read in it, complete; a list, an inventory or a
//     switch that cannot be read approves nothing.
//   - Only the holder of the lease writes. Correctness does not rest on it: see
//     csr.ApproveIn. The limits do.
//   - What it did and counted in the last hour is read from the requests themselves, so a
//     restart or another replica continues with the same counts.
//   - Log lines, events and metrics have digests of keys and never a request's content.
package approver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/service"
)

// API is what the approver needs of the cluster whose requests it answers. Errors are
// those of k8s.io/apimachinery/pkg/api/errors.
type API interface {
	csr.API
	service.LeaseAPI
	// Watch calls changed for each request that waits or comes, and returns when the watch
	// ended.
	Watch(ctx context.Context, changed func()) error
}

// Inventory returns the hosts that are expected now. An error approves nothing.
type Inventory func(ctx context.Context) ([]csr.Expectation, error)

// Config is how an approver runs. Durations and limits of 0 take the default, limits
// below 0 are none.
type Config struct {
	Identity  string // of this replica, in the lease and the record
	Inventory Inventory
	Approve   Kinds
	Limits    Limits
	After     time.Duration // requests younger than this are left to other approvers
	Switch    kube.Ref      // of the ConfigMap that stops the approver; the zero value is none
	Lease     kube.Ref      // the zero value is none: only one replica runs
	DryRun    bool          // nothing is written, neither approvals nor events nor the lease
	Dial      csr.Dialer    // to kubelets; nil: nothing is renewed
	Log       *slog.Logger
	Metrics   *Metrics
	Now       func() time.Time
	Every     time.Duration // between rounds without a change; 0 is 30 s
	Gap       time.Duration // between rounds at least; 0 is 500 ms
	Times     service.LeaseTimes
}

// Kinds are the kinds of requests that are approved.
type Kinds struct{ Client, Serving, Renewal bool }

// Approver is one replica.
type Approver struct {
	api    API
	c      Config
	seen   map[string]string    // what was last decided on a request, by UID
	failed map[string]time.Time // when a request that could be approved last failed, by UID
	dialed map[string]time.Time // when the kubelet of a host of the inventory was last asked
	events service.EventBudget
	paused string
	ready  atomic.Int64 // when the last round ended well, or the lease was seen; Unix seconds
	stale  time.Duration
}

// New returns an approver.
func New(api API, c Config) *Approver {
	c.Every = cmp.Or(c.Every, 30*time.Second)
	c.Gap = cmp.Or(c.Gap, 500*time.Millisecond)
	c.Limits.setDefaults()
	c.Times.SetDefaults()
	return &Approver{api: api, c: c, seen: map[string]string{}, failed: map[string]time.Time{}, dialed: map[string]time.Time{},
		stale: 4*c.Every + c.Times.Duration}
}

// Run works until ctx is done, which is no error.
func (a *Approver) Run(ctx context.Context) error {
	a.ready.Store(a.c.Now().Unix())
	if a.c.Lease == (kube.Ref{}) || a.c.DryRun {
		a.c.Metrics.leader.Set(1)
		a.lead(ctx, func() bool { return true })
		return nil
	}
	l := &service.Lease{API: a.api, Ref: a.c.Lease, Identity: a.c.Identity, Times: a.c.Times, Now: a.c.Now, Log: a.c.Log, Alive: a.alive}
	for ctx.Err() == nil {
		if !l.Acquire(ctx) {
			return nil
		}
		a.c.Metrics.leader.Set(1)
		a.c.Log.Info("this replica approves: it holds the lease", "identity", a.c.Identity)
		a.seen = map[string]string{} // a new holder records what is open, again
		term, lost := context.WithCancel(ctx)
		done := make(chan struct{})
		go crash.Func(func() { defer close(done); defer lost(); l.Hold(term) })()
		a.lead(term, l.Held)
		lost()
		<-done
		a.c.Metrics.leader.Set(0)
		if ctx.Err() == nil {
			a.c.Log.Warn("this replica stops: the lease was not renewed in time", "identity", a.c.Identity)
		}
	}
	return nil
}

// lead runs rounds until ctx is done.
func (a *Approver) lead(ctx context.Context, held func() bool) {
	wake := make(chan struct{}, 1)
	done := make(chan struct{})
	go crash.Func(func() { defer close(done); a.follow(ctx, wake) })()
	defer func() { <-done }()
	failed := 0
	for ctx.Err() == nil {
		began := time.Now()
		again, err := a.round(ctx, held)
		took := time.Since(began)
		pause := max(a.c.Gap, 2*took) // a flood of requests must not make the approver a flood of lists
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			pause = min(a.c.Gap<<min(failed, 7), a.c.Every)
			a.c.Metrics.rounds.WithLabelValues("failed").Inc()
			a.c.Log.Error("round failed: nothing more is approved in it", "error", err.Error(), "again_in", pause.String())
		default:
			failed = 0
			a.alive()
			a.c.Metrics.rounds.WithLabelValues("ok").Inc()
		}
		if !sleep(ctx, pause) {
			return
		}
		if err != nil {
			continue
		}
		next := a.c.Every
		if again > 0 {
			next = min(next, again)
		}
		select {
		case <-ctx.Done():
		case <-wake:
		case <-time.After(next):
		}
	}
}

// follow wakes the rounds when requests change. A watch that ends, be it too old (410) or
// refused, is begun again, and a round reads everything in between.
func (a *Approver) follow(ctx context.Context, wake chan<- struct{}) {
	changed := func() {
		select {
		case wake <- struct{}{}:
		default:
		}
	}
	pause := a.c.Gap
	for ctx.Err() == nil {
		began := time.Now()
		err := a.api.Watch(ctx, changed)
		if ctx.Err() != nil {
			return
		}
		changed()
		if time.Since(began) > a.c.Every {
			pause = a.c.Gap
		}
		if err != nil {
			a.c.Log.Warn("watch of requests ended", "error", err.Error(), "again_in", pause.String())
		}
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, a.c.Every)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

func (a *Approver) alive() { a.ready.Store(a.c.Now().Unix()) }

// Ready says why the approver does not work, nil where it does: a replica without the
// lease works while it sees the lease.
func (a *Approver) Ready() error {
	since := a.c.Now().Sub(time.Unix(a.ready.Load(), 0))
	if since > a.stale {
		return fmt.Errorf("no round and no look at the lease succeeded for %s", since.Round(time.Second))
	}
	return nil
}

var errStopped = errors.New("the lease is no longer held")
