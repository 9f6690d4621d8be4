package command

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kube"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/statedir"
	"github.com/rollcall-project/rollcall/internal/workers/metalhost"
)

// replaceFlags are those of `host replace` alone.
type replaceFlags struct {
	with      string
	drop      bool
	localGoes bool
	bmc, mac  string // of the new host, for the plan of a control-plane host
}

// defaultReplaceWait is for a drain, the cleaning of a host and its installation.
const defaultReplaceWait = 2 * time.Hour

func (a *app) hostReplaceCommand() *cobra.Command {
	var f hostFlags
	var r replaceFlags
	cmd := &cobra.Command{
		Use:   "replace NAME",
		Short: "install a worker again, or put another host in its place",
		Long: `Replace deletes the Machine of a worker. The Machine API drains its Node, metal3 cleans
the host, and the MachineSet makes a new Machine. That one takes the same host again, or
another BareMetalHost that is available (--with). NAME is that of the Node, the Machine or
the BareMetalHost.

Before that it looks for what holds the drain, what is lost with it, which host the new
Machine can take, and has the API server try the deletion (dry run). It keeps copies of
the Machine, the BareMetalHost and the Node next to its journal, and asks for the name.
Nothing takes the deletion of a Machine back: "host resume" goes on, "host rollback" only
ends a run that has not deleted it.

A host that is not in the cluster yet is added first, with "host add NEW --no-scale".

Of a control-plane host it shows the plan only, and writes nothing: step by step by the
documentation of the product, with this cluster's names, and after each step the commands
that only read and what they show. It refuses where no member of etcd can be spared.

Exit codes: 0 the new Node is Ready, or the plan is shown; 1 the tool could not do its
work; 2 a check failed and nothing was changed; 3 not ready in time: resume.`,
		Example: cmdutil.Example(a.Name, "host replace w1 --dry-run=server", "the plan, the checks, and nothing more") +
			cmdutil.Example(a.Name, "host replace w1", "install w1 again: asks for the name") +
			cmdutil.Example(a.Name, "host replace w1 --with w9 --delete-old-host", "w9 instead of w1, which is taken out of metal3") +
			cmdutil.Example(a.Name, "host replace m1", "the steps for a control-plane host"),
		Args: a.ExactlyOne("NAME", "oc get nodes"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.hostReplace(cmd.Context(), f, r, args[0]) },
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(s *pflag.FlagSet) {
		s.StringVar(&r.with, "with", "", "`NAME` of another BareMetalHost that is available and takes its place; for a control-plane host: of the new one")
		s.BoolVar(&r.drop, "delete-old-host", false, "with --with: delete the old BareMetalHost at the end, and its Secret with it")
		s.StringVar(&r.bmc, "bmc", "", "of a new control-plane host, for its plan: `ADDRESS` of the BMC as metal3 takes it")
		s.StringVar(&r.mac, "boot-mac", "", "the same: `MAC` address of the NIC that boots")
		s.BoolVar(&r.localGoes, "local-data-goes", false, "also where PersistentVolumes or storage are on the disks of the host alone")
		s.Var(cmdutil.NewChoice(&f.dryRun, []string{dryNone, dryServer}), "dry-run", "server: plan and checks, the deletion tried; nothing is changed")
		s.BoolVar(&f.worker.yes, "yes", false, "do not ask")
	})
	cmdutil.CompleteChoice(cmd, "dry-run", []string{dryNone, dryServer})
	a.addHostWaitFlags(cmd, &f, defaultReplaceWait)
	return cmd
}

func (a *app) hostReplace(ctx context.Context, f hostFlags, r replaceFlags, name string) error {
	switch {
	case f.timeout <= 0:
		return session.Usagef("--timeout is positive")
	case r.drop && r.with == "":
		return session.Usagef("--delete-old-host is for --with NAME: a host that is installed again stays")
	case r.with == name:
		return session.Usagef("--with names another host; without it %s is installed again", name)
	}
	api, err := a.openCluster()
	if err != nil {
		return err
	}
	seen, err := metalhost.Look(ctx, api)
	if err != nil {
		return err
	}
	m, err := seen.Find(name)
	if err != nil {
		return err
	}
	if m.Control() {
		return a.hostMaster(ctx, api, seen, m, r)
	}
	if r.bmc+r.mac != "" {
		return session.Usagef("--bmc and --boot-mac are for the plan of a control-plane host. For a worker add the new host first: %s host add NEW "+
			"--bmc ADDRESS --boot-mac MAC --no-scale, and then %s host replace %s --with NEW", a.Name, a.Name, name)
	}
	if m.Machine == nil || m.Host == nil {
		return a.guideReplace(seen, m)
	}
	if r.with == m.HostName() {
		return session.Usagef("--with names another host; without it %s is installed again", name)
	}
	if err := seen.Blind(); err != nil {
		return err
	}
	e := metalhost.Exchange{Member: m, With: r.with, Drop: r.drop, Local: r.localGoes, Name: name}
	checks, err := a.replaceChecks(ctx, api, seen, e)
	if err != nil {
		return err
	}
	if err := a.refusedChecks(checks, a.replacePlan(seen, e)); err != nil || f.dryRun == dryServer {
		return err
	}
	return a.beginReplace(ctx, f, api, seen, e)
}

