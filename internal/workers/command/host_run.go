package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/approver"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

func warningCheck(text string) workerCheck { return workerCheck{fault.Present, false, text} }

// hostRequestAge is how long a request of the host is left to the machine-approver, which answers in seconds.
const hostRequestAge = 2 * time.Minute

// hostRunner is what works on a run.
func (a *app) hostRunner(f hostFlags, api *kube.Client, journal *metalhost.Journal, credentials func() (metalhost.Credentials, error)) *metalhost.Runner {
	report := a.reportWorker(&sync.Mutex{})
	name := journal.Plan.Host.Name
	return &metalhost.Runner{
		Journal: journal, API: api, Credentials: credentials, Until: a.IO.Clock().Add(f.timeout),
		Report: func(text string) { report(workers.Event{Time: a.IO.Clock(), Worker: name, Text: text}) },
	}
}

// hostWork does what of a run is not done yet, and waits until the Node is Ready.
func (a *app) hostWork(ctx context.Context, f hostFlags, api *kube.Client, journal *metalhost.Journal,
	credentials func() (metalhost.Credentials, error)) error {
	p := journal.Plan
	fmt.Fprintf(a.IO.Out, "\nRun %s. If it is interrupted: %s host resume %s, or rollback\n", p.Run, a.Name, p.Run)
	r := a.hostRunner(f, api, journal, credentials)
	within, end := context.WithTimeout(ctx, f.timeout)
	defer end()
	idle, err := a.hostSteps(within, r, f.endAvailable)
	switch {
	case ctx.Err() != nil:
		return errors.Join(fmt.Errorf("interrupted: %s host resume %s", a.Name, p.Run), err)
	case err != nil:
		return a.hostNotIn(journal, err)
	case idle:
		fmt.Fprintf(a.IO.Out, "\nHost %s is available. No Machine has been asked for: it becomes a worker when MachineSet %s wants one "+
			"more.\nNext: oc -n %s scale "+
			"machineset %s --replicas N, then %s host resume "+
			"%s\n", p.Host.Name, a.CleanText(p.Set), metalhost.Namespace, shellcommand.Quote(p.Set), a.Name, p.Run)
		return nil
	}
	return a.hostIn(ctx, journal)
}

// hostSteps are the steps of a run. idle says that it ended with a host that is available, as was asked.
func (a *app) hostSteps(ctx context.Context, r *metalhost.Runner, endAvailable bool) (idle bool, err error) {
	if err := r.Make(ctx); err != nil {
		return false, err
	}
	if err := r.Available(ctx); err != nil || endAvailable {
		return err == nil, err
	}
	if err := r.Scale(ctx); err != nil {
		return false, err
	}
	stop, err := a.approveHost(ctx, r)
	if err != nil {
		return false, err
	}
	defer stop()
	if err := r.Taken(ctx); err != nil {
		return false, err
	}
	if err := r.Node(ctx); err != nil {
		return false, err
	}
	a.hostServes(ctx, r)
	return false, nil
}

// approveHost approves the requests of the run's host that nothing else has answered, until stop is called.
func (a *app) approveHost(ctx context.Context, r *metalhost.Runner) (stop func(), err error) {
	config, err := a.session().RESTConfig()
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	nodes, err := approver.NewKube(config)
	if err != nil {
		return nil, err
	}
	identity, err := service.ReplicaName()
	if err != nil {
		return nil, err
	}
	server := approver.New(nodes, approver.Config{
		Identity: identity, Now: a.IO.Clock, Metrics: approver.NewMetrics(), Every: 5 * time.Second, After: hostRequestAge,
		Approve:   approver.Kinds{Client: true, Serving: true},
		Inventory: func(context.Context) ([]csr.Expectation, error) { return r.Expected(), nil },
		Log:       slog.New(decisions{func(e workers.Event) { r.Report(e.Text) }, a.Log.Handler()}),
	})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go crash.Func(func() { defer close(done); _ = server.Run(ctx) })() // it ends with ctx only
	return func() { cancel(); <-done }, nil
}

// hostServes waits until the signs of success hold for the host's Node, with the approver: its serving
// certificate is asked for last.
func (a *app) hostServes(ctx context.Context, r *metalhost.Runner) {
	ctx, cancel := context.WithTimeout(ctx, afterJoin+hostRequestAge)
	defer cancel()
	for {
		list, err := a.hostIndicators(ctx, r.Journal)
		if err == nil && after.AllHold(list) {
			return
		}
		select {
		case <-ctx.Done():
			return // what does not hold is shown
		case <-time.After(afterJoinEvery):
		}
	}
}

// hostIndicators are the signs of success of the host's Node.
func (a *app) hostIndicators(ctx context.Context, j *metalhost.Journal) (list []after.Indicator, err error) {
	quiet := a.with(a.source)
	quiet.App = a.Quieter()
	run, err := quiet.session().Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	d, err := run.Diagnose(ctx)
	if err != nil {
		return nil, err
	}
	node := j.Status().Node.Name
	return after.Check(ctx, after.World(run.World(d.Now), d), d, after.Options{
		Goal: after.Joined, Skip: []after.ID{after.InstallDone}, Hosts: func(h diagnosis.HostState) bool { return h.Name == node },
	})
}

