package diagnose

import (
	"context"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// Lines is a cause that lines of a text show, as internal/text/message finds it.
type Lines struct {
	Fault    *fault.Fault
	Host     string // whose console shows them; "" if that is not known
	Evidence []evidence.Item
	Names    map[string]string // that the lines give, by what titles call them in braces: pull.registry
}

// ofLines returns the findings of log lines for an answer that has no cause: a text alone gives
// the same cause as scan. Findings that the evaluation found absent or normal stay so.
func (o Options) ofLines(d *diagnosis.Diagnosis) []diagnosis.Finding {
	if len(d.Roots) > 0 || d.Verdict.Class != diagnosis.Undetermined || ended(d.Cluster.Installer) {
		return nil
	}
	var list []diagnosis.Finding
	for _, l := range o.Lines {
		f := l.Fault
		if len(o.Only) > 0 && !slices.Contains(o.Only, f.ID) || slices.Contains(o.Skip, f.ID) ||
			slices.ContainsFunc(d.Findings, func(have diagnosis.Finding) bool {
				return have.Fault == f.ID && (have.Outcome != fault.Unknown || have.Unsettled) && !hostedNotChecked(f, have)
			}) {
			continue
		}
		s := fault.Subject{Kind: f.For}
		if f.For != fault.Cluster {
			s.Name = fault.Unnamed
			if l.Host != "" && f.For == fault.Host {
				s.Name = l.Host
			}
		}
		list = append(list, diagnosis.Finding{
			Fault: f.ID, Subject: s, Outcome: fault.Present, Severity: f.Severity, Evidence: l.Evidence, OfLines: true,
			Title: fault.TitleOf(f, l.Names),
		})
	}
	return list
}

// hostedNotChecked reports a finding that is not applicable only because no hosted cluster was
// checked: a text cannot say that --hosted is needed.
func hostedNotChecked(f *fault.Fault, have diagnosis.Finding) bool {
	return have.Outcome == fault.NotApplicable && len(have.Evidence) == 0 && fault.ControlPlaneOf(f) == fault.HostedControlPlane
}

// ended reports whether openshift-install ended its log: its lines then no longer count.
func ended(i *diagnosis.Installer) bool {
	return i != nil && !slices.Contains([]string{"failed", "interrupted", "running"}, i.Ended)
}

// withLines computes the answer again with the causes that lines show, in their order.
func (e *Engine) withLines(ctx context.Context, w *facts.World, o Options, d *diagnosis.Diagnosis, more []diagnosis.Finding) (*diagnosis.Diagnosis, error) {
	again := &diagnosis.Diagnosis{
		APIVersion: d.APIVersion, Kind: d.Kind, Now: d.Now, Cluster: d.Cluster, Source: d.Source, Stats: d.Stats, Aside: d.Aside,
		Findings: slices.DeleteFunc(slices.Clone(d.Findings), func(f diagnosis.Finding) bool {
			return slices.ContainsFunc(more, func(m diagnosis.Finding) bool { return m.Key() == f.Key() })
		}),
	}
	e.names = map[string]map[string]string{}
	for _, l := range o.Lines {
		e.names[l.Fault.ID] = l.Names
	}
	again.Findings = append(again.Findings, more...)
	slices.SortStableFunc(again.Findings, func(a, b diagnosis.Finding) int { return fault.CompareKeys(a.Key(), b.Key()) })
	if err := e.complete(ctx, w, o, again); err != nil {
		return nil, err
	}
	place := func(r diagnosis.Root) int {
		return slices.IndexFunc(more, func(m diagnosis.Finding) bool { return m.Fault == r.Fault })
	}
	slices.SortStableFunc(again.Roots, func(a, b diagnosis.Root) int { return place(a) - place(b) })
	Group(again)
	return again, nil
}
