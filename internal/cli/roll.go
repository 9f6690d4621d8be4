package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/preflight/plan"
	"github.com/rollcall-project/rollcall/internal/session"
)

// rollCommand is the program without a word: the roll.
func (a *app) rollCommand() *cobra.Command {
	var every bool
	cmd := &cobra.Command{
		Use:   "rollcall",
		Short: "show which hosts of an OpenShift cluster have not joined, and why",
		Long: `Rollcall shows which hosts of an OpenShift cluster should have joined,
which did not, at which stage each one stopped, why, with proof, and what is safe
to do about it.

Without a command it prints the host status: the hosts that are not done, and their
stage. It only reads.`,
		Example: example(a.name, "", "the host status of the cluster of the kubeconfig") +
			example(a.name, "--from ./must-gather.local.123", "the host status in an archive, without a cluster") +
			example(a.name, "--install-dir .", "while openshift-install works in this directory, also before there is an API") +
			example(a.name, "diagnose", "the whole answer") +
			example(a.name, "demo", "an example, without a cluster and an archive"),
		Args: a.noCommand,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			r, err := a.session().Open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			d, err := r.Diagnose(cmd.Context())
			if err != nil {
				return err
			}
			a.acceptNotes(r, d)
			if err := a.printRoll(cmd.Context(), formatOf(cmd), d, r, every); err != nil {
				return err
			}
			return answerExit(d, false, a.output.failOn)
		},
	}
	cmd.Flags().BoolVar(&every, "all", false, "list every host, also those that passed every stage and names that only a CSR claims")
	a.addSourceFlags(cmd)
	a.addChoiceFlags(cmd)
	a.addAcceptFlag(cmd)
	a.addOutputFlags(cmd, "text", "wide", "name", "json", "yaml", "html", "markdown", "sarif", "junit")
	a.addFailOn(cmd)
	return cmd
}

// printRoll prints the roll. The formats that are documents have one form only: that
// of the whole answer, of which the roll is a part.
func (a *app) printRoll(ctx context.Context, format string, d *diagnosis.Diagnosis, r *session.Run, every bool) error {
	o := a.reportOptions(r)
	o.All = every
	switch format {
	case "wide":
		return answer.WideRoll(a.io.Out, d, o)
	case "name":
		return answer.HostNames(a.io.Out, d, every)
	case "json":
		return answer.JSON(a.io.Out, d, o)
	case "yaml":
		return answer.YAML(a.io.Out, d, o)
	case "html", "markdown", "sarif", "junit":
		return a.printAnswer(ctx, format, d, d, r, nil, nil)
	}
	return answer.Roll(a.io.Out, d, o)
}

// reportOptions says how an answer looks and how its commands are written.
func (a *app) reportOptions(r *session.Run) answer.Options {
	o := answer.Options{
		Style: a.style(), Command: a.name, Source: a.source.Again(), Answer: a.source.AnswerFlags(), NoHeaders: a.output.noHeaders, Findings: a.output.findings,
		Refused: map[string]answer.Remedy{}, Catalog: r.Catalog, Height: a.io.Screen.height(),
	}
	switch {
	case a.against != "":
		o.Call, o.Skip = a.againstCall(), ofHostsThere
	case a.planCall != "":
		o.Call = a.planCall
	}
	for _, known := range r.Catalog.Refused {
		o.Refused[known.ID] = answer.Remedy{Title: known.Title, Happens: known.Happens, When: known.When, Instead: known.Instead}
	}
	return o
}

// narrowed reports whether the answer is about one subject.
func narrowed(s *fault.Subject) bool { return s != nil }

// answer diagnoses, prints and returns the exit code as an error. subject is empty
// for the whole cluster.
func (a *app) answer(ctx context.Context, r *session.Run, format, subject string) error {
	var about *fault.Subject
	if subject != "" {
		s, err := session.ParseSubject(subject)
		if err != nil {
			return err
		}
		about = &s
	}
	diagnosed := r.Diagnose
	if r.Source.Kind == plan.Kind {
		diagnosed = func(ctx context.Context) (*diagnosis.Diagnosis, error) { return diagnosePlan(ctx, r) }
	}
	d, err := diagnosed(ctx)
	if err != nil {
		return err
	}
	changed, err := a.addBaseline(ctx, r, d)
	if err != nil {
		return err
	}
	a.acceptNotes(r, d)
	whole := d
	if about != nil {
		s, err := r.Resolve(ctx, d, *about)
		switch {
		case err != nil && d.Verdict.Class == diagnosis.CannotCheck: // the answer is the same for each subject
			about = nil
		case err != nil:
			return err
		default:
			about = &s
			d = focus(d, s, r.Related(ctx, d, s))
		}
	}
	if err := a.printAnswer(ctx, format, d, whole, r, about, changed); err != nil {
		return err
	}
	return answerExit(d, narrowed(about), a.output.failOn)
}

// printAnswer prints d, which is whole, or what is left of it for one subject.
func (a *app) printAnswer(ctx context.Context, format string, d, whole *diagnosis.Diagnosis, r *session.Run, about *fault.Subject, changed *answer.Changed) error {
	o := a.reportOptions(r)
	o.Changed = changed
	o.Subject, o.Plan = about, a.planCommand(ctx, r, whole)
	if about != nil {
		o.Whole = whole
	} else if err := a.addMessages(ctx, r, whole, &o); err != nil {
		return err
	}
	if format == "markdown" {
		o.Done = a.repairsOf(whole.Cluster.ID)
	}
	if format == "html" {
		return answer.HTML(a.io.Out, d, o)
	}
	return answer.Answer(a.io.Out, format, d, o)
}
