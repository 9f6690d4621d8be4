package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
)

func (a *app) workerReplaceCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "replace [OLD...]",
		Short: "replace workers step by step, the new ones first",
		Long: `Replace is for workers with an outdated release or config ("worker list"), and for those
that are not healthy: on platform None HyperShift replaces none. Name them, or take all
that are with --outdated or --unhealthy.

With --max-surge N the new workers of a step are made first, as by "worker create"; only
when they are Ready, the old ones are deleted, as by "worker delete". With --max-surge 0
the old ones go first. Never more than --max-unavailable Nodes fewer are Ready than at the
beginning. It stops at the first that fails; "worker resume" continues. Nothing is taken
away while the hosted control plane is not well.

` + drainHelp,
		Example: cmdutil.Example(a.Name, "worker replace guest0 --host guest2=192.0.2.33", "one, by a machine that you boot") +
			cmdutil.Example(a.Name, "worker replace --outdated --hosted clusters/guest --provider gcp --option K=V", "all with an old config"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.workerReplace(cmd.Context(), f, args) },
	}
	a.addCreateFlags(cmd, &f)
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.outdated, "outdated", false, "replace every worker that was made with another config than new machines get now")
		s.BoolVar(&f.unhealthy, "unhealthy", false, "replace every worker whose Node is not Ready, unless these are more than half")
		s.IntVar(&f.maxSurge, "max-surge", 1, "make `N` new workers before old ones go")
		s.IntVar(&f.maxUnavailable, "max-unavailable", 0, "`N` Nodes fewer than at the beginning may be Ready meanwhile")
		s.BoolVar(&f.planOnly, "plan", false, "show the checks and what would be replaced, and change nothing")
		s.BoolVar(&f.yes, "yes", false, "do not ask")
	})
	a.addDrainFlags(cmd, &f)
	a.addWorkerFlags(cmd, &f)
	return cmd
}

func (a *app) workerReplace(ctx context.Context, f workerFlags, names []string) (err error) {
	if err := rollOptions(f.maxSurge, f.maxUnavailable, f).Check(); err != nil {
		return session.Usagef("%v", err)
	}
	olds, err := a.chooseOlds(ctx, f, names) // a mistake in a name shows before anything is made
	if err != nil {
		return err
	}
	if len(olds) == 0 {
		_, err := fmt.Fprintln(a.IO.Out, "No worker needs to be replaced.")
		return err
	}
	if len(f.hosts) == 0 && f.provider != workers.ManualName {
		f.count = len(olds)
	}
	if f.count+len(f.hosts) != len(olds) {
		return session.Usagef("%d workers must be replaced: name as many new ones with --host NEW=IP, not %d", len(olds), len(f.hosts))
	}
	list := make([]workers.Old, len(olds))
	for i, o := range olds {
		list[i] = o.Old
		if f.nodePool == "" {
			f.nodePool = o.nodePool
		}
		if o.hosted != olds[0].hosted || o.nodePool != f.nodePool {
			return session.Usagef("%s and %s are of different NodePools: replace those of one at a time", olds[0].Worker, o.Worker)
		}
	}
	o := a.source
	o.Hosted = olds[0].hosted
	a = a.with(o)
	w, err := a.beginWorkers(ctx, f, list)
	if w == nil || err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	return a.workerRoll(ctx, w, f)
}

// oldWorker is a worker that can be replaced.
type oldWorker struct {
	workers.Old
	hosted, nodePool string
}

// chooseOlds returns the workers that are named, outdated or not healthy.
func (a *app) chooseOlds(ctx context.Context, f workerFlags, names []string) ([]oldWorker, error) {
	if len(names) > 0 == (f.outdated || f.unhealthy) {
		return nil, session.Usagef("name the workers, or add --outdated or --unhealthy")
	}
	var list []oldWorker
	for _, name := range names {
		r, err := a.findWorker(f, name)
		if err != nil {
			return nil, err
		}
		list = append(list, oldWorker{workers.Old{Run: r.Plan.Run, Worker: name}, r.Plan.Hosted, r.Plan.NodePool})
	}
	if len(names) > 0 {
		return list, nil
	}
	if a.source.Hosted == "" {
		return nil, session.Usagef("--outdated and --unhealthy need --hosted NAMESPACE/NAME")
	}
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return nil, err
	}
	runs, err := workers.Runs(state)
	if err != nil {
		return nil, err
	}
	h, err := a.openHub()
	if err != nil {
		return nil, err
	}
	joined, configs := 0, map[string]string{}
	for _, r := range slices.Backward(runs) { // the oldest first
		if r.Plan.Hosted != a.source.Hosted || f.nodePool != "" && r.Plan.NodePool != f.nodePool {
			continue
		}
		if configs[r.Plan.NodePool] == "" {
			if configs[r.Plan.NodePool], err = workers.CurrentConfig(ctx, h, r.Plan); err != nil {
				return nil, err
			}
		}
		for _, s := range r.Statuses {
			if s.Step != workers.In {
				continue
			}
			joined++
			take := f.outdated && s.Config != configs[r.Plan.NodePool]
			if f.unhealthy && !take {
				if take, err = a.notReady(ctx, s.Worker.Name); err != nil {
					return nil, err
				}
			}
			if take {
				list = append(list, oldWorker{workers.Old{Run: r.Plan.Run, Worker: s.Worker.Name}, r.Plan.Hosted, r.Plan.NodePool})
			}
		}
	}
	if f.unhealthy && !f.outdated && 2*len(list) > joined {
		return nil, fmt.Errorf("%d of %d workers are not Ready: where most are not, the reason is rarely the machines; nothing is replaced. See %s "+
			"diagnose --hosted %s", len(list), joined, a.Name, shellcommand.Quote(a.source.Hosted))
	}
	return list, nil
}

