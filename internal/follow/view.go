package follow

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// View is what there is to see after a run. Who shows it computes nothing.
type View struct {
	Started   time.Time
	At        time.Time // of the newest run
	Runs      int
	Goal      after.Goal
	Diagnosis *diagnosis.Diagnosis // the newest that the API answered, else the newest; nil before the first

	Reached   bool      // the API has answered once
	AwaySince time.Time // zero: the API answers
	AwayWhy   string    // what the checks of the network path found
	SeenAt    time.Time // when the API answered for the last time

	Hosts            []HostLine // that have not joined
	Joined, Expected int
	JoinedByRole     map[string]int
	Causes, Symptoms []Cause
	Waiting          []Waiting
	Changes          []Event // the newest last
	Indicators       []after.Indicator
}

// HostLine is a host that has not joined, as it was reported.
type HostLine struct {
	Name, Role string
	Bootstrap  bool
	Step       Step
	Since      time.Time
	Usual      *Usual // nil: none is known
}

// Waiting is what holds and is still normal.
type Waiting struct {
	Fault, Title string
	Subjects     int
	Until        time.Time
}

// View returns what there is to see.
func (f *Follower) View() View {
	v := View{
		Started: f.started, At: f.now, Runs: f.runs, Goal: f.rules.Goal, Diagnosis: f.Last(),
		Reached: f.reached, AwaySince: f.awaySince, Joined: f.joined, Expected: f.expected, JoinedByRole: map[string]int{},
		Changes: f.changes, Indicators: f.known().Indicators,
	}
	if f.reached {
		v.SeenAt = f.seen.at()
	}
	if !f.awaySince.IsZero() {
		v.AwayWhy = f.pathCause()
	}
	if v.Diagnosis == nil {
		return v
	}
	for _, h := range v.Diagnosis.Hosts {
		t := f.hosts[h.Name]
		if t == nil {
			continue
		}
		if t.shown.done() {
			if !h.Bootstrap() {
				v.JoinedByRole[h.Role]++
			}
			continue
		}
		line := HostLine{Name: h.Name, Role: h.Role, Bootstrap: h.Bootstrap(), Step: t.shown, Since: t.since}
		if t.shown.State == diagnosis.StageWaiting {
			at := h
			at.Stage = t.shown.Stage
			line.Usual = f.usual.of(at)
		}
		v.Hosts = append(v.Hosts, line)
	}
	for _, s := range f.sorted(false) {
		if !s.cause.api || f.awaySince.IsZero() {
			v.Causes = append(v.Causes, s.cause)
		}
	}
	for _, s := range f.sorted(true) {
		v.Symptoms = append(v.Symptoms, s.cause)
	}
	titles := map[string]string{}
	for _, found := range v.Diagnosis.Findings {
		if found.Waiting() && titles[found.Fault] == "" {
			titles[found.Fault] = found.Title
		}
	}
	for _, g := range v.Diagnosis.Groups.Waiting {
		v.Waiting = append(v.Waiting, Waiting{Fault: g.Fault, Title: titles[g.Fault], Subjects: len(g.Subjects), Until: g.Until})
	}
	return v
}
