package command

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/follow"
	"github.com/rollcall-project/rollcall/internal/follow/pace"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/watch/screen"
)

// looked is one run of a watch.
type looked struct {
	run    follow.Run
	chosen map[string]bool // hosts; nil: all expected ones
	next   string          // the command that leads on
	report answer.Options
	took   time.Duration
	err    error

	session *session.Session // with the kubeconfig that was found
}

// watching is a watch that runs.
type watching struct {
	app      *app
	flags    watchFlags
	subjects []fault.Subject
	follower *follow.Follower
	show     shower
	hook     *hook
	pace     pace.Pace

	chosen map[string]bool
	newest looked // without an error
	change pace.Changes
	trying string // what is done after everything else holds
}

// shower shows what is followed: on a screen, as lines or as JSON.
type shower interface {
	isScreen() bool
	events(list []follow.Event) error
	frame(v follow.View, size screen.Size, o answer.Options)
	close()
	end(e follow.Event, d *diagnosis.Diagnosis, o answer.Options) error
}

// watch follows the cluster that the flags name.
func (a *app) watch(ctx context.Context, f watchFlags, format string, subjects []fault.Subject) error {
	if err := a.session().KeepCompiled(); err != nil {
		return err
	}
	w := &watching{app: a, flags: f, subjects: subjects, pace: pace.Pace{Interval: f.interval, Bounds: pace.OfPerson()}}
	w.follower = follow.New(follow.Rules{
		Goal: after.Goal(f.until), StopOnRoot: f.stopOn == stopOnRoot, Narrowed: len(subjects) > 0,
		Installing: a.source.InstallDir != "" || a.source.Rendezvous != "", Hosts: w.counts,
	})
	if w.show = a.shower(format); w.show.isScreen() {
		defer a.Silence()()
	}
	defer w.show.close()
	if f.onChange != "" {
		w.hook = startHook(f.onChange, a.IO.Err)
		defer w.hook.stop()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w.listen(ctx)
	return w.follow(ctx)
}

// counts reports whether a host is one that is waited for.
func (w *watching) counts(h diagnosis.HostState) bool {
	return h.Expected && (w.chosen == nil || w.chosen[h.Name])
}

// listen begins to hear of changes. A hosted cluster and what has no API yet are read at
// intervals.
func (w *watching) listen(ctx context.Context) {
	a := w.app
	w.change.Notify = make(chan struct{}, 1)
	if a.source.Hosted != "" || a.source.InstallDir != "" || a.source.Rendezvous != "" || a.session().NoCluster() {
		w.pace.Interval = min(w.pace.Interval, blindInterval)
		return
	}
	kube := a.source.Kube // a copy: runs load it again, at the same time
	fresh := func() (*rest.Config, error) {
		kube.Reload()
		return kube.RESTConfig()
	}
	w.change.Source = live.NewChanges(fresh, live.Options{Now: a.IO.Clock})
	source, add := w.change.Source, w.change.Add
	go crash.Func(func() { source.Run(ctx, add) })()
}

// blindInterval is how often a cluster is read whose changes are not noticed.
const blindInterval = 20 * time.Second

// look makes one run.
func (w *watching) look(ctx context.Context) (l looked) {
	a := w.app
	began := time.Now()
	defer func() { l.took = time.Since(began) }()
	r, err := a.session().Open(ctx)
	if err != nil {
		l.err = err
		return l
	}
	defer func() { l.err = errors.Join(l.err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		l.err = err
		return l
	}
	l.run.Diagnosis, l.session = d, r.Session
	o := after.Options{Goal: after.Goal(w.flags.until), StableFor: w.flags.stable}
	if len(w.subjects) > 0 && len(d.Hosts) > 0 {
		if l.chosen, l.err = chosenHosts(ctx, r, d, w.subjects); l.err != nil {
			return l
		}
		o.Hosts = func(h diagnosis.HostState) bool { return l.chosen[h.Name] }
	}
	if l.run.Indicators, l.err = after.Check(ctx, after.World(r.World(d.Now), d), d, o); l.err != nil {
		return l
	}
	l.next = a.watchNext(ctx, r, l)
	l.report = a.ReportOptions(r)
	return l
}

// follow runs until the end.
func (w *watching) follow(ctx context.Context) error {
	results := make(chan looked, 1)
	working, stop := context.WithCancel(ctx)
	defer stop()
	begun := time.Now()
	start := func() {
		w.change.Take()
		w.pace.Begin()
		go crash.Func(func() { results <- w.look(working) })()
	}
	start()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			stop()
			if w.pace.Running {
				<-results // it ends with its context
			}
			return w.finish(w.follower.Interrupted(int(cmdutil.ExitInterrupted)))
		case l := <-results:
			if over, err := w.took(ctx, l); over || err != nil {
				return err
			}
		case <-w.change.Notify:
		case <-tick.C:
		}
		now := time.Now()
		if limit := w.flags.timeout; limit > 0 && now.Sub(begun) >= limit {
			stop()
			if w.pace.Running {
				<-results
			}
			return w.finish(w.follower.TimedOut(limit))
		}
		if w.pace.Due(now, w.change.Pending()) {
			start()
		}
		w.paint()
	}
}

