// Package fleet asks many clusters and archives the question of one, and keeps a line of each: what is wrong
// where, the worst first, and which cause is in how many of them.
//
// Invariants:
//   - One that does not answer, or whose answer panics, is a result of its own. It holds nobody else up and ends
//     nothing.
//   - What was not read is never counted as one in which nothing is wrong.
//   - A result says what the answer of that cluster alone says: it is taken from its diagnosis, and nothing is
//     judged here.
//   - It knows no flag, no kubeconfig and no archive: who calls it brings what is asked.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Cluster is one that is asked.
type Cluster struct {
	Name string // a context, a kubeconfig or an archive, as the user calls it
	Key  string // changes when what is read does; "" where no result of it may be kept, as of a live cluster
	Call string // the flags that ask this one alone
	Ask  func(ctx context.Context) (*diagnosis.Diagnosis, error)
}

// State is how a cluster stands.
type State string

// The states, the worst first.
const (
	Broken     State = "broken"      // a cause or a symptom that is an error
	NotRead    State = "not-read"    // no answer: nothing is known of it
	Undecided  State = "undecided"   // something is left without an answer
	Warning    State = "warning"     // nothing worse than a warning
	InProgress State = "in-progress" // as it is for a while in a good installation or update
	Quiet      State = "quiet"       // nothing wrong was found
)

// states is their order.
var states = []State{Broken, NotRead, Undecided, Warning, InProgress, Quiet}

// Result is what is known of a cluster. Its JSON form is a line of a file of results.
type Result struct {
	Name     string    `json:"name"`
	Key      string    `json:"key,omitempty"`
	Program  string    `json:"program"` // version that made it
	State    State     `json:"state"`
	Headline string    `json:"headline,omitempty"` // of its answer
	Reason   string    `json:"reason,omitempty"`   // what follows the headline where no problem is listed
	Error    string    `json:"error,omitempty"`    // why there is no answer
	ID       string    `json:"id,omitempty"`
	Version  string    `json:"version,omitempty"`
	Platform string    `json:"platform,omitempty"`
	Now      time.Time `json:"now,omitzero"` // the time that it was judged at
	Hosts    int       `json:"hosts"`        // that are expected
	Done     int       `json:"done"`         // of these
	Causes   []Cause   `json:"causes"`
	Open     []string  `json:"open"` // titles of the problems without a known cause
	Call     string    `json:"call"` // flags that ask this one alone
	Seconds  float64   `json:"seconds"`
}

// Cause is one of the causes of a cluster.
type Cause struct {
	Fault      string               `json:"fault"`
	Title      string               `json:"title"` // at its first subject
	Severity   fault.Severity       `json:"severity"`
	Confidence diagnosis.Confidence `json:"confidence"`
	Subjects   []fault.Subject      `json:"subjects"`
}

// Options say how clusters are asked.
type Options struct {
	Program string        // name, for hints
	Version string        // of the program
	AtOnce  int           // clusters
	Within  time.Duration // for one of them
	Clock   func() time.Time
	Clean   func(string) string // makes an error harmless to print
	// Done is told of each result, one after the other; an error of it ends the run.
	Done func(r Result) error
}

// Run asks all clusters and returns their results in the order of the clusters. Those that were not asked when the
// context ended are left out, and the error says so.
func Run(ctx context.Context, list []Cluster, o Options) ([]Result, error) {
	results := make([]*Result, len(list))
	var group crash.Group
	group.SetLimit(max(o.AtOnce, 1))
	var mu sync.Mutex
	var failed error
	stopped := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return failed != nil || ctx.Err() != nil
	}
	for i, c := range list {
		group.Go(func() error {
			if stopped() {
				return nil
			}
			r := ask(ctx, c, o)
			mu.Lock()
			defer mu.Unlock()
			if failed != nil || ctx.Err() != nil {
				return nil // an interrupted answer is none
			}
			if results[i] = &r; o.Done != nil {
				failed = o.Done(r)
			}
			return nil
		})
	}
	err := group.Wait()
	var known []Result
	for _, r := range results {
		if r != nil {
			known = append(known, *r)
		}
	}
	if failed != nil {
		return known, failed
	}
	if ctx.Err() != nil {
		return known, fmt.Errorf("interrupted after %d of %d", len(known), len(list))
	}
	return known, err
}

