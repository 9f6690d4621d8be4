package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Before is what the diagnosis that the plan was made from found present. After the
// repair the cluster is compared with it.
type Before struct {
	For    []fault.Key `json:"for,omitempty"`    // the root, what it explains, and the members of its deadlock: what the repair is for
	Others []fault.Key `json:"others,omitempty"` // the other roots: not part of the plan
	Also   []fault.Key `json:"also,omitempty"`   // all other errors
	// Expected are the hosts that a person named with --expect. They are on the host
	// list again when the cluster is compared: nothing of theirs is lost.
	Expected []string `json:"expected,omitempty"`
}

// beforeOf notes what a diagnosis found. keys are the root and what it explains.
func beforeOf(ask Ask, keys []fault.Key) Before {
	var b Before
	d := ask.Diagnosis
	for _, e := range ask.Expect {
		text := e.Name
		if len(e.IPs) > 0 {
			text += "=" + strings.Join(e.IPs, ",")
		}
		b.Expected = append(b.Expected, text)
	}
	for _, k := range keys {
		if !slices.Contains(b.For, k) {
			b.For = append(b.For, k)
		}
	}
	for _, r := range d.Roots {
		for _, k := range r.Keys() {
			if !slices.Contains(b.For, k) {
				b.Others = append(b.Others, k)
			}
		}
	}
	known := set(b.For, b.Others)
	for _, f := range d.Findings {
		if f.Outcome == fault.Present && f.Severity == fault.Error && !known[f.Key()] {
			b.Also = append(b.Also, f.Key())
		}
	}
	return b
}

// check refuses a plan whose repair would be called complete although something that
// its steps are for was not compared.
func (b Before) check(p *Plan) error {
	for _, e := range b.Expected {
		if _, err := csr.ParseExpect(e); err != nil {
			return fmt.Errorf("before.expected: %w", err)
		}
	}
	known := set(b.For)
	missing := func(k fault.Key, what string) error {
		return fmt.Errorf("before.for leaves out %s at %s, which is %s", k.Fault, k.Subject, what)
	}
	if !known[p.Root] {
		return missing(p.Root, "the plan's root")
	}
	for _, s := range p.Steps {
		for _, k := range s.While {
			if !known[k] {
				return missing(k, "what step "+s.ID+" is for")
			}
		}
		for _, k := range s.Expect.Absent {
			if !known[k] {
				return missing(k, "what step "+s.ID+" must end")
			}
		}
	}
	return nil
}

func set(lists ...[]fault.Key) map[fault.Key]bool {
	out := map[fault.Key]bool{}
	for _, l := range lists {
		for _, k := range l {
			out[k] = true
		}
	}
	return out
}
