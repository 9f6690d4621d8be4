package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Verify evaluates the faults of the plan again.
const Verify ActionName = "verify"

// verify evaluates the faults of the plan again; the executor does that for
// every step's expectation, so the step itself has nothing of its own to see.
func verify() action {
	return action{
		name: Verify,
		plan: planVerify,
		check: func(s Step) error {
			if len(s.Expect.Absent) == 0 {
				return errors.New("expect.absent is empty: there is nothing to verify")
			}
			return nil
		},
		fits: func(p *Plan, s Step) error {
			if !p.leavesRoot() && !slices.Contains(s.Expect.Absent, p.Root) {
				return fmt.Errorf("expect.absent does not name the plan's root %s at %s", p.Root.Fault, p.Root.Subject)
			}
			return nil
		},
		describe: func(s *Step) { // its subject is that of the root
			describeWait(s)
			s.Title, s.OC = "evaluate the faults again: they must be absent", "rollcall diagnose"
			s.Expect.Text = "the faults are absent"
		},
		seen:       func(context.Context, env, Step) (bool, string, error) { return true, "", nil },
		rollback:   true,
		anyCluster: true,
	}
}

// planVerify evaluates the root and what was repaired again. A plan with something
// left out cannot promise that they are absent.
func planVerify(_ context.Context, d *draft) error {
	if !d.whole() {
		return nil
	}
	absent := []fault.Key{d.root.Key}
	list := remedies()
	if d.plan.leavesRoot() {
		absent, list = nil, nil
		for _, a := range actions() {
			if a.leavesRoot {
				list = append(list, a.remedies...)
			}
		}
	}
	for _, r := range list {
		if r.transient {
			continue
		}
		for _, k := range d.remedies[r.id] {
			if !slices.Contains(absent, k) {
				absent = append(absent, k)
			}
		}
	}
	d.add(Step{Action: Verify, Expect: Expect{Absent: absent}, Deadline: minutes(max(10, d.settles))})
	return nil
}

// leavesRoot reports whether all that the plan writes leaves its root as it is.
func (p *Plan) leavesRoot() bool {
	leaves := false
	for _, s := range p.Steps {
		a, ok := actionOf(s.Action)
		if !ok || !a.writes() {
			continue
		}
		if !a.leavesRoot {
			return false
		}
		leaves = true
	}
	return leaves
}
