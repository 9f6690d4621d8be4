// Package command is `fleet`: flags in, the status of many clusters and archives out.
package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/fleet"
	"github.com/rollcall-project/rollcall/internal/session"
)

// app is one call of `fleet`.
type app struct {
	*cmdutil.App

	version string // of the program
	source  session.Options
	named   named

	atOnce  int
	within  time.Duration
	results string // directory
	part    string
	retry   bool
}

// Command returns `fleet`; version is that of the program.
func Command(frame *cmdutil.App, version string) *cobra.Command {
	a := &app{App: frame, version: version, source: cmdutil.Options()}
	cmd := &cobra.Command{
		Use:   "fleet [ARCHIVE...]",
		Short: "the status of many clusters or archives, the worst first",
		Long: `Fleet asks many clusters, or reads many archives, side by side, and prints a line for
each: what is wrong, how many hosts are done, and which cause is in more than one of
them. One that does not answer in its time (--within) is a line, too, and delays none of
the others. It only reads.

With --results each result is kept in that directory as soon as it is there. The same
command continues where it was stopped, and several processes share the work with --part.

Exit codes: 0 nothing wrong, 1 none could be read, 2 a cluster with a fault at or above
--fail-on, 3 a cluster that is undecided or was not read.`,
		Example: cmdutil.Example(frame.Name, "fleet --contexts all", "every context of the kubeconfig") +
			cmdutil.Example(frame.Name, "fleet --contexts prod-a,prod-b", "these two") +
			cmdutil.Example(frame.Name, "fleet --kubeconfigs ~/clusters", "the current context of each kubeconfig in a directory") +
			cmdutil.Example(frame.Name, "fleet cases/*.tar.gz -o html > cases.html", "a page about many must-gathers") +
			cmdutil.Example(frame.Name, "fleet --archives cases --results done", "hundreds of them; it continues where it was stopped") +
			cmdutil.Example(frame.Name, "fleet --archives cases --results done --part 0/4", "a quarter of them, beside three others"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd.Context(), cmdutil.FormatOf(cmd), args)
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringSliceVar(&a.named.contexts, "contexts", nil, "ask the clusters of these `CONTEXTS` of the kubeconfig, with commas; all: of every one")
		f.StringVar(&a.named.kubeconfigs, "kubeconfigs", "", "ask the cluster of each kubeconfig in this `DIR`")
		f.StringArrayVar(&a.named.from, "from", nil, "read this archive, as each argument; a `PATH` as in diagnose; repeatable")
		f.StringVar(&a.named.archives, "archives", "", "read each archive in this `DIR`")
		f.IntVar(&a.atOnce, "at-once", 0, "at most this `NUMBER` at the same time; 0: 8 clusters, 2 archives")
		f.DurationVar(&a.within, "within", 5*time.Minute, "give one cluster or archive this `TIME`")
		f.StringVar(&a.results, "results", "", "keep each result of an archive in this `DIR`, and read no archive again whose result is there")
		f.StringVar(&a.part, "part", "", "ask only one of several parts, as `INDEX/OF`, from 0/4 to 3/4 for four processes")
		f.BoolVar(&a.retry, "retry", false, "with --results: read archives again that could not be read")
	})
	a.AddCatalogFlag(cmd, &a.source)
	a.AddConnectFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddOutputFlags(cmd, "text", "wide", "name", "json", "jsonl", "html")
	a.AddFailOn(cmd)
	cmd.AddCommand(jobCommand(frame))
	return cmd
}

func (a *app) run(ctx context.Context, format string, args []string) (err error) {
	list, err := a.clusters(args)
	if err != nil {
		return err
	}
	known, todo, kept, err := a.known(list)
	if err != nil {
		return err
	}
	if kept != nil {
		defer func() { err = errors.Join(err, kept.Close()) }()
	}
	if format == "jsonl" {
		for _, r := range known {
			if err := json.NewEncoder(a.IO.Out).Encode(r); err != nil {
				return err
			}
		}
	}
	asked, stopped := a.ask(ctx, todo, len(list), len(known), kept, format)
	results := append(known, asked...)
	if len(results) == 0 && stopped != nil {
		return stopped
	}
	r := fleet.ReportOf(results)
	if err := a.print(format, r); err != nil {
		return err
	}
	if stopped != nil {
		return stopped
	}
	return a.exit(r)
}

// known splits clusters into those with a result that is kept, and the others.
func (a *app) known(list []fleet.Cluster) (known []fleet.Result, todo []fleet.Cluster, kept *fleet.Results, err error) {
	if a.results == "" {
		return nil, list, nil, nil
	}
	part, err := fleet.ParsePart(a.part)
	if err != nil {
		return nil, nil, nil, err // it was parsed before
	}
	if kept, err = fleet.OpenResults(a.results, part.String()); err != nil {
		return nil, nil, nil, err
	}
	for _, c := range list {
		if one, ok := kept.Of(c, a.version, a.retry); ok {
			known = append(known, one)
			continue
		}
		todo = append(todo, c)
	}
	return known, todo, kept, nil
}

// ask asks clusters; all and before are for the progress.
func (a *app) ask(ctx context.Context, todo []fleet.Cluster, all, before int, kept *fleet.Results, format string) ([]fleet.Result, error) {
	if a.atOnce == 0 {
		a.atOnce = 2
		if len(a.named.contexts) > 0 || a.named.kubeconfigs != "" {
			a.atOnce = 8
		}
	}
	done, bad := before, 0
	show := func() (clear func()) { return a.Progress("%d of %d done, %d of them broken ...", done, all, bad) }
	hide := show()
	defer func() { hide() }()
	return fleet.Run(ctx, todo, fleet.Options{
		Program: a.Name, Version: a.version, AtOnce: a.atOnce, Within: a.within, Clock: a.IO.Clock, Clean: a.CleanLines,
		Done: func(r fleet.Result) error {
			if done++; r.State == fleet.Broken {
				bad++
			}
			hide()
			hide = show()
			if kept != nil {
				if err := kept.Keep(r); err != nil {
					return err
				}
			}
			if format == "jsonl" { // as soon as it is there
				return json.NewEncoder(a.IO.Out).Encode(r)
			}
			return nil
		},
	})
}

func (a *app) print(format string, r fleet.Report) error {
	look := fleet.Look{Style: a.Style(), Program: a.Name, Wide: format == "wide", NoHeaders: a.Output.NoHeaders}
	switch format {
	case "name":
		return fleet.Names(a.IO.Out, r)
	case "json":
		return fleet.JSON(a.IO.Out, r)
	case "jsonl":
		return nil // written when it was there
	case "html":
		return fleet.HTML(a.IO.Out, r, a.IO.Clock(), look)
	}
	return fleet.Text(a.IO.Out, r, look)
}

// exit is the exit code of a report.
func (a *app) exit(r fleet.Report) error {
	if len(r.Clusters) > 0 && r.Counts[fleet.NotRead] == len(r.Clusters) {
		return &cmdutil.ExitError{Code: cmdutil.ExitFailed, Err: fmt.Errorf("none of %d could be read; the table says why", len(r.Clusters))}
	}
	switch {
	case a.Output.FailOn == cmdutil.FailOnNever:
		return nil
	case r.Fails(a.Output.FailOn):
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case r.Counts[fleet.Undecided]+r.Counts[fleet.NotRead] > 0:
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}
