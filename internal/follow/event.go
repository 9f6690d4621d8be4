package follow

import (
	"fmt"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Type says what an event is about.
type Type string

// The types of events.
const (
	Started        Type = "started"
	HostMoved      Type = "stage"
	HostAdded      Type = "host-added"
	HostRemoved    Type = "host-removed"
	CauseFound     Type = "cause"
	CauseCleared   Type = "cause-cleared"
	SymptomFound   Type = "symptom" // present, and its cause is not known
	SymptomCleared Type = "symptom-cleared"
	APIUnreachable Type = "api-unreachable"
	APIReachable   Type = "api-reachable"
	IndicatorHolds Type = "indicator-holds"
	IndicatorOpen  Type = "indicator-open" // it held, and does no longer
	StillWatching  Type = "still-watching"
	Ended          Type = "end"
)

// Event is one change. Its JSON form is a published contract
// (docs/schema/watch.v1alpha1.json).
type Event struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Time       time.Time        `json:"time"`
	Type       Type             `json:"type"`
	Text       string           `json:"text"` // the whole of it in one sentence
	Hosts      []string         `json:"hosts,omitempty"`
	From       *Step            `json:"from,omitempty"`
	To         *Step            `json:"to,omitempty"`
	TookSecs   int64            `json:"tookSeconds,omitempty"` // how long one host was at the step that it left
	Cause      *Cause           `json:"cause,omitempty"`
	Indicator  *after.Indicator `json:"indicator,omitempty"`
	Joined     int              `json:"joined"`   // expected hosts that have joined
	Expected   int              `json:"expected"` // expected hosts
	End        *End             `json:"end,omitempty"`
}

// Step is where a host is on the join path.
type Step struct {
	Stage fault.Stage            `json:"stage"`
	State diagnosis.StageOutcome `json:"state"`
	Why   string                 `json:"why,omitempty"`
}

// same compares without the reason, whose words may change from run to run.
func (s Step) same(other Step) bool { return s.Stage == other.Stage && s.State == other.State }

func (s Step) done() bool {
	return s.State == diagnosis.StagePassed || s.State == diagnosis.StageNotApplicable
}

// String renders the step as "ready" where it waits there, and says any other state.
func (s Step) String() string {
	switch {
	case s.done() && s.Stage == fault.ConfigDone:
		return "joined"
	case s.State == diagnosis.StageWaiting:
		return string(s.Stage)
	}
	return string(s.Stage) + " " + string(s.State)
}

// Cause is a cause, or a symptom without a known one, with all subjects that it is at.
type Cause struct {
	Fault      string               `json:"fault"`
	Subjects   []string             `json:"subjects"`
	Title      string               `json:"title"`
	Severity   fault.Severity       `json:"severity"`
	Confidence diagnosis.Confidence `json:"confidence,omitempty"` // of a cause
	Since      time.Time            `json:"since,omitzero"`       // of the fault, else when it was seen first
	Blocks     bool                 `json:"blocks"`               // a host that is waited for
	api        bool
	key        fault.Key // of the first
}

// Key is the finding of the first subject.
func (c Cause) Key() fault.Key { return c.key }

// End is how a watch ended.
type End struct {
	ExitCode   int               `json:"exitCode"`
	Reason     string            `json:"reason"`
	Indicators []after.Indicator `json:"indicators"`
	Causes     []Cause           `json:"causes"`
	Next       string            `json:"next,omitempty"` // a command
}

func (f *Follower) event(t Type, text string) Event {
	return Event{
		APIVersion: "rollcall.dev/v1alpha1",
		Kind:       "WatchEvent",
		Time:       f.now.UTC().Truncate(time.Second),
		Type:       t,
		Text:       text,
		Joined:     f.joined,
		Expected:   f.expected,
	}
}

// moved is the event of hosts that made the same step together.
func (f *Follower) moved(m stepChange) Event {
	text := fmt.Sprintf("%s: %s -> %s", f.names(m.hosts), m.from, m.to)
	if m.to.Why != "" && !m.to.done() && m.to.State != diagnosis.StageWaiting {
		text += ": " + m.to.Why
	}
	e := f.event(HostMoved, text)
	if len(m.hosts) == 1 && m.took > 0 {
		e.TookSecs = int64(m.took / time.Second)
		e.Text += fmt.Sprintf(" (%s took %s)", m.from.Stage, fault.Span(m.took))
	}
	e.Hosts, e.From, e.To = m.hosts, &m.from, &m.to
	return e
}

// names lists hosts; many are counted.
func (f *Follower) names(list []string) string {
	const most = 4
	named := make([]string, 0, most)
	for i, name := range list {
		if i == most-1 && len(list) > most {
			return fmt.Sprintf("%s and %d more", strings.Join(named, ", "), len(list)-i)
		}
		if short, ok := f.short[name]; ok {
			name = short
		}
		named = append(named, name)
	}
	return strings.Join(named, ", ")
}

func (f *Follower) causeEvent(t Type, c Cause) Event {
	words := map[Type]string{CauseFound: "cause", CauseCleared: "no longer present", SymptomFound: "cause unknown", SymptomCleared: "no longer present"}
	e := f.event(t, fmt.Sprintf("%s: %s (%s)", words[t], c.Title, c.Fault))
	e.Cause = &c
	return e
}

func (f *Follower) indicatorEvent(t Type, i after.Indicator) Event {
	text := "holds: " + i.Title
	if t == IndicatorOpen {
		text = "no longer holds: " + i.Title
		if i.Reason != "" {
			reason := i.Reason
			for name, short := range f.short {
				reason = strings.ReplaceAll(reason, name, short)
			}
			text += ": " + reason
		}
	}
	e := f.event(t, text)
	e.Indicator = &i
	return e
}
