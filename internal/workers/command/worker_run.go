package command

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/after"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/crash"
	"github.com/rollcall-project/rollcall/internal/csr"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/openshift"
	"github.com/rollcall-project/rollcall/internal/service"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/hosted"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/approver"
)

// workerRun is a run with the two clusters that it works with.
type workerRun struct {
	runner *workers.Runner
	nodes  *approver.Kube // of the hosted cluster
	api    *kube.Client   // of the hosted cluster
}

func (w *workerRun) close() error { return w.runner.Journal.Close() }

// hub reads objects of the management cluster.
type hub struct{ api *kube.Client }

// Object implements worker.Management.
func (h hub) Object(ctx context.Context, group, resource, namespace, name string) (map[string]any, error) {
	version := "v1"
	if group == openshift.HyperShiftGroup {
		version = "v1beta1"
	}
	return h.api.Get(ctx, kube.Ref{Group: group, Version: version, Resource: resource, Namespace: namespace, Name: name})
}

func (a *app) openHub() (hub, error) {
	config, err := a.session().RESTConfig()
	if err != nil {
		return hub{}, err
	}
	config.QPS = -1 // a run makes few requests and must not wait for its own throttle
	api, err := kube.New(config, kube.Limits{})
	return hub{api}, err
}

// findHostedCluster completes a plan with the HostedCluster that it is for.
func (h hub) findHostedCluster(ctx context.Context, p *workers.Plan) error {
	namespace, name, err := hosted.Parse(p.Hosted)
	if err != nil {
		return session.Usagef("--hosted: %v", err)
	}
	object, err := h.Object(ctx, openshift.HyperShiftGroup, "hostedclusters", namespace, name)
	if err != nil {
		return fmt.Errorf("read HostedCluster %s: %w", p.Hosted, err)
	}
	p.ControlPlane, p.HostedUID = hosted.ControlPlaneOf(namespace, name), evidence.String(object, "metadata", "uid")
	return nil
}

func (a *app) workerCreate(ctx context.Context, f workerFlags) (err error) {
	w, err := a.beginWorkers(ctx, f, nil)
	if w == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return a.workerWork(ctx, w, f)
}

// beginWorkers checks, shows the plan, asks, and begins the journal. It returns nil where
// nothing is to be made. olds, where there are any, are replaced by the plan's workers.
func (a *app) beginWorkers(ctx context.Context, f workerFlags, olds []workers.Old) (*workerRun, error) {
	p, err := a.workerPlan(f)
	if err != nil {
		return nil, err
	}
	by, err := workers.FindProvider(p.Provider, p.Options["dir"])
	if err != nil {
		return nil, err
	}
	h, err := a.openHub()
	if err != nil {
		return nil, err
	}
	if err := h.findHostedCluster(ctx, &p); err != nil {
		return nil, err
	}
	checks, err := a.workerChecks(ctx, h, by, f, &p, olds)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("make %d workers", len(p.Workers))
	if len(olds) > 0 {
		what = fmt.Sprintf("replace %d workers of hosted cluster %s", len(olds), p.Hosted)
	}
	if err := a.printWorkerPlan(p, checks); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(checks, func(c workerCheck) bool { return c.stops }) {
		fmt.Fprintln(a.IO.Out, "\nNothing was made: repair what is marked first.")
		return nil, &cmdutil.ExitError{Code: cmdutil.ExitFault}
	}
	if f.planOnly {
		return nil, nil
	}
	if err := a.typedYes(f, what); err != nil {
		return nil, err
	}
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, err
	}
	journal, err := workers.Begin(state, p, a.IO.Clock)
	if err != nil {
		return nil, err
	}
	w, err := a.newWorkerRun(ctx, f, h, journal)
	if err != nil {
		return nil, errors.Join(err, journal.Close())
	}
	return w, nil
}

// typedYes has a person confirm what is about to be done.
func (a *app) typedYes(f workerFlags, what string) error {
	if f.yes {
		return nil
	}
	if !a.IO.Screen.InTerminal || !a.IO.Screen.ErrTerminal {
		return errors.New("nothing was done: there is no terminal to ask at; add --yes")
	}
	fmt.Fprintf(a.IO.Err, "\nType yes to %s: ", a.CleanText(what))
	line, err := bufio.NewReader(a.IO.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the confirmation: %w", err)
	}
	if strings.TrimSpace(line) != "yes" {
		return errors.New("not confirmed: nothing was done")
	}
	return nil
}

