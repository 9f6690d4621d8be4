package bmc

import (
	"context"
	"sync"
	"time"
)

// How often a credential may be refused before it is sent to no other BMC. BMCs may share
// one directory of accounts, which locks an account after a few refusals wherever they are.
const (
	mostRefused   = 2 // without one BMC that accepts it
	mostExcepted  = 3 // where others accept it
	loginsAtOnce  = 4 // once one BMC has accepted it; before that, one at a time
	loginsAtFirst = 1
	// patience is how long a BMC may take before another is tried in the meantime: one that
	// hangs does not delay the others.
	patience = 5 * time.Second
)

// gates keep the count for each credential, and for each account of each BMC.
type gates struct {
	mu    sync.Mutex
	list  map[Credential]*gate
	doors map[door]*gate
}

// door is an account of a BMC: several hosts of a plan can have the same.
type door struct{ bmc, user string }

func newGate() *gate { return &gate{changed: make(chan struct{})} }

// of returns the gate of a credential.
func (g *gates) of(c Credential) *gate {
	c.From = "" // the same words are the same credential
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.list == nil {
		g.list = map[Credential]*gate{}
	}
	if g.list[c] == nil {
		g.list[c] = newGate()
	}
	return g.list[c]
}

// at returns the gate of an account of a BMC.
func (g *gates) at(bmc, user string) *gate {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.doors == nil {
		g.doors = map[door]*gate{}
	}
	key := door{bmc, user}
	if g.doors[key] == nil {
		g.doors[key] = newGate()
	}
	return g.doors[key]
}

// gate is one credential, or one account: who may try it now, and whether anybody may.
type gate struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when something changes
	trying   int
	slow     int // of these, longer than patience
	accepted bool
	right    string // the password of an account that was accepted
	refused  int
}

// try is one use of a gate, between enter and leave.
type try struct {
	gate  *gate
	timer *time.Timer
	slow  bool
	over  bool
}

// enter waits until the credential may be sent to one more BMC. It is nil where it may not at all.
func (g *gate) enter(ctx context.Context) (*try, error) {
	return g.wait(ctx, func() (now, never bool) {
		limit, most := loginsAtFirst, mostRefused
		if g.accepted {
			limit, most = loginsAtOnce, mostExcepted
		}
		return g.trying-g.slow < limit && g.refused+g.trying < most, g.refused >= most
	})
}

// login waits until the account of a BMC may be tried with a password. After one refusal it is
// not tried again; a password that was accepted is not tried but known.
func (g *gate) login(ctx context.Context, pass string) (*try, error) {
	return g.wait(ctx, func() (now, never bool) {
		known := g.accepted && g.right == pass
		return known || g.trying == 0 && g.refused == 0, !known && g.refused > 0
	})
}

func (g *gate) wait(ctx context.Context, may func() (now, never bool)) (*try, error) {
	for {
		g.mu.Lock()
		now, never := may()
		switch {
		case never:
			g.mu.Unlock()
			return nil, nil
		case now:
			g.trying++
			t := &try{gate: g}
			t.timer = time.AfterFunc(patience, t.isSlow)
			g.mu.Unlock()
			return t, nil
		}
		wait := g.changed
		g.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (t *try) isSlow() {
	t.gate.mu.Lock()
	defer t.gate.mu.Unlock()
	if t.over {
		return
	}
	t.slow = true
	t.gate.slow++
	t.gate.wake()
}

// leave says what became of a try.
func (t *try) leave(became Login, pass string) {
	g := t.gate
	g.mu.Lock()
	defer g.mu.Unlock()
	t.timer.Stop()
	t.over = true
	g.trying--
	if t.slow {
		g.slow--
	}
	switch became {
	case LoginAccepted:
		g.accepted, g.right = true, pass
	case LoginRefused:
		g.refused++
	}
	g.wake()
}

// wake lets all that wait look again. The caller holds the lock.
func (g *gate) wake() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// refusals is how many BMCs have refused the credential.
func (g *gate) refusals() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}
