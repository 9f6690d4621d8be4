package update

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/page"
)

// Question is a cluster and where it is to go.
type Question struct {
	World     *facts.World
	Diagnosis *diagnosis.Diagnosis
	Target    Version       // zero: none was given
	Window    time.Duration // for how long certificates have to be valid
	Whole     bool          // a list of the source is that of the whole cluster: a live one
	Name      string        // how the user calls the program
	Again     string        // the flags that name the same source
	// HowToGet is the command that gets evidence, "" where none is known to.
	HowToGet func(evidence.Supply) string
}

// Answer checks a cluster. An error is a defect, or a context that ended.
func Answer(ctx context.Context, q *Question) (*Report, error) {
	d := q.Diagnosis
	r := &Report{
		APIVersion: "rollcall.dev/v1alpha1", Kind: "UpdateCheck", Source: Source{d.Source.Kind, d.Source.Name}, Now: d.Now,
		Version: d.Cluster.Version, Target: q.Target.Text, Window: q.Window.String(), Checks: []*Result{}, Hosts: []Host{}, NotAsked: notLookedAt(q.Name),
	}
	l := &look{Question: q, d: d, w: q.World, held: map[string]bool{}}
	l.current, _ = ParseVersion(d.Cluster.Version)
	if err := l.poolsOfHosts(ctx); err != nil {
		return nil, err
	}
	l.causes(Checks())
	for _, c := range Checks() {
		res, err := l.run(ctx, &c)
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.ID, err)
		}
		r.Checks = append(r.Checks, res)
	}
	r.hosts(d)
	r.conclude()
	return r, nil
}

// run is what one check finds: causes of the diagnosis that belong to it, and what it looks at itself.
func (l *look) run(ctx context.Context, c *Check) (*Result, error) {
	res := &Result{ID: c.ID, Title: c.Title, Outcome: fault.Absent, Findings: []Finding{}, Missing: []Missing{}, Sources: c.Sources,
		howToGet: l.HowToGet, open: c.Holds}
	res.Findings = append(res.Findings, l.of[c.ID]...)
	var err error
	if c.Look != nil {
		err = c.Look(ctx, l, res)
	}
	u, unavailable := evidence.AsUnavailable(err)
	switch {
	case err == nil:
	case isExcluded(err):
		res.Why = err.Error()
	case unavailable:
		res.miss("", u)
	default:
		return nil, err
	}
	for _, f := range res.Findings {
		for _, h := range f.Hosts {
			l.held[h] = l.held[h] || f.Severity == fault.Error
		}
		l.holds = l.holds || f.Severity == fault.Error
	}
	switch {
	case len(res.Findings) > 0:
		res.Outcome = fault.Present
	case len(res.Missing) > 0:
		res.Outcome = fault.Unknown
	case res.Why != "":
		res.Outcome = fault.NotApplicable
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		slices.Sort(f.Hosts)
		f.Hosts = append([]string{}, slices.Compact(f.Hosts)...)
		f.Do, f.Evidence = append([]string{}, f.Do...), append([]evidence.Item{}, f.Evidence...)
	}
	return res, nil
}

// miss notes what could not be read, and what it is about. What is read only on request, and was not
// asked for, leaves nothing open.
func (r *Result) miss(about string, u *evidence.Unavailable) { r.missed(about, u, r.open) }

func (r *Result) missed(about string, u *evidence.Unavailable, open bool) {
	m := Missing{What: u.Error(), Open: open && u.Why != evidence.NotAsked, short: u.Need.String()}
	if about != "" {
		m.What = about + ": " + m.What
	}
	if !u.Supply.IsZero() && r.howToGet != nil {
		m.Supply = r.howToGet(u.Supply)
	}
	if !slices.Contains(r.Missing, m) {
		r.Missing = append(r.Missing, m)
	}
}

// some returns the objects of a kind that could be read. What could not is noted; where nothing could it is
// the error.
func (l *look) some(ctx context.Context, res *Result, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	list, err := l.w.Some(ctx, r, namespace)
	u, partial := evidence.AsUnavailable(err)
	switch {
	case partial && len(list) > 0:
		res.miss("", u)
	case err != nil:
		return nil, err
	case len(list) == 0 && r == evidence.Nodes:
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected, Detail: "there is none in what was read"}
	}
	return list, nil
}

// excluded is the error of a check that does not apply.
type excluded string

func (e excluded) Error() string { return string(e) }

func isExcluded(err error) bool { _, ok := err.(excluded); return ok }

// once are texts in their order, each once.
func once(list []string) (out []string) {
	for _, t := range list {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// hosts lists the hosts that are expected, with what holds each of them.
func (r *Report) hosts(d *diagnosis.Diagnosis) {
	for i := range d.Hosts {
		h := &d.Hosts[i]
		if !h.Expected || !h.Named() {
			continue
		}
		host := Host{Name: h.Name, Role: h.Role, Holds: []string{}}
		for _, c := range r.Checks {
			for _, f := range c.Findings {
				if f.Severity == fault.Error && slices.Contains(f.Hosts, h.Name) {
					host.Holds = append(host.Holds, f.Says)
				}
			}
		}
		r.Hosts = append(r.Hosts, host)
	}
}

// conclude is the verdict: what holds it first, then what is missing to decide.
func (r *Report) conclude() {
	var open []string
	for _, c := range r.Checks {
		for _, f := range c.Findings {
			switch f.Severity {
			case fault.Error:
				r.Holds++
			case fault.Warning:
				r.Warnings++
			}
		}
		if i := slices.IndexFunc(c.Missing, func(m Missing) bool { return m.Open }); i >= 0 {
			open = append(open, cmp.Or(c.Missing[i].short, c.Missing[i].What))
		}
	}
	switch {
	case r.Holds > 0:
		r.Verdict, r.Why = NotReady, page.Count(r.Holds, "thing holds ", "things hold ")+r.step()
	case len(open) > 0:
		r.Verdict, r.Why = Undecided, "nothing is known that holds "+r.step()+". Missing to decide: "+strings.Join(once(open), "; ")
	default:
		r.Verdict, r.Why = Ready, "nothing is known that keeps a host from coming back from "+r.step()
	}
}
