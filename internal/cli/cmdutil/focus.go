package cmdutil

import (
	"context"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/browse"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
)

// focus narrows a diagnosis to what concerns a subject: its own findings, those of
// what belongs to it, and the roots, symptoms and hosts that have to do with it.
// The verdict stays that of the whole cluster.
func focus(d *diagnosis.Diagnosis, s fault.Subject, related []fault.Subject) *diagnosis.Diagnosis {
	out := *d
	blocks := blocking(d, s)
	about := func(k fault.Key) bool {
		return k.Subject == s || slices.Contains(related, k.Subject) || slices.Contains(blocks, k)
	}
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
	needed := needs(out.Findings)
	out.Coverage = slices.DeleteFunc(slices.Clone(d.Coverage), func(c evidence.Coverage) bool { return !needed[c.Need] })
	diagnose.Group(&out)
	out.Coverage = d.Coverage // what was read is the same for each subject; the gaps are those of this one
	return &out
}

// blocking are the causes that hold up a host, also where they are at its pool or at another host of it.
func blocking(d *diagnosis.Diagnosis, s fault.Subject) []fault.Key {
	if s.Kind != fault.Host {
		return nil
	}
	for _, h := range d.Hosts {
		if h.Name == s.Name {
			return h.BlockedBy
		}
	}
	return nil
}

// needs are what unknown findings lack.
func needs(findings []diagnosis.Finding) map[string]bool {
	list := map[string]bool{}
	for _, f := range findings {
		if f.Outcome != fault.Unknown {
			continue
		}
		for _, u := range f.Unread {
			list[u.Need.String()] = true
		}
	}
	return list
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

// rowKinds are the kinds of which a subject is an object with a row of its own, as oc names them.
var rowKinds = map[fault.Kind]struct {
	word     string
	resource evidence.Resource
}{
	fault.Operator: {"co", evidence.ClusterOperators},
	fault.Pool:     {"mcp", evidence.MachineConfigPools},
}

// row is what oc get prints of a subject, its command first; nil where it is of another kind, or was not read.
func row(ctx context.Context, r *session.Run, s fault.Subject, now time.Time) []string {
	of, ok := rowKinds[s.Kind]
	if !ok || s.Cluster != "" {
		return nil
	}
	o, ok, err := r.Reader.Get(ctx, of.resource, "", s.Name)
	if err != nil || !ok {
		return nil // the gaps say so
	}
	list := []string{"oc get " + of.word + " " + s.Name}
	for _, c := range browse.Row(of.resource, o, now) {
		if c.Value != "" {
			list = append(list, c.Name+" "+c.Value)
		}
	}
	return list
}
