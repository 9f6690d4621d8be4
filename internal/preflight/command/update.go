package command

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/preflight/update"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/live"
)

// updateFlags say what is checked before an update.
type updateFlags struct {
	on     bool
	to     string
	window time.Duration
	from   []string
}

// defaultWindow is for how long certificates have to be valid: an update and a night.
const defaultWindow = 24 * time.Hour

func addUpdateFlags(cmd *cobra.Command, o *updateFlags) {
	f := cmd.Flags()
	f.BoolVar(&o.on, "update", false, "check whether every host of a running cluster comes back from an update or a reboot: the cluster of the "+
		"kubeconfig, --against CLUSTER, or --from PATH")
	f.StringVar(&o.to, "to", "", "with --update, the `RELEASE` that you will update to, as 4.21 or 4.21.3")
	f.DurationVar(&o.window, "window", defaultWindow, "with --update, for how much `TIME` certificates have to be valid")
	f.StringArrayVar(&o.from, "from", nil, "with --update, read the archive at this `PATH` and no cluster; repeatable")
}

// check refuses flags that would change nothing, or that ask for something else.
func (o *updateFlags) check(p *preflightFlags, timed bool) error {
	switch {
	case !o.on && (o.to != "" || len(o.from) > 0 || timed):
		return session.Usagef("--to, --window and --from are for --update: write it, too")
	case !o.on:
		return nil
	case p.dir != "" || len(p.files) > 0 || p.network || len(p.answers) > 0 || p.bmc.asks() || p.release != "":
		return session.Usagef("--update: a running cluster is checked, and no plan: leave out DIR, -f, --release, --network and --bmc")
	case len(o.from) > 0 && p.against != "":
		return session.Usagef("--from and --against %s: name the cluster once", p.against)
	case o.window < 0:
		return session.Usagef("--window %s: write a time, as 24h", o.window)
	}
	return nil
}

// preflightUpdate checks whether every host of a cluster comes back from an update.
func (a *app) preflightUpdate(ctx context.Context, format string, p preflightFlags) (err error) {
	var target update.Version
	if p.update.to != "" {
		if target, err = update.ParseVersion(p.update.to); err != nil {
			return session.Usagef("--to: %v", err)
		}
	}
	if !slices.Contains([]string{"text", "wide", "json", "yaml"}, format) {
		return session.Usagef("-o %s: with --update write text, json or yaml", format)
	}
	o := a.source
	o.From, o.Also = p.update.from, update.Needs()
	if p.against != "" {
		if err := a.knownCluster(p.against); err != nil {
			return err
		}
		if a.isContext(p.against) {
			o.Kube.Context = p.against
		} else {
			o.From = []string{p.against}
		}
	}
	run, err := a.Session(o).Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	d, err := run.Diagnose(ctx)
	if err != nil {
		return err
	}
	if why, probed := cmdutil.NothingRead(d); why != "" && !probed {
		return a.NothingError(run, "check", "check again", why, "whether hosts come back is not known")
	}
	w := facts.NewWorld(run.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	how := a.ReportOptions(run)
	how.Call, how.Skip = a.updateCall(p), notOfUpdate
	r, err := update.Answer(ctx, &update.Question{World: w, Diagnosis: d, Target: target, Window: p.update.window,
		Whole: run.Source.Kind == live.SourceName, Name: a.Name, Again: o.Again(), HowToGet: how.HowToGet})
	if err != nil {
		return err
	}
	if format == "json" || format == "yaml" {
		err = a.PrintData(format, r)
	} else {
		err = r.Write(a.IO.Out, a.Style())
	}
	if err != nil {
		return err
	}
	return updateExit(r, a.Output.FailOn)
}

// notOfUpdate are ways to learn about an installation: they show nothing about a running cluster.
var notOfUpdate = []evidence.SupplyKind{
	evidence.SupplyRendezvous, evidence.SupplyInstallDir, evidence.SupplyConsole, evidence.SupplyExpect, evidence.SupplyGatherBootstrap,
	evidence.SupplyBootstrapJournal, evidence.SupplyInstallerLog, evidence.SupplyJournals,
}

// updateCall is this check once more, for flags that read more.
func (a *app) updateCall(p preflightFlags) string {
	words := []string{a.Name, "preflight", "--update"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellcommand.Quote(value))
		}
	}
	add("--to", p.update.to)
	if p.update.window != defaultWindow {
		add("--window", p.update.window.String())
	}
	for _, path := range p.update.from {
		add("--from", path)
	}
	add("--against", p.against)
	words = append(words, a.source.Connection()...)
	add("--hosted", a.source.Hosted)
	return cmdutil.JoinWords(words)
}

// updateExit is the exit code of an answer, as that of the other modes of preflight.
func updateExit(r *update.Report, failOn string) error {
	limit := fault.Severity(failOn).Rank()
	counts := failOn != cmdutil.FailOnNever && slices.ContainsFunc(r.Checks, func(c *update.Result) bool {
		return slices.ContainsFunc(c.Findings, func(f update.Finding) bool { return f.Severity.Rank() >= limit })
	})
	switch {
	case counts:
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case failOn != cmdutil.FailOnNever && r.Verdict == update.Undecided:
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}