// took hands a run to the follower and shows what it makes of it.
func (w *watching) took(ctx context.Context, l looked) (over bool, err error) {
	w.pace.Ended(time.Now(), l.took)
	if l.took > time.Second {
		defer debug.FreeOSMemory() // a large cluster's objects are of no use until the next run
	}
	if l.err != nil {
		if w.newest.run.Diagnosis == nil || errors.Is(l.err, context.Canceled) {
			return true, l.err
		}
		w.pace.Failed = l.err
		w.pace.Recheck(pace.AwayPause)
		w.app.Log.Warn("read the cluster", "error", l.err)
		return false, nil
	}
	w.pace.Failed = nil
	if l.chosen != nil {
		w.chosen = l.chosen
	}
	events := w.follower.Step(l.run)
	newest, now := l.run.Diagnosis, l.run.Diagnosis.Now
	l.run = follow.Run{Diagnosis: w.follower.Last()} // the follower keeps what is shown
	w.newest = l
	w.pace.Plan(w.follower.Recheck(), newest, len(events) > 0)
	if err := w.show.events(events); err != nil {
		return true, err
	}
	w.hook.send(events)
	if end, over := w.follower.End(); over {
		return true, w.finish(w.smokeEnd(ctx, end))
	}
	if again := w.follower.Recheck(); !again.IsZero() { // End may have asked for one
		w.pace.Recheck(again.Sub(now))
	}
	return false, nil
}

// paint shows the newest view.
func (w *watching) paint() {
	if !w.show.isScreen() {
		return
	}
	w.show.frame(w.follower.View(), screen.Size{Busy: w.busy(), Next: w.newest.next}, w.newest.report)
}

// busy is what is done now, for the head of the frame.
func (w *watching) busy() string {
	changed := w.change.Pending()
	switch {
	case w.trying != "":
		return w.trying
	case w.pace.Failed != nil:
		return "not read: " + w.pace.Failed.Error()
	case w.pace.Running && w.newest.run.Diagnosis == nil:
		return "reading the cluster for the first time"
	case changed != "":
		return "changed: " + changed
	case w.pace.Running && w.change.Read() != "":
		return "reading, changed: " + w.change.Read()
	case w.pace.Running:
		return "reading"
	}
	return ""
}

// finish shows the end. The exit code is in the error.
func (w *watching) finish(e follow.End) error {
	e.Next = w.newest.next
	last := w.follower.Finish(e)
	last.Time = w.app.IO.Clock().UTC().Truncate(time.Second)
	w.hook.send([]follow.Event{last})
	w.show.close()
	o := w.newest.report
	if o.Command == "" {
		o.Command, o.Style, o.Source = w.app.Name, w.app.Style(), w.app.source.Again()
	}
	if err := w.show.end(last, w.follower.Last(), o); err != nil {
		return err
	}
	if e.ExitCode == 0 {
		return nil
	}
	return &cmdutil.ExitError{Code: cmdutil.ExitCode(e.ExitCode)}
}