// replaceChecks are all checks, and what the API server answers where nothing stops.
func (a *app) replaceChecks(ctx context.Context, api *kube.Client, seen metalhost.Seen, e metalhost.Exchange) (checks []workerCheck, err error) {
	add := func(list []metalhost.Check) {
		for _, c := range list {
			checks = append(checks, workerCheck{c.Outcome, c.Stops, c.Text})
		}
	}
	list, err := seen.ReplaceChecks(ctx, api, e, a.IO.Clock())
	add(list)
	if err != nil {
		return checks, err
	}
	checks = append(checks, rightsCheck(ctx, api, "in the cluster", metalhost.ReplaceRights(e)))
	if stops(checks) {
		return checks, nil
	}
	list, err = metalhost.TryDelete(ctx, api, e)
	add(list)
	return checks, err
}

func (a *app) replacePlan(seen metalhost.Seen, e metalhost.Exchange) answer.Section {
	node, host := e.Member.NodeName(), e.Member.HostName()
	entries := []answer.Entry{
		{Name: "replaces", Text: fmt.Sprintf("Machine %s, BareMetalHost %s, Node %s, of a cluster of version %s", e.Member.MachineName(), host,
			orNoNode(node), seen.Version)},
		{Name: "keeps", Text: "copies of these objects next to the journal, without secrets"},
		{Name: "deletes", Text: "Machine " + e.Member.MachineName() + ". The Machine API cordons and drains the Node, with force and with emptyDir volumes, " +
			"as long as it takes, and deletes it"},
	}
	if set := seen.SetOf(e.Member.Machine); set != nil {
		entries = append(entries, answer.Entry{Name: "makes", Text: "MachineSet " + metalhost.Name(set) + " makes a new Machine at once"})
	}
	clean := "metal3 cleans " + host + " and switches it off: " + metalhost.Cleaning(e.Member.Host)
	if e.With == "" {
		entries = append(entries,
			answer.Entry{Name: "waits", Text: clean},
			answer.Entry{Name: "takes", Text: "the new Machine takes " + host + " again: RHCOS is written to its disk, and it boots"})
	} else {
		entries = append(entries, answer.Entry{Name: "takes", Text: "the new Machine takes " + e.With + " at once, while the old Node is drained"},
			answer.Entry{Name: "waits", Text: clean})
		if e.Drop {
			entries = append(entries, answer.Entry{Name: "deletes", Text: "BareMetalHost " + host + ", and with it its Secret, where no other host owns that"})
		} else {
			entries = append(entries, answer.Entry{Name: "stays", Text: "BareMetalHost " + host + ", available: the next Machine takes it"})
		}
	}
	entries = append(entries,
		answer.Entry{Name: "waits", Text: "both certificates, Node Ready; requests of this host that wait for 2 minutes are approved, and none of others"},
		answer.Entry{Name: "undo", Text: "none from the deletion of the Machine on: the API cannot take it back, the pods are gone from the Node, and the " +
			"disk is written again"})
	return answer.Section{Heading: "Plan", Entries: entries}
}

func orNoNode(name string) string {
	if name == "" {
		return "none"
	}
	return name
}

