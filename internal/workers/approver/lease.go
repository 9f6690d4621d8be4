package approver

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

// LeaseTimes are how long a replica holds the lease and how often it renews it. 0 takes
// the default: those of client-go, which a kubelet's retry of 15 minutes outlasts.
type LeaseTimes struct {
	Duration time.Duration // after so long without a change another replica takes the lease; 0 is 30 s
	Deadline time.Duration // a holder that has not renewed for so long stops; 0 is 20 s
	Retry    time.Duration // between tries; 0 is 5 s
}

func (t *LeaseTimes) setDefaults() {
	t.Duration = cmp.Or(t.Duration, 30*time.Second)
	t.Deadline = cmp.Or(t.Deadline, 20*time.Second)
	t.Retry = cmp.Or(t.Retry, 5*time.Second)
}

// lease is the lock between replicas, on a Lease object, by the rules of
// kubernetes/client-go:tools/leaderelection/leaderelection.go: times in the object are
// not compared with the clock, only whether it changed while this process looked; so
// clocks may differ. client-go's own package needs the typed clientset.
type lease struct {
	api      API
	ref      kube.Ref
	identity string
	times    LeaseTimes
	now      func() time.Time
	log      *slog.Logger
	alive    func()

	mu      sync.Mutex
	renewed time.Time // when this process began the last renewal that succeeded
	version string    // of the object as last seen
	since   time.Time // when that version was first seen
}

// acquire waits until the lease is held; false where ctx is done.
func (l *lease) acquire(ctx context.Context) bool {
	for {
		err := l.try(ctx)
		if err == nil && l.held() {
			return true
		}
		if err == nil {
			l.alive()
		} else if ctx.Err() == nil {
			l.log.Warn("lease was not acquired", "error", err.Error())
		}
		if !sleep(ctx, l.times.Retry) {
			return false
		}
	}
}

// hold renews until ctx is done or the deadline passed, and releases the lease then.
func (l *lease) hold(ctx context.Context) {
	for sleep(ctx, l.times.Retry) {
		one, cancel := context.WithTimeout(ctx, l.times.Deadline)
		err := l.try(one)
		cancel()
		if err != nil && ctx.Err() == nil {
			l.log.Warn("lease was not renewed", "error", err.Error())
		}
		if !l.held() {
			return
		}
	}
	l.release(context.WithoutCancel(ctx))
}

// held reports whether this process holds the lease, counted from before the renewal was
// sent: no other process can have it then.
func (l *lease) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.renewed.IsZero() && l.now().Sub(l.renewed) < l.times.Deadline
}

// try takes or renews the lease where that is allowed. That another holds it is no error.
func (l *lease) try(ctx context.Context) error {
	began := l.now()
	have, err := l.api.Get(ctx, l.ref)
	if apierrors.IsNotFound(err) {
		if err := l.api.Create(ctx, l.ref, l.record(nil, began)); err != nil {
			return l.unlessTaken(err)
		}
		l.mark(began)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read lease: %w", err)
	}
	holder := evidence.String(have, "spec", "holderIdentity")
	if version := evidence.String(have, "metadata", "resourceVersion"); version != l.version {
		l.version, l.since = version, began
	}
	if holder != l.identity {
		l.mark(time.Time{})
		if holder != "" && began.Sub(l.since) < max(l.times.Duration, seconds(have)) {
			return nil
		}
	}
	if err := l.api.Update(ctx, l.ref, l.record(have, began)); err != nil {
		return l.unlessTaken(err)
	}
	l.mark(began)
	return nil
}

// unlessTaken: another replica was quicker.
func (l *lease) unlessTaken(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return fmt.Errorf("write lease: %w", err)
}

func (l *lease) mark(at time.Time) {
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

func (l *lease) record(have map[string]any, now time.Time) map[string]any {
	const micro = "2006-01-02T15:04:05.000000Z07:00"
	meta := map[string]any{"name": l.ref.Name, "namespace": l.ref.Namespace}
	acquired := now.UTC().Format(micro)
	if have != nil {
		meta["resourceVersion"] = evidence.String(have, "metadata", "resourceVersion")
		if evidence.String(have, "spec", "holderIdentity") == l.identity {
			acquired = evidence.String(have, "spec", "acquireTime")
		}
	}
	return map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta,
		"spec": map[string]any{"holderIdentity": l.identity, "leaseDurationSeconds": int64(max(1, l.times.Duration/time.Second)),
			"acquireTime": acquired, "renewTime": now.UTC().Format(micro)}}
}

// release gives the lease free, so that the other replica need not wait.
func (l *lease) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	l.mark(time.Time{})
	have, err := l.api.Get(ctx, l.ref)
	if err != nil || evidence.String(have, "spec", "holderIdentity") != l.identity {
		return
	}
	free := l.record(have, l.now())
	free["spec"] = map[string]any{"holderIdentity": "", "leaseDurationSeconds": int64(1)}
	if err := l.api.Update(ctx, l.ref, free); err != nil {
		l.log.Info("lease was not released; the other replica takes it when it has expired", "error", err.Error())
	}
}
