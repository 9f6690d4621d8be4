// Package command is `preflight --update`: flags in, exit codes and text out. The command itself belongs to
// the checks of plans, which give this question to a Mode.
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
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/update"
)

// Mode is the question of `preflight --update`, and its flags.
type Mode struct {
	frame  *cmdutil.App
	on     bool
	to     string
	window time.Duration
	from   []string
}

// New returns the question before its flags are read.
func New(frame *cmdutil.App) *Mode { return &Mode{frame: frame} }

// defaultWindow is for how long certificates have to be valid: an update and a night.
const defaultWindow = 24 * time.Hour

// AddFlags adds what only this question reads.
func (m *Mode) AddFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&m.on, "update", false, "check whether every host of a running cluster comes back from an update or a reboot: the cluster of the "+
		"kubeconfig, --against CLUSTER, or --from PATH")
	f.StringVar(&m.to, "to", "", "with --update, the `RELEASE` that you will update to, as 4.21 or 4.21.3")
	f.DurationVar(&m.window, "window", defaultWindow, "with --update, for how much `TIME` certificates have to be valid")
	f.StringArrayVar(&m.from, "from", nil, "with --update, read the archive at this `PATH` and no cluster; repeatable")
}

// Asked reports whether this is the question; a flag that would change nothing without it is an error.
func (m *Mode) Asked(cmd *cobra.Command) (bool, error) {
	if !m.on && (m.to != "" || len(m.from) > 0 || cmd.Flags().Changed("window")) {
		return false, session.Usagef("--to, --window and --from are for --update: write it, too")
	}
	return m.on, nil
}

// Run checks whether every host of the cluster comes back from an update: the one that the options name, or, where it
// is not "", that of against, a context or an archive.
func (m *Mode) Run(ctx context.Context, format string, o session.Options, against string) (err error) {
	var target update.Version
	switch {
	case len(m.from) > 0 && against != "":
		return session.Usagef("--from and --against %s: name the cluster once", against)
	case m.window < 0:
		return session.Usagef("--window %s: write a time, as 24h", m.window)
	case !slices.Contains([]string{"text", "wide", "json", "yaml"}, format):
		return session.Usagef("-o %s: with --update write text, json or yaml", format)
	case m.to != "":
		if target, err = update.ParseVersion(m.to); err != nil {
			return session.Usagef("--to: %v", err)
		}
	}
	call := m.call(o, against)
	if len(m.from) > 0 {
		o.From = m.from
	}
	o.Also = update.Needs()
	run, err := m.frame.Session(o).Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	d, err := run.Diagnose(ctx)
	if err != nil {
		return err
	}
	if why, probed := cmdutil.NothingRead(d); why != "" && !probed {
		return m.frame.NothingError(run, "check", "check again", why, "whether hosts come back is not known")
	}
	w := facts.NewWorld(run.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	how := m.frame.ReportOptions(run)
	how.Call, how.Skip = call, notOfUpdate
	r, err := update.Answer(ctx, &update.Question{World: w, Diagnosis: d, Target: target, Window: m.window,
		Whole: run.Source.Kind == live.SourceName, Name: m.frame.Name, Again: o.Again(), HowToGet: how.HowToGet})
	if err != nil {
		return err
	}
	if format == "json" || format == "yaml" {
		err = m.frame.PrintData(format, r)
	} else {
		err = r.Write(m.frame.IO.Out, m.frame.Style())
	}
	if err != nil {
		return err
	}
	return exit(r, m.frame.Output.FailOn)
}

// notOfUpdate are ways to learn about an installation: they show nothing about a running cluster.
var notOfUpdate = []evidence.SupplyKind{
	evidence.SupplyRendezvous, evidence.SupplyInstallDir, evidence.SupplyConsole, evidence.SupplyExpect, evidence.SupplyGatherBootstrap,
	evidence.SupplyBootstrapJournal, evidence.SupplyInstallerLog, evidence.SupplyJournals,
}

// call is this check once more, for flags that read more.
func (m *Mode) call(o session.Options, against string) string {
	words := []string{m.frame.Name, "preflight", "--update"}
	add := func(flag, value string) {
		if value != "" {
			words = append(words, flag, shellcommand.Quote(value))
		}
	}
	add("--to", m.to)
	if m.window != defaultWindow {
		add("--window", m.window.String())
	}
	for _, path := range m.from {
		add("--from", path)
	}
	add("--against", against)
	words = append(words, o.Connection()...)
	add("--hosted", o.Hosted)
	return cmdutil.JoinWords(words)
}

// exit is the exit code of an answer, as that of the other modes of preflight.
func exit(r *update.Report, failOn string) error {
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
