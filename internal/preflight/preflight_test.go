package preflight

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/session"
)

// TestChecks proves each check present on a plan with its mistake, with evidence that can be
// looked up, and holds the other outcomes that a case expects.
func TestChecks(t *testing.T) {
	present := map[string]bool{}
	list := byID(t)
	for _, c := range cases(t) {
		one, ok := list[c.id]
		if !ok {
			t.Errorf("%s: there is no such check", c.name)
			continue
		}
		present[c.id] = present[c.id] || c.outcome == fault.Present
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := openPlan(t, c.files(t))
			r := run(t, one, s)
			if r.Outcome != c.outcome {
				t.Fatalf("it is %s (%s), want %s", r.Outcome, r.Reason, c.outcome)
			}
			if c.outcome != fault.Present {
				return
			}
			if len(r.Evidence) == 0 || len(r.Names) == 0 {
				t.Error("it is present and nothing shows it")
			}
			for _, item := range r.Evidence {
				if item.Locator.Path == "" || strings.TrimSpace(item.Excerpt) == "" {
					t.Errorf("%+v cannot be looked up", item)
				}
			}
			for _, w := range wronglyAbsent(t, one, s) {
				t.Error(w)
			}
		})
	}
	for id := range list {
		if !present[id] {
			t.Errorf("no case shows %s present: write testdata/checks/%s.txtar", id, id)
		}
	}
}

// wronglyAbsent withholds what a check reads from a plan with a mistake: each need, in several
// ways, then all of them. The check must then not know, with the reason, or find it all the same.
func wronglyAbsent(t *testing.T, c check.Check, s evidence.Source) (wrong []string) {
	all := []withheld{{s, c.Needs, evidence.NotCollected, false}}
	for _, n := range c.Needs {
		for _, why := range []evidence.Why{evidence.NotCollected, evidence.Forbidden, evidence.Damaged} {
			all = append(all, withheld{s, []evidence.Need{n}, why, false})
		}
		all = append(all, withheld{s, []evidence.Need{n}, evidence.NotCollected, true})
	}
	for i, less := range all {
		r := run(t, c, less)
		known := r.Outcome == fault.Present && i > 0
		if !known && (r.Outcome != fault.Unknown || r.Unread == nil || r.Reason == "") {
			wrong = append(wrong, fmt.Sprintf("without %v (%s, in part: %v) it is %s (%s)", less.needs, less.why, less.part, r.Outcome, r.Reason))
		}
	}
	return wrong
}

// TestBases: no check finds anything in a plan without mistakes, or leaves it open, and each is
// proved absent in one of them.
func TestBases(t *testing.T) {
	absent := map[string]bool{}
	for _, base := range bases {
		w := world(t, openPlan(t, testCase{name: base, base: base}.files(t)))
		for _, c := range Checks() {
			r, err := c.Run(t.Context(), w)
			switch {
			case err != nil:
				t.Fatal(err)
			case r.Outcome == fault.Absent:
				absent[c.ID] = true
			case r.Outcome != fault.NotApplicable:
				t.Errorf("%s: %s is %s: %s %v", base, c.ID, r.Outcome, r.Reason, r.Evidence)
			}
		}
	}
	for _, c := range Checks() {
		if !absent[c.ID] {
			t.Errorf("%s is absent in no base", c.ID)
		}
	}
}

// TestNeeds: what a check declares is what is read for it.
func TestNeeds(t *testing.T) {
	for _, c := range Checks() {
		read := map[string]bool{}
		s := listening{openPlan(t, testCase{name: "ipi", base: "ipi"}.files(t)), read}
		run(t, c, s)
		for _, n := range c.Needs {
			if !read[n.String()] {
				t.Errorf("%s declares %s and does not read it", c.ID, n)
			}
			delete(read, n.String())
		}
		for n := range read {
			t.Errorf("%s reads %s and does not declare it", c.ID, n)
		}
	}
}

