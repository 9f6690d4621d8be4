package command

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// pace decides when the cluster is read again.
//
// A change is followed by a run within a second, unless one has just ended: runs take at
// most a quarter of the time. Where nothing is seen to change, the next run comes after the
// interval: what only logs show is not noticed. Where a run takes long, so that it costs
// less than 1 % of the time while nothing happens, and 5 % while something does.
type pace struct {
	interval time.Duration
	running  bool
	failed   error // why the newest run gave nothing

	endedAt time.Time
	lasted  time.Duration
	next    time.Time // without a change
	lively  time.Time // when something was last reported
}

// The bounds of pauses.
const (
	shortestPause = 2 * time.Second
	longestPause  = 30 * time.Minute
	livelyFor     = 10 * time.Minute
	awayPause     = 5 * time.Second // while the API is unreachable
)

func (p *pace) begin() { p.running = true }

// ended notes the end of a run.
func (p *pace) ended(now time.Time, lasted time.Duration) {
	p.running, p.endedAt, p.lasted = false, now, lasted
	p.next = now.Add(max(p.interval, p.least()))
	if p.lively.IsZero() {
		p.lively = now
	}
}

// least is the pause after which runs cost little enough.
func (p *pace) least() time.Duration {
	factor := time.Duration(100)
	if p.endedAt.Sub(p.lively) < livelyFor {
		factor = 20
	}
	return min(factor*p.lasted, longestPause)
}

// plan chooses the next run after one that was read: sooner where something has to be
// seen twice, where something that is normal ends to be so, and while the API is unreachable.
func (p *pace) plan(recheck time.Time, d *diagnosis.Diagnosis, changed bool) {
	if changed {
		p.lively = p.endedAt
	}
	p.next = p.endedAt.Add(max(p.interval, p.least()))
	if !recheck.IsZero() {
		p.recheck(recheck.Sub(d.Now))
	}
	if until := d.Verdict.Until; !until.IsZero() {
		p.recheck(until.Sub(d.Now) + time.Second)
	}
	if d.Verdict.Class == diagnosis.CannotCheck {
		p.recheck(awayPause)
	}
}

// recheck asks for a run after a time.
func (p *pace) recheck(after time.Duration) {
	if at := p.endedAt.Add(max(after, p.shortest())); at.Before(p.next) {
		p.next = at
	}
}

// shortest is the pause between two runs.
func (p *pace) shortest() time.Duration { return max(shortestPause, 3*p.lasted) }

// due reports whether a run is to begin. changed says what was seen to change since the
// last one began; "" for nothing.
func (p *pace) due(now time.Time, changed string) bool {
	switch {
	case p.running:
		return false
	case changed != "" && now.Sub(p.endedAt) >= p.shortest():
		return true
	}
	return !now.Before(p.next)
}

// seenChanges are the changes since the last run began.
type seenChanges struct {
	source *live.Changes // nil: none are noticed
	notify chan struct{}

	mu    sync.Mutex
	names []string
	more  int
	taken string // what the newest run was begun for
}

// add notes a change.
func (c *seenChanges) add(change live.Change) {
	const most = 2
	c.mu.Lock()
	defer c.mu.Unlock()
	// The newest comes first: a watch begins with thousands of objects, and none of them may
	// hide what has changed since.
	c.names = slices.Insert(c.names, 0, strings.TrimSpace(change.Resource.Name+" "+change.Name))
	if len(c.names) > most {
		c.names = c.names[:most]
		c.more++
	}
	select {
	case c.notify <- struct{}{}:
	default:
	}
}

// take forgets what the run that begins now will see.
func (c *seenChanges) take() {
	changed := c.pending()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.more, c.taken = nil, 0, changed
}

// read names what had changed when the newest run began.
func (c *seenChanges) read() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

// pending names what has changed.
func (c *seenChanges) pending() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.names, ", ")
	if c.more > 0 {
		text += fmt.Sprintf(" and %d more", c.more)
	}
	return text
}
