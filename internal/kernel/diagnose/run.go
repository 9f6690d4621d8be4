package diagnose

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
)

// Roll projects hosts, their stages and the findings that block them.
type Roll interface {
	Hosts(ctx context.Context, w *facts.World, findings []diagnosis.Finding) ([]diagnosis.HostState, error)
}

// Describer reads what the cluster says of itself.
type Describer interface {
	Describe(ctx context.Context, w *facts.World) (diagnosis.ClusterInfo, error)
}

// Options is everything that a run needs.
type Options struct {
	Catalog *fault.Catalog
	Facts   []facts.Fact
	Relater Relater
	Cluster Describer
	Roll    Roll
	Reader  *reader.Reader
	Now     time.Time // zero: the source's own newest time
	AtLeast bool      // Now is only the newest time in the source: evidence.Description.AtLeast
	Clock   func() time.Time
	Only    []string // fault ids; empty: all
	Skip    []string
	Accept  Accepter // nil: nothing is accepted
	Lines   []Lines  // causes that lines show, where the sources are texts and nothing else
	// Deciding leaves out findings about hosts that decide nothing, and only counts them; one of each
	// fault stays. A host of a large cluster has two hundred of them.
	Deciding bool
	Log      *slog.Logger
	// Plannable reports whether a plan can be made now that carries a remedy out for a cause that is
	// proven; nil: wherever the catalog says so.
	Plannable Plannable
	// Compiler keeps what it compiled from one run to the next; nil makes one.
	Compiler *fault.Compiler
}

// Plannable tells whether a remedy can be planned for a finding, by the evidence of the diagnosis.
// The hosts of the diagnosis are known by then.
type Plannable func(ctx context.Context, w *facts.World, d *diagnosis.Diagnosis, k fault.Key, remedy string) bool

// errNoTime says that neither the source nor the user gave a "now".
var errNoTime = errors.New("the source carries no time that can be trusted")

// Run makes the whole diagnosis.
func Run(ctx context.Context, o Options) (*diagnosis.Diagnosis, error) {
	started := o.Clock()
	desc, err := o.Reader.Describe(ctx)
	if err != nil {
		return nil, err
	}
	now, atLeast := o.Now, o.AtLeast
	if now.IsZero() {
		now, atLeast = desc.Now, desc.AtLeast
	}
	if now.IsZero() {
		if desc.Cut != "" {
			return nil, fmt.Errorf("%s is damaged: %s; what could be read of it has no time: get the whole file, or give a time with --now: %w",
				desc.Name, desc.Cut, errNoTime)
		}
		return nil, fmt.Errorf("%s: %w: no line or object in it has a date with a year. Give the time at which it was taken, as --now 2006-01-31T15:04:05Z",
			desc.Name, errNoTime)
	}
	if !evidence.Plausible(now) {
		return nil, fmt.Errorf("choose the time of %s: %s cannot be one of a cluster; give another with --now", desc.Name,
			now.UTC().Format("2006-01-02T15:04:05Z"))
	}
	engine, err := New(o.Catalog, o.Facts, o.Relater, o.Compiler, o.Log)
	if err != nil {
		return nil, err
	}
	if err := prefetch(ctx, o); err != nil {
		return nil, err
	}
	w := facts.NewWorld(o.Reader, now)
	w.AtLeast = atLeast
	info, err := o.Cluster.Describe(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("describe cluster: %w", err)
	}
	w.Version, w.Topology, w.Installed, w.ReadBy = info.Version, info.Topology, info.Began, info.ReadBy
	if info.Product != nil {
		engine.product = info.Product.Name
	}
	engine.deciding = o.Deciding && len(o.Lines) == 0 // lines replace findings one by one
	found, err := engine.evaluateAll(ctx, w, o.chosen())
	if err != nil {
		return nil, err
	}
	d := &diagnosis.Diagnosis{
		APIVersion: "rollcall.dev/v1alpha1", Kind: "Diagnosis", Now: now.UTC(), Cluster: info, Findings: found.findings, Aside: found.aside,
		Source: diagnosis.Source{
			Kind:    desc.Kind,
			Origin:  desc.Origin,
			Whole:   desc.Whole,
			Holds:   desc.Holds,
			Name:    desc.Name,
			More:    desc.More,
			API:     desc.API,
			Vantage: desc.Vantage,
			AtLeast: atLeast,
		},
	}
	if Far(now, desc) {
		d.Source.Newest = desc.Now.UTC()
	}
	d.Stats = diagnosis.Stats{Faults: len(o.chosen()), Subjects: found.subjects, Facts: len(o.Facts)}
	if err := engine.complete(ctx, w, o, d); err != nil {
		return nil, err
	}
	if more := o.ofLines(d); len(more) > 0 {
		if d, err = engine.withLines(ctx, w, o, d, more); err != nil {
			return nil, err
		}
	}
	d.Stats.Millis = o.Clock().Sub(started).Milliseconds()
	return d, nil
}

