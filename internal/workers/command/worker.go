package command

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers"
	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// workerFlags are the flags of the worker commands.
type workerFlags struct {
	nodePool string
	hosts    []string
	count    int
	stream   string
	arch     string
	provider string
	dir      string
	options  []string
	window   time.Duration
	parallel int
	stateDir string
	yes      bool
	planOnly bool
	smokePod bool
	drain    workers.Drain

	recreate, deleteFailed   bool
	maxSurge, maxUnavailable int
	outdated, unhealthy      bool
}

func (a *app) workerCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "make the workers of a hosted cluster of platform None",
		Long: `Worker makes machines for a NodePool of platform None. HyperShift makes none on that
platform, and no controller approves the requests of their kubelets.

Each run has a journal. "worker resume" continues a run that was interrupted, "worker
rollback" takes away what it made and what has not joined, "worker replace" and "worker
delete" are for workers that have joined.`,
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.workerCreateCommand(), a.workerUserDataCommand(), a.workerListCommand(), a.workerResumeCommand(), a.workerRollbackCommand(),
		a.workerReplaceCommand(),
		a.workerDeleteCommand())
	return cmd
}

// defaultJoin is how long a worker may take from its creation to its Node: an image of
// RHCOS boots twice, and the first boot pulls the OS image of the release.
const defaultJoin = time.Hour

func (a *app) workerCreateCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "create --hosted NS/NAME --host NAME=IP...",
		Short: "make workers, approve exactly their requests, and wait until they are Ready",
		Long: `Create checks the NodePool, its token, its user-data and the ignition endpoint,
shows what it will make, and asks. Then it makes the machines, each with user-data that
is read at that moment, approves the requests of these hosts only, and waits until their
Nodes are Ready.

--provider manual, the default, writes the user-data of each host into a file of mode
0600 and prints what to boot. Any other name is a program on the PATH,
rollcall-provider-NAME. User-data is a secret: it is in no argument, log or journal, and
is removed when the Node is Ready.

Exit codes: 0 all workers are Ready; 1 the tool could not do its work; 2 a check failed
and nothing was made; 3 not all have joined in time: resume or roll back.`,
		Example: cmdutil.Example(a.Name, "worker create --hosted clusters/guest --host guest0=192.0.2.31 --plan",
			"what would be made, and whether anything blocks it") +
			cmdutil.Example(a.Name, "worker create --hosted clusters/guest --host w0=192.0.2.31 --host w1=192.0.2.32",
				"user-data for two hosts that you boot") +
			cmdutil.Example(a.Name, "worker create --hosted clusters/guest --count 3 --provider gcp --option K=V", "by a program on the PATH"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.workerCreate(cmd.Context(), f) },
	}
	a.addCreateFlags(cmd, &f)
	addSmokeFlag(cmd, &f)
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.planOnly, "plan", false, "show the checks and what would be made, and make nothing")
		s.BoolVar(&f.yes, "yes", false, "do not ask")
	})
	a.addWorkerFlags(cmd, &f)
	return cmd
}

// addCreateFlags adds what says which workers are made, and how.
func (a *app) addCreateFlags(cmd *cobra.Command, f *workerFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.nodePool, "nodepool", "", "the `NAME` of the NodePool; default: the only one of the hosted cluster")
		s.StringVar(&f.arch, "arch", "x86_64", "architecture of the workers, as the stream names it")
	})
	a.addMachineFlags(cmd, f)
}