// errTooLate is that a cluster gave no answer in its time.
var errTooLate = errors.New("too late")

// ask is the result of one cluster. What does not end in its time is left behind.
func ask(ctx context.Context, c Cluster, o Options) Result {
	began := o.Clock()
	limited, stop := context.WithTimeoutCause(ctx, o.Within, errTooLate)
	defer stop()
	type answered struct {
		d   *diagnosis.Diagnosis
		err error
	}
	ended := make(chan answered, 1)
	go crash.Func(func() {
		var a answered
		defer func() {
			if defect := recover(); defect != nil {
				a = answered{err: errors.New(crash.Line(o.Program, defect, debug.Stack()))}
			}
			ended <- a
		}()
		a.d, a.err = c.Ask(limited)
	})()
	var a answered
	select {
	case a = <-ended:
	case <-limited.Done():
		select { // what notices the end of its time may still say more than that
		case a = <-ended:
		case <-time.After(time.Second):
			a.err = limited.Err()
		}
	}
	if a.err != nil && errors.Is(context.Cause(limited), errTooLate) {
		a.err = fmt.Errorf("no answer within %s", fault.Span(o.Within))
	}
	var r Result
	if a.err != nil {
		r = Result{State: NotRead, Error: o.Clean(a.err.Error())}
	} else {
		r = of(a.d)
	}
	r.Name, r.Key, r.Call, r.Program = c.Name, c.Key, c.Call, o.Version
	r.Seconds = o.Clock().Sub(began).Seconds()
	if r.Causes == nil {
		r.Causes = []Cause{}
	}
	if r.Open == nil {
		r.Open = []string{}
	}
	return r
}

// of is the result that a diagnosis gives.
func of(d *diagnosis.Diagnosis) Result {
	h := answer.HeadlineOf(d)
	r := Result{State: stateOf(d, h), Headline: h.Words, ID: d.Cluster.ID, Version: d.Cluster.Version, Platform: d.Cluster.Platform, Now: d.Now,
		Reason: d.Verdict.Reason}
	switch v := d.Verdict; {
	case v.Class == diagnosis.Settling:
		r.Reason = "for up to " + fault.Span(v.Until.Sub(d.Now)) + " more, until " + page.Clock(v.Until)
	case len(v.Open) > 0:
		r.Reason = v.Open[0].Says
	}
	for _, host := range d.Hosts {
		if !host.Expected || host.Bootstrap() {
			continue
		}
		if r.Hosts++; host.Done() {
			r.Done++
		}
	}
	for i := range d.Roots {
		root := &d.Roots[i]
		c := Cause{Fault: root.Fault, Title: root.Cases[0].Title, Severity: root.Severity, Confidence: root.LeastSure().Confidence}
		for _, k := range root.Keys() {
			c.Subjects = append(c.Subjects, k.Subject)
		}
		r.Causes = append(r.Causes, c)
	}
	for _, u := range d.Unexplained {
		if !slices.Contains(r.Open, u.Title) {
			r.Open = append(r.Open, u.Title)
		}
	}
	return r
}

// stateOf is the headline of an answer as a state. An answer about nothing is not read.
func stateOf(d *diagnosis.Diagnosis, h answer.Headline) State {
	switch {
	case d.Verdict.Class == diagnosis.CannotCheck:
		return NotRead
	case h.Sign == page.Bad:
		return Broken
	case h.Sign == page.Open:
		return Undecided
	case h.Sign == page.Warn:
		return Warning
	case h.Sign == page.Wait:
		return InProgress
	}
	return Quiet
}
