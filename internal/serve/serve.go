package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/follow/pace"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// Config is how a server runs.
type Config struct {
	Look     func(context.Context) (Reading, error) // reads the cluster once
	Changes  func() *live.Changes                   // what tells of changes in it; nil: it is read at intervals
	Lease    *service.Lease                         // nil: this is the only replica
	Keeper   *Keeper                                // writes Events and records; nil: nothing is written
	Interval time.Duration                          // between readings at most
	Clock    func() time.Time
	Log      *slog.Logger
	Metrics  *Metrics
	// Clean makes the text of an error harmless to show.
	Clean func(string) string
}

// Server is one replica.
type Server struct {
	c      Config
	state  atomic.Pointer[State]
	ticked atomic.Int64 // when the loop last turned, Unix seconds; 0: this replica does not lead
}

// lookTime bounds one reading: requests have an end each, and a cluster of 2,000 hosts takes some seconds.
const lookTime = 5 * time.Minute

// stuckFor is how long the loop may stand still. It turns each second.
const stuckFor = 2 * time.Minute

// New returns a server.
func New(c Config) *Server {
	s := &Server{c: c}
	s.state.Store(&State{})
	c.Metrics.state = s.State
	c.Metrics.now = c.Clock
	return s
}

// State is what there is to show now.
func (s *Server) State() *State { return s.state.Load() }

// Ready says why the server does not work, nil where it does. That the cluster cannot be read is no reason: the page and
// the metrics say so, and must be reachable then.
func (s *Server) Ready() error {
	at := s.ticked.Load()
	if since := s.c.Clock().Sub(time.Unix(at, 0)); at != 0 && since > stuckFor {
		return fmt.Errorf("the loop has not turned for %s", since.Round(time.Second))
	}
	return nil
}

// Run works until ctx is done, which is no error.
func (s *Server) Run(ctx context.Context) error {
	if s.c.Lease == nil {
		s.lead(ctx)
		return nil
	}
	s.c.Lease.Alive = func() { s.state.Store(&State{Holder: s.c.Lease.Holder()}) }
	for ctx.Err() == nil {
		if !s.c.Lease.Acquire(ctx) {
			return nil
		}
		s.c.Log.Info("this replica reads the cluster: it holds the lease", "identity", s.c.Lease.Identity)
		term, lost := context.WithCancel(ctx)
		done := make(chan struct{})
		go crash.Func(func() { defer close(done); defer lost(); s.c.Lease.Keep(term) })()
		s.lead(term)
		lost()
		<-done
		s.state.Store(&State{Holder: s.c.Lease.Holder()})
		if ctx.Err() == nil {
			s.c.Log.Warn("this replica stops reading: another holds the lease", "identity", s.c.Lease.Identity, "holder", s.c.Lease.Holder())
		}
	}
	return nil
}

// term is the time in which this replica leads.
type term struct {
	*Server
	follower *follow.Follower
	pace     pace.Pace
	changes  pace.Changes
	whole    time.Time // when an answer was last complete
	stages   *stageTimes
}

func newTerm(s *Server) *term {
	t := &term{Server: s, follower: follow.New(follow.Rules{}), stages: newStageTimes(s.c.Metrics)}
	t.pace = pace.Pace{Interval: s.c.Interval, Bounds: pace.OfServer()}
	t.changes.Notify = make(chan struct{}, 1)
	return t
}

// looked is one reading, or why there is none.
type looked struct {
	reading Reading
	took    time.Duration
	err     error
}

// lead reads the cluster until ctx is done.
func (s *Server) lead(ctx context.Context) {
	t := newTerm(s)
	s.state.Store(&State{Leading: true})
	defer s.ticked.Store(0)
	ctx, stop := context.WithCancel(ctx)
	var behind sync.WaitGroup
	defer func() { stop(); behind.Wait() }()
	if s.c.Changes != nil {
		source := s.c.Changes()
		behind.Go(crash.Func(func() { source.Run(ctx, t.changes.Add) }))
	}
	if s.c.Keeper != nil {
		s.c.Keeper.begin(s.c.Metrics, s.c.Log)
		behind.Go(crash.Func(func() { s.c.Keeper.run(ctx) }))
	}
	results := make(chan looked, 1)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		s.ticked.Store(s.c.Clock().Unix())
		if t.pace.Due(time.Now(), t.changes.Pending()) {
			t.changes.Take()
			t.pace.Begin()
			behind.Go(crash.Func(func() { results <- s.look(ctx) }))
		}
		select {
		case <-ctx.Done():
			return
		case l := <-results:
			t.took(l)
		case <-t.changes.Notify:
		case <-tick.C:
		}
	}
}

// look reads the cluster once.
func (s *Server) look(ctx context.Context) (l looked) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	l.reading, l.err = s.c.Look(ctx)
	if l.err == nil && l.reading.Diagnosis == nil {
		l.err = errors.New("no diagnosis was made")
	}
	l.took = time.Since(began)
	return l
}

// The results of a reading.
const (
	resultOK      = "ok"
	resultPartial = "partial" // something was not read that is there
	resultBlind   = "blind"   // nothing of the cluster was read
	resultFailed  = "failed"  // no answer was made
)

// took publishes a reading, or that there is none.
func (t *term) took(l looked) {
	t.pace.Ended(time.Now(), l.took)
	now := t.c.Clock()
	next := *t.State()
	result, published := t.judge(l, &next, now)
	t.c.Metrics.ran(result, l.took)
	if !published {
		t.pace.Recheck(pace.AwayPause)
		t.state.Store(&next)
		return
	}
	d := l.reading.Diagnosis
	next.Reading, next.ReadAt = &l.reading, now
	t.stages.step(d, now)
	events := t.follower.Step(follow.Run{Diagnosis: d})
	for _, e := range events {
		if e.Type != follow.StillWatching {
			t.c.Log.Info("changed", "type", string(e.Type), "text", t.c.Clean(e.Text), "joined", e.Joined, "expected", e.Expected)
		}
	}
	t.c.Keeper.hand(answered{reading: &l.reading, changes: events, at: now})
	next.Changes = newest(append(next.Changes, events...))
	t.pace.Plan(t.follower.Recheck(), d, len(events) > 0)
	t.state.Store(&next)
}

// judge decides whether a reading replaces the one before it.
func (t *term) judge(l looked, next *State, now time.Time) (result string, publish bool) {
	result, next.Blind = resultBlind, ""
	if l.err != nil {
		result, next.Blind = resultFailed, t.c.Clean(l.err.Error())
	} else if why := blindness(l.reading.Diagnosis); why != "" {
		next.Blind = t.c.Clean(why)
	}
	if next.Blind != "" {
		if next.BlindFrom.IsZero() {
			next.BlindFrom = now
			t.c.Log.Warn("the cluster cannot be read; the last answer stays", "reason", next.Blind)
		}
		return result, false
	}
	if !next.BlindFrom.IsZero() {
		t.c.Log.Info("the cluster can be read again", "after", now.Sub(next.BlindFrom).Round(time.Second).String())
		next.BlindFrom = time.Time{}
	}
	if incomplete(l.reading.Diagnosis) {
		return resultPartial, t.whole.IsZero() || now.Sub(t.whole) >= holdFor
	}
	t.whole = now
	return resultOK, true
}