// addMachineFlags adds what says how machines are made, for a NodePool and an architecture that are known.
func (a *app) addMachineFlags(cmd *cobra.Command, f *workerFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringArrayVar(&f.hosts, "host", nil, "a worker, as `NAME[=IP,NAME...]`: its Node's name, and addresses and further names of its serving "+
			"certificate; repeatable")
		s.IntVar(&f.count, "count", 0, "make `N` workers with names of the form NODEPOOL-xxxxx, for a provider that gives addresses")
		s.StringVar(&f.provider, "provider", workers.ManualName, "who makes the machines: manual, or the `NAME` of a program rollcall-provider-NAME")
		s.StringVar(&f.dir, "dir", ".", "with --provider manual: write the files into this `DIR`")
		s.StringVar(&f.stream, "stream", "", "take the boot image from this `FILE`, which \"openshift-install coreos print-stream-json\" of the "+
			"release prints")
		s.StringArrayVar(&f.options, "option", nil, "`KEY=VALUE` for the program of the provider; repeatable")
		s.DurationVar(&f.window, "window", defaultJoin, "approve first certificates, and wait, for this `TIME` from when a machine is made")
		s.IntVar(&f.parallel, "parallel", 5, "make at most `N` machines at once")
		s.BoolVar(&f.deleteFailed, "delete-failed", false, "take away what has not joined at the end; default: it stays, for a look at it")
	})
}

// addSmokeFlag adds the pod that is tried at the end.
func addSmokeFlag(cmd *cobra.Command, f *workerFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.BoolVar(&f.smokePod, "smoke-pod", false, "when all else holds, make one pod on each new worker, ask it over the pod network, and delete it")
	})
}

func (a *app) addWorkerFlags(cmd *cobra.Command, f *workerFlags) {
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&f.stateDir, "state-dir", "", "keep journals in this `DIR`; default $XDG_STATE_HOME/rollcall")
	})
	a.AddHostedFlags(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
}

func (a *app) workerListCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "list", Short: "list the runs of this machine and how far their workers came",
		Args: cmdutil.NoArgs,
		Long: `List shows the runs whose journals are on this machine. With --hosted it also reads both
clusters, and marks the workers that were made with another config than new machines get
now, or whose kubelet is of another release: on platform None HyperShift updates none of
them (see "worker replace"). It shows until when serving certificates are valid, as the
run or the requests of the last hour show it, and which conditions of the NodePool are
not about these workers.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.workerList(cmd.Context(), f) },
	}
	a.addWorkerFlags(cmd, &f)
	return cmd
}

func (a *app) workerResumeCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "resume RUN", Short: "continue a run: make what is missing, and wait for what has not joined",
		Long: `Resume continues a run that was interrupted or has stopped. A replacement continues with
what was allowed when it began: --force and --delete-emptydir-data can be added, and
--keep-at-least can be raised.`,
		Args: a.ExactlyOne("RUN", "worker list"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.workerResume(cmd.Context(), f, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.DurationVar(&f.window, "window", defaultJoin, "wait at most this `TIME`; first certificates are approved for the run's own window, from "+
			"when a machine is made")
		s.IntVar(&f.parallel, "parallel", 5, "make at most `N` machines at once")
		s.BoolVar(&f.recreate, "recreate", false, "take away the machines that have not joined, and re-create them with user-data that is read then")
		s.BoolVar(&f.deleteFailed, "delete-failed", false, "take away what has not joined at the end; default: it stays, for a look at it")
	})
	a.addDrainFlags(cmd, &f)
	a.addWorkerFlags(cmd, &f)
	return cmd
}

func (a *app) workerRollbackCommand() *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use: "rollback RUN", Short: "take away the machines of a run that have not joined",
		Long: `Rollback takes away what the journal of the run has and what the provider has marked as
this run's, and nothing else. A worker with a Node is part of the cluster: it stays.`,
		Args: a.ExactlyOne("RUN", "worker list"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.workerRollback(cmd.Context(), f, args[0]) },
	}
	a.addWorkerFlags(cmd, &f)
	return cmd
}

// parseWorker reads NAME[=IP,NAME...].
func parseWorker(text string) provider.Worker {
	name, rest, more := strings.Cut(text, "=")
	w := provider.Worker{Name: name}
	if more {
		for _, part := range strings.Split(rest, ",") {
			if ip, err := netip.ParseAddr(part); err == nil {
				w.IPs = append(w.IPs, ip.Unmap().String())
			} else {
				w.DNS = append(w.DNS, part)
			}
		}
	}
	return w
}

