package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/facts/all"
	"github.com/rollcall-project/rollcall/internal/facts/relation"
	"github.com/rollcall-project/rollcall/internal/hosts/inventory"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnose"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/session/accept"
	"github.com/rollcall-project/rollcall/internal/session/engine"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// Run is one reading of what a session names.
type Run struct {
	Session *Session // with the options as they were found: the kubeconfig of an install directory
	Reader  *reader.Reader
	Catalog *fault.Catalog
	Accept  *accept.List // nil: nothing is accepted
	Now     time.Time    // zero: the source carries none
	Source  evidence.Description
	Pasted  []*paste.Source // texts that a person copied together
	Logs    []*paste.Source // texts that are read as archives of one file

	Screens []Screen // texts of consoles

	only    []string // of a run over hosts alone: the faults that these can show; nil: all
	atLeast bool     // Now is only the newest time in the source
	texts   bool     // nothing else than these is read
	closers []func() error
}

// Screen is the text of a host's console.
type Screen struct {
	Host string
	Text *paste.Source
}

// OnClose adds what Close releases, before what was added earlier.
func (r *Run) OnClose(release func() error) { r.closers = append(r.closers, release) }

// World is what facts are computed from, at a time.
func (r *Run) World(now time.Time) *facts.World { return facts.NewWorld(r.Reader, now) }

// Close releases what the run holds open.
func (r *Run) Close() error {
	var wrong []error
	for _, c := range slices.Backward(r.closers) {
		wrong = append(wrong, c())
	}
	return errors.Join(wrong...)
}

// keep remembers a text, in which messages are sought. s is the archive that it is read as,
// nil where it is read as a text alone.
func (r *Run) keep(s *archive.Source, text *paste.Source) {
	if s == nil {
		r.Pasted = append(r.Pasted, text)
		return
	}
	r.Logs = append(r.Logs, text)
}

// Diagnose makes the whole diagnosis of a run.
func (r *Run) Diagnose(ctx context.Context) (*diagnosis.Diagnosis, error) {
	ses := r.Session
	defer ses.Progress("reading %s %s ...", r.Source.Kind, r.Source.Name)()
	o := engine.Options(r.Catalog, all.All(), r.Reader)
	o.Now, o.AtLeast, o.Clock, o.Log = r.Now, r.atLeast, ses.Clock, ses.Log
	o.Only, o.Skip = ses.Only, ses.Skip
	if r.only != nil {
		o.Only = r.only
	}
	o.Plannable, o.Deciding = ses.Plannable, ses.Deciding
	if r.Accept != nil {
		o.Accept = r.Accept
	}
	var err error
	if o.Compiler, err = ses.compiler(); err != nil {
		return nil, err
	}
	if o.Lines, err = r.shownByLines(ctx); err != nil {
		return nil, err
	}
	d, err := diagnose.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := oneInfrastructure(d); err != nil {
		return nil, err
	}
	return d, r.checkConsoles(ctx, d.Now)
}

// Resolve turns a subject into the one of the diagnosis: a host is known under the
// names of its Node, Machine and BareMetalHost.
func (r *Run) Resolve(ctx context.Context, d *diagnosis.Diagnosis, s fault.Subject) (fault.Subject, error) {
	if s.Kind == fault.Host {
		h, ok, err := inventory.Find(ctx, facts.NewWorld(r.Reader, d.Now), s.Name)
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
		if why := unread(d, s.Kind); why != "" {
			return s, &NotCollectedError{fmt.Sprintf("%s: %s", s, why)}
		}
		return s, fmt.Errorf("%s: no %s was checked in %s %s; the answer without a subject shows why", s, s.Kind, d.Source.Kind, d.Source.Name)
	}
	if full := ofDomain(s.Name, known); s.Kind == fault.Host && full != "" {
		return fault.Subject{Kind: fault.Host, Name: full}, nil
	}
	slices.Sort(known)
	few := known
	if len(few) > 8 {
		few = append(slices.Clone(few[:8]), fmt.Sprintf("and %d more", len(known)-8))
	}
	hint := cmp.Or(suggest.DidYouMean(s.Name, known), suggest.DidYouMean(s.Name, withoutDomains(known)))
	return s, fmt.Errorf("%s is not in %s %s%s; there are: %s", s, d.Source.Kind, d.Source.Name, hint, strings.Join(few, ", "))
}

// NotCollectedError says that what was asked about was not read, so that nothing is known of it.
type NotCollectedError struct{ What string }

// Error implements error.
func (e *NotCollectedError) Error() string { return e.What }

// lists are the lists that have the subjects of a kind.
var lists = map[fault.Kind][]evidence.Resource{
	fault.Pool: {evidence.MachineConfigPools}, fault.Operator: {evidence.ClusterOperators}, fault.CSR: {evidence.CSRs},
	fault.Host: {evidence.Nodes, evidence.Machines, evidence.BareMetalHosts},
}

// unread says why the lists of a kind were not read, "" where one of them was.
func unread(d *diagnosis.Diagnosis, k fault.Kind) string {
	why := ""
	for _, r := range lists[k] {
		for _, c := range d.Coverage {
			switch {
			case c.Need != r.String() && c.Need != r.In("").String():
			case c.State == evidence.Read || c.State == evidence.Empty || c.State == evidence.Partial:
				return ""
			case why == "":
				why = r.Name + ": " + c.Reason
			}
		}
	}
	return why
}

// ofDomain is the one host whose name is this one with a domain behind it, as answers write it; "" where it is not one.
func ofDomain(name string, known []string) string {
	full := ""
	for _, k := range known {
		if !strings.HasPrefix(k, strings.ToLower(name)+".") {
			continue
		}
		if full != "" {
			return ""
		}
		full = k
	}
	return full
}

// withoutDomains are the first labels of names.
func withoutDomains(names []string) []string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i], _, _ = strings.Cut(n, ".")
	}
	return list
}

// Related are the subjects that belong to a host: its certificate requests. Where
// they cannot be read there are none to show.
func (r *Run) Related(ctx context.Context, d *diagnosis.Diagnosis, s fault.Subject) []fault.Subject {
	if s.Kind != fault.Host {
		return nil
	}
	w := facts.NewWorld(r.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	list, _, err := relation.Relater{}.Relate(ctx, w, fault.CSRsOfHost, s)
	if err != nil {
		return nil
	}
	return list
}
