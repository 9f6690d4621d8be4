package follow

import (
	"fmt"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// The exit codes of a watch, as everywhere.
const (
	exitAllHold   = 0
	exitCause     = 2
	exitUndecided = 3
)

// End reports whether the watch is over after the newest run, and how.
func (f *Follower) End() (End, bool) {
	// That operators have been at rest for long is seen in one run, that hosts stay is not.
	if !f.holdsSince.IsZero() && (f.rules.Goal == after.Stable || f.now.Sub(f.holdsSince) >= endLasts) {
		reason := fmt.Sprintf("all %d expected hosts have joined", f.expected)
		if f.rules.Goal == after.Stable {
			reason += " and the cluster is stable"
		}
		return f.end(exitAllHold, reason, nil), true
	}
	if !f.rules.StopOnRoot {
		return End{}, false
	}
	if c := f.lasting(); len(c) > 0 {
		reason := "a proven cause persists that does not pass by itself: " + c[0].Title
		if len(c) > 1 {
			reason = fmt.Sprintf("%d proven causes stand that do not pass by themselves", len(c))
		}
		return f.end(exitCause, reason, c), true
	}
	return End{}, false
}

// lasting are the causes that will not pass: proven errors that have lasted. A diagnosis
// calls nothing present that is still within its usual time. Where only the hosts are
// waited for, only what keeps one of them counts.
func (f *Follower) lasting() []Cause {
	var list []Cause
	for _, s := range f.sorted(false) {
		limit := causeLasts
		if s.cause.api {
			limit = apiPatience
			if !f.reached && f.rules.Installing {
				continue // before the API is there its path is no fault
			}
		}
		if s.provenSince.IsZero() || f.rules.Goal == after.Joined && !s.cause.Blocks && !s.cause.api {
			continue
		}
		if f.lasts(s.provenSince, limit) {
			list = append(list, s.cause)
		}
	}
	return list
}

// sorted are the causes, or the symptoms, the worst first.
func (f *Follower) sorted(symptoms bool) []*causeState {
	var list []*causeState
	for _, s := range f.causes {
		if s.symptom == symptoms && s.gone.IsZero() {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b *causeState) int {
		if n := b.cause.Severity.Rank() - a.cause.Severity.Rank(); n != 0 {
			return n
		}
		if a.cause.Blocks != b.cause.Blocks {
			if a.cause.Blocks {
				return -1
			}
			return 1
		}
		if a.cause.Fault < b.cause.Fault {
			return -1
		}
		return 1
	})
	return list
}

// TimedOut is the end where the time is over: 2 where a cause lasts, else 3, because it is
// not decided whether the rest comes.
func (f *Follower) TimedOut(limit time.Duration) End {
	code, reason := exitUndecided, fmt.Sprintf("the time of %s is over: %s", span(limit), f.summary())
	var causes []Cause
	for _, s := range f.sorted(false) {
		if s.reported && s.cause.Severity == fault.Error {
			causes = append(causes, s.cause)
		}
	}
	if len(causes) > 0 {
		code = exitCause
	}
	return f.end(code, reason, causes)
}

// Interrupted is the end by a person: code is that of the shell's convention.
func (f *Follower) Interrupted(code int) End {
	reason := "interrupted"
	if f.runs > 0 {
		reason += ": " + f.summary()
	}
	return f.end(code, reason, nil)
}

func (f *Follower) end(code int, reason string, causes []Cause) End {
	e := End{ExitCode: code, Reason: reason, Indicators: f.known().Indicators, Causes: causes}
	if e.Indicators == nil {
		e.Indicators = []after.Indicator{}
	}
	if e.Causes == nil {
		e.Causes = []Cause{}
	}
	return e
}

// Finish is the last event.
func (f *Follower) Finish(e End) Event {
	last := f.event(Ended, fmt.Sprintf("ended with %d: %s", e.ExitCode, e.Reason))
	last.End = &e
	return last
}

// Last is the newest diagnosis that the API answered, else the newest; nil before the first.
func (f *Follower) Last() *diagnosis.Diagnosis { return f.known().Diagnosis }