// openWorkerRun opens a run that was begun, against the same hosted cluster, which the app that is
// returned reads.
func (a *app) openWorkerRun(ctx context.Context, f workerFlags, run string) (*app, *workerRun, error) {
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, nil, err
	}
	journal, err := workers.Open(state, run, a.IO.Clock)
	if err != nil {
		return nil, nil, err
	}
	a, err = a.forWorkerRun(journal.Plan)
	if err != nil {
		return nil, nil, errors.Join(err, journal.Close())
	}
	w, err := func() (*workerRun, error) {
		h, err := a.openHub()
		if err != nil {
			return nil, err
		}
		now := journal.Plan
		if err := h.findHostedCluster(ctx, &now); err != nil {
			return nil, err
		}
		if now.HostedUID != journal.Plan.HostedUID {
			return nil, fmt.Errorf("HostedCluster %s was re-created since run %s started (uid %s, was %s): name the management cluster of the run "+
				"with --kubeconfig or --context", now.Hosted, run, now.HostedUID, journal.Plan.HostedUID)
		}
		return a.newWorkerRun(ctx, f, h, journal)
	}()
	if err != nil {
		return nil, nil, errors.Join(err, journal.Close())
	}
	return a, w, nil
}

// forWorkerRun reads the hosted cluster of a plan, and refuses another one.
func (a *app) forWorkerRun(p workers.Plan) (*app, error) {
	o := a.source
	if o.Hosted != "" && o.Hosted != p.Hosted {
		return nil, session.Usagef("--hosted %s: the run is of %s", o.Hosted, p.Hosted)
	}
	o.Hosted = p.Hosted
	o.HostedKubeconfig = cmp.Or(o.HostedKubeconfig, p.Kubeconfig) // where there is no Secret, a rollback has to reach it as well
	return a.with(o), nil
}

func (a *app) newWorkerRun(ctx context.Context, f workerFlags, h hub, journal *workers.Journal) (*workerRun, error) {
	provider, err := workers.FindProvider(journal.Plan.Provider, journal.Plan.Options["dir"])
	if err != nil {
		return nil, err
	}
	nodes, api, err := a.hostedClients(ctx)
	if err != nil {
		return nil, err
	}
	return &workerRun{nodes: nodes, api: api, runner: &workers.Runner{
		Journal: journal, Provider: provider, Parallel: f.parallel, Now: a.IO.Clock,
		UserData: func(ctx context.Context) (workers.UserData, error) { return workers.Fresh(ctx, h, journal.Plan) },
		Nodes:    func(ctx context.Context, name string) (workers.Node, bool, error) { return readNode(ctx, nodes, name) },
		Report:   a.reportWorker(&sync.Mutex{}),
	}}, nil
}

// hostedClients are clients of the hosted cluster.
func (a *app) hostedClients(ctx context.Context) (*approver.Kube, *kube.Client, error) {
	config, err := a.session().RequestsConfig(ctx)
	if err != nil {
		return nil, nil, err
	}
	config.QPS = -1
	nodes, err := approver.NewKube(config)
	if err != nil {
		return nil, nil, err
	}
	api, err := kube.New(config, kube.Limits{})
	return nodes, api, err
}

// reportWorker prints what happens to a worker, one line each.
func (a *app) reportWorker(one *sync.Mutex) func(workers.Event) {
	return func(e workers.Event) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintf(a.IO.Out, "%s  %s: %s\n", e.Time.UTC().Format(time.RFC3339), a.CleanText(e.Worker), a.CleanText(e.Text))
	}
}

// readNode reads one Node of the hosted cluster.
func readNode(ctx context.Context, api approver.API, name string) (workers.Node, bool, error) {
	o, err := api.Get(ctx, kube.Ref{Version: "v1", Resource: "nodes", Name: name})
	if apierrors.IsNotFound(err) {
		return workers.Node{}, false, nil
	}
	if err != nil {
		return workers.Node{}, false, err
	}
	return nodeOf(o), true, nil
}

func nodeOf(o map[string]any) workers.Node {
	n := workers.Node{UID: evidence.String(o, "metadata", "uid")}
	n.Created, _ = time.Parse(time.RFC3339, evidence.String(o, "metadata", "creationTimestamp"))
	conditions, _ := evidence.Field(o, "status", "conditions").([]any)
	for _, c := range conditions {
		if c, is := c.(map[string]any); is && c["type"] == "Ready" {
			n.Ready, n.Silent = c["status"] == "True", c["status"] == "Unknown"
		}
	}
	n.Kubelet = evidence.String(o, "status", "nodeInfo", "kubeletVersion")
	n.Cordoned = evidence.Field(o, "spec", "unschedulable") == true
	return n
}

