package cmdutil

import (
	"slices"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

// focus narrows a diagnosis to what concerns a subject: its own findings, those of
// what belongs to it, and the roots, symptoms and hosts that have to do with it.
// The verdict stays that of the whole cluster.
func focus(d *diagnosis.Diagnosis, s fault.Subject, related []fault.Subject) *diagnosis.Diagnosis {
	out := *d
	about := func(k fault.Key) bool { return k.Subject == s || slices.Contains(related, k.Subject) }
	out.Hosts, out.Findings = []diagnosis.HostState{}, []diagnosis.Finding{}
	kept := Narrow(&out, about)
	out.Accepted = nil
	for _, f := range d.Accepted {
		if !about(f.Key) && !slices.ContainsFunc(f.Effects, about) {
			continue
		}
		out.Accepted = append(out.Accepted, f)
		kept[f.Key] = true
		for _, k := range f.Effects {
			kept[k] = true
		}
	}
	for _, f := range d.Findings {
		if about(f.Key()) || kept[f.Key()] {
			out.Findings = append(out.Findings, f)
		}
	}
	for _, h := range d.Hosts {
		if s.Kind == fault.Host && h.Name == s.Name {
			out.Hosts = append(out.Hosts, h)
		}
	}
	out.Edges = slices.DeleteFunc(slices.Clone(d.Edges), func(e diagnosis.EdgeSeen) bool {
		return !kept[e.Cause] && !about(e.Cause) && !kept[e.Effect] && !about(e.Effect)
	})
	out.Timeline = slices.DeleteFunc(slices.Clone(d.Timeline), func(m diagnosis.Moment) bool { return m.Subject != s })
	diagnose.Group(&out)
	return &out
}

// Narrow leaves the roots and unexplained symptoms that have to do with what is asked
// about, and returns the findings that belong to them.
func Narrow(d *diagnosis.Diagnosis, about func(fault.Key) bool) map[fault.Key]bool {
	unexplained := d.Unexplained
	d.Unexplained = []diagnosis.Unexplained{}
	kept := map[fault.Key]bool{}
	d.KeepCases(func(_ diagnosis.Root, c diagnosis.Case) bool {
		if !about(c.Key) && !slices.ContainsFunc(c.Explains, about) {
			return false
		}
		kept[c.Key] = true
		for _, k := range c.Explains {
			kept[k] = true
		}
		return true
	})
	for _, u := range unexplained {
		if !about(u.Key) {
			continue
		}
		d.Unexplained = append(d.Unexplained, u)
		for _, suspect := range u.Suspects {
			for _, k := range suspect.Keys() {
				kept[k] = true
			}
		}
	}
	return kept
}
