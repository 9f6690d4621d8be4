// Package pace decides when a cluster that is followed is read again, and collects what was seen to
// change since the last reading.
package pace

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// Pace decides when the cluster is read again.
//
// A change is followed by a run within a second, unless one has just ended: see Bounds. Where
// nothing is seen to change, the next run comes after the interval: what only logs show is not
// noticed. Where a run takes long, the pause is longer.
type Pace struct {
	Interval time.Duration
	Bounds   Bounds
	Running  bool
	Failed   error // why the newest run gave nothing

	endedAt time.Time
	lasted  time.Duration
	next    time.Time // without a change
	lively  time.Time // when something was last reported
}

// Bounds are those of the pauses between two runs. A pause is longer than a multiple of what the run before took.
type Bounds struct {
	Shortest time.Duration // after a change
	Changed  int           // the multiple after a change
	Lively   int           // the same while something happens, without a change
	Calm     int           // while nothing happens
	Longest  time.Duration
}

// OfPerson are the bounds for a person who waits: runs take at most a quarter of the time, less than 1 % of
// it while nothing happens, and 5 % while something does.
func OfPerson() Bounds {
	return Bounds{Shortest: 2 * time.Second, Changed: 3, Lively: 20, Calm: 100, Longest: 30 * time.Minute}
}

// OfServer are the bounds for a program that runs for months: runs take at most 5 % of the time.
func OfServer() Bounds {
	return Bounds{Shortest: 10 * time.Second, Changed: 20, Lively: 20, Calm: 20, Longest: 5 * time.Minute}
}

// livelyFor is how long something that was reported counts as something that happens.
const livelyFor = 10 * time.Minute

// AwayPause is the pause while the API is unreachable.
const AwayPause = 5 * time.Second

// Begin notes that a run begins.
func (p *Pace) Begin() { p.Running = true }

// Ended notes the end of a run.
func (p *Pace) Ended(now time.Time, lasted time.Duration) {
	p.Running, p.endedAt, p.lasted = false, now, lasted
	p.next = now.Add(max(p.Interval, p.least()))
	if p.lively.IsZero() {
		p.lively = now
	}
}

// least is the pause after which runs cost little enough.
func (p *Pace) least() time.Duration {
	factor := p.Bounds.Calm
	if p.endedAt.Sub(p.lively) < livelyFor {
		factor = p.Bounds.Lively
	}
	return min(time.Duration(factor)*p.lasted, p.Bounds.Longest)
}

// Plan chooses the next run after one that was read: sooner where something has to be
// seen twice, where something that is normal ends to be so, and while the API is unreachable.
func (p *Pace) Plan(recheck time.Time, d *diagnosis.Diagnosis, changed bool) {
	if changed {
		p.lively = p.endedAt
	}
	p.next = p.endedAt.Add(max(p.Interval, p.least()))
	if !recheck.IsZero() {
		p.Recheck(recheck.Sub(d.Now))
	}
	if until := d.Verdict.Until; !until.IsZero() {
		p.Recheck(until.Sub(d.Now) + time.Second)
	}
	if d.Verdict.Class == diagnosis.CannotCheck {
		p.Recheck(AwayPause)
	}
}

// Recheck asks for a run after a time.
func (p *Pace) Recheck(after time.Duration) {
	if at := p.endedAt.Add(max(after, p.shortest())); at.Before(p.next) {
		p.next = at
	}
}

// shortest is the pause between two runs.
func (p *Pace) shortest() time.Duration {
	return max(p.Bounds.Shortest, min(time.Duration(p.Bounds.Changed)*p.lasted, p.Bounds.Longest))
}

// Due reports whether a run is to begin. changed says what was seen to change since the
// last one began; "" for nothing.
func (p *Pace) Due(now time.Time, changed string) bool {
	switch {
	case p.Running:
		return false
	case changed != "" && now.Sub(p.endedAt) >= p.shortest():
		return true
	}
	return !now.Before(p.next)
}

// Changes are the changes since the last run began.
type Changes struct {
	Source *live.Changes // nil: none are noticed
	Notify chan struct{}

	mu    sync.Mutex
	names []string
	more  int
	taken string // what the newest run was begun for
}

// Add notes a change.
func (c *Changes) Add(change live.Change) {
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
	case c.Notify <- struct{}{}:
	default:
	}
}

// Take forgets what the run that begins now will see.
func (c *Changes) Take() {
	changed := c.Pending()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.more, c.taken = nil, 0, changed
}

// Read names what had changed when the newest run began.
func (c *Changes) Read() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken
}

// Pending names what has changed.
func (c *Changes) Pending() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := strings.Join(c.names, ", ")
	if c.more > 0 {
		text += fmt.Sprintf(" and %d more", c.more)
	}
	return text
}