func (a *app) workerPlan(f workerFlags) (workers.Plan, error) {
	p := workers.Plan{Made: a.IO.Clock().UTC(), Hosted: a.source.Hosted, NodePool: f.nodePool, Provider: f.provider, Options: map[string]string{},
		SmokePod: f.smokePod}
	switch {
	case f.window <= 0 || f.parallel < 1:
		return p, session.Usagef("--window and --parallel are positive")
	case f.count < 0 || f.count > workers.MaxWorkers:
		return p, session.Usagef("--count is at most %d", workers.MaxWorkers)
	case f.count > 0 && f.provider == workers.ManualName:
		return p, session.Usagef("--count is for a provider that gives addresses; with --provider manual name each worker with --host NAME=IP")
	}
	p.Until = p.Made.Add(f.window)
	if file := a.source.HostedKubeconfig; file != "" {
		path, err := filepath.Abs(file)
		if err != nil {
			return p, fmt.Errorf("--hosted-kubeconfig %s: %w", file, err)
		}
		p.Kubeconfig = path
	}
	for _, text := range f.hosts {
		p.Workers = append(p.Workers, parseWorker(text))
	}
	for _, text := range f.options {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return p, session.Usagef("--option %q: want KEY=VALUE", text)
		}
		p.Options[key] = value
	}
	var err error
	if p.Run, err = workers.NewRun(); err != nil {
		return p, err
	}
	if err := p.Check(); err != nil && (f.count == 0 || len(f.hosts) > 0) {
		return p, session.Usagef("%v; name each worker with --host NAME=IP, or add --count N", err)
	}
	if p.Provider == workers.ManualName {
		if p.Options["dir"], err = filepath.Abs(f.dir); err != nil {
			return p, fmt.Errorf("--dir %s: %w", f.dir, err)
		}
		if i := slices.IndexFunc(p.Workers, func(w provider.Worker) bool { return len(w.IPs) == 0 }); i >= 0 {
			return p, session.Usagef("--host %s: write it as NAME=IP: it is not known which addresses its serving certificate may have", p.Workers[i].Name)
		}
	}
	return p, nil
}

func (a *app) workerList(ctx context.Context, f workerFlags) error {
	state, err := statedir.Path(f.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	runs, err := workers.Runs(state)
	if len(runs) == 0 && err == nil {
		_, err = fmt.Fprintln(a.IO.Out, "No run was made from this machine.")
		return err
	}
	if a.source.Hosted == "" {
		return errors.Join(a.printRuns(runs), err)
	}
	runs = slices.DeleteFunc(runs, func(r workers.Run) bool { return r.Plan.Hosted != a.source.Hosted })
	h, hubErr := a.openHub()
	if hubErr != nil {
		return errors.Join(err, hubErr)
	}
	now, readErr := a.readClusters(ctx, h, runs)
	return errors.Join(a.printWorkers(runs, now), err, readErr)
}

func (a *app) workerResume(ctx context.Context, f workerFlags, run string) (err error) {
	if f.window <= 0 || f.parallel < 1 {
		return session.Usagef("--window and --parallel are positive")
	}
	a, w, err := a.openWorkerRun(ctx, f, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if len(w.runner.Journal.Plan.Replaces) > 0 {
		return a.workerRoll(ctx, w, f)
	}
	return a.workerWork(ctx, w, f)
}

func (a *app) workerRollback(ctx context.Context, f workerFlags, run string) (err error) {
	a, w, err := a.openWorkerRun(ctx, f, run)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	removed := w.runner.Unjoined()
	kept, err := w.runner.Rollback(ctx)
	for _, name := range kept {
		fmt.Fprintf(a.IO.Out, "%s has joined and stays.\n", a.CleanText(name))
	}
	err = errors.Join(err, a.workerUncordon(ctx, f, w))
	if err == nil {
		a.printRolledBack(w.runner.Journal.Plan, removed)
	}
	return err
}
