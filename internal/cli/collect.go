package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rollcall-project/rollcall/internal/answer"
	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/reader"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/shellcommand"
	"github.com/rollcall-project/rollcall/internal/source/collect"
)

func (a *app) collectCommand() *cobra.Command {
	var to string
	cmd := &cobra.Command{
		Use:   "collect",
		Short: "save what a diagnosis reads, to replay it elsewhere",
		Long: `Collect makes a diagnosis and keeps everything that it read, without secrets: keys,
tokens and passwords are replaced by digests before anything is looked at or
written. "diagnose --from" on the result gives the same answer.

It only reads from the cluster. The exit code is 0 when the collection was written,
whatever the answer is, and 1 when nothing of the cluster
could be read.`,
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
	whole := a.source
	whole.Whole = true
	var recorder *collect.Recorder
	r, err := a.session().With(whole).OpenRecorded(ctx, func(now time.Time, d evidence.Description) (reader.Recorder, error) {
		made, err := collect.Create(to, now, d)
		recorder = made
		return made, err
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d, err := r.Diagnose(ctx)
	if err != nil {
		return errors.Join(err, recorder.Discard())
	}
	why, probed := nothingRead(d)
	if why != "" && !probed {
		return errors.Join(a.nothingError(r, why, "no collection was written"), recorder.Discard())
	}
	if err := recorder.Close(); err != nil {
		return err
	}
	if why != "" {
		return a.nothingError(r, why, to+" holds only the checks of the network path to the API")
	}
	o := a.reportOptions(r)
	o.Source = "--from " + shellcommand.Quote(to)
	switch format {
	case "json":
		return answer.JSON(a.io.Out, d, o)
	case "yaml":
		return answer.YAML(a.io.Out, d, o)
	}
	fmt.Fprintf(a.io.Out, "%s written. To replay:\n  %s diagnose %s\n", a.style().Clean(to), a.name, a.style().Clean(o.Source))
	return nil
}

// nothingError says what to do where nothing could be collected.
func (a *app) nothingError(r *session.Run, why, kept string) error {
	return fmt.Errorf("collect from %s %s: nothing of the cluster could be read (%s); %s. "+
		"Check the network path to the API with `%s diagnose` and the permissions with `%s can-i`, then collect again",
		r.Source.Kind, r.Source.Name, why, kept, a.name, a.name)
}

// nothingRead says why nothing of a cluster could be read, "" where something was, and
// whether there are answers of probes all the same.
func nothingRead(d *diagnosis.Diagnosis) (why string, probed bool) {
	for _, c := range d.Coverage {
		read := c.State == evidence.Read || c.State == evidence.Empty || c.State == evidence.Partial && c.Count > 0
		switch {
		case c.Need == evidence.APIProbes.String() || c.Need == evidence.MCSProbes.String():
			probed = probed || read
		case read:
			return "", probed
		case why == "" && !strings.HasPrefix(c.Reason, string(evidence.NotAsked)) && !strings.HasPrefix(c.Reason, string(evidence.NotCollected)):
			why = c.Reason
		}
	}
	return cmp.Or(why, "the source holds none of what is asked for"), probed
}
