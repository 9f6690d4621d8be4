package follow

import (
	"maps"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// causeState is a cause, or a symptom without one, over the runs.
type causeState struct {
	cause       Cause
	symptom     bool
	first       time.Time // when it was seen first
	gone        time.Time // since when it is no longer seen; zero: it is
	reported    bool
	provenSince time.Time // zero: not proven, or no error
}

// stepCauses compares causes and symptoms of a run with what was reported.
func (f *Follower) stepCauses(d *diagnosis.Diagnosis) []Event {
	blocking := f.blocking(d)
	now := map[string]Cause{}
	symptoms := map[string]bool{}
	for _, r := range d.Roots {
		first := r.Cases[0]
		c := Cause{
			Fault:      r.Fault,
			Title:      first.Title,
			Severity:   r.Severity,
			Confidence: first.Confidence,
			Since:      first.Since,
			api:        r.Layer == apiLayer,
			key:        first.Key,
		}
		for _, k := range r.Keys() {
			c.Subjects = append(c.Subjects, k.Subject.String())
			c.Blocks = c.Blocks || blocking[k]
		}
		if c.Severity.Rank() > fault.Info.Rank() && (!f.rules.Narrowed || c.Blocks || c.api) {
			now["cause "+r.Fault] = c
		}
	}
	for _, g := range d.Groups.Unexplained {
		u := d.Unexplained[g.First]
		c := Cause{Fault: g.Fault, Title: u.Title, Severity: u.Severity, key: u.Key}
		for _, s := range g.Subjects {
			c.Subjects = append(c.Subjects, s.String())
			c.Blocks = c.Blocks || blocking[fault.Key{Fault: g.Fault, Subject: s}]
		}
		if c.Severity.Rank() > fault.Info.Rank() && (!f.rules.Narrowed || c.Blocks) {
			now["symptom "+g.Fault], symptoms["symptom "+g.Fault] = c, true
		}
	}
	for id, c := range now {
		s := f.causes[id]
		if s == nil {
			s = &causeState{first: f.now, symptom: symptoms[id]}
			f.causes[id] = s
		}
		if c.Since.IsZero() {
			c.Since = s.first
		}
		s.cause, s.gone = c, time.Time{}
		switch proven := c.Confidence == diagnosis.Proven && c.Severity == fault.Error; {
		case !proven:
			s.provenSince = time.Time{}
		case s.provenSince.IsZero():
			s.provenSince = f.now
		}
	}
	return f.causeEvents(now)
}

// blocking are the findings that keep a host that is waited for.
func (f *Follower) blocking(d *diagnosis.Diagnosis) map[fault.Key]bool {
	keys := map[fault.Key]bool{}
	for _, h := range d.Hosts {
		if f.rules.host(h) && !h.Done() {
			for _, k := range h.BlockedBy {
				keys[k] = true
			}
		}
	}
	return keys
}

// causeEvents returns the events of causes that last, and of those that have been gone for as
// long.
func (f *Follower) causeEvents(now map[string]Cause) []Event {
	var events []Event
	for _, id := range slices.Sorted(maps.Keys(f.causes)) {
		s := f.causes[id]
		found, cleared := CauseFound, CauseCleared
		if s.symptom {
			found, cleared = SymptomFound, SymptomCleared
		}
		if _, ok := now[id]; ok {
			if !s.reported && f.lasts(s.first, causeLasts) {
				s.reported = true
				events = append(events, f.causeEvent(found, s.cause))
			}
			continue
		}
		s.provenSince = time.Time{}
		if !s.reported {
			delete(f.causes, id)
			continue
		}
		if s.gone.IsZero() {
			s.gone = f.now
		}
		if f.lasts(s.gone, causeLasts) {
			delete(f.causes, id)
			events = append(events, f.causeEvent(cleared, s.cause))
		}
	}
	return events
}

// held is an indicator over the runs.
type held struct {
	now      after.Indicator
	reported bool // that it holds
	other    time.Time
}

// stepIndicators reports indicators that come to hold, and that do no longer.
func (f *Follower) stepIndicators(list []after.Indicator) []Event {
	var events []Event
	for _, i := range list {
		h := f.indicators[i.ID]
		if h == nil {
			h = &held{reported: f.runs == 1 && i.Holds()} // what holds from the start is no change
			f.indicators[i.ID] = h
		}
		h.now = i
		if h.reported == i.Holds() {
			h.other = time.Time{}
			continue
		}
		if h.other.IsZero() {
			h.other = f.now
		}
		if !f.lasts(h.other, hostLasts) || i.Outcome == fault.Unknown && !f.lasts(h.other, causeLasts) {
			continue
		}
		h.reported, h.other = i.Holds(), time.Time{}
		t := IndicatorOpen
		if h.reported {
			t = IndicatorHolds
		}
		events = append(events, f.indicatorEvent(t, i))
	}
	switch {
	case !after.AllHold(list):
		f.holdsSince = time.Time{}
	case f.holdsSince.IsZero():
		f.holdsSince = f.now
		f.due(f.now.Add(endLasts))
	}
	return events
}
