package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/session"
)

// rollCommand is the program without a word: the roll.
func (a *app) rollCommand() *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use:   "rollcall",
		Short: "show which hosts of an OpenShift cluster have not joined, and why",
		Long: `Rollcall shows which hosts of an OpenShift cluster should have joined,
which did not, at which stage each one stopped, why, with proof, and what is
safe to do about it.

Without a command it is ` + "`" + `status` + "`" + `. Nothing is changed but by fix, csr approve,
worker, nodepool, host and preflight --write.`,
		Args: a.noCommand,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			o := a.source
			o.Deciding = a.OnlyDeciding(cmdutil.FormatOf(cmd))
			r, err := a.Session(o).Open(cmd.Context())
			if t := (*session.TextError)(nil); errors.As(err, &t) && len(a.source.From) == 1 {
				return a.scanned(cmd.Context(), cmdutil.FormatOf(cmd), t)
			}
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			d, err := r.Diagnose(cmd.Context())
			if err != nil {
				return err
			}
			a.AcceptNotes(r, d)
			if err := a.printRoll(cmd.Context(), cmdutil.FormatOf(cmd), d, r, every); err != nil {
				return err
			}
			return cmdutil.AnswerExit(d, false, a.Output.FailOn)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "list every host, also those that passed every stage and names that only a CSR claims")
	a.AddSourceFlags(cmd, &a.source)
	a.AddChoiceFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddOutputFlags(cmd, "text", "wide", "name", "json", "yaml", "html", "markdown", "sarif", "junit", "prom")
	a.AddFailOn(cmd)
	return cmd
}

// statusCommand is what the program does without a command, under a name.
func (a *app) statusCommand() *cobra.Command {
	cmd := a.rollCommand()
	cmd.Use, cmd.Short = "status", "list the hosts that are not done, and at which stage they are"
	cmd.Long = `Status prints the hosts that are not done: the stage of each, since when, and why, and
the number of the others. It is what the program does without a command. It only reads.

Exit codes: 0 nothing wrong, or accepted, 1 the tool could not do its work, 2 a fault at
or above --fail-on, 3 undecided.`
	cmd.Example = cmdutil.Example(a.Name, "status", "the cluster of the kubeconfig") +
		cmdutil.Example(a.Name, "status --from ./must-gather.local.123", "an archive, without a cluster") +
		cmdutil.Example(a.Name, "status --install-dir .", "while openshift-install works in this directory, also before there is an API") +
		cmdutil.Example(a.Name, "status --all", "every host, also those that are done")
	cmd.Args = cmdutil.NoArgs
	return cmd
}

// printRoll prints the roll. The formats that are documents have one form only: that
// of the whole answer, of which the roll is a part.
func (a *app) printRoll(ctx context.Context, format string, d *diagnosis.Diagnosis, r *session.Run, every bool) error {
	o := a.ReportOptions(r)
	o.All = every
	if err := cmdutil.AddMessages(ctx, r, d, &o); err != nil { // the first line is that of diagnose
		return err
	}
	switch format {
	case "wide":
		return answer.WideRoll(a.IO.Out, d, o)
	case "name":
		return answer.HostNames(a.IO.Out, d, every)
	case "json":
		return answer.JSON(a.IO.Out, d, o)
	case "yaml":
		return answer.YAML(a.IO.Out, d, o)
	case "html", "markdown", "sarif", "junit", "prom":
		return a.PrintAnswer(ctx, format, r, cmdutil.Shown{Diagnosis: d, Whole: d})
	}
	return answer.Roll(a.IO.Out, d, o)
}
