package bmc

import (
	"context"
	"sync"
)

// How often a credential may be refused before it is sent to no other BMC. BMCs may share
// one directory of accounts, which locks an account after a few refusals wherever they are.
const (
	mostRefused   = 2 // without one BMC that accepts it
	mostExcepted  = 3 // where others accept it
	loginsAtOnce  = 4 // once one BMC has accepted it; before that, one at a time
	loginsAtFirst = 1
)

// gates keep the count for each credential.
type gates struct {
	mu   sync.Mutex
	list map[Credential]*gate
}

// gate is one credential: who may try it now, and whether anybody may.
type gate struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced when something changes
	trying   int
	accepted bool
	refused  int
}

func (g *gates) of(c Credential) *gate {
	c.From = "" // the same words are the same credential
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.list == nil {
		g.list = map[Credential]*gate{}
	}
	if g.list[c] == nil {
		g.list[c] = &gate{changed: make(chan struct{})}
	}
	return g.list[c]
}

// enter waits until the credential may be tried, and reports whether it may at all. Who
// enters leaves.
func (g *gate) enter(ctx context.Context) (bool, error) {
	for {
		g.mu.Lock()
		limit, most := loginsAtFirst, mostRefused
		if g.accepted {
			limit, most = loginsAtOnce, mostExcepted
		}
		switch {
		case g.refused >= most:
			g.mu.Unlock()
			return false, nil
		case g.trying < limit && g.refused+g.trying < most:
			g.trying++
			g.mu.Unlock()
			return true, nil
		}
		wait := g.changed
		g.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// leave says what became of a try.
func (g *gate) leave(became Login) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.trying--
	switch became {
	case LoginAccepted:
		g.accepted = true
	case LoginRefused:
		g.refused++
	}
	close(g.changed)
	g.changed = make(chan struct{})
}

// refusals is how many BMCs have refused the credential.
func (g *gate) refusals() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.refused
}
