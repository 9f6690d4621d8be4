package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
)

const subjectForms = "node/NAME, host/NAME, bmh/NAME, machine/NAME, csr/NAME, mcp/NAME, nodepool/NAME, co/NAME"

// parseSubject reads "node/control0", also "machine.machine.openshift.io/x".
func parseSubject(arg string) (fault.Subject, error) {
	kind, name, ok := strings.Cut(arg, "/")
	k, known := fault.KindOf(kind)
	switch {
	case ok && known && name != "":
		return fault.Subject{Kind: k, Name: name}, nil
	case namedAsArchive(arg) || onDisk(arg):
		return fault.Subject{}, usagef("%q is not a subject; did you mean `--from %s`?", arg, quote(arg))
	case !ok:
		return fault.Subject{}, usagef("%q is not a subject: write it as oc does, one of %s", arg, subjectForms)
	case name == "":
		return fault.Subject{}, usagef("%q names no object: write it as oc does, one of %s", arg, subjectForms)
	}
	return fault.Subject{}, usagef("%q: this kind is not supported; use one of %s", arg, subjectForms)
}

// resolve turns a subject into the one of the diagnosis: a host is known under the
// names of its Node, Machine and BareMetalHost.
func (r *run) resolve(ctx context.Context, d *diagnosis.Diagnosis, s fault.Subject) (fault.Subject, error) {
	if s.Kind == fault.Host {
		h, ok, err := inventory.Find(ctx, facts.NewWorld(r.reader, d.Now), s.Name)
		if err == nil && ok {
			s.Name = h.Name
		}
	}
	var known []string
	for _, f := range d.Findings {
		if f.Subject.Kind != s.Kind || slices.Contains(known, f.Subject.Name) || f.Subject.Name == "?" {
			continue
		}
		if f.Subject.Name == s.Name {
			return f.Subject, nil
		}
		known = append(known, f.Subject.Name)
	}
	for _, h := range d.Hosts {
		if s.Kind != fault.Host {
			break
		}
		if h.Name == s.Name {
			return s, nil
		}
		if !slices.Contains(known, h.Name) {
			known = append(known, h.Name)
		}
	}
	if len(known) == 0 {
		return s, fmt.Errorf("%s: no %s was checked in %s %s; the answer without a subject shows why", s, s.Kind, d.Source.Kind, d.Source.Name)
	}
	slices.Sort(known)
	few := known
	if len(few) > 8 {
		few = append(slices.Clone(few[:8]), fmt.Sprintf("and %d more", len(known)-8))
	}
	return s, fmt.Errorf("%s is not in %s %s%s; there are: %s", s, d.Source.Kind, d.Source.Name, didYouMean(s.Name, known), strings.Join(few, ", "))
}

// related are the subjects that belong to a host: its certificate requests. Where
// they cannot be read there are none to show.
func (r *run) related(ctx context.Context, d *diagnosis.Diagnosis, s fault.Subject) []fault.Subject {
	if s.Kind != fault.Host {
		return nil
	}
	w := facts.NewWorld(r.reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	list, _, err := relation.Relater{}.Relate(ctx, w, fault.CSRsOfHost, s)
	if err != nil {
		return nil
	}
	return list
}

// focus narrows a diagnosis to what concerns a subject: its own findings, those of
// what belongs to it, and the roots, symptoms and hosts that have to do with it.
// The verdict stays that of the whole cluster.
func focus(d *diagnosis.Diagnosis, s fault.Subject, related []fault.Subject) *diagnosis.Diagnosis {
	out := *d
	about := func(k fault.Key) bool { return k.Subject == s || slices.Contains(related, k.Subject) }
	out.Hosts, out.Findings = []diagnosis.HostState{}, []diagnosis.Finding{}
	kept := narrow(&out, about)
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

// narrow leaves the roots and unexplained symptoms that have to do with what is asked
// about, and returns the findings that belong to them.
func narrow(d *diagnosis.Diagnosis, about func(fault.Key) bool) map[fault.Key]bool {
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

// undecided is diagnose.Undecided for an answer that may be narrowed to a subject
// which is no host: that it then lists no host is no open question.
func undecided(d *diagnosis.Diagnosis, narrowed bool) bool {
	if narrowed && len(d.Hosts) == 0 {
		copied := *d
		copied.Hosts = []diagnosis.HostState{{Expected: true, State: diagnosis.StagePassed}}
		d = &copied
	}
	return diagnose.Undecided(d)
}
