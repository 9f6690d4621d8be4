package main

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
	"github.com/rollcall-project/rollcall/lab/bmc"
)

// TestTwoPrograms: one that a killed tool has left running and the next one make the worker once
// together, in each way of booting, and leave nothing when they delete it together.
func TestTwoPrograms(t *testing.T) {
	for _, way := range []string{byMedia, byHTTP} {
		t.Run(way, func(t *testing.T) {
			r := newRack(t, bmc.Supermicro, func(c *bmc.Config) { c.HTTPBoot = true })
			if way == byHTTP {
				r.overHTTP()
			}
			r.bmc.Behave(bmc.Trouble{Delay: 2 * time.Millisecond})
			both := func(do func() error) {
				t.Helper()
				var group sync.WaitGroup
				errs := make([]error, 2)
				for i := range errs {
					group.Go(func() { errs[i] = do() })
				}
				group.Wait()
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
			}
			both(func() error { _, err := (&servers{}).Create(t.Context(), r.order, []byte(data)); return err })
			if len(r.boots) != 1 {
				t.Errorf("%d boots", len(r.boots))
			}
			both(func() error { return (&servers{}).Clean(t.Context(), r.order) })
			both(func() error { return (&servers{}).Delete(t.Context(), r.order) })
			if got := r.left(); len(got) > 0 || r.bmc.On() {
				t.Errorf("left: %v, on=%v", got, r.bmc.On())
			}
		})
	}
}

// TestLockWaits: who cannot get the lock in time says so.
func TestLockWaits(t *testing.T) {
	r := newRack(t, bmc.Dell)
	_, unlock, err := beginAlone(t.Context(), r.order)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := (&servers{}).Create(ctx, r.order, []byte(data)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create: %v", err)
	}
	if _, err := (&servers{}).Find(t.Context(), r.order); !errors.Is(err, provider.ErrNone) {
		t.Errorf("Find: %v", err)
	}
}
