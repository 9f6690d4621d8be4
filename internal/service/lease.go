package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// LeaseAPI is what a lease needs of the cluster that it is in. Errors are those of
// k8s.io/apimachinery/pkg/api/errors.
type LeaseAPI interface {
	Get(ctx context.Context, r kube.Ref) (kube.Object, error)
	Create(ctx context.Context, r kube.Ref, content kube.Object) error
	// Update replaces the object in the version that content has.
	Update(ctx context.Context, r kube.Ref, content kube.Object) error
}

// LeaseTimes are how long a replica holds the lease and how often it renews it. 0 takes
// the default: those of client-go, which a kubelet's retry of 15 minutes outlasts.
type LeaseTimes struct {
	Duration time.Duration // after so long without a change another replica takes the lease; 0 is 30 s
	Deadline time.Duration // a holder that has not renewed for so long stops; 0 is 20 s
	Retry    time.Duration // between tries; 0 is 5 s
}

// SlowTimes are those of the components of OpenShift (openshift/library-go: pkg/config/leaderelection/leaderelection.go
// LeaderElectionDefaulting): they outlast the rollout of an API server.
func SlowTimes() LeaseTimes {
	return LeaseTimes{Duration: 137 * time.Second, Deadline: 107 * time.Second, Retry: 26 * time.Second}
}

// SetDefaults fills in the defaults.
func (t *LeaseTimes) SetDefaults() {
	t.Duration = cmp.Or(t.Duration, 30*time.Second)
	t.Deadline = cmp.Or(t.Deadline, 20*time.Second)
	t.Retry = cmp.Or(t.Retry, 5*time.Second)
}

// Lease is the lock between replicas, on a Lease object, by the rules of
// kubernetes/client-go:tools/leaderelection/leaderelection.go: times in the object are
// not compared with the clock, only whether it changed while this process looked; so
// clocks may differ. client-go's own package needs the typed clientset.
type Lease struct {
	API      LeaseAPI
	Ref      kube.Ref
	Identity string // of this replica
	Times    LeaseTimes
	Now      func() time.Time
	Log      *slog.Logger
	Alive    func() // called when another replica was seen to hold it

	mu      sync.Mutex
	renewed time.Time // when this process began the last renewal that succeeded
	holder  string    // as last seen
	version string    // of the object as last seen
	since   time.Time // when that version was first seen
}

// Acquire waits until the lease is held; false where ctx is done.
func (l *Lease) Acquire(ctx context.Context) bool {
	for {
		err := l.try(ctx)
		if err == nil && l.Held() {
			return true
		}
		if err == nil {
			l.Alive()
		} else if ctx.Err() == nil {
			l.Log.Warn("lease was not acquired", "error", err.Error())
		}
		if !sleep(ctx, l.Times.Retry) {
			return false
		}
	}
}

// Hold renews until ctx is done or the deadline passed, and releases the lease then.
func (l *Lease) Hold(ctx context.Context) {
	for sleep(ctx, l.Times.Retry) {
		one, cancel := context.WithTimeout(ctx, l.Times.Deadline)
		err := l.try(one)
		cancel()
		if err != nil && ctx.Err() == nil {
			l.Log.Warn("lease was not renewed", "error", err.Error())
		}
		if !l.Held() {
			return
		}
	}
	l.release(context.WithoutCancel(ctx))
}

// Keep renews until ctx is done, or another replica is seen to hold the lease. While the API server cannot be asked it
// goes on: that is for a program that only reads, of which two at a time do no harm.
func (l *Lease) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		l.Hold(ctx)
		for ctx.Err() == nil {
			one, cancel := context.WithTimeout(ctx, l.Times.Deadline)
			err := l.try(one)
			cancel()
			if err == nil && !l.Held() {
				return
			}
			if err == nil || !sleep(ctx, l.Times.Retry) {
				break
			}
		}
	}
}

// Held reports whether this process holds the lease, counted from before the renewal was
// sent: no other process can have it then.
func (l *Lease) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero() && l.Now().Sub(l.renewed) < l.Times.Deadline
}

// Holder is the replica that held the lease when it was last read; "": none is known.
func (l *Lease) Holder() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.holder
}

// try takes or renews the lease where that is allowed. That another holds it is no error.
func (l *Lease) try(ctx context.Context) error {
	began := l.Now()
	have, err := l.API.Get(ctx, l.Ref)
	if apierrors.IsNotFound(err) {
		if err := l.API.Create(ctx, l.Ref, l.record(nil, began)); err != nil {
			return l.unlessTaken(err)
		}
		l.mark(began)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	holder := evidence.String(have, "spec", "holderIdentity")
	l.mu.Lock()
	l.holder = holder
	l.mu.Unlock()
	if version := evidence.String(have, "metadata", "resourceVersion"); version != l.version {
		l.version, l.since = version, began
	}
	if holder != l.Identity {
		l.mark(time.Time{})
		if holder != "" && began.Sub(l.since) < max(l.Times.Duration, seconds(have)) {
			return nil
		}
	}
	if err := l.API.Update(ctx, l.Ref, l.record(have, began)); err != nil {
		return l.unlessTaken(err)
	}
	l.mark(began)
	return nil
}

// unlessTaken: another replica was quicker.
func (l *Lease) unlessTaken(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("write lease: %w", err)
}

func (l *Lease) mark(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.renewed = at
}

// seconds is how long the holder asks to be left alone.
func seconds(have map[string]any) time.Duration {
	switch v := evidence.Field(have, "spec", "leaseDurationSeconds").(type) {
	case int64:
		return time.Duration(v) * time.Second
	case float64:
		return time.Duration(v) * time.Second
	}
	return 0
}

func (l *Lease) record(have map[string]any, now time.Time) map[string]any {
	const micro = "2006-01-02T15:04:05.000000Z07:00"
	meta := map[string]any{"name": l.Ref.Name, "namespace": l.Ref.Namespace}
	acquired := now.UTC().Format(micro)
	if have != nil {
		meta["resourceVersion"] = evidence.String(have, "metadata", "resourceVersion")
		if evidence.String(have, "spec", "holderIdentity") == l.Identity {
			acquired = evidence.String(have, "spec", "acquireTime")
		}
	}
	return map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
		"spec": map[string]any{"holderIdentity": l.Identity, "leaseDurationSeconds": int64(max(1, l.Times.Duration/time.Second)),
			"acquireTime": acquired, "renewTime": now.UTC().Format(micro)}}
}

// release gives the lease free, so that the other replica need not wait.
func (l *Lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	l.mark(time.Time{})
	have, err := l.API.Get(ctx, l.Ref)
	if err != nil || evidence.String(have, "spec", "holderIdentity") != l.Identity {
		return
	}
	free := l.record(have, l.Now())
	free["spec"] = map[string]any{"holderIdentity": "", "leaseDurationSeconds": int64(1)}
	if err := l.API.Update(ctx, l.Ref, free); err != nil {
		l.Log.Info("lease was not released; the other replica takes it when it has expired", "error", err.Error())
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