// TestPages: each check has its page, each page its check, and what a page needs can be said
// without facts about a cluster.
func TestPages(t *testing.T) {
	c := pages(t)
	if err := session.CheckPages(c, IDs()).Err(); err != nil {
		t.Error(err)
	}
	for _, id := range IDs() {
		page, ok := c.Fault(id)
		if !ok {
			continue
		}
		if page.For != fault.Cluster || page.Versions != "" {
			t.Errorf("%s: a check is about the cluster of the plan, whatever its release", id)
		}
		if n := strings.Count(page.Title, "{"); n > 1 {
			t.Errorf("%s: the title has %d values, and a check has one: the names of what it found", id, n)
		}
		for _, remedy := range page.Remedies {
			r, ok := c.Remedy(remedy)
			if !ok || len(r.Given)+len(r.Requires)+len(r.Platforms) > 0 || r.Versions != "" {
				t.Errorf("%s: remedy %s depends on what only a cluster shows", id, remedy)
			}
		}
	}
}

// accepting accepts the findings of some checks.
type accepting []string

func (a accepting) Accepted(_ string, k fault.Key, _ time.Time) (diagnosis.Acceptance, bool) {
	return diagnosis.Acceptance{Reason: "known", Owner: "sre", Until: "2026-12-31", Entry: "accept.yaml:1"}, slices.Contains(a, k.Fault)
}

// TestRun: what a whole answer says of the plan of a case.
func TestRun(t *testing.T) {
	byName := map[string]testCase{}
	for _, c := range cases(t) {
		byName[c.name] = c
	}
	for _, c := range []struct {
		name      string // of a case, or a base
		only      []string
		accept    accepting
		roots     []string
		class     diagnosis.VerdictClass
		cause     diagnosis.CauseState
		undecided bool
	}{
		{name: "ipi", class: diagnosis.Healthy, cause: diagnosis.CauseNone},
		{name: "agent", class: diagnosis.Healthy, cause: diagnosis.CauseNone},
		{name: "plan-vip-in-use", roots: []string{"plan-vip-in-use"}, class: diagnosis.NotReady, cause: diagnosis.CauseKnown},
		{name: "plan-ssh-key-missing", roots: []string{"plan-ssh-key-missing"}, class: diagnosis.CheckFirst, cause: diagnosis.CauseKnown},
		{name: "plan-vip-in-use", accept: accepting{"plan-vip-in-use"}, class: diagnosis.OnlyAccepted, cause: diagnosis.CauseKnown},
		{name: "plan-vip-in-use", only: []string{"plan-ssh-key-missing"}, class: diagnosis.Healthy, cause: diagnosis.CauseNone},
		{name: "plan-vip-in-use.outside", class: diagnosis.Undetermined, cause: diagnosis.CauseNone, undecided: true},
		{name: "hardware-masters-differ", roots: []string{"hardware-masters-differ"}, class: diagnosis.Undetermined, cause: diagnosis.CauseKnown},
	} {
		t.Run(c.name+" "+fmt.Sprint(c.only, c.accept), func(t *testing.T) {
			plan, ok := byName[c.name]
			if !ok {
				plan = testCase{name: c.name, base: c.name}
			}
			d, err := Run(t.Context(), Options{
				Catalog: pages(t), Reader: readerOf(t, openPlan(t, plan.files(t))), Clock: func() time.Time { return now }, Only: c.only, Accept: c.accept,
			})
			if err != nil {
				t.Fatal(err)
			}
			var roots []string
			for _, r := range d.Roots {
				roots = append(roots, r.Fault)
			}
			if !slices.Equal(roots, c.roots) || d.Verdict.Class != c.class || d.Verdict.Cause != c.cause || Undecided(d) != c.undecided || len(d.Accepted) != len(c.accept) {
				t.Errorf("roots %v, accepted %d, verdict %+v, undecided %v", roots, len(d.Accepted), d.Verdict, Undecided(d))
			}
		})
	}
}

// TestCheckPages: a page without a check, and a check without a page, are named.
func TestCheckPages(t *testing.T) {
	err := session.CheckPages(pages(t), append(IDs()[1:], "plan-of-nothing")).Err()
	if err == nil || !strings.Contains(err.Error(), "preflight has no check of this id") || !strings.Contains(err.Error(), "plan-of-nothing of preflight has no page") {
		t.Error(err)
	}
}