// beginReplace asks, keeps copies, begins the journal and works on the run.
func (a *app) beginReplace(ctx context.Context, f hostFlags, api *kube.Client, seen metalhost.Seen, e metalhost.Exchange) (err error) {
	what := "delete its Machine and install it again"
	if e.With != "" {
		what = "delete its Machine and put " + e.With + " in its place"
	}
	if err := a.typedName(f.worker, e.Name, what); err != nil {
		return err
	}
	state, err := statedir.Path(f.worker.stateDir, a.IO.Getenv)
	if err != nil {
		return err
	}
	run, err := metalhost.NewRun()
	if err != nil {
		return err
	}
	copies, err := e.Copies()
	if err != nil {
		return err
	}
	plan := seen.ReplacePlan(e)
	plan.Run, plan.Made = run, a.IO.Clock().UTC()
	journal, err := metalhost.Begin(state, plan, a.IO.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	for _, name := range slices.Sorted(maps.Keys(copies)) {
		file, err := journal.Keep(name, copies[name])
		if err != nil {
			return err
		}
		fmt.Fprintf(a.IO.Out, "Kept: %s\n", a.CleanText(file))
	}
	return a.replaceWork(ctx, f, api, journal)
}

// replaceWork does what of a run is not done yet, and waits until the new Node is Ready.
func (a *app) replaceWork(ctx context.Context, f hostFlags, api *kube.Client, journal *metalhost.Journal) error {
	p := journal.Plan
	fmt.Fprintf(a.IO.Out, "\nRun %s. If it is interrupted: %s host resume %s\n", p.Run, a.Name, p.Run)
	r := a.hostRunner(f, api, journal, nil)
	within, end := context.WithTimeout(ctx, f.timeout)
	defer end()
	switch err := a.replaceSteps(within, r); {
	case ctx.Err() != nil:
		return errors.Join(fmt.Errorf("interrupted: %s host resume %s", a.Name, p.Run), err)
	case err != nil:
		return a.hostNotIn(journal, err)
	}
	a.printLost(p, journal.Status().Node.Name)
	return a.hostIn(ctx, journal)
}

// replaceSteps are the steps of a run. The same host can be taken only when it is cleaned; another one at once.
func (a *app) replaceSteps(ctx context.Context, r *metalhost.Runner) error {
	if err := r.DeleteMachine(ctx, a.IO.Clock()); err != nil {
		return err
	}
	p := r.Journal.Plan
	if p.Replaces.Same(p) {
		if err := r.MachineGone(ctx); err != nil {
			return err
		}
	}
	stop, err := a.approveHost(ctx, r)
	if err != nil {
		return err
	}
	defer stop()
	for _, step := range []func(context.Context) error{r.Taken, r.Node, r.MachineGone, r.DropHost} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	a.hostServes(ctx, r)
	return nil
}

// printLost shows how the new Node gets the labels and taints of the old one.
func (a *app) printLost(p metalhost.Plan, node string) {
	if len(p.Replaces.Labels)+len(p.Replaces.Taints) == 0 {
		return
	}
	fmt.Fprintln(a.IO.Out, "\nThe old Node had these, and nothing puts them on the new one:")
	line := func(verb string, list []string) {
		if len(list) == 0 {
			return
		}
		var words []string
		for _, x := range list {
			words = append(words, shellcommand.Quote(a.CleanText(x)))
		}
		fmt.Fprintf(a.IO.Out, "  oc %s node %s %s\n", verb, shellcommand.Quote(a.CleanText(node)), strings.Join(words, " "))
	}
	line("label", p.Replaces.Labels)
	line("adm taint", p.Replaces.Taints)
}

// guideReplace shows the way by hand where a worker has no Machine or no BareMetalHost.
func (a *app) guideReplace(seen metalhost.Seen, m metalhost.Member) error {
	out, node := a.IO.Out, m.NodeName()
	missing := "Machine"
	if m.Machine != nil {
		missing = "BareMetalHost"
	}
	fmt.Fprintf(out, "Host %s has no %s: nothing in the cluster installs it again. Nothing was changed, and Rollcall does not do the steps below for you.\n\n",
		a.CleanText(orNoNode(node)), missing)
	if m.Machine != nil {
		fmt.Fprintf(out, "Its Machine is %s. A MachineSet whose provider makes machines makes a new one when it is deleted:\n  %s check "+
			"\"oc -n %s delete machine %s\"\n", a.CleanText(m.MachineName()), a.Name, metalhost.Namespace, shellcommand.Quote(a.CleanText(m.MachineName())))
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	}
	if node != "" {
		n := shellcommand.Quote(a.CleanText(node))
		fmt.Fprintf(out, "First take it away:\n  %[1]s check \"oc adm drain %[2]s\"\n  oc adm drain %[2]s --ignore-daemonsets --delete-emptydir-data\n"+
			"  switch the machine off, so that its kubelet does not register again\n  oc delete node %[2]s\n\n", a.Name, n)
	}
	w := metalhost.Want{Name: node, MAC: "MAC", IPs: metalhost.Addresses(m.Node)}
	if seen.NoMetal3 == "" {
		seen.NoMetal3 = "the host has no Machine"
	}
	return a.guideWithout(seen, w)
}
