package follow

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Follower remembers what earlier runs showed.
type Follower struct {
	rules Rules

	started, now time.Time
	runs         int
	last         Run // the newest run
	seen         Run // the newest run that the API answered
	reached      bool
	awaySince    time.Time // zero: the API answers
	hosts        map[string]*track
	causes       map[string]*causeState
	indicators   map[after.ID]*held
	holdsSince   time.Time // all indicators; zero: not all hold
	changes      []Event
	joined       int
	expected     int
	lastEvent    time.Time
	usual        history
	recheck      time.Time // when something that is seen would be reported
	introduced   bool
	short        map[string]string // names of hosts as sentences have them
}

// maxChanges bounds what is kept for the screen.
const maxChanges = 200

// New returns a follower that has seen nothing.
func New(r Rules) *Follower {
	return &Follower{rules: r, hosts: map[string]*track{}, causes: map[string]*causeState{}, indicators: map[after.ID]*held{}, usual: history{}}
}

// Step takes the next run and returns what has changed.
func (f *Follower) Step(r Run) []Event {
	f.now, f.last, f.recheck = r.at(), r, time.Time{}
	if f.runs == 0 {
		f.started = f.now
	}
	f.runs++
	away := unreachable(r.Diagnosis)
	var events []Event
	events = append(events, f.api(away)...)
	if !away {
		f.seen, f.reached = r, true
	}
	if !away || !f.reached { // what was known before the API is unreachable stays
		events = append(events, f.stepHosts(r.Diagnosis)...)
		events = append(events, f.stepCauses(r.Diagnosis)...)
		events = append(events, f.stepIndicators(r.Indicators)...)
	} else {
		f.holdsSince = time.Time{}
	}
	f.last.Diagnosis = withoutDetails(r.Diagnosis)
	if !away {
		f.seen.Diagnosis = f.last.Diagnosis
	}
	if len(events) == 0 && f.now.Sub(f.lastEvent) >= beat {
		events = append(events, f.event(StillWatching, f.summary()))
	}
	return f.keep(events)
}

// withoutDetails returns a diagnosis without absent findings and proof of stages: with 2,000 hosts
// they take hundreds of megabytes.
func withoutDetails(d *diagnosis.Diagnosis) *diagnosis.Diagnosis {
	s := *d
	s.Findings = nil
	for _, found := range d.Findings {
		if found.Outcome == fault.Present || found.Waiting() {
			s.Findings = append(s.Findings, found)
		}
	}
	s.Hosts = make([]diagnosis.HostState, len(d.Hosts))
	for i, h := range d.Hosts {
		h.Stages = nil
		s.Hosts[i] = h
	}
	s.Edges, s.Timeline = nil, nil
	return &s
}

// keep remembers events for the screen.
func (f *Follower) keep(events []Event) []Event {
	if len(events) == 0 {
		return nil
	}
	f.lastEvent = f.now
	for i := range events {
		events[i].Joined, events[i].Expected = f.joined, f.expected
		if events[i].Type != StillWatching {
			f.changes = append(f.changes, events[i])
		}
	}
	if more := len(f.changes) - maxChanges; more > 0 {
		f.changes = slices.Delete(f.changes, 0, more)
	}
	return events
}

// unreachable reports whether the run got no answer of the API about its Nodes: it did not
// answer, or there is none yet that could be asked.
func unreachable(d *diagnosis.Diagnosis) bool {
	return d.Verdict.Class == diagnosis.CannotCheck || slices.ContainsFunc(d.Coverage, func(c evidence.Coverage) bool {
		return c.Need == evidence.Nodes.String() && c.State == evidence.Missing &&
			(c.Why == evidence.Unreachable || c.Why == evidence.NotCollected && slices.Contains(beforeAPI, d.Source.Kind))
	})
}

// beforeAPI are the kinds of source that are there before the API is: the directory of
// openshift-install and the rendezvous host (internal/source/install, internal/source/assisted).
var beforeAPI = []string{"install directory", "rendezvous host"}

// api follows whether the API answers.
func (f *Follower) api(away bool) []Event {
	switch {
	case away && f.awaySince.IsZero():
		f.awaySince = f.now
		text := "the API is unreachable; the last known state stays"
		if !f.reached {
			text = "the API does not answer yet"
		}
		if why := f.pathCause(); why != "" {
			if !f.reached {
				text = "the API cannot be used yet"
			}
			text += ": " + why
		}
		return []Event{f.event(APIUnreachable, text)}
	case !away && !f.awaySince.IsZero():
		text := fmt.Sprintf("the API answers again after %s", span(f.now.Sub(f.awaySince)))
		if !f.reached {
			text = fmt.Sprintf("the API answers for the first time, after %s", span(f.now.Sub(f.started)))
		}
		f.awaySince = time.Time{}
		for _, s := range f.causes { // what was between two runs does not count
			s.first = f.now
			if !s.provenSince.IsZero() {
				s.provenSince = f.now
			}
		}
		return []Event{f.event(APIReachable, text)}
	}
	return nil
}

// pathCause is what the checks of the network path to the API found.
func (f *Follower) pathCause() string {
	for _, r := range f.last.Diagnosis.Roots {
		if r.Layer == apiLayer {
			return r.Cases[0].Title
		}
	}
	return ""
}

// apiLayer is the layer of the faults of the network path to the API.
const apiLayer = "api"

// summary is the state of things in one sentence.
func (f *Follower) summary() string {
	if f.runs == 0 {
		return "the first reading of the cluster had not ended"
	}
	text := fmt.Sprintf("%d of %d expected hosts have joined", f.joined, f.expected)
	switch {
	case !f.reached && !f.awaySince.IsZero():
		return text + "; the API does not answer yet"
	case !f.awaySince.IsZero():
		return text + fmt.Sprintf("; the API is unreachable for %s", span(f.now.Sub(f.awaySince)))
	case f.last.Diagnosis.Verdict.Class == diagnosis.Settling:
		return text + "; in progress, expected until " + f.last.Diagnosis.Verdict.Until.UTC().Format(time.RFC3339)
	}
	if open := f.open(); open != nil {
		text += fmt.Sprintf("; left: %s: %s", open.Title, open.Reason)
	}
	return text
}

// open is the first indicator that does not hold.
func (f *Follower) open() *after.Indicator {
	for _, i := range f.known().Indicators {
		if !i.Holds() {
			return &i
		}
	}
	return nil
}

// known is the newest run that the API answered, before the first the newest.
func (f *Follower) known() Run {
	if f.reached {
		return f.seen
	}
	return f.last
}

// Recheck is when a run is needed to decide whether something lasts; zero: nothing waits
// for that.
func (f *Follower) Recheck() time.Time { return f.recheck }

// due asks for a run at a time.
func (f *Follower) due(at time.Time) {
	if f.recheck.IsZero() || at.Before(f.recheck) {
		f.recheck = at
	}
}

// lasts reports whether something has been so since a time for long enough, and else asks
// for a run when it has.
func (f *Follower) lasts(since time.Time, limit time.Duration) bool {
	if f.now.Sub(since) >= limit {
		return true
	}
	f.due(since.Add(limit))
	return false
}
