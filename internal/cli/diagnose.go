package cli

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rollcall-project/rollcall/internal/session"
)

func (a *app) diagnoseCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diagnose [SUBJECT]",
		Short: "show what is wrong, why, the proof and what to do",
		Long: `Diagnose gives the whole answer: the causes with their proof, what each leads to,
what was ruled out, what could not be checked, and the next command with its risk.

SUBJECT narrows the answer and is written as oc writes it:
  ` + session.SubjectForms + `

It only reads. Exit codes: 0 nothing wrong, or accepted, 1 the tool could not do its
work, 2 a fault at or above --fail-on, 3 undecided.`,
		Example: example(a.name, "diagnose", "the cluster of the kubeconfig") +
			example(a.name, "diagnose node/control2", "what concerns one host") +
			example(a.name, "diagnose --from ./must-gather.local.123", "an archive") +
			example(a.name, "diagnose --from mg.tar.gz --console control2=screen.txt", "with what a person saw on a screen") +
			example(a.name, "diagnose --console w1=screen.txt", "a screen alone: where no kubeconfig exists, no cluster is needed") +
			example(a.name, "diagnose --from bootkube.log", "a journal alone") +
			example(a.name, "diagnose --expect w9=192.0.2.29", "with a host that nothing names yet") +
			example(a.name, "diagnose -o html > answer.html", "one page to send or print, without network") +
			example(a.name, "diagnose -o json", "for programs; docs/schema has the schema"),
		Args:              atMostOne("SUBJECT"),
		ValidArgsFunction: a.completeSubject,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			subject := first(args)
			if subject != "" {
				if _, err := session.ParseSubject(subject); err != nil { // before anything is read
					return err
				}
			}
			r, err := a.session().Open(cmd.Context())
			if t := (*session.TextError)(nil); errors.As(err, &t) && subject == "" && len(a.source.From) == 1 {
				return a.scanned(cmd.Context(), formatOf(cmd), t)
			}
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			return a.answer(cmd.Context(), r, formatOf(cmd), subject)
		},
	}
	a.addSourceFlags(cmd)
	grouped(cmd, groupRead, func(f *pflag.FlagSet) {
		f.StringVar(&a.baseline, "baseline", "", "`FILE` of baseline save: the first of what has changed since is below what is wrong, all of it in the timeline (-o wide, html, json)")
	})
	a.addChoiceFlags(cmd)
	a.addAcceptFlag(cmd)
	a.addAnswerFlags(cmd)
	return cmd
}

// addAnswerFlags adds the formats of a whole answer and --fail-on.
func (a *app) addAnswerFlags(cmd *cobra.Command) {
	a.addOutputFlags(cmd, "text", "wide", "name", "json", "yaml", "html", "markdown", "sarif", "junit")
	a.addFailOn(cmd)
}

// atMostOne refuses a second argument and names it.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > 1 {
			return session.Usagef("%q: only one %s can be given", args[1], what)
		}
		return nil
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}
