package message

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// tell is a signal that was met: of which rule, and of which of its causes.
type tell struct{ rule, cause int }

// causes puts a line that several faults can print into the report: the fault of which the
// text has the signal, or the failure with all its candidates.
func (c *collector) causes(faults, failures map[string]*Match, i int, t *ruleMatches) {
	r := &c.x.rules[i]
	told := false
	for j, cause := range r.Causes {
		if !c.tells[tell{i, j}] {
			continue
		}
		told = true
		grade := cause.Shows
		if grade == "" {
			grade = fault.ShowsLikely
		}
		c.match(faults, cause.Fault, grade, t)
	}
	if told && r.Fault == "" {
		return
	}
	to, key := failures, ofRow(withNames(r.Failure, t.first[0]), t)
	if r.Fault != "" {
		to, key = faults, r.Fault
	}
	grade := r.Shows
	if grade == "" {
		grade = fault.ShowsPossible
	}
	c.match(to, key, grade, t)
	c.next[key] = nextFor(r.Next, t.first[0])
	c.steps[key] = c.steps[key] || c.x.steps[r.Failure]
	m := to[key]
	for _, cause := range r.Causes {
		if told {
			break
		}
		if !slices.Contains(m.Candidates, cause.Fault) {
			m.Candidates = append(m.Candidates, cause.Fault)
		}
	}
}

// lasting puts a line into the report that is normal for a time: the fault where the text has
// it for longer, else the failure.
func (c *collector) lasting(faults, failures map[string]*Match, r *rule, t *ruleMatches) {
	now := time.Now()
	from, ok := evidence.LineTime(t.first[0].Text, now)
	to, also := evidence.LineTime(t.last.Text, now)
	if ok && also && to.Sub(from) >= r.Lasts.Duration {
		grade := r.Shows
		if grade == "" {
			grade = fault.ShowsLikely
		}
		c.match(faults, r.Fault, grade, t)
		return
	}
	c.match(failures, r.Failure, fault.ShowsPossible, t)
	c.next[r.Failure] = nextFor(r.Next, t.first[0])
}
