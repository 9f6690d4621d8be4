// Package accept reads the file with which people accept findings, and says which finding
// which entry accepts.
//
// Invariants:
//   - An entry has a reason, an owner and a last day, or the file is refused.
//   - Whether an entry still counts is decided by the time of the diagnosis, not by the clock:
//     an archive has the same answer later.
//   - It changes no finding: internal/kernel/diagnose does, and only of present ones.
package accept

import (
	"path"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// entry accepts findings of one fault.
type entry struct {
	Fault   string // id
	Subject pattern
	Cluster string // id of the cluster; "": any
	Reason  string
	Owner   string
	Until   time.Time // the last day on which it counts, its beginning in UTC
	At      string    // FILE:LINE
}

// pattern is a subject, or a glob over the names of one kind.
type pattern struct {
	Kind fault.Kind
	Name string // as path.Match has it; "*" for the cluster
}

// String writes the pattern as a subject.
func (p pattern) String() string {
	if p.Kind == fault.Cluster {
		return string(p.Kind)
	}
	return string(p.Kind) + "/" + p.Name
}

func (p pattern) matches(s fault.Subject) bool {
	if s.Kind != p.Kind {
		return false
	}
	ok, err := path.Match(p.Name, s.Name)
	return err == nil && (ok || s.Kind == fault.Cluster)
}

// List is what one file accepts.
type List struct{ entries []entry }

// Accepted returns the acceptance of a finding of a cluster at a time; false where no entry
// that still counts is about it. Of several entries it is that which counts longest.
func (l *List) Accepted(cluster string, k fault.Key, now time.Time) (diagnosis.Acceptance, bool) {
	var best *entry
	for i := range l.entries {
		e := &l.entries[i]
		if e.is(k) && e.of(cluster) && !e.expired(now) && (best == nil || e.Until.After(best.Until)) {
			best = e
		}
	}
	if best == nil {
		return diagnosis.Acceptance{}, false
	}
	return diagnosis.Acceptance{Reason: best.Reason, Owner: best.Owner, Until: best.Until.Format(time.DateOnly), Entry: best.At}, true
}

func (e *entry) is(k fault.Key) bool { return e.Fault == k.Fault && e.Subject.matches(k.Subject) }

func (e *entry) of(cluster string) bool { return e.Cluster == "" || e.Cluster == cluster }

// end is when the entry stops to count: its last day is over.
func (e *entry) end() time.Time { return e.Until.AddDate(0, 0, 1) }

func (e *entry) expired(now time.Time) bool { return !now.Before(e.end()) }

// String names the entry in a message.
func (e *entry) String() string {
	return e.At + ": " + e.Fault + " " + e.Subject.String() + " (owner " + e.Owner + ")"
}