// workerWork makes what is missing, approves the requests of the run's hosts, and waits. The
// first that is made does not wait for the last one.
func (a *app) workerWork(ctx context.Context, w *workerRun, f workerFlags) error {
	plan := w.runner.Journal.Plan
	fmt.Fprintf(a.IO.Out, "\nRun %s. If it is interrupted: %s worker resume %s, or rollback\n", plan.Run, a.Name, plan.Run)
	joining, end := context.WithTimeout(ctx, f.window)
	defer end()
	stop, err := a.approveWorkers(joining, w)
	if err != nil {
		return err
	}
	defer stop()
	if f.recreate {
		if err := w.runner.Recreate(ctx); err != nil {
			return err
		}
	}
	follow := a.followWorkers(joining, w, end, false)
	made := w.runner.Create(ctx)
	if ctx.Err() != nil {
		follow.stop()
		return made
	}
	joined := w.runner.Join(joining)
	follow.stop()
	follow.settle(ctx) // with the approver: serving certificates are asked for last
	stop()
	return a.workerEnd(ctx, w, f, follow, made, joined)
}

// approveWorkers approves the requests of the run's hosts, and of no other, until stop is
// called.
func (a *app) approveWorkers(ctx context.Context, w *workerRun) (stop func(), err error) {
	identity, err := service.ReplicaName()
	if err != nil {
		return nil, err
	}
	server := approver.New(w.nodes, approver.Config{
		Identity: identity, Now: a.IO.Clock, Metrics: approver.NewMetrics(), Every: 5 * time.Second,
		Approve:   approver.Kinds{Client: true, Serving: true},
		Inventory: func(context.Context) ([]csr.Expectation, error) { return w.runner.Expected(), nil },
		Log:       slog.New(decisions{w.runner.Report, a.Log.Handler()}),
	})
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go crash.Func(func() { defer close(done); _ = server.Run(ctx) })() // it ends with ctx only
	return func() { cancel(); <-done }, nil
}

// decisions shows what the approver decided on the run's hosts, and leaves the rest of its
// log to another handler.
type decisions struct {
	report func(workers.Event)
	slog.Handler
}

// Enabled implements slog.Handler.
func (decisions) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (d decisions) Handle(ctx context.Context, r slog.Record) error {
	said := map[string]string{}
	r.Attrs(func(x slog.Attr) bool { said[x.Key] = x.Value.String(); return true })
	switch approver.Decision(said["decision"]) {
	case approver.Approved:
		d.report(workers.Event{Time: r.Time, Worker: said["host"], Text: fmt.Sprintf("%s certificate approved (%s)", said["kind"], said["request"])})
	case approver.Refused, approver.Deferred:
		if said["inventory"] != "" {
			d.report(workers.Event{Time: r.Time, Worker: said["host"], Text: fmt.Sprintf("request %s is not approved: %s", said["request"], said["why"])})
			return nil
		}
	}
	if !d.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return d.Handler.Handle(ctx, r)
}

// workerEnd says how a run ended, why what did not join did not, and what to do next.
func (a *app) workerEnd(ctx context.Context, w *workerRun, f workerFlags, follow *workerFollow, made, joined error) error {
	plan, all := w.runner.Journal.Plan, w.runner.Journal.Statuses()
	n := 0
	for _, s := range all {
		if s.Step == workers.In {
			n++
		}
	}
	fmt.Fprintf(a.IO.Out, "\n%d of %d workers are Ready.\n", n, len(all))
	if plan.SmokePod {
		follow.trySmoke(ctx)
	}
	if err := a.printAfterJoin(follow); err != nil {
		return err
	}
	if n > 0 {
		if err := a.keepAfterJoin(ctx, w, follow); err != nil {
			a.Log.Warn("keep what the cluster is like after the join", "error", err)
		}
	}
	if made == nil && joined == nil {
		fmt.Fprintf(a.IO.Out, "Next: %s diagnose --hosted %s\n", a.Name, shellcommand.Quote(plan.Hosted))
		if !after.AllHold(follow.indicators) {
			return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: errors.New("all workers are Ready; what is listed above does not hold yet")}
		}
		return nil
	}
	a.printWhyNot(w, follow)
	var late *workers.NotJoinedError
	onlyLate := made == nil && errors.As(joined, &late)
	if f.deleteFailed {
		removed := w.runner.Unjoined()
		_, err := w.runner.Rollback(ctx)
		if err == nil {
			a.printRolledBack(plan, removed)
		}
		made = errors.Join(made, err)
	} else {
		fmt.Fprintf(a.IO.Out, "\nThen: %s worker resume %s (with --recreate: re-created with fresh user-data)\n  or: %s worker "+
			"rollback %s\n", a.Name, plan.Run, a.Name, plan.Run)
	}
	if onlyLate {
		return errors.Join(&cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: joined}, made)
	}
	return errors.Join(made, joined)
}
