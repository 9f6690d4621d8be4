package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/baseline"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/suggest"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/console"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

const (
	// followEvery is the time between two looks at the hosts of a run.
	followEvery = 20 * time.Second
	// followStuck is for how long a proven cause has to hold each host that is left before
	// the run does not wait for the end of its window: none of them comes by itself.
	followStuck = 2 * time.Minute
)

// workerFollow watches the hosts of a run while they join: with the diagnosis of the hosted
// cluster and what the provider shows of their consoles. Consoles stay in memory.
type workerFollow struct {
	app    *app // with flags of its own
	run    *workerRun
	giveUp func()
	cancel func()
	done   chan struct{}
	rolls  bool // workers that are not made yet are for later steps

	last       *diagnosis.Diagnosis
	unread     map[string]string  // worker to why its console was not read
	indicators []after.Indicator  // of the hosts that are Ready
	base       *baseline.Baseline // of the hosted cluster, when all holds; nil: not taken
	stuck      map[string]time.Time
}

// followWorkers begins to watch. giveUp is called when none of the hosts that are left can
// come.
func (a *app) followWorkers(ctx context.Context, w *workerRun, giveUp func(), rolls bool) *workerFollow {
	ctx, cancel := context.WithCancel(ctx)
	f := &workerFollow{app: a.quiet(w.runner.Journal.Plan), run: w, rolls: rolls, giveUp: giveUp, cancel: cancel, done: make(chan struct{}),
		stuck: map[string]time.Time{}}
	go crash.Func(func() {
		defer close(f.done)
		f.follow(ctx)
	})()
	return f
}

// quiet is an app that reads the hosted cluster of a plan with flags of its own, and prints no
// Progress between the events of a run.
func (a *app) quiet(p workers.Plan) *app {
	o := a.source
	o.ReadSecrets, o.Screens = []string{p.ControlPlane}, nil
	quiet := a.with(o)
	quiet.App = a.Quieter()
	return quiet
}

// stop ends the watch.
func (f *workerFollow) stop() {
	f.cancel()
	<-f.done
}

func (f *workerFollow) follow(ctx context.Context) {
	mine := f.names("")
	follower := follow.New(follow.Rules{
		Goal: after.Joined, Narrowed: true, Hosts: func(h diagnosis.HostState) bool { return mine[h.Name] },
	})
	pause := followEvery
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		d, err := f.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			f.run.runner.Report(workers.Event{Time: f.app.IO.Clock(), Worker: "hosts of this run", Text: "not looked at: " + err.Error()})
			continue
		}
		for _, e := range follower.Step(follow.Run{Diagnosis: d}) {
			f.report(e)
		}
		if f.allBlockedByProvenCause(d) {
			f.giveUp()
			return
		}
		pause = max(followEvery, 4*time.Since(began))
	}
}

// report shows an event of the watch among those of the run.
func (f *workerFollow) report(e follow.Event) {
	switch e.Type {
	case follow.HostMoved:
		text := fmt.Sprintf("%s -> %s", e.From, e.To)
		if e.To.Why != "" && e.To.State == diagnosis.StageFailed {
			text += ": " + e.To.Why
		}
		for _, h := range e.Hosts {
			f.run.runner.Report(workers.Event{Time: e.Time, Worker: h, Text: text})
		}
	case follow.CauseFound, follow.CauseCleared, follow.SymptomFound, follow.SymptomCleared:
		f.run.runner.Report(workers.Event{Time: e.Time, Worker: strings.ReplaceAll(strings.Join(e.Cause.Subjects, ", "), "host/", ""), Text: e.Text})
	}
}

// look diagnoses the hosted cluster with the consoles of the hosts that have not joined.
func (f *workerFollow) look(ctx context.Context) (_ *diagnosis.Diagnosis, err error) {
	screens, unread := f.screens(ctx)
	o := f.app.source
	o.Screens = screens
	r, err := f.app.Session(o).Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return nil, err
	}
	in := f.names(workers.In)
	f.indicators, err = after.Check(ctx, after.World(r.World(d.Now), d), d, after.Options{
		Goal: after.Joined, Skip: []after.ID{after.InstallDone}, Hosts: func(h diagnosis.HostState) bool { return in[h.Name] },
	})
	f.last, f.unread = d, unread
	if err == nil && len(in) > 0 && after.AllHold(f.indicators) {
		err = f.takeBaseline(ctx, r)
	}
	return d, err
}