// hostIn ends a run whose host has joined.
func (a *app) hostIn(ctx context.Context, j *metalhost.Journal) error {
	node := j.Status().Node.Name
	list, err := a.hostIndicators(ctx, j)
	if err != nil {
		a.Log.Warn("look at the host after the join", "error", err)
	}
	checks := answer.Section{Heading: "After the join", Entries: indicatorEntries(list)}
	if len(checks.Entries) == 0 {
		checks.Entries = []answer.Entry{{Name: "not checked", Text: "the cluster was not read after the join"}}
	}
	fmt.Fprintf(a.IO.Out, "\nHost %s is Node %s and Ready.\n", j.Plan.Host.Name, a.CleanText(node))
	if err := answer.Sections(a.IO.Out, a.Style(), []answer.Section{checks}); err != nil {
		return err
	}
	fmt.Fprintf(a.IO.Out, "Next: %s watch node/%s --until joined --smoke-pod   (a new pod on it "+
		"answers)\n", a.Name, shellcommand.Quote(a.CleanText(node)))
	if !after.AllHold(list) {
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: errors.New("the Node is Ready; what is listed above does not hold yet")}
	}
	return nil
}

// hostNotIn says what to do with a run that did not come to its end.
func (a *app) hostNotIn(j *metalhost.Journal, err error) error {
	p := j.Plan
	host := p.Host.Name
	if p.Replaces != nil && j.Status().Taken.Name == "" {
		host = p.Replaces.Host
	}
	fmt.Fprintf(a.IO.Out, "\nNext: %s diagnose host/%s\nThen: %s host resume %s\n", a.Name, shellcommand.Quote(host), a.Name, p.Run)
	if p.Replaces == nil {
		fmt.Fprintf(a.IO.Out, "  or: %s host rollback %s\n", a.Name, p.Run)
	}
	var late *metalhost.LateError
	var stuck *metalhost.StuckError
	if errors.As(err, &late) || errors.As(err, &stuck) {
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: err}
	}
	return err
}

// openHostRun opens a run that was begun, against the same cluster.
func (a *app) openHostRun(ctx context.Context, f hostFlags, run string) (*kube.Client, *metalhost.Journal, error) {
	if f.timeout <= 0 {
		return nil, nil, session.Usagef("--timeout is positive")
	}
	state, err := statedir.Path(f.worker.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, nil, err
	}
	journal, err := metalhost.Open(state, run, a.IO.Clock)
	if err != nil {
		return nil, nil, err
	}
	api, err := a.openCluster()
	if err == nil {
		var id string
		if id, err = metalhost.ClusterID(ctx, api); err == nil && id != journal.Plan.Cluster {
			err = fmt.Errorf("run %s is of cluster %s, and this is %s: name its cluster with --kubeconfig or "+
				"--context", run, journal.Plan.Cluster, id)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, journal.Close())
	}
	return api, journal, nil
}

func (a *app) hostResume(ctx context.Context, f hostFlags, run string) (err error) {
	api, journal, err := a.openHostRun(ctx, f, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	if journal.Plan.Replaces != nil {
		return a.replaceWork(ctx, f, api, journal)
	}
	if journal.Status().Undoing() {
		return fmt.Errorf("run %s is being rolled back: %s host rollback %s continues that", run, a.Name, run)
	}
	if journal.Status().Node.Name != "" {
		return a.hostIn(ctx, journal)
	}
	return a.hostWork(ctx, f, api, journal, func() (metalhost.Credentials, error) { return a.credentials(f) })
}

func (a *app) hostRollback(ctx context.Context, f hostFlags, run string) (err error) {
	api, journal, err := a.openHostRun(ctx, f, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	r := a.hostRunner(f, api, journal, nil)
	r.SecretsGo = f.deleteSecrets
	within, end := context.WithTimeout(ctx, f.timeout)
	defer end()
	err = r.Rollback(within)
	var joined *metalhost.JoinedError
	var late *metalhost.LateError
	var gone *metalhost.NoWayBackError
	switch {
	case err == nil && journal.Plan.Replaces != nil:
		fmt.Fprintf(a.IO.Out, "Run %s has changed nothing in the cluster.\n", run)
		return nil
	case errors.As(err, &gone):
		fmt.Fprintf(a.IO.Out, "Nothing was changed. The replacement goes on in the cluster: %s host resume %s waits for it.\n", a.Name, run)
		return &cmdutil.ExitError{Code: cmdutil.ExitFault, Err: err}
	case err == nil:
		fmt.Fprintf(a.IO.Out, "Run %s: what it made is taken away.\n", run)
		return nil
	case errors.As(err, &joined):
		fmt.Fprintf(a.IO.Out, "Nothing was taken away. To remove the worker with its pods:\n  oc -n %[1]s annotate machine %[2]s "+
			"machine.openshift.io/delete-machine=true\n"+
			"  oc -n %[1]s scale machineset %[3]s --replicas N   (one fewer than now; the Machine is drained first)\n", metalhost.Namespace,
			shellcommand.Quote(a.CleanText(joined.Machine)), shellcommand.Quote(a.CleanText(joined.Set)))
		return &cmdutil.ExitError{Code: cmdutil.ExitFault, Err: err}
	case ctx.Err() != nil:
		return errors.Join(fmt.Errorf("interrupted: %s host rollback %s continues", a.Name, run), err)
	case errors.As(err, &late):
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: fmt.Errorf("%w; %s host rollback %s continues", err, a.Name, run)}
	}
	return err
}
