package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/demo"
	"github.com/rollcall-project/rollcall/internal/newfile"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/archive"
)

func (a *app) demoCommand() *cobra.Command {
	var list bool
	var save string
	cmd := &cobra.Command{
		Use:   "demo [NAME]",
		Short: "the whole answer on an embedded example, without a cluster",
		Long: `Demo answers an archive that is part of this program: what the real servers left
behind in the lab. It is what "diagnose --from" prints for the same bytes. Demo ends
with 0 for every answer, and reports on stderr with which code a diagnosis ends.`,
		Example: cmdutil.Example(a.Name, "demo", "the first example") + cmdutil.Example(a.Name, "demo --list", "what there is") +
			cmdutil.Example(a.Name, "demo --save mg.tar.gz", "write the archive to a file to look inside"),
		Args: cmdutil.AtMostOne("NAME"),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			set, err := a.demos()
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return set.Names(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := a.demos()
			if err != nil {
				return err
			}
			if list {
				return a.listDemos(cmdutil.FormatOf(cmd), set)
			}
			d, err := set.Find(cmdutil.First(args))
			if err != nil {
				return session.Usagef("%w", err)
			}
			raw, err := set.Archive(d)
			if err != nil {
				return err
			}
			if save != "" {
				return a.saveDemo(save, raw)
			}
			return a.runDemo(cmd.Context(), cmdutil.FormatOf(cmd), d, raw)
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the examples")
	cmd.Flags().StringVar(&save, "save", "", "write the archive to this `FILE` and answer nothing")
	a.AddChoiceFlags(cmd, &a.source)
	a.AddCatalogFlag(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddAnswerFlags(cmd)
	return cmd
}

func (a *app) listDemos(format string, set *demo.Set) error {
	if format == "json" || format == "yaml" {
		return a.PrintData(format, set.Demos)
	}
	var rows []answer.Row
	for _, d := range set.Demos {
		rows = append(rows, answer.Row{ID: d.Name, Title: d.About})
	}
	if format == "name" {
		return answer.IDs(a.IO.Out, rows)
	}
	return answer.List(a.IO.Out, rows, answer.Options{Style: a.Style(), Command: a.Name})
}

func (a *app) saveDemo(path string, raw []byte) error {
	err := newfile.Bytes(path, 0o600, raw)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("--save %s: something is there already; name another file", path)
	}
	if err != nil {
		return fmt.Errorf("save the example: %w", err)
	}
	return nil
}

// runDemo answers the archive as `diagnose --from` does.
func (a *app) runDemo(ctx context.Context, format string, d demo.Demo, raw []byte) (err error) {
	source, err := archive.Bytes(ctx, raw, d.Name)
	if err != nil {
		return err
	}
	r, err := a.session().OpenOver(ctx, source)
	if err != nil {
		return errors.Join(err, source.Close())
	}
	r.OnClose(source.Close)
	defer func() { err = errors.Join(err, r.Close()) }()
	err = a.Answer(ctx, r, format, cmdutil.Question{})
	var exit *cmdutil.ExitError
	if errors.As(err, &exit) && exit.Err == nil {
		a.demoNote(exit.Code)
		return nil // an example is no failure: `go run` and scripts take any other code for one
	}
	return err
}

// demoNote says with which code a diagnosis with this answer ends.
func (a *app) demoNote(code cmdutil.ExitCode) {
	if a.Quiet {
		return
	}
	means := "undecided"
	if code == cmdutil.ExitFault {
		means = "a fault is present"
	}
	fmt.Fprintf(a.IO.Err, "note: a demo exits with 0; diagnose would exit with %d (%s)\n", code, means)
}
