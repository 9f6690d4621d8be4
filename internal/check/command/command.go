// Package command is `check`: a command in, the answer and its exit code out.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/check"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/paste"
)

// Command returns `check`.
func Command(frame *cmdutil.App) *cobra.Command {
	source := cmdutil.Options()
	cmd := &cobra.Command{
		Use:   `check "COMMAND"...`,
		Short: "is this command safe here, now?",
		Long: `Check says whether a command of oc, kubectl, etcdctl, systemctl, ipmitool, virsh,
openshift-install and of a shell on a host is safe in the state that a cluster, or an
archive of it, is in: which objects it hits, what that does there, what is lost, whether
it can be undone, what to do instead, and how to see that it worked. Put the command in
quotes. sudo, ssh, oc debug node/NODE --, loops and xargs are taken apart; a selector is
judged on the objects that it picks.

It runs nothing and changes nothing. Exit codes: 0 safe here, or it only reads, 1 the
tool could not do its work, 2 not safe here, or it cannot be undone and needs a person,
3 unknown: something is missing to decide. Unknown is not safe.`,
		Example: cmdutil.Example(frame.Name, `check "oc adm drain worker-1 --ignore-daemonsets"`, "the cluster of the kubeconfig") +
			cmdutil.Example(frame.Name, `check "oc get csr -o name | xargs oc adm certificate approve"`, "which requests that would approve") +
			cmdutil.Example(frame.Name, `check "ssh core@m1 sudo systemctl reboot" --from mg.tar.gz`, "an archive"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := strings.TrimSpace(strings.Join(args, " "))
			if text == "" {
				return session.Usagef(`name the command, in quotes: %s check "oc delete node w1"`, frame.Name)
			}
			return Check(cmd.Context(), frame, source, cmdutil.FormatOf(cmd), text)
		},
	}
	frame.AddOutputFlags(cmd, "text", "json", "yaml")
	frame.AddSourceFlags(cmd, &source)
	return cmd
}

// Check prints the answer on a text of commands in a format.
func Check(ctx context.Context, frame *cmdutil.App, o session.Options, format, text string) error {
	r, err := answer(ctx, frame, o, text)
	if err != nil {
		return err
	}
	return printed(frame, format, r)
}

// CheckForms is Check in both forms, for assistants.
func CheckForms(ctx context.Context, frame *cmdutil.App, o session.Options, text string, forms *cmdutil.Forms) error {
	r, err := answer(ctx, frame, o, text)
	if err != nil {
		return err
	}
	return forms.Each(func(printer *cmdutil.App, format string) error { return printed(printer, format, r) })
}

// answer judges a text in the state of what the options name.
func answer(ctx context.Context, frame *cmdutil.App, o session.Options, text string) (_ *check.Report, err error) {
	if !check.IsCommand(text) {
		return nil, session.Usagef("%q is no command that can be read; for advice, a log line or an id: %s explain",
			frame.WithoutSecretsOf(text)(text), frame.Name)
	}
	o.Also = check.Needs()
	run, err := frame.Session(o).Open(ctx)
	if text := (*session.TextError)(nil); errors.As(err, &text) { // a text of messages has no objects: nothing is known from it
		if o.Now == "" {
			o.Now = frame.IO.Clock().UTC().Format(time.RFC3339)
		}
		run, err = frame.Session(o).OpenOver(ctx, paste.Read(session.SourceName(text.Path), text.Text, frame.IO.Clock()))
	}
	if none := (session.NoClusterError{}); errors.As(err, &none) {
		return nil, fmt.Errorf("the command is not judged (what it does on any cluster: %s explain \"COMMAND\"): %w", frame.Name, err)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	d, err := run.Diagnose(ctx)
	if err != nil {
		return nil, err
	}
	w := facts.NewWorld(run.Reader, d.Now)
	w.Version, w.Topology = d.Cluster.Version, d.Cluster.Topology
	r, err := check.Answer(ctx, &check.Question{Text: text, World: w, Diagnosis: d, Catalog: run.Catalog, Whole: run.Source.Kind == live.SourceName,
		Asked: frame.IO.Clock(), Name: frame.Name, Again: o.Again(), HowToGet: frame.ReportOptions(run).HowToGet})
	if err != nil {
		return nil, err
	}
	r.EachText(frame.WithoutSecretsOf(text)) // what is typed is repeated, and an answer is copied into a ticket
	return r, nil
}

func printed(frame *cmdutil.App, format string, r *check.Report) error {
	if format != "text" {
		if err := frame.PrintData(format, r); err != nil {
			return err
		}
	} else if err := r.Write(frame.IO.Out, frame.Style()); err != nil {
		return err
	}
	switch r.Verdict {
	case check.Unsafe, check.Person:
		return &cmdutil.ExitError{Code: cmdutil.ExitFault}
	case check.Unknown:
		return &cmdutil.ExitError{Code: cmdutil.ExitUndecided}
	}
	return nil
}
