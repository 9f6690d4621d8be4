package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/session"
	watch "github.com/rollcall-project/rollcall/internal/watch/command"
)

func (a *app) diagnoseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diagnose [SUBJECT]",
		Short: "show what is wrong, why, the proof and what to do",
		Long: `Diagnose gives the whole answer: the causes with their proof, what each leads to,
what was ruled out, what could not be checked, and the next command with its risk.

SUBJECT narrows the answer: the name of a host, or as oc writes it
` + session.SubjectForms + `

It only reads. Exit codes: 0 nothing wrong, or accepted, 1 the tool could not do its
work, 2 a fault at or above --fail-on, 3 undecided. A text in which
nothing reports trouble is 3: it does not show that a cluster is healthy (scan: 0).`,
		Example: cmdutil.Example(a.Name, "diagnose", "the cluster of the kubeconfig") +
			cmdutil.Example(a.Name, "diagnose node/control2", "what concerns one host") +
			cmdutil.Example(a.Name, "diagnose --from ./must-gather.local.123", "an archive") +
			cmdutil.Example(a.Name, "diagnose --from mg.tar.gz --console control2=screen.txt", "with what a person saw on a screen") +
			cmdutil.Example(a.Name, "diagnose --console w1=screen.txt", "a screen alone: where no kubeconfig exists, no cluster is needed") +
			cmdutil.Example(a.Name, "diagnose --from bootkube.log", "a journal alone") +
			cmdutil.Example(a.Name, "diagnose --expect w9=192.0.2.29", "with a host that nothing names yet") +
			cmdutil.Example(a.Name, "diagnose -o html > answer.html", "one page to send or print, without network") +
			cmdutil.Example(a.Name, "diagnose -o json", "for programs; docs/schema has the schema"),
		Args:              cmdutil.AtMostOne("SUBJECT"),
		ValidArgsFunction: a.CompleteSubject(&a.source),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			subject := cmdutil.First(args)
			if subject != "" {
				if _, err := session.ParseSubject(subject); err != nil { // before anything is read
					return err
				}
			}
			o := a.source
			o.Deciding = subject == "" && a.OnlyDeciding(cmdutil.FormatOf(cmd))
			r, err := a.Session(o).Open(cmd.Context())
			if t := (*session.TextError)(nil); errors.As(err, &t) && subject == "" && len(a.source.From) == 1 {
				return a.scanned(cmd.Context(), cmdutil.FormatOf(cmd), t)
			}
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			q := cmdutil.Question{Subject: subject, Changed: func(ctx context.Context, d *diagnosis.Diagnosis) (*answer.Changed, error) {
				return watch.AddBaseline(ctx, a.App, r, d, a.baseline)
			}}
			return a.Answer(cmd.Context(), r, cmdutil.FormatOf(cmd), q)
		},
	}
	a.AddSourceFlags(cmd, &a.source)
	cmdutil.Grouped(cmd, cmdutil.GroupRead, func(f *pflag.FlagSet) {
		f.StringVar(&a.baseline, "baseline", "", "`FILE` of baseline save: the first of what has changed since is below what is wrong, all of it in "+
			"the timeline (-o wide, html, json)")
	})
	a.AddChoiceFlags(cmd, &a.source)
	a.AddAcceptFlag(cmd, &a.source)
	a.AddAnswerFlags(cmd)
	return cmd
}
