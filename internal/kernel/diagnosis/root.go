package diagnosis

import (
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Root is a present fault that stands alone and that nothing present explains, with every
// subject that it is at: a hundred hosts with one trouble are one root. A root that is part
// of a deadlock has one subject.
type Root struct {
	Fault    string         `json:"fault"`
	Layer    string         `json:"layer"`
	Means    string         `json:"means"`
	Severity fault.Severity `json:"severity"`
	Refused  []string       `json:"refused"`
	Deadlock int            `json:"deadlock,omitempty"` // 1-based index into deadlocks
	Cases    []Case         `json:"cases"`              // those that explain most first
}

// Case is a root at one of its subjects.
type Case struct {
	fault.Key                  // its fault is that of the root
	Title      string          `json:"title"`
	Confidence Confidence      `json:"confidence"`
	Lowered    string          `json:"lowered,omitempty"` // why the confidence is not proven
	Since      time.Time       `json:"since,omitzero"`
	Evidence   []evidence.Item `json:"evidence"`
	Explains   []fault.Key     `json:"explains"`
	RuledOut   []RuledOut      `json:"ruledOut"`
	Remedies   []fault.Advice  `json:"remedies"` // what to do, best first
	Decides    evidence.Supply `json:"-"`        // what would prove it; zero where it is proven, or nothing is known to
}

// Keys are the findings that the root is.
func (r *Root) Keys() []fault.Key {
	keys := make([]fault.Key, 0, len(r.Cases))
	for i := range r.Cases {
		keys = append(keys, r.Cases[i].Key)
	}
	return keys
}

// Effects are the findings that any of the cases explains, each once.
func (r *Root) Effects() []fault.Key {
	if len(r.Cases) == 1 {
		return r.Cases[0].Explains
	}
	var keys []fault.Key
	seen := map[fault.Key]bool{}
	for i := range r.Cases {
		for _, k := range r.Cases[i].Explains {
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// Chain are Keys and Effects.
func (r *Root) Chain() []fault.Key { return append(r.Keys(), r.Effects()...) }

// LeastSure is the case that is known the least: how sure the root is as a whole. Of
// equals it is the first.
func (r *Root) LeastSure() *Case {
	least := &r.Cases[0]
	for _, c := range []Confidence{Likely, Possible} {
		i := slices.IndexFunc(r.Cases, func(o Case) bool { return o.Confidence == c })
		if i >= 0 && least.Confidence != c {
			least = &r.Cases[i]
		}
	}
	return least
}

// Alone is the root with one of its cases.
func (r Root) Alone(c Case) Root {
	r.Cases = []Case{c}
	return r
}

// KeepCases removes the cases for which keep is false, and roots that are left with none.
func (d *Diagnosis) KeepCases(keep func(Root, Case) bool) {
	roots := []Root{}
	for _, r := range d.Roots {
		var kept []Case
		for i := range r.Cases {
			if keep(r, r.Cases[i]) {
				kept = append(kept, r.Cases[i])
			}
		}
		if r.Cases = kept; len(kept) > 0 {
			roots = append(roots, r)
		}
	}
	d.Roots = roots
}

// Proven reports whether the mechanism was seen at one of the subjects.
func (r *Root) Proven() bool {
	return slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Confidence == Proven })
}

// OneCase reports whether the answer has one root, and that at one subject.
func (d *Diagnosis) OneCase() bool { return len(d.Roots) == 1 && len(d.Roots[0].Cases) == 1 }

// FirstRemedy is the index of the first remedy that may apply, -1 where there is none.
func (c *Case) FirstRemedy() int {
	return slices.IndexFunc(c.Remedies, func(a fault.Advice) bool { return a.Applies != fault.Absent })
}

// HasErrors reports whether one of the roots is an error.
func (d *Diagnosis) HasErrors() bool {
	return slices.ContainsFunc(d.Roots, func(r Root) bool { return r.Severity == fault.Error })
}

// WarningsWithoutRemedy counts the cases of warnings for which the catalog has no remedy, beside
// errors: the verdict goes by those.
func (d *Diagnosis) WarningsWithoutRemedy() int {
	n := 0
	for _, r := range d.Roots {
		for i := range r.Cases {
			if r.Severity == fault.Warning && r.Cases[i].FirstRemedy() < 0 && d.HasErrors() {
				n++
			}
		}
	}
	return n
}