// complete fills in everything that follows from the findings.
func (e *Engine) complete(ctx context.Context, w *facts.World, o Options, d *diagnosis.Diagnosis) (err error) {
	if d.Hosts, err = o.Roll.Hosts(ctx, w, d.Findings); err != nil {
		return fmt.Errorf("list the hosts: %w", err)
	}
	for i := range d.Hosts {
		plausible(&d.Hosts[i])
	}
	young, err := e.conclude(ctx, w, d, o.Accept)
	if err != nil {
		return err
	}
	requests, err := e.requests(ctx, w, d.Hosts)
	if err != nil {
		return err
	}
	stopped, err := e.stopped(ctx, w, d.Hosts, causes(d.Roots))
	if err != nil {
		return err
	}
	held, err := e.stopped(ctx, w, d.Hosts, young)
	if err != nil {
		return err
	}
	lowerIfFar(d)
	if err := e.advice(ctx, w, o.Plannable, d); err != nil {
		return err
	}
	block(d, young, func(host string) []string { return requests[host] }, stopped, held)
	e.setAside(d)
	noteLostParts(ctx, o.Reader, d)
	d.Timeline = timeline(d)
	d.Verdict = verdict(d)
	nonNil(d)
	Group(d)
	return nil
}

// plausible forgets times that cannot be ones of a cluster.
func plausible(h *diagnosis.HostState) {
	keep := func(t *time.Time) {
		if !evidence.Plausible(*t) {
			*t = time.Time{}
		}
	}
	keep(&h.Since)
	for i := range h.Stages {
		keep(&h.Stages[i].At)
		for j := range h.Stages[i].Evidence {
			keep(&h.Stages[i].Evidence[j].Time)
		}
	}
}

func (o Options) chosen() []*fault.Fault {
	var list []*fault.Fault
	for _, f := range o.Catalog.Checked() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, f.ID) || slices.Contains(o.Skip, f.ID) {
			continue
		}
		list = append(list, f)
	}
	return list
}

// prefetch reads what the chosen faults will ask for, side by side: on a live
// cluster the round trips are the cost. What cannot be read is noted by the
// reader and met again by the facts.
func prefetch(ctx context.Context, o Options) error {
	wanted := map[string]bool{}
	for _, f := range o.chosen() {
		for _, g := range f.Given {
			wanted[g.Fact] = true
		}
	}
	hosted, err := o.Reader.Hosted(ctx)
	if err != nil {
		return fmt.Errorf("find out what is read: %w", err)
	}
	var group crash.Group
	group.SetLimit(16)
	seen := map[evidence.Need]bool{}
	for _, f := range o.Facts {
		if !wanted[f.Name] {
			continue
		}
		for _, n := range f.Needs {
			if seen[n] || hosted == nil && n.Resource.Cluster+n.Text.Cluster != "" {
				continue
			}
			seen[n] = true
			group.Go(func() error {
				if n.Resource.Name != "" {
					_, _ = o.Reader.List(ctx, n.Resource, n.Namespace)
				} else {
					_, _ = o.Reader.Matches(ctx, n.Text, "")
				}
				return nil
			})
		}
	}
	_ = group.Wait()
	return ctx.Err()
}

// requests returns the names of each host's certificate requests.
func (e *Engine) requests(ctx context.Context, w *facts.World, hosts []diagnosis.HostState) (map[string][]string, error) {
	out := map[string][]string{}
	for _, h := range hosts {
		list, _, err := e.relate.Relate(ctx, w, fault.CSRsOfHost, fault.Subject{Kind: fault.Host, Name: h.Name})
		if err != nil {
			return nil, fmt.Errorf("find the requests of %s: %w", h.Name, err)
		}
		for _, s := range list {
			out[h.Name] = append(out[h.Name], s.Name)
		}
	}
	return out, nil
}

