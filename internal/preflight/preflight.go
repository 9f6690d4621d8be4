// Package preflight finds mistakes in the plan of an installation before anything is switched
// on: a linter over its files, over what its network answered and over what the BMCs of its
// machines show.
//
// A check is a value in a list of internal/preflight/checks or internal/preflight/hardware. Its
// words (title, meaning, remedies, sources) are the page of the catalog with the same id.
//
// Invariants:
//   - Each chosen check has exactly one finding, about the cluster of the plan.
//   - What could not be read makes a check unknown. With an unknown check that could be a
//     mistake, the verdict is never that nothing is wrong.
//   - A mistake explains no other one: each finding that is present is a cause of its own.
package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/preflight/checks"
	"github.com/rollcall-project/rollcall/internal/preflight/hardware"
)

// Checks lists all checks.
func Checks() []check.Check { return slices.Concat(checks.All(), hardware.All()) }

// IDs lists the ids of all checks.
func IDs() []string {
	var ids []string
	for _, c := range Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// Accepter says which findings a person accepts.
type Accepter interface {
	Accepted(cluster string, k fault.Key, now time.Time) (diagnosis.Acceptance, bool)
}

// Options is everything that a run needs.
type Options struct {
	Catalog *fault.Catalog // the pages of the checks
	Reader  *reader.Reader // of the plan, and of what network and BMCs answered
	Now     time.Time      // zero: the time at which the plan was read
	Clock   func() time.Time
	Only    []string // ids of checks; empty: all
	Skip    []string
	Accept  Accepter // nil: nothing is accepted
}

// chosen are the checks that are run, in the order of their ids.
func (o Options) chosen() []check.Check {
	list := slices.DeleteFunc(Checks(), func(c check.Check) bool {
		return len(o.Only) > 0 && !slices.Contains(o.Only, c.ID) || slices.Contains(o.Skip, c.ID)
	})
	slices.SortFunc(list, func(a, b check.Check) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Run checks a plan. An error says that it could not be read, or is a defect of a check.
func Run(ctx context.Context, o Options) (*diagnosis.Diagnosis, error) {
	started := o.Clock()
	desc, err := o.Reader.Describe(ctx)
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now.IsZero() {
		now = desc.Now
	}
	w := facts.NewWorld(o.Reader, now)
	d := &diagnosis.Diagnosis{
		APIVersion: "rollcall.dev/v1alpha1", Kind: "Diagnosis", Now: now.UTC(),
		Source: diagnosis.Source{Kind: desc.Kind, Name: desc.Name, API: desc.API, Vantage: desc.Vantage},
		Roots:  []diagnosis.Root{}, Deadlocks: []diagnosis.Deadlock{}, Unexplained: []diagnosis.Unexplained{}, Edges: []diagnosis.EdgeSeen{},
		Findings: []diagnosis.Finding{}, Hosts: []diagnosis.HostState{}, Timeline: []diagnosis.Moment{},
	}
	if d.Cluster, err = checks.Describe(ctx, w); err != nil {
		return nil, fmt.Errorf("describe the plan: %w", err)
	}
	list := o.chosen()
	for _, c := range list {
		f, err := o.finding(ctx, w, c)
		if err != nil {
			return nil, err
		}
		d.Findings = append(d.Findings, f)
	}
	d.Coverage = o.Reader.Coverage()
	if d.Machines, err = hardware.Compare(ctx, w); err != nil {
		return nil, err
	}
	if d.Paths, err = checks.Paths(ctx, w); err != nil {
		return nil, err
	}
	o.conclude(d)
	d.Verdict = verdict(d)
	diagnose.Group(d)
	d.Stats = diagnosis.Stats{Faults: len(list), Subjects: 1, Facts: areas(list), Millis: o.Clock().Sub(started).Milliseconds()}
	return d, nil
}

// areas counts what checks were computed with.
func areas(list []check.Check) int {
	seen := map[string]bool{}
	for _, c := range list {
		seen[c.Area] = true
	}
	return len(seen)
}

// cluster is what all findings are about.
var cluster = fault.Subject{Kind: fault.Cluster}

// finding is what a check found, in the words of its page.
func (o Options) finding(ctx context.Context, w *facts.World, c check.Check) (diagnosis.Finding, error) {
	page, ok := o.Catalog.Fault(c.ID)
	if !ok {
		return diagnosis.Finding{}, fmt.Errorf("check %s: the catalog has no page of it", c.ID)
	}
	r, err := c.Run(ctx, w)
	if err != nil {
		return diagnosis.Finding{}, err
	}
	f := diagnosis.Finding{Fault: c.ID, Subject: cluster, Outcome: r.Outcome, Severity: page.Severity, Evidence: r.Evidence, Reason: r.Reason}
	f.Title = fault.FillTitle(page, page.Title, "", func(string) string { return strings.Join(r.Names, ", ") })
	if r.Unread != nil {
		f.Missing, f.Unread = []string{c.Area}, []*evidence.Unavailable{r.Unread}
		f.Withheld = r.Unread.Why == evidence.Forbidden || r.Unread.Why == evidence.Unreachable
	}
	return f, nil
}