// names are the workers of the run at a step; all of them where it is "".
func (f *workerFollow) names(step workers.Step) map[string]bool {
	set := map[string]bool{}
	for _, s := range f.run.runner.Journal.Statuses() {
		if step == "" || s.Step == step {
			set[s.Worker.Name] = true
		}
	}
	return set
}

// afterJoin is how long the signs of success may take after the last Node is Ready: a kubelet
// asks for its serving certificate when it has registered.
const (
	afterJoin      = 2 * time.Minute
	afterJoinEvery = 5 * time.Second
)

// settle looks until what has to hold for the workers that are Ready does, or the time for
// that is over. What it saw last stays; what was seen before the last of them joined does not:
// it is about fewer workers.
func (f *workerFollow) settle(ctx context.Context) {
	f.indicators, f.base = nil, nil
	ctx, cancel := context.WithTimeout(ctx, afterJoin)
	defer cancel()
	for {
		if _, err := f.look(ctx); err != nil && ctx.Err() == nil {
			f.app.Log.Warn("look at the hosts of the run", "error", err)
		}
		if len(f.names(workers.In)) == 0 || after.AllHold(f.indicators) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(afterJoinEvery):
		}
	}
}

// printAfterJoin shows what holds for the workers that are Ready.
func (a *app) printAfterJoin(f *workerFollow) error {
	if len(f.names(workers.In)) == 0 {
		return nil
	}
	checks := answer.Section{Heading: "After the join", Entries: indicatorEntries(f.indicators)}
	if len(checks.Entries) == 0 {
		checks.Entries = []answer.Entry{{Name: "not checked", Text: "the hosted cluster was not read after the join"}}
	}
	return answer.Sections(a.IO.Out, a.Style(), []answer.Section{checks})
}

