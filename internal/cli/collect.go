package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/collect"
	"github.com/rollcall-project/rollcall/internal/evidence"
	"github.com/rollcall-project/rollcall/internal/reader"
	"github.com/rollcall-project/rollcall/internal/report"
)

func (a *app) collectCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "keep what a diagnosis reads, to be answered again elsewhere",
		Long: `Collect makes a diagnosis and keeps everything that it read, without secrets: keys,
tokens and passwords are replaced by digests before anything is looked at or
written. "diagnose --from" on the result gives the same answer.

It only reads from the cluster. The exit code is 0 when the collection is whole,
whatever the answer is.`,
		Example: example(a.name, "collect --to case.tar.gz", "from the cluster of the kubeconfig") +
			example(a.name, "collect --from ./must-gather.local.123 --to case.tar.gz", "the part of an archive that matters"),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				to = "rollcall-" + a.io.Clock().UTC().Format("20060102-150405") + ".tar.gz"
			}
			return a.collect(cmd.Context(), formatOf(cmd), to)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "write to this new `DIR|FILE.tar.gz`; default: rollcall-<time>.tar.gz here")
	a.addSourceFlags(cmd)
	a.addChoiceFlags(cmd)
	a.addOutputFlags(cmd, "text", "json", "yaml")
	return cmd
}

func (a *app) collect(ctx context.Context, format, to string) (err error) {
	a.source.whole = true
	var recorder *collect.Recorder
	r, err := a.openRun(ctx, func(now time.Time, d evidence.Description) (reader.Recorder, error) {
		made, err := collect.Create(to, now, d)
		recorder = made
		return made, err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := a.diagnose(ctx, r)
	if err != nil {
		return errors.Join(err, recorder.Discard())
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	o := a.reportOptions(r)
	o.Source = "--from " + quote(to)
	switch format {
	case "json":
		return report.JSON(a.io.Out, d)
	case "yaml":
		return report.YAML(a.io.Out, d)
	}
	fmt.Fprintf(a.io.Out, "%s written. To answer it again:\n  %s diagnose %s\n", a.style().Clean(to), a.name, a.style().Clean(o.Source))
	return nil
}
