package lab

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/cluster"
)

// When the world goes over the cluster again: a second after the last time if anything
// has changed since, as the product's controllers would; else when it has become late,
// for what time alone changes. Labs that stand side by side would keep the machine busy
// with questions otherwise.
const (
	worldBusy = time.Second
	worldIdle = 20 * time.Second
)

// passes counts how often the world has gone over the cluster, and knows whether it
// has reason to do so again.
type passes struct {
	begun, done atomic.Int64
	changed     atomic.Bool   // somebody has written what the world may have to follow
	hurry       chan struct{} // one place: begin the next at once
}

func (p *passes) begin() time.Time {
	p.begun.Add(1)
	p.changed.Store(false)
	return time.Now()
}

func (p *passes) end() { p.done.Store(p.begun.Load()) }

// rest waits until there is a reason for the next pass after one that began then, when
// the processes and hosts were as in was. It says whether ctx is still alive.
func (l *Lab) rest(ctx context.Context, begin time.Time, was string) bool {
	late := time.After(worldIdle)
	soon := time.NewTimer(max(worldBusy-time.Since(begin), worldBusy/10))
	defer soon.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-l.passes.hurry:
			return true
		case <-late:
			return true
		case <-soon.C:
			if l.passes.changed.Load() || l.here() != was {
				return true
			}
			soon.Reset(worldBusy / 2)
		}
	}
}

// here is what the world follows that no cluster stores: which processes run, which
// hosts are on and how far they are, and what the lab lets stand still.
func (l *Lab) here() string {
	var b strings.Builder
	for _, p := range l.procs.List() {
		fmt.Fprintln(&b, p.Name, p.PID, p.Running)
	}
	l.mu.Lock()
	hosts := make([]string, 0, len(l.machines))
	for name := range l.machines {
		hosts = append(hosts, name)
	}
	fmt.Fprintln(&b, l.off, l.controllerOn, l.handedOver, l.approves)
	l.mu.Unlock()
	slices.Sort(hosts)
	for _, name := range hosts {
		state, on := l.hostState(name)
		fmt.Fprintln(&b, name, on, state.Phase, state.Boots, state.Registered)
	}
	return b.String()
}

// follow notes that something has changed whenever a plane stores it. Leases that are
// renewed and events change nothing that the world has to follow.
func (l *Lab) follow(ctx context.Context, plane *cluster.Plane) {
	l.hosts.Go(func() {
		for {
			l.passes.changed.Store(true) // whatever was missed
			store, err := plane.Store()
			if err == nil {
				err = store.Watch(ctx, "/registry/", func(key string) {
					if !strings.HasPrefix(key, "/registry/leases/") && !strings.HasPrefix(key, "/registry/events/") {
						l.passes.changed.Store(true)
					}
				})
			}
			if !l.pause(ctx, worldBusy) {
				return
			}
			l.log.Warn("follow the cluster", "err", err)
		}
	})
}

// followUp waits until the world has gone over the whole cluster once since the call:
// those who are played here have then seen what was changed before. How long a pass
// takes depends on the machine and on how many labs stand side by side. Without etcd
// no one sees anything, and every look ends in a timeout.
func (l *Lab) followUp(ctx context.Context) error {
	if !l.plane.Stores() {
		return nil
	}
	return l.wholePass(ctx)
}

func (l *Lab) wholePass(ctx context.Context) error {
	next := l.passes.begun.Load() + 1
	select {
	case l.passes.hurry <- struct{}{}:
	default: // somebody has asked already
	}
	return l.await(ctx, 2*time.Minute, "the world has not gone over the cluster", func(context.Context) (bool, error) {
		return l.passes.done.Load() >= next, nil
	})
}