// indicatorEntries are signs of success as entries of a section.
func indicatorEntries(list []after.Indicator) []answer.Entry {
	var entries []answer.Entry
	for _, i := range list {
		e := answer.Entry{Name: "passed", Text: i.Title}
		switch i.Outcome {
		case fault.Absent:
			e = answer.Entry{Name: "failed", Text: "does not hold: " + i.Title + ": " + i.Reason}
		case fault.Unknown:
			e = answer.Entry{Name: "not checked", Text: i.Title + ": " + i.Reason}
		case fault.NotApplicable:
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// screens reads the consoles of the hosts that were made and have not joined.
func (f *workerFollow) screens(ctx context.Context) ([]console.Spec, map[string]string) {
	var mu sync.Mutex
	var list []console.Spec
	unread := map[string]string{}
	screen, is := f.run.runner.Provider.(provider.Screen)
	var group crash.Group
	group.SetLimit(5)
	for _, s := range f.run.runner.Journal.Statuses() {
		if s.Step != workers.Made {
			continue
		}
		name := s.Worker.Name
		if !is {
			unread[name] = "the provider has none"
			continue
		}
		group.Go(func() error {
			text, err := screen.Console(ctx, f.run.runner.Order(s))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case errors.Is(err, errors.ErrUnsupported):
				unread[name] = "the provider has none"
			case err != nil:
				unread[name] = err.Error()
			case len(text) == 0:
				unread[name] = "it is empty"
			default:
				list = append(list, console.Spec{Host: name, File: "console", Text: text})
			}
			return nil
		})
	}
	_ = group.Wait() // it has no errors of its own
	return list, unread
}

// allBlockedByProvenCause reports whether a proven cause has held each of the hosts that are left for long.
func (f *workerFollow) allBlockedByProvenCause(d *diagnosis.Diagnosis) bool {
	left, stuck := 0, 0
	for _, s := range f.run.runner.Journal.Statuses() {
		name := s.Worker.Name
		if s.Step == workers.In || s.Step == workers.Out || f.rolls && s.Step == workers.Planned {
			continue
		}
		left++
		if s.Step != workers.Made || !slices.ContainsFunc(causesOf(d, name), func(r diagnosis.Root) bool {
			return r.Cases[0].Confidence == diagnosis.Proven && r.Severity == fault.Error
		}) {
			delete(f.stuck, name)
			continue
		}
		if f.stuck[name].IsZero() {
			f.stuck[name] = d.Now
		}
		if d.Now.Sub(f.stuck[name]) >= followStuck {
			stuck++
		}
	}
	return left > 0 && stuck == left
}

// causesOf are the cases that keep a host, each as a root of its own.
func causesOf(d *diagnosis.Diagnosis, host string) []diagnosis.Root {
	var list []diagnosis.Root
	for _, h := range d.Hosts {
		if h.Name != host {
			continue
		}
		for _, r := range d.Roots {
			for i := range r.Cases {
				if slices.Contains(h.BlockedBy, r.Cases[i].Key) {
					list = append(list, r.Alone(r.Cases[i]))
				}
			}
		}
	}
	return list
}

// strangers are the names that only a request for a certificate claims.
func strangers(d *diagnosis.Diagnosis) []string {
	var names []string
	if d != nil {
		for _, h := range d.Hosts {
			if !h.Expected && !h.Bootstrap() {
				names = append(names, h.Name)
			}
		}
	}
	return names
}

// printWhyNot shows, for each worker that has not joined, where it is and why.
func (a *app) printWhyNot(w *workerRun, f *workerFollow) {
	clean := a.CleanText
	defer func() {
		if names := strangers(f.last); len(names) > 0 {
			fmt.Fprintf(a.IO.Out, "\nRequests of names that nothing expects wait in the hosted cluster: %s. If one is a machine of this run, its "+
				"hostname differs from the planned name.\n", clean(suggest.Few(names)))
		}
	}()
	for _, s := range w.runner.Journal.Statuses() {
		name := s.Worker.Name
		switch {
		case s.Step == workers.In || s.Step == workers.Out:
			continue
		case s.Step != workers.Made:
			fmt.Fprintf(a.IO.Out, "\n%s: %s\n", clean(name), s.Step)
			continue
		case f.last == nil:
			fmt.Fprintf(a.IO.Out, "\n%s: made; not checked\n", clean(name))
			continue
		}
		where := "nothing shows where it is"
		if i := slices.IndexFunc(f.last.Hosts, func(h diagnosis.HostState) bool { return h.Name == name }); i >= 0 {
			h := f.last.Hosts[i]
			where = fmt.Sprintf("%s %s", h.Stage, h.State)
			if h.Why != "" {
				where += ": " + h.Why
			}
		}
		fmt.Fprintf(a.IO.Out, "\n%s: %s\n", clean(name), clean(where))
		causes := causesOf(f.last, name)
		for _, r := range causes {
			c := r.Cases[0]
			fmt.Fprintf(a.IO.Out, "  cause (%s): %s (%s)\n", c.Confidence, clean(c.Title), r.Fault)
			switch {
			case len(c.Remedies) > 0 && c.Remedies[0].NeedsProof:
				fmt.Fprintf(a.IO.Out, "  once it is proven: %s explain %s\n", a.Name, c.Remedies[0].ID)
			case len(c.Remedies) > 0:
				fmt.Fprintf(a.IO.Out, "  do:   %s explain %s\n", a.Name, c.Remedies[0].ID)
			}
		}
		if why := f.unread[name]; why != "" {
			fmt.Fprintf(a.IO.Out, "  its console was not read: %s\n", clean(why))
		}
		if len(causes) == 0 {
			fmt.Fprintf(a.IO.Out, "  cause unknown: %s diagnose --hosted %s host/%s "+
				"--console %s=FILE\n", a.Name, shellcommand.Quote(w.runner.Journal.Plan.Hosted), clean(name), clean(name))
		}
	}
}
