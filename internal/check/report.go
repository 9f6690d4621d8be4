package check

import (
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Verdict is what may be said of a command in this state.
type Verdict string

// The verdicts.
const (
	Reads   Verdict = "reads"        // it only reads
	Safe    Verdict = "safe"         // safe here; it may also be pointless
	Unknown Verdict = "unknown"      // something is missing to decide
	Person  Verdict = "needs-person" // it cannot be undone
	Unsafe  Verdict = "unsafe"       // not safe here
)

// rank orders verdicts, the worst last: of several commands the worst counts.
func (v Verdict) rank() int {
	for i, o := range []Verdict{Reads, Safe, Unknown, Person, Unsafe} {
		if v == o {
			return i
		}
	}
	return 0
}

// Report is the answer. Its JSON form is a published contract (docs/schema/check.v1alpha1.json).
type Report struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Source     Source    `json:"source"`
	Now        time.Time `json:"now"`
	Command    string    `json:"command"`
	Verdict    Verdict   `json:"verdict"` // the worst of the steps
	Why        string    `json:"why"`
	Steps      []*Step   `json:"steps"`   // one for each command of the text
	Instead    []string  `json:"instead"` // what to do, commands and sentences
	Verify     []string  `json:"verify"`  // how to see that it worked
	Cause      []string  `json:"cause"`   // the causes that a diagnosis of the same source has

	age time.Duration // for how long the state of an archive is past; not known: 0 or less
}

// EachText replaces each text of the report that may repeat the command.
func (r *Report) EachText(by func(string) string) {
	some := func(texts ...*string) {
		for _, t := range texts {
			*t = by(*t)
		}
	}
	all := func(lists ...[]string) {
		for _, list := range lists {
			for i := range list {
				some(&list[i])
			}
		}
	}
	some(&r.Command, &r.Why)
	all(r.Instead, r.Verify)
	for _, s := range r.Steps {
		some(&s.Command, &s.Why, &s.Changes, &s.Lost, &s.Undo)
		all(s.Objects)
		for i := range s.Evidence {
			some(&s.Evidence[i].Excerpt)
		}
		for i := range s.Missing {
			some(&s.Missing[i].What, &s.Missing[i].Supply)
		}
	}
}

// Source says what was read.
type Source struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Step is the answer on one command.
type Step struct {
	Command  string          `json:"command"` // the part of the line that it judges
	line     string          // the whole line
	Judgment string          `json:"judgment,omitempty"` // the id of what decided; "" where nothing knows the command
	Refused  string          `json:"refused,omitempty"`  // the id of the unsafe advice that it is
	Verdict  Verdict         `json:"verdict"`
	Why      string          `json:"why"`
	Objects  []string        `json:"objects"` // that it hits
	Changes  string          `json:"changes,omitempty"`
	Lost     string          `json:"lost,omitempty"`
	Undo     string          `json:"undo,omitempty"`
	Evidence []evidence.Item `json:"evidence"`
	Missing  []Missing       `json:"missing"` // what would decide
	Sources  []fault.Ref     `json:"sources"`

	instead, verify []string
}

// Missing is something that was not read.
type Missing struct {
	What   string `json:"what"`
	Supply string `json:"supply,omitempty"` // how to get it
}
