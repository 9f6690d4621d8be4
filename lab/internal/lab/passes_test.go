package lab

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rollcall-project/rollcall/lab/internal/proc"
)

// A pass comes a second after the last one where something has changed, at once where
// somebody waits for it, and late where nothing happens.
func TestRest(t *testing.T) {
	procs := proc.NewGroup(slog.New(slog.NewTextHandler(io.Discard, nil)))
	for name, c := range map[string]struct {
		meanwhile func(*Lab)
		want      time.Duration
	}{
		"nothing happens":    {func(*Lab) {}, worldIdle},
		"a write":            {func(l *Lab) { l.passes.changed.Store(true) }, worldBusy},
		"a part stands":      {func(l *Lab) { l.mu.Lock(); l.off[PartVIP] = true; l.mu.Unlock() }, worldBusy},
		"somebody waits":     {func(l *Lab) { l.passes.hurry <- struct{}{} }, 0},
		"a write long since": {func(l *Lab) { time.Sleep(4 * time.Second); l.passes.changed.Store(true) }, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &Lab{procs: procs, off: map[string]bool{}}
				l.passes.hurry = make(chan struct{}, 1)
				start, was := l.passes.begin(), l.here()
				go c.meanwhile(l)
				if !l.rest(t.Context(), start, was) {
					t.Fatal("ended")
				}
				if took := time.Since(start); took < c.want || took > c.want+worldBusy/2 {
					t.Errorf("rested for %s, want %s", took, c.want)
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				l.passes.changed.Store(false)
				if l.rest(ctx, time.Now(), l.here()) {
					t.Error("goes on after the end of the lab")
				}
			})
		})
	}
}

// wholePass comes back after a whole pass that began after the call, not with one that
// was under way.
func TestWholePass(t *testing.T) {
	l := &Lab{}
	l.passes.hurry = make(chan struct{}, 1)
	synctest.Test(t, func(t *testing.T) {
		l.passes.begin()
		start, failed := time.Now(), make(chan error)
		go func() { failed <- l.wholePass(t.Context()) }()
		for range 2 {
			time.Sleep(10 * time.Second)
			l.passes.end()
			l.passes.begin()
		}
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("came back after %s", took)
		}
	})
}
