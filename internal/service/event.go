package service

import (
	"strings"
	"time"
	"unicode/utf8"
)

// EventsNamespace has the Events on objects without a namespace.
const EventsNamespace = "default"

// Lengths that the API server accepts (kubernetes/kubernetes:pkg/apis/core/validation/events.go NoteLengthLimit, ReasonLengthLimit,
// ReportingInstanceLengthLimit).
const (
	maxNote     = 1024
	maxReason   = 128
	maxInstance = 128
)

// Event is an Event of events.k8s.io/v1 on an object without a namespace.
type Event struct {
	Name                 string
	At                   time.Time
	Warning              bool
	Reason, Action, Note string
	Controller, Instance string         // who reports it
	Regarding            map[string]any // reference to the object that it is on
	Related              map[string]any // nil: none
}

// Object is what the API takes. Texts are cut to what it accepts.
func (e Event) Object() map[string]any {
	typ := "Normal"
	if e.Warning {
		typ = "Warning"
	}
	o := map[string]any{
		"apiVersion": "events.k8s.io/v1", "kind": "Event",
		"metadata":            map[string]any{"name": e.Name, "namespace": EventsNamespace},
		"eventTime":           e.At.UTC().Format("2006-01-02T15:04:05.000000Z07:00"),
		"reportingController": e.Controller, "reportingInstance": Shorten(e.Instance, maxInstance),
		"action": e.Action, "reason": Shorten(e.Reason, maxReason), "type": typ, "note": Shorten(e.Note, maxNote),
		"regarding": e.Regarding,
	}
	if e.Related != nil {
		o["related"] = e.Related
	}
	return o
}

// EventBurst is how many Events an EventBudget lets pass at once.
const EventBurst = 25

// eventEvery is after how long it lets one more pass.
const eventEvery = 10 * time.Second

// EventBudget bounds Events: who can cause them could fill the cluster with them. client-go's recorders bound them, too, to as many at once
// and then one in 5 minutes for each object (kubernetes/client-go:tools/record/events_cache.go defaultSpamBurst,
// defaultSpamQPS). The zero value is full.
type EventBudget struct {
	spent float64
	last  time.Time
}

// Take reports whether one more may be written.
func (b *EventBudget) Take(now time.Time) bool {
	if since := now.Sub(b.last); since > 0 && !b.last.IsZero() {
		b.spent = max(0, b.spent-float64(since)/float64(eventEvery))
	}
	b.last = now
	if b.spent > EventBurst-1 {
		return false
	}
	b.spent++
	return true
}

// Shorten bounds a text without splitting a character.
func Shorten(s string, most int) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= most {
		return s
	}
	for most -= 3; most > 0 && !utf8.RuneStart(s[most]); most-- {
	}
	return s[:most] + "..."
}
