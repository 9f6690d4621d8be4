package preflight

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// conclude makes a root of each finding that is present, the worst first, and sets aside those
// that are accepted.
func (o Options) conclude(d *diagnosis.Diagnosis) {
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Outcome != fault.Present {
			continue
		}
		page, _ := o.Catalog.Fault(f.Fault)
		root := o.root(page, *f)
		if o.Accept != nil {
			if a, ok := o.Accept.Accepted(d.Cluster.ID, f.Key(), d.Now); ok {
				f.Accepted = &diagnosis.Accepted{Acceptance: a}
				d.Accepted = append(d.Accepted, diagnosis.AcceptedFinding{
					Key: f.Key(), Acceptance: a, Title: f.Title, Severity: f.Severity, Role: diagnosis.RoleRoot,
					DataRisk: o.Catalog.DataRisk(page), Effects: []fault.Key{}, Root: &root,
				})
				continue
			}
		}
		d.Roots = append(d.Roots, root)
	}
	slices.SortStableFunc(d.Roots, func(a, b diagnosis.Root) int { return cmp.Compare(b.Severity.Rank(), a.Severity.Rank()) })
	slices.SortStableFunc(d.Accepted, func(a, b diagnosis.AcceptedFinding) int { return cmp.Compare(b.Severity.Rank(), a.Severity.Rank()) })
}

// root is a finding as the cause that it is.
func (o Options) root(page *fault.Fault, f diagnosis.Finding) diagnosis.Root {
	c := diagnosis.Case{
		Key: f.Key(), Title: f.Title, Confidence: diagnosis.Proven, Evidence: f.Evidence,
		Explains: []fault.Key{}, RuledOut: []diagnosis.RuledOut{}, Remedies: []fault.Advice{},
	}
	for _, id := range page.Remedies {
		if r, ok := o.Catalog.Remedy(id); ok {
			advice := r.Fill(page, f.Subject, func(string) []string { return nil })
			advice.Applies = fault.Present // it has no requirement: a test holds that
			c.Remedies = append(c.Remedies, advice)
		}
	}
	root := diagnosis.Root{
		Fault: page.ID, Layer: page.Layer, Means: strings.TrimSpace(page.Means), Severity: f.Severity, Refused: page.Refused, Cases: []diagnosis.Case{c},
	}
	if root.Refused == nil {
		root.Refused = []string{}
	}
	return root
}

// verdict says whether the installation may begin.
func verdict(d *diagnosis.Diagnosis) diagnosis.Verdict {
	v := classify(d)
	v.Accepted = len(d.Accepted)
	return v
}

func classify(d *diagnosis.Diagnosis) diagnosis.Verdict {
	if v, serious := ofRoots(d); serious {
		return v
	}
	if open := notChecked(d); open != "" {
		v := diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseUnknown, Reason: open, Open: []diagnosis.Question{{Says: open}}}
		if len(d.Roots)+len(d.Accepted) == 0 {
			v.Cause = diagnosis.CauseNone
		}
		return v
	}
	if len(d.Accepted) > 0 {
		var names []string
		for _, a := range d.Accepted {
			names = append(names, a.Fault)
		}
		return diagnosis.Verdict{Class: diagnosis.OnlyAccepted, Cause: diagnosis.CauseKnown, Reason: strings.Join(names, ", ")}
	}
	return diagnosis.Verdict{Class: diagnosis.Healthy, Cause: diagnosis.CauseNone, Reason: noMistake(d)}
}

// ofRoots says who can correct the mistakes and warnings. serious is false where there are none.
func ofRoots(d *diagnosis.Diagnosis) (v diagnosis.Verdict, serious bool) {
	v = diagnosis.Verdict{Class: diagnosis.CheckFirst, Cause: diagnosis.CauseKnown, Reason: d.Mistakes()}
	var without []string
	for _, r := range d.Roots {
		if r.Severity.Rank() <= fault.Info.Rank() {
			continue
		}
		serious = true
		if r.Severity == fault.Error {
			v.Class = diagnosis.NotReady
		}
		remedies := r.Cases[0].Remedies
		if len(remedies) == 0 {
			without = append(without, r.Fault)
			continue
		}
		if by := remedies[0].Actor(); slices.Index(fault.Actors(), by) > slices.Index(fault.Actors(), v.Fix) {
			v.Fix, v.Where = by, remedies[0].Where
		}
	}
	if len(without) > 0 {
		v = diagnosis.Verdict{Class: diagnosis.Undetermined, Cause: diagnosis.CauseKnown, Reason: "the catalog has no remedy for " +
			strings.Join(without, ", ")}
	}
	return v, serious
}