// stopped returns, by host, the causes that lead to a finding at the host's pool which
// stops hosts at the stage where it is: what a pool that is paused does to those
// that wait for it, or one that is served no config. A host that failed there by its
// own account, or of which nothing is known, has another reason; so has one whose pool
// is not known.
func (e *Engine) stopped(ctx context.Context, w *facts.World, hosts []diagnosis.HostState, causes []cause) (map[string][]fault.Key, error) {
	out := map[string][]fault.Key{}
	for _, c := range causes {
		stops := e.stops(c)
		for _, h := range hosts {
			if len(stops[h.Stage]) == 0 || !withItsPool(h) {
				continue
			}
			pools, known, err := e.relate.Relate(ctx, w, fault.PoolsOfHost, fault.Subject{Kind: fault.Host, Name: h.Name})
			if err != nil {
				return nil, fmt.Errorf("find the pool of %s: %w", h.Name, err)
			}
			if known && slices.ContainsFunc(pools, func(s fault.Subject) bool { return slices.Contains(stops[h.Stage], s) }) {
				out[h.Name] = append(out[h.Name], c.Key)
			}
		}
	}
	return out, nil
}

// stops returns the pools whose hosts a cause stops, by the step.
func (e *Engine) stops(c cause) map[fault.Stage][]fault.Subject {
	out := map[fault.Stage][]fault.Subject{}
	for _, k := range append([]fault.Key{c.Key}, c.effects...) {
		f, ok := e.catalog.Fault(k.Fault)
		if ok && f.Blocks != "" && k.Subject.Kind == fault.Pool {
			out[f.Blocks] = append(out[f.Blocks], k.Subject)
		}
	}
	return out
}

// withItsPool: a host that waits, or whose failure was told by what its pool meets.
func withItsPool(h diagnosis.HostState) bool {
	if h.State != diagnosis.StageFailed {
		return h.State == diagnosis.StageWaiting
	}
	return slices.ContainsFunc(h.Stages, func(s diagnosis.StageState) bool { return s.Stage == h.Stage && s.OfPool })
}

// causes are the cases of roots with what they lead to.
func causes(roots []diagnosis.Root) []cause {
	list := make([]cause, 0, len(roots))
	for _, r := range roots {
		for _, c := range r.Cases {
			list = append(list, cause{Key: c.Key, effects: c.Explains})
		}
	}
	return list
}

// timeline gathers when findings began and stages were passed.
func timeline(d *diagnosis.Diagnosis) []diagnosis.Moment {
	var list []diagnosis.Moment
	for _, f := range d.Findings {
		if f.Outcome == fault.Present && !f.Since.IsZero() {
			m := diagnosis.Moment{Time: f.Since.UTC(), Subject: f.Subject, Text: f.Title}
			if len(f.Evidence) > 0 {
				m.Locator = f.Evidence[0].Locator
			}
			list = append(list, m)
		}
	}
	for _, h := range d.Hosts {
		for _, s := range h.Stages {
			if s.State == diagnosis.StagePassed && !s.At.IsZero() {
				host := fault.Subject{Kind: fault.Host, Name: h.Name}
				list = append(list, diagnosis.Moment{Time: s.At.UTC(), Subject: host, Text: "passed " + string(s.Stage), Passed: true})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b diagnosis.Moment) int { return a.Time.Compare(b.Time) })
	return list
}

// nonNil makes empty lists of nil ones: the JSON contract has no null lists.
func nonNil(d *diagnosis.Diagnosis) {
	fill(&d.Roots)
	fill(&d.Deadlocks)
	fill(&d.Unexplained)
	fill(&d.Edges)
	fill(&d.Findings)
	fill(&d.Hosts)
	fill(&d.Timeline)
	fill(&d.Coverage)
	for i := range d.Roots {
		fill(&d.Roots[i].Refused)
		for j := range d.Roots[i].Cases {
			c := &d.Roots[i].Cases[j]
			fill(&c.Evidence)
			fill(&c.Explains)
			fill(&c.RuledOut)
			fill(&c.Remedies)
		}
	}
	for i := range d.Unexplained {
		fill(&d.Unexplained[i].Evidence)
		fill(&d.Unexplained[i].Suspects)
		fill(&d.Unexplained[i].Remedies)
	}
	for i := range d.Accepted {
		fill(&d.Accepted[i].Effects)
	}
	for i := range d.Hosts {
		fill(&d.Hosts[i].BlockedBy)
		fill(&d.Hosts[i].Stages)
	}
}

func fill[T any](list *[]T) {
	if *list == nil {
		*list = []T{}
	}
}
