package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/catalog"
	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/cli/cmdutil"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/scan"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/collect"
	"github.com/rollcall-project/rollcall/internal/source/minimal"
)

func (a *app) collectCommand() *cobra.Command {
	var to string
	var least bool
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "save what a diagnosis reads, to replay it elsewhere",
		Long: `Collect makes a diagnosis and keeps everything that it read, without secrets: keys,
tokens and passwords are replaced by digests before anything is looked at or
written. "diagnose --from" on the result gives the same answer.

With --minimal only the fields that checks read and the log lines that they know are
kept, for somebody outside. The command replays that, and names what differs in the
answer.

It only reads from the cluster. The exit code is 0 when the collection was written,
whatever the answer is, and 1 when nothing of the cluster
could be read.`,
		Example: cmdutil.Example(a.Name, "collect --to case.tar.gz", "from the cluster of the kubeconfig") +
			cmdutil.Example(a.Name, "collect --from ./must-gather.local.123 --to case.tar.gz", "the part of an archive that matters") +
			cmdutil.Example(a.Name, "collect --minimal --to case.tar.gz", "only what the checks read, for somebody outside"),
		Args: cmdutil.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				to = "rollcall-" + a.IO.Clock().UTC().Format("20060102-150405") + ".tar.gz"
			}
			return a.collect(cmd.Context(), cmdutil.FormatOf(cmd), to, least)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write to this new `DIR|FILE.tar.gz`; default: rollcall-<time>.tar.gz here")
	cmd.Flags().BoolVar(&least, "minimal", false, "keep only the fields that checks read, and the log lines that they know")
	a.AddSourceFlags(cmd, &a.source)
	a.AddChoiceFlags(cmd, &a.source)
	a.AddOutputFlags(cmd, "text", "json", "yaml")
	return cmd
}

// collect writes a collection; least says that only what checks read is kept.
func (a *app) collect(ctx context.Context, format, to string, least bool) (err error) {
	whole := a.source
	whole.Whole = !least
	var recorder *collect.Recorder
	r, err := a.session().With(whole).OpenRecorded(ctx, func(now time.Time, d evidence.Description, known *scan.Set) (reader.Recorder, error) {
		made, err := collect.Create(to, now, d)
		recorder = made
		if !least || err != nil {
			return made, err
		}
		words, err := minimal.Vocabulary(catalog.FS)
		if err != nil {
			return nil, errors.Join(err, made.Discard())
		}
		return minimal.New(made, known, words), nil
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return errors.Join(err, recorder.Discard())
	}
	why, probed := cmdutil.NothingRead(d)
	if why != "" && !probed {
		return errors.Join(a.NothingError(r, "collect from", "collect again", why, "no collection was written"), recorder.Discard())
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	if why != "" {
		return a.NothingError(r, "collect from", "collect again", why, to+" holds only the checks of the network path to the API")
	}
	if least {
		if err := a.compareMinimal(ctx, to, d); err != nil {
			return err
		}
	}
	o := a.ReportOptions(r)
	o.Source = "--from " + shellcommand.Quote(to)
	switch format {
	case "json":
		return answer.JSON(a.IO.Out, d, o)
	case "yaml":
		return answer.YAML(a.IO.Out, d, o)
	}
	fmt.Fprintf(a.IO.Out, "%s written. To replay:\n  %s diagnose %s\n", a.CleanText(to), a.Name, a.CleanText(o.Source))
	return nil
}