// notReady reports whether a worker's Node is there and not Ready. One that cannot be read is
// an error: it is not taken for unhealthy.
func (a *app) notReady(ctx context.Context, name string) (bool, error) {
	nodes, _, err := a.hostedClients(ctx)
	if err != nil {
		return false, err
	}
	n, there, err := readNode(ctx, nodes, name)
	return there && !n.Ready, err
}

func rollOptions(surge, unavailable int, f workerFlags) workers.RollOptions {
	return workers.RollOptions{MaxSurge: surge, MaxUnavailable: unavailable, JoinTimeout: f.window, Drain: f.drain}
}

// replaceOlds has the plan's workers replace olds, in their order.
func replaceOlds(p *workers.Plan, f workerFlags, olds []workers.Old) {
	if len(olds) == 0 {
		return
	}
	p.Replaces, p.MaxSurge, p.Unavailable = map[string]workers.Old{}, f.maxSurge, f.maxUnavailable
	p.Unmanaged, p.EmptyDir, p.KeepAtLeast = f.drain.Unmanaged, f.drain.EmptyDir, f.drain.KeepAtLeast
	for i, old := range olds {
		p.Replaces[p.Workers[i].Name] = old
	}
}

// workerRoll replaces the workers of a run's plan, with the approver and the watch of
// `worker create`.
func (a *app) workerRoll(ctx context.Context, w *workerRun, f workerFlags) (err error) {
	plan := w.runner.Journal.Plan
	fmt.Fprintf(a.IO.Out, "\nRun %s. If it is interrupted: %s worker resume %s\n", plan.Run, a.Name, plan.Run)
	oldRuns := map[string]*workerRun{}
	defer func() {
		for _, old := range oldRuns {
			err = errors.Join(err, old.close())
		}
	}()
	var moves []workers.Move
	for _, x := range plan.Workers {
		old := plan.Replaces[x.Name]
		if oldRuns[old.Run] == nil {
			_, opened, err := a.openWorkerRun(ctx, f, old.Run)
			if err != nil {
				return fmt.Errorf("open the run of %s: %w", old.Worker, err)
			}
			oldRuns[old.Run] = opened
		}
		moves = append(moves, workers.Move{Old: old.Worker, OldRun: oldRuns[old.Run].runner, New: x.Name})
	}
	rolling, end := context.WithCancel(ctx)
	defer end()
	stop, err := a.approveWorkers(rolling, w)
	if err != nil {
		return err
	}
	defer stop()
	if f.recreate { // those of the step that stopped: the others of the plan are not made yet
		if err := w.runner.Recreate(rolling); err != nil {
			return err
		}
	}
	follow := a.followWorkers(rolling, w, end, true)
	o := rollOptions(plan.MaxSurge, plan.Unavailable, f)
	o.Drain = plan.Drained(o.Drain)
	health := a.quiet(plan)
	o.Healthy = func(ctx context.Context) error { return health.controlPlaneWell(ctx, plan) }
	rolled := w.runner.Roll(rolling, guestCluster{w.api}, moves, o)
	follow.stop()
	follow.settle(ctx)
	stop()
	if rolled != nil && ctx.Err() == nil {
		fmt.Fprintf(a.IO.Out, "\nIt %s\n", a.CleanText(rolled.Error()))
		a.printWhyNot(w, follow)
		fmt.Fprintf(a.IO.Out, "\nThen: %s worker resume %s (with --recreate: a new worker that has not joined is re-created with fresh user-data)\n "+
			" or: %s worker rollback %s\n", a.Name, plan.Run, a.Name, plan.Run)
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided, Err: errors.New("not all workers are replaced")}
	}
	if rolled != nil {
		return rolled
	}
	if err := a.printAfterJoin(follow); err != nil {
		return err
	}
	if plan.Provider == workers.ManualName {
		fmt.Fprintln(a.IO.Out, "Next: switch off the machines of the old workers. Their kubelets have certificates and register again when they are restarted.")
	}
	return nil
}

// workerUncordon uncordons what an interrupted run has cordoned and not taken away: its own
// workers, and those that it was about to replace.
func (a *app) workerUncordon(ctx context.Context, f workerFlags, w *workerRun) error {
	runs := []*workerRun{w}
	seen := map[string]bool{w.runner.Journal.Plan.Run: true}
	var err error
	for _, old := range w.runner.Journal.Plan.Replaces {
		if seen[old.Run] {
			continue
		}
		seen[old.Run] = true
		_, opened, openErr := a.openWorkerRun(ctx, f, old.Run)
		if openErr != nil {
			err = errors.Join(err, fmt.Errorf("open the run of %s: %w", old.Worker, openErr))
			continue
		}
		defer func() { err = errors.Join(err, opened.close()) }()
		runs = append(runs, opened)
	}
	for _, r := range runs {
		names, unErr := r.runner.Uncordon(ctx, guestCluster{r.api})
		for _, name := range names {
			fmt.Fprintf(a.IO.Out, "%s stays and is schedulable again.\n", a.CleanText(name))
		}
		err = errors.Join(err, unErr)
	}
	return err
}

// controlPlaneWell says why nothing may be taken away now.
func (a *app) controlPlaneWell(ctx context.Context, p workers.Plan) error {
	r, err := a.session().Open(ctx)
	if err != nil {
		return err
	}
	d, err := r.Diagnose(ctx)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	var wrong []string
	for _, c := range faultChecks(d, hostedFaults(r.Catalog), p.NodePool) {
		if c.stops {
			wrong = append(wrong, c.text)
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the hosted control plane is not well: %s", strings.Join(wrong, "; "))
	}
	return nil
}
