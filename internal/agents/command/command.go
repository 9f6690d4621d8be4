// Package command is `mcp`: flags in, a server on standard input and output.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/agents"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

// Answerer gives the answers of the command line, for what options read.
type Answerer func(frame *cmdutil.App, o session.Options) agents.Answers

// Command returns `mcp`; version is that of the program.
func Command(frame *cmdutil.App, version string, answers Answerer) *cobra.Command {
	source := cmdutil.Options()
	o := agents.Options{Version: version}
	archivesOnly := false
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "answer an assistant over the Model Context Protocol; it only reads",
		Long: `Mcp is a server for assistants: a client starts it, and speaks the Model Context
Protocol with it over its standard input and output. It ends when the input ends. Its
tools are the answers of this program: host_status, diagnose, csr_list,
check_command, explain, scan, preflight. None changes anything, none reads Secrets, and a
repair is text for a person.

The cluster is that of the kubeconfig, chosen when the server starts. Archives and plans
are read below the directories of --root, and nowhere else: no path of a client and no
link leads outside.`,
		Example: cmdutil.Example(frame.Name, "mcp --context prod", "a cluster") +
			cmdutil.Example(frame.Name, "mcp --archives-only --root ~/cases", "archives, and no cluster"),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return session.Usagef("%[1]q: this command takes no argument; it speaks the Model Context Protocol. "+
				"For a MachineConfigPool: `%[2]s diagnose mcp/%[3]s`", args[0], frame.Name, shellcommand.Quote(args[0]))
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.Budget < agents.MinBudget || o.Budget > agents.MaxBudget {
				return session.Usagef("--budget %d: write a number of bytes from %d to %d", o.Budget, agents.MinBudget, agents.MaxBudget)
			}
			if archivesOnly && len(o.Roots) == 0 {
				return session.Usagef("--archives-only: name the directory of the archives with --root DIR")
			}
			o.Name, o.Live, o.Clock, o.Clean = frame.Name, !archivesOnly, frame.IO.Clock, frame.CleanLines
			o.Log = frame.Log
			keepContext(&source)
			if frame.IO.Screen.InTerminal {
				fmt.Fprintf(frame.IO.Err, "%[1]s mcp speaks the Model Context Protocol on standard input: an assistant\n"+
					"starts it. Ctrl-D ends it. For a MachineConfigPool: %[1]s diagnose mcp/NAME\n", frame.Name)
			}
			return serve(cmd.Context(), frame, o, answers(frame.Quieter(), source))
		},
	}
	cmdutil.Grouped(cmd, cmdutil.GroupOwn, func(f *pflag.FlagSet) {
		f.StringArrayVar(&o.Roots, "root", nil, "archives and plans below this `DIR` can be read; repeatable")
		f.BoolVar(&archivesOnly, "archives-only", false, "read no cluster, also where a kubeconfig exists")
		f.IntVar(&o.Budget, "budget", agents.DefaultBudget, "at most so many `BYTES` in an answer, its text and its JSON together; what is left out is named")
	})
	frame.AddCatalogFlag(cmd, &source)
	frame.AddConnectFlags(cmd, &source)
	frame.AddAcceptFlag(cmd, &source)
	return cmd
}

// keepContext holds on to the context of now: that somebody chooses another one in the kubeconfig
// does not change which cluster an assistant reads.
func keepContext(o *session.Options) {
	if o.Kube.Context != "" || o.Kube.APIServer != "" {
		return
	}
	if raw, err := o.Kube.Loader().RawConfig(); err == nil { // who reads the cluster says what is wrong
		o.Kube.Context = raw.CurrentContext
	}
}

// serve answers until the input ends.
func serve(ctx context.Context, frame *cmdutil.App, o agents.Options, answers agents.Answers) (err error) {
	s, err := agents.New(o, answers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err = s.Run(ctx, agents.Lines(frame.IO.In, frame.IO.Out)); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
